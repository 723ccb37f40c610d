/* org: timestamps and headlines of org files as JSON, without a daemon. */
#include "cli/verbs/verbs.h"

#include "cli/plan_file.h"
#include "core/org/row.h"
#include "sys/print.h"

static enum err print_timestamp(struct cli_call *call, struct str text)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	org_write_stamp(text, &out);
	buf_addc(&out, '\n');
	if (out.failed)
		return E_NOMEM;
	print_json(call->out, buf_str(&out));
	return OK;
}

/* The rows are printed one by one: a file of 10 MB has very many. */
static enum err print_rows(struct cli_call *call, struct str path)
{
	struct org o;
	_cleanup_(buf_free) struct buf out = { 0 };
	enum err e = plan_file_read(call, path, &o);
	if (e)
		return e;
	buf_addc(&out, '[');
	for (unsigned i = 0; i < o.heads && !out.failed; i++) {
		buf_add(&out, i ? STR(",\n") : STR("\n"));
		org_write_row(&o, &o.head[i], STR(""), &out);
		if (out.n > 65536) {
			print_json(call->out, buf_str(&out));
			out.n = 0;
		}
	}
	buf_add(&out, o.heads ? STR("\n]\n") : STR("]\n"));
	if (out.failed)
		return E_NOMEM;
	print_json(call->out, buf_str(&out));
	return OK;
}

enum err verb_org(struct cli_call *call)
{
	static const struct {
		const char *action;
		enum err (*print)(struct cli_call *call, struct str text);
	} actions[] = { { "timestamp", print_timestamp }, { "parse", print_rows } };
	const struct arg *action = op_arg(&call->args, "action"), *text = op_arg(&call->args, "text");
	for (unsigned i = 0; i < ARRAY_LEN(actions); i++) {
		if (!str_eq(action->text, str_of(actions[i].action)))
			continue;
		if (!text->given)
			return why_set(call->why, E_INPUT, WHY_NOWHERE, "org %s needs a %s",
				       actions[i].action, i ? "file" : "timestamp");
		return actions[i].print(call, text->text);
	}
	if (!action->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "org needs timestamp or parse, for example: %s", call->args.op->example);
	return why_set(call->why, E_INPUT, WHY_NOWHERE,
		       "'%.*s' is not an action of org; allowed are timestamp and parse",
		       STR_SHORT(action->text));
}
