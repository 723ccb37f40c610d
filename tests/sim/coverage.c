/* The table of requests, faults and situations. */
#include "coverage.h"

#include <stdio.h>
#include <stdlib.h>

/* The situation of a run, seen from outside the engine. */
enum situation { NONE, PENDING, CLAIMED, RUNNING, RETRYING, ENDED, SITUATIONS };

struct coverage {
	uint64_t hits[COVERAGE_OPS][FAULTS][SITUATIONS];
};

#define BIT(x)  (1u << (x))
#define ANY_RUN (BIT(NONE) | BIT(PENDING) | BIT(CLAIMED) | BIT(RUNNING) | BIT(RETRYING))
#define RUNNER_FAULTS                                                                                        \
	(BIT(FAULT_CRASH_BEFORE) | BIT(FAULT_MACHINE) | BIT(FAULT_CLOCK_BACK) | BIT(FAULT_CLOCK_AHEAD) |     \
	 BIT(FAULT_SUSPEND))
#define ALL_FAULTS (BIT(FAULTS) - 1)

/* For each request: the situations in which its run can be before and after it is carried out, and the faults
 * that can happen. For a request about a schedule, the schedule's most advanced run is used. */
static const struct {
	const char *name;
	unsigned before, after, faults;
} ops[COVERAGE_OPS] = {
	[ST_PUT] = { "put", ANY_RUN, ANY_RUN, ALL_FAULTS },
	[ST_DROP] = { "drop", ANY_RUN & ~BIT(PENDING), ANY_RUN & ~BIT(PENDING),
		      BIT(FAULT_CRASH_BEFORE) | BIT(FAULT_CRASH_AFTER) | BIT(FAULT_REPEATED) |
			      BIT(FAULT_OUTAGE) },
	[ST_OCC] = { "occ", BIT(NONE), BIT(PENDING) | BIT(CLAIMED) | BIT(ENDED), ALL_FAULTS },
	[ST_RANGE] = { "range", BIT(NONE) | BIT(RUNNING) | BIT(RETRYING), BIT(NONE) | BIT(RUNNING),
		       ALL_FAULTS },
	[ST_WITHDRAW] = { "withdraw", BIT(NONE) | BIT(RUNNING), BIT(NONE) | BIT(RUNNING),
			  BIT(FAULT_CRASH_BEFORE) | BIT(FAULT_CRASH_AFTER) | BIT(FAULT_REPEATED) },
	[ST_VERDICT] = { "verdict", BIT(PENDING) | BIT(CLAIMED), BIT(CLAIMED) | BIT(ENDED), ALL_FAULTS },
	[ST_STARTED] = { "started", BIT(RUNNING) | BIT(CLAIMED), BIT(RUNNING) | BIT(CLAIMED), ALL_FAULTS },
	[ST_FINISH] = { "finish", BIT(CLAIMED), BIT(RETRYING) | BIT(ENDED), ALL_FAULTS },
	[ST_HOLD] = { "hold", BIT(NONE), BIT(NONE),
		      BIT(FAULT_CRASH_BEFORE) | BIT(FAULT_CRASH_AFTER) | BIT(FAULT_REPEATED) |
			      BIT(FAULT_OUTAGE) },
	[ST_PROBLEM] = { "problem", 0, 0, 0 }, /* the engine never sends these two */
	[ST_PRUNE] = { "prune", 0, 0, 0 },
	[COVERAGE_RUNNER + RN_START] = { "start", BIT(CLAIMED) | BIT(RETRYING), 0, RUNNER_FAULTS },
	[COVERAGE_RUNNER +
		RN_KILL] = { "kill", BIT(RUNNING), 0, BIT(FAULT_CRASH_BEFORE) | BIT(FAULT_MACHINE) },
	[COVERAGE_RUNNER + RN_PROBE] = { "probe", BIT(CLAIMED) | BIT(RUNNING) | BIT(RETRYING), 0,
					 BIT(FAULT_CRASH_BEFORE) | BIT(FAULT_MACHINE) },
	[COVERAGE_RUNNER + RN_PREVENT] = { "prevent", BIT(CLAIMED) | BIT(RETRYING), 0,
					   BIT(FAULT_CRASH_BEFORE) | BIT(FAULT_MACHINE) },
	[COVERAGE_RUNNER + RN_ASK] = { "ask", BIT(PENDING) | BIT(CLAIMED) | BIT(RETRYING), 0, RUNNER_FAULTS },
};

static const char *const faults[FAULTS] = { "crash/before", "crash/after", "repeated",    "machine",
					    "outage",       "clock back",  "clock ahead", "suspend" };
static const char *const situations[SITUATIONS] = { "none",    "pending",  "claimed",
						    "running", "retrying", "ended" };

struct coverage *coverage_new(void)
{
	struct coverage *c = must_realloc(NULL, sizeof *c);
	*c = (struct coverage){ 0 };
	return c;
}

void coverage_free(struct coverage *c)
{
	free(c);
}

