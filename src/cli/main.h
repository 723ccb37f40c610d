#pragma once
/* The command line: finds the verb, reads its arguments by its row of the table, runs it, and prints its
 * error. */
#include "cli/verbs/verbs.h"

/* A verb that is implemented outside of cli/. */
struct cli_verb_row {
	enum op_id id;
	cli_run *run;
};

/* `more`: further verbs; ends with a NULL run. Returns the exit code. */
int cli_main(int argc, char **argv, const struct cli_verb_row *more);
