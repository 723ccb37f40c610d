#pragma once
/* A model of the store of port/store.h: its tables in memory, one request at a time, without delays or faults
 * (the simulator adds those). Written to be read beside store.h, and independently of the SQLite store, so
 * that tests can compare the two. */
#include "base/map.h"
#include "port/store.h"

/* --- tables --- */

/* A document that was replaced. */
struct model_version {
	uint64_t number; /* in the order of replacement */
	uint32_t rev;    /* the last rev that had this document */
	struct wall at;  /* when it was replaced */
	struct str text;
};

struct model_sched {
	struct sched_row row;
	struct wall put_at; /* `at` of the last ST_PUT */
	bool dropped;
	struct wall dropped_at;
	uint64_t last_end;       /* the largest number of an end of its runs */
	struct str id, document; /* p NULL: none was ever given */
	struct source_row source;
	struct str note; /* p NULL: none */
	struct range_row *range;
	unsigned ranges, range_room;
	struct model_version *version;
	unsigned versions, version_room;
};

struct model_run {
	struct run_row row;
	uint32_t open_at;     /* index of the run in `open`; UINT32_MAX: the run is over */
	bool removed;         /* withdrawn, replaced by a backfill, or pruned */
	struct wall reported; /* `at` of its last ST_REPORT */
};

struct model_hold {
	struct hold_row row;
	struct str note;
};

struct model_state {
	struct state_row row;
	struct wall at; /* time of the last ST_STATE */
};

struct model_agent {
	struct agent_row row;
	struct source_row source;
	struct wall at; /* time of the last change of rev */
};

struct model_event {
	struct event_row row;
	uint64_t request_first; /* the first event of the same run and request: they are pruned together */
};

struct model {
	struct model_sched *sched;
	unsigned scheds, sched_room;
	struct model_run *run; /* runs, in the order in which they were recorded */
	unsigned runs, run_room;
	uint32_t *open; /* indices of the runs that are not over, in no order */
	unsigned opens, open_room;
	struct model_hold *hold;
	unsigned holds, hold_room;
	struct name_row *name; /* in order of kind and number */
	unsigned names, name_room;
	struct run_text_row *run_text;
	unsigned run_texts, run_text_room;
	struct avoided_row *avoided;
	unsigned avoided_n, avoided_room;
	struct model_state *state;
	unsigned states, state_room;
	struct memory_row *memory; /* in order of their numbers */
	unsigned memories, memory_room;
	struct model_agent *agent;
	unsigned agents, agent_room;
	struct news_row *news; /* in order of their numbers */
	unsigned news_n, news_room;
	struct message_row *message; /* number n has index n - 1; a pruned one has number 0 */
	unsigned messages, message_room;
	struct problem_row *problem; /* number n has index n - 1; a pruned one has number 0 */
	unsigned problems, problem_room;
	struct model_event *event; /* in order of their numbers */
	unsigned events, event_room;
	struct part_row *part;
	unsigned parts, part_room;
	struct map by_sid, by_run, by_nominal;
	uint64_t last_run, last_sid, last_memory, last_news, last_version;
	uint64_t last_event, request_first_event;
	struct wall now;              /* the time of the events that are logged; the caller may set it */
	struct wall restored;         /* when it was restored from a copy; 0: never */
	uint64_t restored_run;        /* the last run that the copy contained */
	uint64_t pruned_sid;          /* the largest sid that was pruned */
	uint64_t taken[NUMBER_KINDS]; /* the largest number that was taken since model_forget_numbers */
	uint32_t node;                /* whose parts are loaded; 1 in a new model */
	bool has_key;
	uint8_t key[STORE_KEY_BYTES];
};

struct model *model_new(void);
struct model *model_clone(const struct model *m);
void model_free(struct model *m);

/* Carries out one request, as one transaction, and fills in its answer. */
void model_apply(struct model *m, const struct st_req *q, struct st_ack *ret);
void model_load(const struct model *m, load_fn *fn, void *ctx);
/* A store with one owner was opened again: numbers that were taken but not recorded are free again. */
void model_forget_numbers(struct model *m);
/* Marks a clone as restored at `now`. Numbers up to last_run were given to runs that it may not know. */
void model_mark_restored(struct model *m, struct wall now, uint64_t last_run);

/* --- queries for tests --- */

const struct model_sched *model_sched(const struct model *m, uint64_t sid); /* NULL: none */
const struct run_row *model_run(const struct model *m, uint64_t run);       /* NULL: none */
/* The record of an occurrence; NULL: there is none. Manual runs are not occurrences. */
const struct run_row *model_occurrence(const struct model *m, uint64_t sid, struct wall nominal);
const struct hold_row *model_hold(const struct model *m, uint32_t key);  /* NULL: not held */
const struct part_row *model_part(const struct model *m, uint32_t part); /* NULL: it has no owner */
/* Model calls avoided since the beginning; sid 0: by all schedules. */
uint64_t model_avoided(const struct model *m, uint64_t sid);
/* A hash over schedules, ranges and runs. */
uint64_t model_digest(const struct model *m);

static inline bool run_is_open(const struct run_row *r)
{
	return r->state == RUN_PENDING || r->state == RUN_CLAIMED || r->state == RUN_RETRYING;
}

static inline size_t model_scheds(const struct model *m)
{
	return m->scheds;
}

static inline const struct model_sched *model_sched_at(const struct model *m, size_t i)
{
	return &m->sched[i];
}

static inline size_t model_runs(const struct model *m)
{
	return m->runs;
}

static inline const struct run_row *model_run_at(const struct model *m, size_t i) /* NULL: removed */
{
	return m->run[i].removed ? NULL : &m->run[i].row;
}

static inline size_t model_open_runs(const struct model *m)
{
	return m->opens;
}

static inline const struct run_row *model_open_run_at(const struct model *m, size_t i)
{
	return &m->run[m->open[i]].row;
}

static inline size_t model_holds(const struct model *m)
{
	return m->holds;
}

static inline const struct hold_row *model_hold_at(const struct model *m, size_t i)
{
	return &m->hold[i].row;
}

static inline size_t model_events(const struct model *m)
{
	return m->events;
}

static inline const struct event_row *model_event_at(const struct model *m, size_t i)
{
	return &m->event[i].row;
}

static inline size_t model_news(const struct model *m)
{
	return m->news_n;
}

static inline const struct news_row *model_news_at(const struct model *m, size_t i)
{
	return &m->news[i];
}
