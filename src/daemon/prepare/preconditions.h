#pragma once
/* The questions that the engine asks before a run, answered from the schedule's document and the run's
 * context. On the prepare worker's thread. */
#include "daemon/prepare/run_context.h"
#include "port/runner.h"

struct precondition_answer {
	bool yes;
	uint16_t reason; /* if the answer is no */
	struct str
		detail; /* for people, in the arena; p NULL: none, empty: an earlier detail no longer holds */
};
/* A question that this version cannot answer is answered with no, and a reason that says so. An error is one
 * of the machine: try again. */
must_check enum err precondition_answer(const struct context_source *source, enum rn_ask ask, struct arena *a,
					struct precondition_answer *ret, struct why *why);
