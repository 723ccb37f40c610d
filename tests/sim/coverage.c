#include "coverage.h"

#include <stdio.h>
#include <stdlib.h>

/* How a run stands, seen from outside. */
enum stand { NONE, PENDING, CLAIMED, RUNNING, RETRYING, OVER, STANDS };

struct cover {
	uint64_t hits[COVER_OPS][COVER_FAULTS][STANDS];
};

#define BIT(x)  (1u << (x))
#define ANY_RUN (BIT(NONE) | BIT(PENDING) | BIT(CLAIMED) | BIT(RUNNING) | BIT(RETRYING))
#define RUNNERS                                                                                              \
	(BIT(COVER_CRASH_BEFORE) | BIT(COVER_MACHINE) | BIT(COVER_BACK) | BIT(COVER_AHEAD) |                 \
	 BIT(COVER_SUSPEND))
#define EVERYONE (BIT(COVER_FAULTS) - 1)

/* How the run can stand while the request is under way: before it was carried out, and after. Of requests
 * that concern a schedule, the most alive of its runs counts. */
static const struct {
	const char *name;
	unsigned before, after, faults;
} ops[COVER_OPS] = {
	[ST_PUT] = { "put", ANY_RUN, ANY_RUN, EVERYONE },
	[ST_DROP] = { "drop", ANY_RUN & ~BIT(PENDING), ANY_RUN & ~BIT(PENDING),
		      BIT(COVER_CRASH_BEFORE) | BIT(COVER_CRASH_AFTER) | BIT(COVER_TWICE) |
			      BIT(COVER_OUTAGE) },
	[ST_OCC] = { "occ", BIT(NONE), BIT(PENDING) | BIT(CLAIMED) | BIT(OVER), EVERYONE },
	[ST_RANGE] = { "range", BIT(NONE) | BIT(RUNNING) | BIT(RETRYING), BIT(NONE) | BIT(RUNNING),
		       EVERYONE },
	[ST_WITHDRAW] = { "withdraw", BIT(NONE) | BIT(RUNNING), BIT(NONE) | BIT(RUNNING),
			  BIT(COVER_CRASH_BEFORE) | BIT(COVER_CRASH_AFTER) | BIT(COVER_TWICE) },
	[ST_VERDICT] = { "verdict", BIT(PENDING) | BIT(CLAIMED), BIT(CLAIMED) | BIT(OVER), EVERYONE },
	[ST_STARTED] = { "started", BIT(RUNNING) | BIT(CLAIMED), BIT(RUNNING) | BIT(CLAIMED), EVERYONE },
	[ST_FINISH] = { "finish", BIT(CLAIMED), BIT(RETRYING) | BIT(OVER), EVERYONE },
	[ST_HOLD] = { "hold", BIT(NONE), BIT(NONE),
		      BIT(COVER_CRASH_BEFORE) | BIT(COVER_CRASH_AFTER) | BIT(COVER_TWICE) |
			      BIT(COVER_OUTAGE) },
	[ST_PROBLEM] = { "problem", 0, 0, 0 }, /* not the engine's to ask */
	[ST_PRUNE] = { "prune", 0, 0, 0 },
	[COVER_RUNNER + RN_START] = { "start", BIT(CLAIMED) | BIT(RETRYING), 0, RUNNERS },
	[COVER_RUNNER + RN_KILL] = { "kill", BIT(RUNNING), 0, BIT(COVER_CRASH_BEFORE) | BIT(COVER_MACHINE) },
	[COVER_RUNNER + RN_PROBE] = { "probe", BIT(CLAIMED) | BIT(RUNNING) | BIT(RETRYING), 0,
				      BIT(COVER_CRASH_BEFORE) | BIT(COVER_MACHINE) },
	[COVER_RUNNER + RN_PREVENT] = { "burn", BIT(CLAIMED) | BIT(RETRYING), 0,
					BIT(COVER_CRASH_BEFORE) | BIT(COVER_MACHINE) },
	[COVER_RUNNER + RN_ASK] = { "ask", BIT(PENDING) | BIT(CLAIMED) | BIT(RETRYING), 0, RUNNERS },
};

static const char *const faults[COVER_FAULTS] = { "crash/before", "crash/after", "twice",       "machine",
						  "outage",       "clock back",  "clock ahead", "suspend" };
static const char *const stands[STANDS] = { "none", "pending", "claimed", "running", "retrying", "over" };

struct cover *cover_new(void)
{
	struct cover *c = grow(NULL, sizeof *c);
	*c = (struct cover){ 0 };
	return c;
}

void cover_free(struct cover *c)
{
	free(c);
}

