#pragma once
/* What the engine asks before a run, answered from the schedule's document and from what is known. On the
 * desk's thread. */
#include "daemon/prepare/run_context.h"
#include "port/runner.h"

struct precondition_answer {
	bool yes;
	uint16_t reason;  /* of a no, where it is not the guard's own */
	struct str words; /* more about it, in the arena; p NULL: nothing is said, empty: what was said is
			     over */
};
/* What this version cannot ask is no, and the reason says so. An error: the machine's, and to be tried again.
 */
must_check enum err precondition_ask(const struct context_source *g, enum rn_ask ask, struct arena *a,
				     struct precondition_answer *ret, struct why *why);
