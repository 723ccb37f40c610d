#pragma once
/* Functions that the source files of the model share. */
#include "model/model.h"
#include "number_map.h"
#include "room.h"

/* --- the operations --- */

typedef uint8_t model_fn(struct model *m, const struct st_req *q, struct st_ack *ret);
model_fn apply_put, apply_drop, apply_source, apply_occ, apply_range, apply_withdraw, apply_verdict,
	apply_started, apply_finish, apply_run_text, apply_hold, apply_name, apply_problem, apply_state,
	apply_memory, apply_agent, apply_messages, apply_delivery, apply_report, apply_prune, apply_numbers,
	apply_take, apply_key;

/* --- texts --- */

struct str text_dup(struct str s); /* p NULL stays NULL */
void text_free(struct str *s);
/* Replaces a text; p NULL: the old one stays. */
void text_set(struct str *to, struct str s);
/* Replaces a text; p NULL removes the old one. */
void text_replace(struct str *to, struct str s);
/* Like text_set, but an empty text removes the old one. */
void text_set_note(struct str *to, struct str s);
bool text_fits(struct str s);

/* --- rows --- */

struct model_sched *find_sched(const struct model *m, uint64_t sid);
struct model_run *find_run(const struct model *m, uint64_t run);
struct model_run *find_occurrence(const struct model *m, uint64_t sid, struct wall nominal);
/* The number of the last end of a schedule; 0: none. */
uint64_t last_end(const struct model *m, uint64_t sid);
/* Whether another end of the schedule may follow: it is not removed, or has an open run. */
bool may_end_again(const struct model *m, const struct model_sched *s);
/* Whether a request of a part's owner comes from an earlier owner; `s`: its schedule, or NULL. */
bool is_fenced(const struct model *m, const struct st_req *q, const struct model_sched *s);
/* Sets a text about a run; an empty one is removed. */
void set_run_text(struct model *m, uint64_t run, enum run_text_kind kind, struct str text);
/* Keeps the list of open runs in step with the state of a run. */
void update_open(struct model *m, struct model_run *x);
void remove_run(struct model *m, struct model_run *x);
void free_sched(struct model_sched *s);
void free_memory(struct memory_row *row);
void free_message(struct message_row *row);
void free_problem(struct problem_row *p);
/* Log events; what they have in common is in the row. */
void log_event(struct model *m, enum event_type type, struct event_row about);
void log_run(struct model *m, enum event_type type, const struct run_row *run);
void log_occurrence(struct model *m, const struct st_req *q);
void log_end(struct model *m, const struct st_req *q, const struct run_row *run);
void prune_events(struct model *m, const struct st_req *q);
/* Adds a row of news, if the request has news. */
void add_news(struct model *m, const struct st_req *q, struct news_row about);
/* Removes the counts of a schedule that begin before this second; sid 0: those of all schedules, except for
 * the totals. */
void remove_avoided(struct model *m, uint64_t sid, int64_t before);

/* Whether `n` can be the number of a schedule or run: 0 means none, and integers in databases are signed. */
static inline bool is_number(uint64_t n)
{
	return n > 0 && n <= INT64_MAX;
}

/* Whether the occurrence did not run and will not run. */
static inline bool is_idle(unsigned state)
{
	return state == RUN_SKIPPED || state == RUN_MISSED;
}

static inline bool same_wall(struct wall a, struct wall b)
{
	return a.us == b.us;
}
