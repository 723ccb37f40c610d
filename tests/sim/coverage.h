#pragma once
/* What has been tried: which request was under way, what befell it, and how its run stood. An empty cell that
 * can be reached is a hole in the simulation. */
#include "world.h"

enum cover_fault {
	COVER_CRASH_BEFORE, /* the daemon died; the request was never carried out */
	COVER_CRASH_AFTER,  /* … it was, and nobody was told */
	COVER_TWICE,        /* carried out twice before it was answered */
	COVER_MACHINE,
	COVER_OUTAGE, /* the store went silent */
	COVER_BACK,   /* the clock was stepped */
	COVER_AHEAD,
	COVER_SUSPEND,
	COVER_FAULTS
};

/* Requests of the store and of the runner in one row of numbers. */
#define COVER_RUNNER ST_OPS
#define COVER_OPS    (ST_OPS + RN_ASK + 1)

struct cover;
struct cover *cover_new(void);
void cover_free(struct cover *c);

/* In all of these `c` may be NULL. One request: */
void cover_store(struct cover *c, const struct world *w, const struct st_req *q, enum cover_fault fault);
/* Everything that is under way: */
void cover_fault(struct cover *c, const struct world *w, enum cover_fault fault);
bool cover_full(const struct cover *c); /* every cell that can be reached was */
/* Prints the table; the number of cells that should have been reached and were not. */
unsigned cover_print(const struct cover *c);
