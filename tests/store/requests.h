#pragma once
/* Builders for requests. Times are small numbers of microseconds. */
#include "port/store.h"

#define AT(n) ((struct wall){ (n) })

static inline struct st_req req_put(uint64_t sid, uint32_t rev, int64_t at)
{
	struct st_req r = { .op = ST_PUT, .lane = LANE_USER, .sid = sid, .rev = rev, .at = AT(at) };
	r.row = (struct sched_row){ .flags = 7, .left = UINT32_MAX, .next = AT(100), .changed = AT(at) };
	memset(r.row.rules, (int)sid & 0xFF, STORE_RULES);
	return r;
}

static inline struct st_req req_drop(uint64_t sid, uint32_t rev, int64_t at)
{
	return (struct st_req){ .op = ST_DROP, .lane = LANE_USER, .sid = sid, .rev = rev, .at = AT(at) };
}

/* A claimed occurrence of a timer. */
static inline struct st_req req_occ(uint64_t sid, uint32_t rev, uint64_t run, int64_t nominal)
{
	struct st_req r = { .op = ST_OCC, .lane = LANE_CLAIM, .sid = sid, .rev = rev };
	r.run = (struct run_row){ .run = run,
				  .sid = sid,
				  .rev = rev,
				  .kind = KIND_TIMER,
				  .state = RUN_CLAIMED,
				  .nominal = AT(nominal),
				  .due = AT(nominal + 1),
				  .claimed = AT(nominal + 2),
				  .cost = -1,
				  .exit_code = -1 };
	return r;
}

static inline struct st_req req_range(uint64_t sid, uint32_t rev, int64_t first, int64_t last)
{
	struct st_req r = { .op = ST_RANGE, .lane = LANE_BULK, .sid = sid, .rev = rev };
	r.range = (struct range_row){ sid, AT(first), AT(last), RUN_MISSED, 14 };
	return r;
}

/* Returns the request with a move of the schedule. */
static inline struct st_req moving(struct st_req r, int64_t next, int64_t high)
{
	r.moves = true;
	r.move = (struct row_move){ .next = AT(next), .high = AT(high), .left = UINT32_MAX };
	return r;
}

static inline struct st_req req_withdraw(uint64_t sid, uint32_t rev, int64_t at, int64_t next)
{
	struct st_req r = { .op = ST_WITHDRAW, .lane = LANE_CLAIM, .sid = sid, .rev = rev, .at = AT(at) };
	r.move.next = AT(next);
	return r;
}

static inline struct st_req req_verdict(uint64_t sid, uint64_t run, unsigned state, unsigned reason)
{
	struct st_req r = { .op = ST_VERDICT, .lane = LANE_CLAIM, .sid = sid };
	r.run = (struct run_row){ .run = run, .state = (uint8_t)state, .reason = (uint16_t)reason };
	return r;
}

static inline struct st_req req_started(uint64_t sid, uint64_t run, unsigned attempt, int64_t started)
{
	struct st_req r = { .op = ST_STARTED, .lane = LANE_FINISH, .sid = sid };
	r.run = (struct run_row){ .run = run, .attempt = (uint16_t)attempt, .started = AT(started) };
	return r;
}

static inline struct st_req req_finish(uint64_t sid, uint64_t run, unsigned attempt, unsigned state,
				       int64_t ended)
{
	struct st_req r = { .op = ST_FINISH, .lane = LANE_FINISH, .sid = sid };
	r.run = (struct run_row){ .run = run,
				  .attempt = (uint16_t)attempt,
				  .state = (uint8_t)state,
				  .outcome = 1,
				  .ended = AT(ended),
				  .cost = 5,
				  .tokens_in = 6,
				  .tokens_out = 7,
				  .exit_code = 8 };
	return r;
}

static inline struct st_req req_hold(uint32_t key, unsigned reason, int64_t until)
{
	struct st_req r = { .op = ST_HOLD, .lane = LANE_USER };
	r.hold = (struct hold_row){ key, (uint16_t)reason, AT(until) };
	return r;
}

/* Opens, acknowledges or closes a problem, by key or by number. */
static inline struct st_req req_problem(enum problem_act act, uint64_t number, const char *key, int64_t at)
{
	struct st_req r = { .op = ST_PROBLEM, .lane = LANE_FINISH, .at = AT(at) };
	r.problem = (struct problem_change){ .act = (uint8_t)act, .number = number };
	if (key)
		r.problem.key = str_of(key);
	return r;
}

static inline struct st_req req_prune(enum prune_what what, uint64_t sid, int64_t at)
{
	struct st_req r = { .op = ST_PRUNE, .lane = LANE_BULK, .sid = sid, .at = AT(at) };
	r.prune = (struct prune_request){ .what = (uint8_t)what, .last = UINT64_MAX >> 1 };
	return r;
}
