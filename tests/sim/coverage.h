#pragma once
/* What has been tried: which request was under way, what befell it, and how its run stood. An empty cell that
 * can be reached is a hole in the simulation. */
#include "world.h"

enum coverage_fault {
	FAULT_CRASH_BEFORE, /* the daemon died; the request was never carried out */
	FAULT_CRASH_AFTER,  /* … it was, and nobody was told */
	FAULT_REPEATED,     /* carried out twice before it was answered */
	FAULT_MACHINE,
	FAULT_OUTAGE,     /* the store went silent */
	FAULT_CLOCK_BACK, /* the clock was stepped */
	FAULT_CLOCK_AHEAD,
	FAULT_SUSPEND,
	FAULTS
};

/* Requests of the store and of the runner in one row of numbers. */
#define COVERAGE_RUNNER ST_OPS
#define COVERAGE_OPS    (ST_OPS + RN_ASK + 1)

struct coverage;
struct coverage *coverage_new(void);
void coverage_free(struct coverage *c);

/* In all of these `c` may be NULL. One request: */
void coverage_count_request(struct coverage *c, const struct world *w, const struct st_req *q,
			    enum coverage_fault fault);
/* Everything that is under way: */
void coverage_count_fault(struct coverage *c, const struct world *w, enum coverage_fault fault);
bool coverage_is_complete(const struct coverage *c); /* every cell that can be reached was */
/* Prints the table; the number of cells that should have been reached and were not. */
unsigned coverage_print(const struct coverage *c);
