#pragma once
/* What run.c and result.c share: the state of workflows that are carried out. */
#include "cli/workflow/process.h"
#include "cli/workflow/workflow.h"
#include "sys/clock.h"

enum task_outcome { TASK_WAITING, TASK_RUNNING, TASK_DONE, TASK_FAILED, TASK_KILLED, TASK_SKIPPED };

/* One component. */
struct task {
	enum task_outcome outcome;
	const char *reason, *detail; /* NULL: none */
	bool started;
	struct process process;
	int64_t microseconds;
	const char *output; /* the file with its standard output */
};

struct runner {
	struct cli_call *call;
	const struct workflow_options *options;
	const char *dir; /* for scripts, outputs and given inputs */
	unsigned files;
};

/* One workflow. */
struct run {
	struct runner *runner;
	const struct world *world;
	struct task *task; /* as many as components */
	struct run *sub;
};

/* Appends {"workflow","schedule","tasks","sub_workflows","exports"}; sets *failed if not all is done. */
void workflow_write(const struct org *o, const struct run *run, struct buf *out, bool *failed);