static enum stand stand_of(const struct world *w, const struct run_row *r)
{
	if (!r)
		return NONE;
	if (!run_open(r))
		return OVER;
	for (uint16_t a = r->attempt; a <= r->attempt + 1; a++) {
		const struct file *f = hands_file(w, r->run, a);
		if (f && f->state == FILE_ALIVE)
			return RUNNING;
	}
	return r->state == RUN_PENDING ? PENDING : r->state == RUN_CLAIMED ? CLAIMED : RETRYING;
}

static enum stand stand_of_schedule(const struct world *w, uint64_t sid)
{
	static const unsigned rank[STANDS] = {
		[NONE] = 0, [RETRYING] = 1, [PENDING] = 2, [CLAIMED] = 3, [RUNNING] = 4
	};
	enum stand best = NONE;
	for (size_t i = 0; sid && i < rows_open(w->rows); i++) {
		const struct run_row *r = rows_open_at(w->rows, i);
		enum stand s = r->sid == sid ? stand_of(w, r) : NONE;
		if (rank[s] > rank[best])
			best = s;
	}
	return best;
}

void cover_store(struct cover *c, const struct world *w, const struct st_req *q, enum cover_fault fault)
{
	if (!c)
		return;
	bool run = q->op == ST_OCC || q->op == ST_VERDICT || q->op == ST_STARTED || q->op == ST_FINISH;
	enum stand s = run ? stand_of(w, rows_run(w->rows, q->run.run)) : stand_of_schedule(w, q->sid);
	c->hits[q->op][fault][s]++;
}

struct under_way {
	struct cover *c;
	const struct world *w;
	enum cover_fault fault;
};

static void one_store(void *ctx, const struct st_req *q, bool applied)
{
	struct under_way *u = ctx;
	enum cover_fault fault = u->fault;
	if (fault == COVER_CRASH_BEFORE) {
		if (!applied)
			return; /* decided one by one, and told then */
		fault = COVER_CRASH_AFTER;
	}
	cover_store(u->c, u->w, q, fault);
}

void cover_fault(struct cover *c, const struct world *w, enum cover_fault fault)
{
	if (!c)
		return;
	struct under_way u = { c, w, fault };
	prepare_each(w, one_store, &u);
	for (unsigned i = 0; i < w->files; i++) {
		const struct file *f = &w->file[i];
		enum rn_op op = f->state == FILE_ASKED ? RN_START : RN_KILL;
		if (f->state == FILE_ASKED || (f->state == FILE_ALIVE && f->kill_pending))
			c->hits[COVER_RUNNER + op][fault][stand_of(w, rows_run(w->rows, f->start.run))]++;
	}
	for (unsigned i = 0; i < w->says; i++)
		if (w->say[i].epoch == w->epoch &&
		    (w->say[i].of == RN_PROBE || w->say[i].of == RN_ASK || w->say[i].of == RN_PREVENT))
			c->hits[COVER_RUNNER + w->say[i].of][fault]
			       [stand_of(w, rows_run(w->rows, w->say[i].says.run))]++;
}

static bool wanted(unsigned op, unsigned fault, unsigned stand)
{
	bool after = fault == COVER_CRASH_AFTER || fault == COVER_TWICE;
	return ops[op].faults & BIT(fault) && (after ? ops[op].after : ops[op].before) & BIT(stand);
}

bool cover_full(const struct cover *c)
{
	for (unsigned op = 0; op < COVER_OPS; op++)
		for (unsigned f = 0; f < COVER_FAULTS; f++)
			for (unsigned s = 0; s < STANDS; s++)
				if (wanted(op, f, s) && !c->hits[op][f][s])
					return false;
	return true;
}

unsigned cover_print(const struct cover *c)
{
	unsigned empty = 0, full = 0;
	printf("%-9s %-9s", "request", "run");
	for (unsigned f = 0; f < COVER_FAULTS; f++)
		printf(" %12s", faults[f]);
	printf("\n");
	for (unsigned op = 0; op < COVER_OPS; op++)
		for (unsigned s = 0; s < STANDS; s++) {
			uint64_t any = 0;
			for (unsigned f = 0; f < COVER_FAULTS; f++)
				any += c->hits[op][f][s] + wanted(op, f, s);
			if (!any)
				continue;
			printf("%-9s %-9s", ops[op].name, stands[s]);
			for (unsigned f = 0; f < COVER_FAULTS; f++) {
				bool hole = wanted(op, f, s) && !c->hits[op][f][s];
				empty += hole;
				full += wanted(op, f, s) && !hole;
				if (c->hits[op][f][s])
					printf(" %12llu", (unsigned long long)c->hits[op][f][s]);
				else
					printf(" %12s", hole ? "NEVER" : ".");
			}
			printf("\n");
		}
	printf("%u cells reached, %u never\n", full, empty);
	return empty;
}
