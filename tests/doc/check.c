/* Reads each file of the command line as documents, and prints its error as "LINE COLUMN TEXT", or "ok N". */
#include "base/buf.h"
#include "core/doc/doc.h"
#include "host/docfile.h"
#include "zoneinfo.h"

#include <stdio.h>

static void check_file(const char *path)
{
	struct arena a = { 0 };
	struct why why = { 0 };
	struct str text = { 0 };
	struct val v;
	struct doc_list list;
	struct doc_env env = { .when = { .now = wall_of(1794751200), /* 2026-11-15T14:00:00Z */
					 .zones = test_zones(),
					 .zone = test_zone("UTC"),
					 .zone_name = STR("UTC") },
			       .timeout = { [DOC_COMMAND] = 3600 } };
	enum err e = docfile_text(path, &a, &text, &why);
	if (!e)
		e = docfile_parse(str_of(path), text, &a, &v, &why);
	if (!e)
		e = doc_read(text, &v, &env, &a, &list, &why);
	struct place p = place_of(text, why.at);
	if (e)
		printf("%u %u %s\n", p.line, p.column, why.text);
	else
		printf("ok %u\n", list.n + list.agents);
	arena_free(&a);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		check_file(argv[i]);
	return 0;
}
