#include "surface/op.h"
#include "surface/op_config.h"
#include "surface/op_when.h"

static enum err run_version(struct op_call *call)
{
	if (call->json)
		fprintf(call->out, "{\"version\":\"" ROTA_VERSION "\"}\n");
	else
		fprintf(call->out, "rota " ROTA_VERSION "\n");
	return OK;
}

#define JSON_PARAM                                                                                           \
	{                                                                                                    \
		"json", NULL, OP_FLAG, false, 0, "print JSON"                                                \
	}

const struct op ops[] = {
	{ .name = "next",
	  .summary = "when an expression fires next",
	  .example = "rota next \"weekdays at 8:30\" --tz Europe/Berlin --count 3",
	  .param = { { "expression", "EXPR", OP_TEXT, true, 0,
		       "cron, ACE, @every, a time, <org timestamp>, or a phrase" },
		     { "tz", "ZONE", OP_TEXT, false, 0,
		       "zone where the expression names none (default: this machine's)" },
		     { "after", "TIME", OP_TEXT, false, 0, "count from here instead of now" },
		     { "count", "N", OP_COUNT, false, NEXT_COUNT_MAX, "how many runs (default 5)" },
		     { "id", "ID", OP_TEXT, false, 0, "the schedule's id, which H and JITTER depend on" },
		     { "batch", "FILE", OP_TEXT, false, 0,
		       "answer JSON lines from FILE (- for standard input)" },
		     JSON_PARAM },
	  .run = op_next,
	  .notes = "Lines of --batch are {\"expr\",\"tz\"?,\"after\"?,\"count\"?,\"id\"?}; each is answered, "
		   "in order, by\n"
		   "{\"next\":[...]} or {\"error\":\"...\"}. There, the zone is UTC where none is named.\n"
		   "Expressions are described in rota-when(7)." },
	{ .name = "explain",
	  .summary = "an expression in words, its next five runs, and warnings",
	  .example = "rota explain \"0 9 * * 1\"",
	  .param = { { "expression", "EXPR", OP_TEXT, true, 0, "any expression" },
		     { "tz", "ZONE", OP_TEXT, false, 0,
		       "zone where the expression names none (default: this machine's)" },
		     { "after", "TIME", OP_TEXT, false, 0, "count from here instead of now" },
		     { "id", "ID", OP_TEXT, false, 0, "the schedule's id, which H and JITTER depend on" },
		     JSON_PARAM },
	  .run = op_explain,
	  .notes = "Expressions are described in rota-when(7)." },
	{ .name = "zones",
	  .summary = "the known time zones with their offset now",
	  .example = "rota zones berlin",
	  .param = { { "pattern", "PATTERN", OP_TEXT, true, 0, "only names that contain this, in any case" },
		     JSON_PARAM },
	  .run = op_zones },
	{ .name = "config",
	  .summary = "every setting, and where its value came from",
	  .example = "rota config --json",
	  .param = { { "config", "FILE", OP_TEXT, false, 0,
		       "the configuration, instead of the usual rota.yaml" },
		     { "data", "DIR", OP_TEXT, false, 0, "as if given to `rota serve`" },
		     { "socket", "PATH", OP_TEXT, false, 0, "as if given to `rota serve`" },
		     JSON_PARAM },
	  .run = op_config,
	  .notes = "A flag counts for more than a ROTA_* variable, that for more than the file, that for "
		   "more\n"
		   "than the default. The settings are described in rota.yaml(5)." },
	{ .name = "version",
	  .summary = "the version of this program",
	  .example = "rota version",
	  .param = { JSON_PARAM },
	  .run = run_version },
	{ 0 },
};

const struct op *op_find(struct str name)
{
	for (const struct op *op = ops; op->name; op++)
		if (str_eq(name, str_of(op->name)))
			return op;
	return NULL;
}

const struct arg *op_arg(const struct op_call *call, const char *name)
{
	for (unsigned i = 0; i < OP_PARAMS_MAX && call->op->param[i].name; i++)
		if (strcmp(call->op->param[i].name, name) == 0)
			return &call->arg[i];
	assert(false);
	return NULL;
}
