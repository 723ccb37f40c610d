/* Makes the request of a row from its arguments, sends it, and reads the answer. */
#include "cli/remote.h"

#include "base/json.h"
#include "cli/verbs/verbs.h"
#include "wire/client.h"
#include "wire/problem_document.h"

#include <stdlib.h>
#include <string.h>

enum err remote_socket(struct cli_call *call, const char **ret)
{
	struct settings settings;
	enum err e = cli_settings(call, &settings);
	if (!e)
		*ret = arena_dup(call->arena, settings.config.socket);
	return e ? e : *ret ? OK : E_NOMEM;
}

const char *remote_token(void)
{
	const char *token = getenv("ROTA_TOKEN");
	return token && token[0] ? token : NULL;
}

enum err remote_call(struct cli_call *call, const char *method, const char *target, struct str body,
		     struct str *text, struct val *ret)
{
	struct client_request request = {
		.method = method, .target = target, .body = body, .token = remote_token()
	};
	struct client_answer answer = { 0 };
	enum err e = remote_socket(call, &request.socket);
	if (!e)
		e = client_call(&request, &answer, call->why);
	if (!e) {
		struct buf problem = { 0 };
		e = problem_document_read(answer.status, buf_str(&answer.body), &problem);
		if (e)
			why_write(call->why, WHY_NOWHERE, "%.*s", STR_ARG(buf_str(&problem)));
		buf_free(&problem);
	}
	if (!e) {
		char *copy = arena_dup(call->arena, buf_str(&answer.body));
		*text = (struct str){ copy, answer.body.n };
		e = copy ? json_read(*text, call->arena, ret, call->why) : E_NOMEM;
	}
	client_answer_free(&answer);
	return e;
}

/* --- the request of a row --- */

void remote_encode(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (is_alpha(c) || is_digit(c) || strchr("-._~", c))
			buf_addc(out, c);
		else
			buf_addf(out, "%%%02X", (unsigned char)c);
	}
}

/* Other options are for this process. */
static bool is_sent(const struct cli_call *call, unsigned i)
{
	const struct op *op = call->args.op;
	return call->args.arg[i].given && op_find_member(op, str_of(op->param[i].name));
}

static bool is_in_path(const struct op *op, const char *name)
{
	size_t n = strlen(name);
	const char *at = op->route;
	while ((at = strstr(at, name)))
		if (at > op->route && at[-1] == '{' && at[n] == '}')
			return true;
		else
			at += n;
	return false;
}

static void add_path(struct cli_call *call, struct buf *out)
{
	for (const char *p = call->args.op->route; *p; p++) {
		if (*p != '{') {
			buf_addc(out, *p);
			continue;
		}
		const char *end = strchr(p, '}');
		char name[32];
		snprintf(name, sizeof name, "%.*s", (int)(end - p - 1), p + 1);
		remote_encode(out, op_arg(&call->args, name)->text);
		p = end;
	}
}

static void add_query(struct cli_call *call, struct buf *out)
{
	char before = '?';
	for (unsigned i = 0; i < OP_PARAMS_MAX && call->args.op->param[i].name; i++) {
		const struct op_param *p = &call->args.op->param[i];
		if (!is_sent(call, i))
			continue;
		buf_addf(out, "%c%s=", before, p->name);
		remote_encode(out, p->kind == PARAM_FLAG ? STR("true") : call->args.arg[i].text);
		before = '&';
	}
}

void remote_add_target(struct cli_call *call, struct buf *out)
{
	add_path(call, out);
	add_query(call, out);
}

static void add_body(struct cli_call *call, struct buf *out)
{
	const char *before = "";
	buf_addc(out, '{');
	for (unsigned i = 0; i < OP_PARAMS_MAX && call->args.op->param[i].name; i++) {
		const struct op_param *p = &call->args.op->param[i];
		if (!is_sent(call, i))
			continue;
		buf_addf(out, "%s\"%s\":", before, p->name);
		if (p->kind == PARAM_FLAG)
			buf_add(out, STR("true"));
		else
			json_write_str(out, call->args.arg[i].text);
		before = ",";
	}
	buf_addc(out, '}');
}

static enum err send_row(struct cli_call *call, bool query, struct str body, struct str *text,
			 struct val *ret)
{
	struct buf target = { 0 };
	for (unsigned i = 0; i < OP_PARAMS_MAX && call->args.op->param[i].name; i++) {
		const struct op_param *p = &call->args.op->param[i];
		if (call->args.arg[i].given)
			continue;
		if (is_in_path(call->args.op, p->name))
			return why_set(call->why, E_INPUT, WHY_NOWHERE, "%s needs %s %s, for example: %s",
				       call->args.op->name, p->value[0] == 'N' ? "an" : "a", p->value,
				       call->args.op->example);
		if (p->required && !p->positional && call->args.op->example)
			return why_set(call->why, E_INPUT, WHY_NOWHERE, "%s needs --%s %s, for example: %s",
				       call->args.op->name, p->name, p->value, call->args.op->example);
	}
	add_path(call, &target);
	if (query)
		add_query(call, &target);
	enum err e =
		target.failed ? E_NOMEM : remote_call(call, call->args.op->method, target.p, body, text, ret);
	buf_free(&target);
	return e;
}

enum err remote_ask(struct cli_call *call, struct str body, struct str *text, struct val *ret)
{
	return send_row(call, !body.p, body, text, ret);
}

void remote_show(struct cli_call *call, struct str text, const struct val *answer)
{
	cli_show *show = cli_verbs[call->args.op - ops].show;
	if (call->json || !show)
		print_json(call->out, text);
	else
		show(call, answer);
}

enum err remote_run(struct cli_call *call)
{
	bool has_body = !strcmp(call->args.op->method, "POST") || !strcmp(call->args.op->method, "PATCH");
	struct buf body = { 0 };
	struct str text;
	struct val answer;
	if (has_body)
		add_body(call, &body);
	enum err e = body.failed ? E_NOMEM
				 : send_row(call, !has_body, has_body ? buf_str(&body) : (struct str){ 0 },
					    &text, &answer);
	buf_free(&body);
	if (!e)
		remote_show(call, text, &answer);
	return e;
}

enum err remote_run_as(struct cli_call *call, enum op_id id, const char *param, struct str value)
{
	struct cli_call other = cli_call_as(call, id);
	if (param)
		op_set_arg(&other.args, param, value);
	return remote_run(&other);
}
