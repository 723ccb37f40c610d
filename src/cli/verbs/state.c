/* state: reads and changes the state of an agent, or the user's profile. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "cli/remote.h"
#include "cli/table.h"

#include <stdlib.h>

/* Writes {"a":{"b":VALUE}} for the path a.b. VALUE is a string unless it is valid JSON. */
static enum err write_patch(struct cli_call *call, struct str path, struct str value, struct buf *out)
{
	struct val v;
	struct str key, all = path;
	unsigned deep = 0;
	bool is_json = json_read(value, call->arena, &v, NULL) == OK;
	for (; val_path_next(&path, &key); deep++) {
		if (!key.n || deep == STATE_DEPTH_MAX)
			return why_set(call->why, E_INPUT, WHY_NOWHERE,
				       "'%.*s' is not a path; keys must be separated by single dots",
				       STR_SHORT(all));
		buf_addc(out, '{');
		json_write_str(out, key);
		buf_addc(out, ':');
	}
	if (!deep && (!is_json || v.kind != VAL_MAP))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "the whole document must be a JSON object");
	if (is_json)
		json_write(out, &v);
	else
		json_write_str(out, value);
	for (; deep; deep--)
		buf_addc(out, '}');
	return OK;
}

static enum err set_state(struct cli_call *call, struct cli_call *sub)
{
	const struct arg *path = op_arg(&call->args, "path"), *value = op_arg(&call->args, "value"),
			 *rev = op_arg(&call->args, "rev");
	_cleanup_(buf_free) struct buf body = { 0 };
	struct str text;
	struct val answer;
	if (!path->given || !value->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "state set needs a path and a value, for example: %s", call->args.op->example);
	buf_add(&body, STR("{\"patch\":"));
	enum err e = write_patch(call, path->text, value->text, &body);
	uint64_t n;
	if (!e && rev->given && !str_number(rev->text, UINT32_MAX, &n))
		e = why_set(call->why, E_INPUT, WHY_NOWHERE, "--rev '%.*s' is not a number",
			    STR_SHORT(rev->text));
	if (e)
		return e;
	if (rev->given)
		buf_addf(&body, ",\"rev\":%.*s", STR_ARG(rev->text));
	if (op_arg(&sub->args, "user")->given)
		buf_add(&body, STR(",\"user\":true"));
	if (op_arg(&sub->args, "agent")->given)
		json_add_str(&body, "agent", op_arg(&sub->args, "agent")->text);
	buf_addc(&body, '}');
	e = body.failed ? E_NOMEM : remote_ask(sub, buf_str(&body), &text, &answer);
	if (!e)
		remote_show(sub, text, &answer);
	return e;
}

enum err verb_state(struct cli_call *call)
{
	static const struct {
		const char *word;
		enum op_id id;
	} actions[] = { { "get", OP_GET_STATE }, { "set", OP_SET_STATE } };
	struct str word = op_arg(&call->args, "action")->text;
	unsigned k = 0;
	while (k < ARRAY_LEN(actions) && !str_eq(word, str_of(actions[k].word)))
		k++;
	if (!op_arg(&call->args, "action")->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "state needs get or set, for example: %s",
			       call->args.op->example);
	if (k == ARRAY_LEN(actions))
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "'%.*s' is not an action of state; allowed are get and set", STR_SHORT(word));
	struct cli_call sub = cli_call_as(call, actions[k].id);
	const char *inside = getenv("ROTA_AGENT");
	/* Within a run, the default is the agent of the run. If ROTA_AGENT is not set, the daemon finds the
	 * agent itself. */
	if (inside && !op_arg(&sub.args, "agent")->given && !op_arg(&sub.args, "user")->given)
		op_set_arg(&sub.args, "agent", str_of(inside));
	return actions[k].id == OP_SET_STATE ? set_state(call, &sub) : remote_run(&sub);
}

void show_state(struct cli_call *call, const struct val *answer)
{
	const struct val *v = val_get(answer, STR("value"));
	_cleanup_(buf_free) struct buf text = { 0 };
	if (!v)
		return;
	json_write(&text, v);
	print_text(call->out, buf_str(&text));
	print(call->out, "\n");
}
