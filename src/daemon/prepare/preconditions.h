#pragma once
/* The questions that the engine asks before a run, answered from the schedule's document and the run's
 * context. Runs on a thread of the prepare worker. */
#include "daemon/prepare/run_context.h"
#include "port/runner.h"

struct precondition_answer {
	bool yes;
	uint16_t reason;   /* if the answer is no */
	struct str detail; /* for people, in the arena; p NULL: none, empty: an earlier detail no longer
			      applies */
};
/* If this version cannot answer the question, the answer is no, with a reason that says so. An error means
 * that the machine failed: try again. */
must_check enum err precondition_answer(const struct context_source *source, enum rn_ask ask, struct arena *a,
					struct precondition_answer *ret, struct why *why);
