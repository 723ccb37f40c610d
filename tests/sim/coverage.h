#pragma once
/* Coverage of the simulation: a table of the request under way, the fault that happened, and the situation of
 * the run. An empty cell that can be reached is a gap in the simulation. */
#include "world.h"

enum coverage_fault {
	FAULT_CRASH_BEFORE, /* the daemon crashed; the request was never carried out */
	FAULT_CRASH_AFTER,  /* the daemon crashed; the request was carried out, but not answered */
	FAULT_REPEATED,     /* carried out twice before it was answered */
	FAULT_MACHINE,      /* the machine crashed */
	FAULT_OUTAGE,       /* the store does not answer */
	FAULT_CLOCK_BACK,
	FAULT_CLOCK_AHEAD,
	FAULT_SUSPEND,
	FAULTS
};

/* Requests to the store and to the runner are numbered together. */
#define COVERAGE_RUNNER ST_OPS
#define COVERAGE_OPS    (ST_OPS + RN_ASK + 1)

struct coverage;
struct coverage *coverage_new(void);
void coverage_free(struct coverage *c);

/* Counts one request. `c` may be NULL. */
void coverage_count_request(struct coverage *c, const struct world *w, const struct st_req *q,
			    enum coverage_fault fault);
/* Counts every request that is under way. `c` may be NULL. */
void coverage_count_fault(struct coverage *c, const struct world *w, enum coverage_fault fault);
bool coverage_is_complete(const struct coverage *c); /* every cell that can be reached was reached */
/* Prints the table; returns the number of cells that can be reached and were not. */
unsigned coverage_print(const struct coverage *c);
