#pragma once
/* The command line: finds the verb, reads its arguments as its row says, runs it, and reports its error. */
#include "cli/verbs/verbs.h"

/* A verb that is not in cli/. */
struct cli_verb_row {
	enum op_id id;
	cli_run *run;
};

/* `more`: further verbs; ends with a NULL run. Returns the exit code. */
int cli_main(int argc, char **argv, const struct cli_verb_row *more);
