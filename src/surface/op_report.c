#include "surface/op_report.h"
#include "host/outbox.h"

#include <stdlib.h>

static enum err read_kind(struct op_call *call, struct str word, unsigned *ret)
{
	if (!word.n)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "report needs fail, step or note: %s",
			       call->op->example);
	for (*ret = 0; *ret < REPORTS; ++*ret)
		if (str_eq(word, str_of(report_words[*ret])))
			return OK;
	return why_set(call->why, E_INPUT, WHY_NOWHERE, "'%.*s' is neither fail, step nor note: %s",
		       STR_SHORT(word), call->op->example);
}

enum err op_report(struct op_call *call)
{
	const struct arg *kind = op_arg_if(call, "kind"), *text = op_arg(call, "text");
	const char *path = getenv("ROTA_OUTBOX");
	unsigned which;
	enum err e = read_kind(call, kind ? kind->text : str_of(call->op->name), &which);
	if (e)
		return e;
	if (!str_trim(text->text).n)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "%s needs a text, for example: %s",
			       call->op->name, call->op->example);
	if (!path || !path[0])
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "%s is for programs within a run: ROTA_OUTBOX is not set", call->op->name);
	e = outbox_add(path, (enum report_kind)which, text->text, call->why);
	if (!e && call->json)
		fprintf(call->out, "{\"report\":\"%s\"}\n", report_words[which]);
	return e;
}