static enum situation situation_of(const struct world *w, const struct run_row *r)
{
	if (!r)
		return NONE;
	if (!run_is_open(r))
		return ENDED;
	for (uint16_t a = r->attempt; a <= r->attempt + 1; a++) {
		const struct run_file *f = sim_runner_file(w, r->run, a);
		if (f && f->state == FILE_ALIVE)
			return RUNNING;
	}
	return r->state == RUN_PENDING ? PENDING : r->state == RUN_CLAIMED ? CLAIMED : RETRYING;
}

static enum situation situation_of_schedule(const struct world *w, uint64_t sid)
{
	static const unsigned rank[SITUATIONS] = {
		[NONE] = 0, [RETRYING] = 1, [PENDING] = 2, [CLAIMED] = 3, [RUNNING] = 4
	};
	enum situation best = NONE;
	for (size_t i = 0; sid && i < model_open_runs(w->rows); i++) {
		const struct run_row *r = model_open_run_at(w->rows, i);
		enum situation s = r->sid == sid ? situation_of(w, r) : NONE;
		if (rank[s] > rank[best])
			best = s;
	}
	return best;
}

void coverage_count_request(struct coverage *c, const struct world *w, const struct st_req *q,
			    enum coverage_fault fault)
{
	if (!c)
		return;
	bool run = q->op == ST_OCC || q->op == ST_VERDICT || q->op == ST_STARTED || q->op == ST_FINISH;
	enum situation s =
		run ? situation_of(w, model_run(w->rows, q->run.run)) : situation_of_schedule(w, q->sid);
	c->hits[q->op][fault][s]++;
}

struct under_way {
	struct coverage *c;
	const struct world *w;
	enum coverage_fault fault;
};

static void count_request(void *ctx, const struct st_req *q, bool applied)
{
	struct under_way *u = ctx;
	enum coverage_fault fault = u->fault;
	if (fault == FAULT_CRASH_BEFORE) {
		if (!applied)
			return; /* sim_store_crash decides about each request, and counts it */
		fault = FAULT_CRASH_AFTER;
	}
	coverage_count_request(u->c, u->w, q, fault);
}

void coverage_count_fault(struct coverage *c, const struct world *w, enum coverage_fault fault)
{
	if (!c)
		return;
	struct under_way u = { c, w, fault };
	sim_store_each(w, count_request, &u);
	for (unsigned i = 0; i < w->files; i++) {
		const struct run_file *f = &w->file[i];
		enum rn_op op = f->state == FILE_REQUESTED ? RN_START : RN_KILL;
		if (f->state == FILE_REQUESTED || (f->state == FILE_ALIVE && f->kill_pending))
			c->hits[COVERAGE_RUNNER + op][fault]
			       [situation_of(w, model_run(w->rows, f->request.run))]++;
	}
	for (unsigned i = 0; i < w->reports; i++)
		if (w->report[i].epoch == w->epoch &&
		    (w->report[i].answers == RN_PROBE || w->report[i].answers == RN_ASK ||
		     w->report[i].answers == RN_PREVENT))
			c->hits[COVERAGE_RUNNER + w->report[i].answers][fault]
			       [situation_of(w, model_run(w->rows, w->report[i].report.run))]++;
}

static bool is_reachable(unsigned op, unsigned fault, unsigned situation)
{
	bool after = fault == FAULT_CRASH_AFTER || fault == FAULT_REPEATED;
	return ops[op].faults & BIT(fault) && (after ? ops[op].after : ops[op].before) & BIT(situation);
}

bool coverage_is_complete(const struct coverage *c)
{
	for (unsigned op = 0; op < COVERAGE_OPS; op++)
		for (unsigned f = 0; f < FAULTS; f++)
			for (unsigned s = 0; s < SITUATIONS; s++)
				if (is_reachable(op, f, s) && !c->hits[op][f][s])
					return false;
	return true;
}

unsigned coverage_print(const struct coverage *c)
{
	unsigned empty = 0, full = 0;
	printf("%-9s %-9s", "request", "run");
	for (unsigned f = 0; f < FAULTS; f++)
		printf(" %12s", faults[f]);
	printf("\n");
	for (unsigned op = 0; op < COVERAGE_OPS; op++)
		for (unsigned s = 0; s < SITUATIONS; s++) {
			uint64_t any = 0;
			for (unsigned f = 0; f < FAULTS; f++)
				any += c->hits[op][f][s] + is_reachable(op, f, s);
			if (!any)
				continue;
			printf("%-9s %-9s", ops[op].name, situations[s]);
			for (unsigned f = 0; f < FAULTS; f++) {
				bool missing = is_reachable(op, f, s) && !c->hits[op][f][s];
				empty += missing;
				full += is_reachable(op, f, s) && !missing;
				if (c->hits[op][f][s])
					printf(" %12llu", (unsigned long long)c->hits[op][f][s]);
				else
					printf(" %12s", missing ? "NEVER" : ".");
			}
			printf("\n");
		}
	printf("%u cells reached, %u never\n", full, empty);
	return empty;
}
