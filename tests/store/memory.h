#pragma once
/* The simulator's store: port/store.h on plain rows in memory. No threads, no clock; the same requests give
 * the same rows and answers, always. Written without a look at the SQLite store, so that the two can be held
 * against each other. Running out of memory ends the program. */
#include "port/store.h"

struct memory;
struct memory *memory_new(void);
void memory_free(struct memory *m);
/* A deep copy, answers that were not collected included. */
struct memory *memory_clone(const struct memory *m);

/* Carries out one request now. */
void memory_apply(struct memory *m, const struct st_req *r, struct st_ack *ret);
/* To be used with a struct memory. submit carries out at once; fd is -1; nothing ever fails. */
extern const struct store_ops memory_ops;

/* All rows, for a checker. Start with *at = 0; NULL: no more. Schedules and runs in order of insertion,
 * tombstones included; ranges by schedule. Nothing may change in between. */
struct memory_sched {
	struct sched_row row;
	struct wall put_at;
	bool dropped;
	struct str id, document; /* p NULL: none */
};
struct memory_at {
	size_t i, j;
};
const struct memory_sched *memory_next_sched(const struct memory *m, struct memory_at *at);
const struct run_row *memory_next_run(const struct memory *m, struct memory_at *at);
const struct range_row *memory_next_range(const struct memory *m, struct memory_at *at);
const struct hold_row *memory_next_hold(const struct memory *m, struct memory_at *at);

/* By number; NULL: none. */
const struct run_row *memory_run(const struct memory *m, uint64_t run);
const struct memory_sched *memory_sched(const struct memory *m, uint64_t sid);
/* The record of an occurrence (not of manual runs), and the first range in which it lies. */
const struct run_row *memory_occurrence(const struct memory *m, uint64_t sid, struct wall nominal);
const struct range_row *memory_range_of(const struct memory *m, uint64_t sid, struct wall nominal);
