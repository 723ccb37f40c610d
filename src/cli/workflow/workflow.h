#pragma once
/* Carries out the workflows of a plan: components in the order of their dependencies, independent ones at the
 * same time, each with the interpreter of its language. A failed component stops those that wait for it, and
 * no others. Sub-workflows run before the components of their workflow, which can use their exports. */
#include "cli/call.h"
#include "core/plan/world.h"

struct workflow_options {
	const char *dir;                /* of the plan: where components run */
	const struct val *input;        /* a map of inputs; NULL: none */
	unsigned jobs;                  /* components at the same time */
	int64_t seconds;                /* for one component, unless it has :timeout */
	bool plan_only;                 /* execute nothing: the result lists the names of the components */
	const struct val *interpreters; /* by language: the command; NULL or a map of strings */
};

/* Appends [{"workflow","schedule","tasks","sub_workflows","exports"}]; *failed: not all components are done.
 * Only the workflow `name` unless that is empty: E_NOTFOUND if there is none. */
must_check enum err workflows_run(struct cli_call *call, const struct worlds *w, struct str name,
				  const struct workflow_options *options, struct buf *out, bool *failed);
