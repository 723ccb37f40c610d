#pragma once
/* The model of port/store.h: its tables in memory, one request at a time. It knows no delays and no faults;
 * those are the simulator's world's. Written for being read beside store.h, not for speed alone, and without
 * a look at the SQLite store, so that the two can be held against each other. */
#include "port/store.h"

struct rows;

struct rows *rows_new(void);
struct rows *rows_clone(const struct rows *r);
void rows_free(struct rows *r);

/* Carries out one request, as one transaction, and fills in its answer. */
void rows_apply(struct rows *r, const struct st_req *q, struct st_ack *ret);
void rows_load(const struct rows *r, load_fn *fn, void *ctx);

/* --- looking in from outside --- */

struct rows_sched {
	struct sched_row row;
	struct wall put_at; /* `at` of the last ST_PUT */
	bool dropped;
	struct wall dropped_at;
	struct str id, document; /* p NULL: none was ever given */
	struct source_row source;
	struct str note; /* p NULL: none */
	struct range_row *range;
	unsigned ranges, room;
};

struct rows_state {
	struct state_row row;
	struct wall at; /* of the last ST_STATE */
};
size_t rows_states(const struct rows *r);
const struct rows_state *rows_state_at(const struct rows *r, size_t i);

size_t rows_memories(const struct rows *r);
const struct memory_row *rows_memory_at(const struct rows *r, size_t i); /* by number */
struct rows_agent {
	struct agent_row row;
	struct source_row source;
	struct wall at; /* of the last that made rev grow */
};
size_t rows_agents(const struct rows *r);
const struct rows_agent *rows_agent_at(const struct rows *r, size_t i);

size_t rows_newses(const struct rows *r);
const struct news_row *rows_news_at(const struct rows *r, size_t i);
size_t rows_notices(const struct rows *r);
const struct message_row *rows_notice_at(const struct rows *r, size_t i); /* by number; NULL: pruned */

size_t rows_said(const struct rows *r);
const struct run_text_row *rows_words_at(const struct rows *r, size_t i);

size_t rows_avoids(const struct rows *r);
const struct avoided_row *rows_avoided_at(const struct rows *r, size_t i);
uint64_t rows_avoided(const struct rows *r, uint64_t sid); /* ever; sid 0: of all */

size_t rows_scheds(const struct rows *r);
const struct rows_sched *rows_sched_at(const struct rows *r, size_t i);
const struct rows_sched *rows_sched(const struct rows *r, uint64_t sid); /* NULL: none */
/* Records in the order they were made; NULL: it was withdrawn, or became another run's. */
size_t rows_runs(const struct rows *r);
const struct run_row *rows_run_at(const struct rows *r, size_t i);
const struct run_row *rows_run(const struct rows *r, uint64_t run);
const struct run_row *rows_at(const struct rows *r, uint64_t sid, struct wall nominal);
/* The record that is not yet finished, by number; NULL after the last. */
size_t rows_open(const struct rows *r);
const struct run_row *rows_open_at(const struct rows *r, size_t i);
size_t rows_problems(const struct rows *r);
const struct problem_row *rows_problem_at(const struct rows *r, size_t i); /* by number; NULL: pruned */
size_t rows_holds(const struct rows *r);
const struct hold_row *rows_hold_at(const struct rows *r, size_t i);
const struct hold_row *rows_hold(const struct rows *r, uint32_t key); /* NULL: free */
struct str rows_hold_note(const struct rows *r, uint32_t key);        /* p NULL: none */
uint64_t rows_digest(const struct rows *r);

static inline bool run_open(const struct run_row *r)
{
	return r->state == RUN_PENDING || r->state == RUN_CLAIMED || r->state == RUN_RETRYING;
}
