/* Reads org files. */
#include "cli/plan_file.h"

#include "host/docfile.h"

enum err plan_file_read(struct cli_call *call, struct str path, struct org *ret)
{
	struct str text;
	const char *name = arena_dup(call->arena, path);
	enum err e = name ? docfile_text(name, call->arena, &text, call->why) : E_NOMEM;
	if (e)
		return e;
	call->source = text;
	call->source_name = name;
	return org_read(text, call->arena, ret, call->why);
}
