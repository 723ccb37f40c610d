#pragma once
/* What the opinion remembers, and the questions that its judges ask about it. */
#include "check/check.h"
#include "opinion/opinion.h"
#include "room.h"

/* Intervals of true time in which something was the case, in the order of their beginnings and of their ends.
 */
struct span_of_time {
	int64_t from, to; /* to INT64_MAX: it lasts */
};
struct spans {
	struct span_of_time *at;
	unsigned n, room;
};
void spans_begin(struct spans *s, int64_t t); /* does nothing if the last one lasts */
void spans_end(struct spans *s, int64_t t);   /* does nothing if the last one is over */
void spans_add(struct spans *s, int64_t from, int64_t to);
bool spans_touch(const struct spans *s, int64_t from, int64_t to);
bool spans_last(const struct spans *s); /* whether the last one lasts */

/* A hold on an agent or account. */
struct held {
	uint32_t key;
	uint16_t reason;
	int64_t asked;     /* true time from which on it is in force */
	int64_t ends;      /* the true time at which it is meant to end; INT64_MAX: when it is released */
	int64_t least;     /* the same before the last load; INT64_MIN: not known */
	int64_t released;  /* true time at which the daemon was told of its release; INT64_MAX: not yet */
	int64_t releasing; /* the release was requested; INT64_MAX: not yet */
	struct wall until; /* as the store has it */
	bool must_move;    /* the clock was stepped back */
	bool sure;         /* `ends` does not depend on a step of the clock while the daemon was down */
	int64_t loaded;    /* true time of the last load */
};

/* A run that was recorded as pending or claimed. What the daemon knows of it is void after a crash. */
struct opinion_run {
	struct run_row row; /* as the store has it */
	struct rules rules; /* of the version under which it was recorded */
	uint32_t sched;     /* index of its schedule */
	int64_t asked;      /* when it was decided */
	uint32_t versions;  /* of its schedule, when it was recorded */

	bool known;      /* the daemon was told that it is recorded, or has loaded it */
	bool loaded;     /* the daemon has loaded it */
	bool probing;    /* loaded; the runner has not said yet whether it is alive */
	bool preventing; /* the runner was asked to make its next attempt impossible */
	bool ending;     /* its end was sent to the store */
	bool gone;       /* its end is recorded, and the daemon was told */
	bool holds_slot; /* it may count against the limits */
	bool launching;
	bool starting;      /* it was requested in this step */
	uint16_t requested; /* the last attempt that was requested or reported alive */
	int64_t requested_t;
	int64_t ready; /* waits for nothing but a slot since then; 0: it waits for something else, or the
			  opinion is not sure */

	uint8_t yes, no;           /* bits of enum rn_ask: the last answers */
	uint16_t no_reason;        /* of the last no; 0: that of the precondition */
	int64_t answered[RN_ASKS]; /* when each of them was answered */
	int64_t questioned;        /* when its last question was asked */
	bool state_changed;        /* the state changed while its question was under way */

	int64_t retry_asked; /* when its last retry was decided; 0: none */
	int64_t retry_steps; /* steps of the clock before that */
	int64_t delay;       /* of that retry */
	int64_t must_end;    /* its retry must be given up by then; INT64_MAX: need not */
	bool dropped;        /* its retry may be given up: another run was claimed, a pause, a command */
	int64_t killed;      /* it must be killed since then; INT64_MAX: need not */
	bool may_be_killed;  /* a person or another run may have asked to stop it, now or before a crash */
	int64_t started;     /* true time of the start of its live process; 0: none is alive */
	bool orphan;
	int64_t kill_takes;
	int64_t reported;       /* when the daemon was told that an attempt is alive; 0: not yet */
	struct wall exit_reset; /* of the last attempt that ended */
	uint8_t exit_outcome;
	uint16_t exit_reason, exit_attempt;
	int64_t exit_reported; /* when the daemon was told of that; 0: not yet */
};

/* An end of the leader's run on which a follower has to act. */
struct awaited_end {
	struct wall nominal;
	int64_t t;
	uint8_t outcome;
	uint32_t rev;    /* of the follower */
	uint64_t number; /* of the end */
};

struct opinion_sched {
	uint64_t sid;
	struct sched_row row;        /* as the store has it */
	struct rules rules;          /* of that row */
	bool dropped, known_dropped; /* known_dropped: the daemon was told */
	struct range_row *range;     /* as the store has them */
	unsigned ranges, range_room;
	uint32_t versions;                          /* changes so far */
	int64_t changed;                            /* true time of the last change */
	int64_t change_told;                        /* when the daemon was told of it */
	uint32_t known_flags;                       /* of the row that the daemon was told last */
	uint32_t known_failures;                    /* likewise */
	int64_t removing;                           /* 1 + true time at which CMD_DROP was sent; 0: not */
	int64_t pause_sent, resume_sent, edit_sent; /* 1 + true time of its last CMD_PAUSE, CMD_RESUME and
						       CMD_PUT; 0: never */
	uint64_t kill_tag; /* tag of that CMD_DROP if it kills the runs; 0: it does not */
	uint32_t *run;     /* its runs, oldest first */
	unsigned runs, run_room;
	int64_t opened;          /* true time at which its last open range was decided */
	uint32_t open_agent[16]; /* the agents of that version and of later ones … */
	unsigned open_agents;    /* … and how many they are, which may be more */
	uint32_t missed_now;     /* times that became missed by the write that is judged */
	uint32_t taken_now;      /* of these, times that had run before the clock was stepped back */
	unsigned busy;           /* requests under way that change its row */
	struct spans paused;     /* by its own flag */
	struct spans no_runs;    /* max_runs is reached */
	struct spans gated;      /* a next check is set */
	struct spans changing;   /* a request that changes its row is under way */
	struct spans line;       /* catch-up runs of the schedule were open */
	struct wall gated_to;    /* the largest next check that was set */
	uint64_t missed_length;  /* of its missed ranges */
	struct awaited_end *end;
	unsigned ends, end_room;
};

struct clock_reading {
	int64_t t, wall; /* from t on the clock shows wall, and goes on from there */
};

/* What the daemon knew when it decided. */
struct knowledge {
	int64_t t; /* 0: not asked by this daemon */
	struct wall wall;
	unsigned surely_live, maybe_live, open; /* runs of the schedule */
	bool paused;                            /* the schedule, or all */
	bool dropped;                           /* the schedule */
	uint32_t failures;                      /* in a row */
};

struct opinion {
	struct world *w;
	struct opinion_sched *sched;
	unsigned scheds, sched_room;
	struct map sched_of; /* by sid */
	struct opinion_run *run;
	unsigned runs, run_room;
	struct map run_of;  /* by run number */
	struct map stopped; /* runs that a person asked to stop, by run number */
	uint32_t *open;     /* runs that the daemon knows and that are not gone */
	unsigned opens, open_room;
	struct held *held;
	unsigned helds, held_room;

	struct clock_reading *reading;
	unsigned readings, reading_room;
	struct spans down, outage, suspended, stepped, untrusted;
	struct spans all_paused; /* as the daemon knows */
	struct wall all_until;
	int64_t loaded;       /* when the engine was loaded */
	int64_t last_back;    /* true time of the last step back; INT64_MIN: none */
	struct wall restored; /* the rows were restored then; 0: never */
	uint64_t restored_run;
	struct knowledge *asked; /* by tag: what the daemon knew when it sent the request */
	unsigned askeds, asked_room;
	struct knowledge then; /* what it knew when it sent the request that is being judged */
	int64_t slack;         /* what the delays of the ports can cause */
	uint64_t last_news;    /* the largest number of news seen */
	struct map last_seen;  /* by run number: state and attempt after the last request */
};

#define FIND(o, ...) check_fail((o)->w->check, "opinion: " __VA_ARGS__)

/* --- lookups --- */
struct opinion_sched *find_opinion_sched(const struct opinion *o, uint64_t sid);
struct opinion_run *find_opinion_run(const struct opinion *o, uint64_t run);
const struct zone *opinion_zone(const struct opinion *o, const struct rules *r);
bool run_was_open(const struct opinion *o, const struct run_row *r); /* before this write */
/* What the daemon knew when it sent the request. */
struct knowledge knowledge_of(const struct opinion *o, const struct st_req *q);

/* --- clocks --- */
struct wall wall_at(const struct opinion *o, int64_t t);
/* The true time at which the clock last reached this, or jumped over it. */
int64_t true_time(const struct opinion *o, struct wall at);
bool stepped_between(const struct opinion *o, int64_t from, int64_t to);

/* --- rules --- */
bool next_nominal(const struct opinion *o, const struct rules *r, struct wall after, struct wall *ret);
/* The schedule's next time after this one: of its rule, or a next check that a run has set. */
bool next_time(const struct opinion *o, const struct opinion_sched *s, struct wall after, struct wall *ret);
struct wall due_of(const struct opinion *o, const struct rules *r, struct wall nominal);
/* Why this time never runs: an excluded day, or outside the agent's hours. */
enum reason barred(const struct opinion *o, const struct rules *r, struct wall nominal);
int64_t grace_seconds(const struct policy *p);
bool run_is_good(const struct run_row *r); /* done or no_work */

/* --- what the daemon knew --- */
/* The daemon has been told that the schedule, or all, are paused. */
bool known_paused(const struct opinion *o, const struct opinion_sched *s);
/* A hold on its agent or account that was surely in force at `t`; NULL: none. `forever`: only a hold of
 * the agent that lasts until a person releases it. */
const struct held *surely_held(const struct opinion *o, const struct policy *p, int64_t t, bool forever);
/* The same if it may have been in force in [from, to]. */
const struct held *maybe_held(const struct opinion *o, const struct policy *p, int64_t from, int64_t to,
			      bool forever);
/* Live for overlap: it waits for answers or a slot, or runs. */
unsigned surely_live(const struct opinion *o, const struct opinion_sched *s);
unsigned maybe_live(const struct opinion *o, const struct opinion_sched *s);
/* Its last attempt has failed, and the next one was not requested. */
bool has_pending_retry(const struct opinion_run *r);
/* When the last thing that delays the schedule's times ended, of those that touch [from, to]; `from` if there
 * was none; INT64_MAX if one lasts. */
int64_t undelayed_since(const struct opinion *o, const struct opinion_sched *s, int64_t from, int64_t to);

/* --- the judges --- */
/* times.c: a new record of a nominal time, or of a range of them. */
void judge_claim(struct opinion *o, struct opinion_sched *s, const struct run_row *r, int64_t decided);
void judge_range(struct opinion *o, struct opinion_sched *s, const struct range_row *g, struct wall after,
		 int64_t decided);
void note_open_agent(struct opinion_sched *s, bool first); /* of its present version */
void judge_closed_range(struct opinion *o, const struct opinion_sched *s, const struct range_row *g,
			struct wall last);
/* counts.c: the schedule's row before and after a write. */
void judge_row(struct opinion *o, struct opinion_sched *s, const struct sched_row *now,
	       const struct run_row *r, bool fresh, int64_t decided);
void judge_told(struct opinion *o, const struct opinion_sched *s, const struct run_row *r);
void judge_failures(struct opinion *o, const struct opinion_sched *s, const struct run_row *end,
		    uint32_t before, uint32_t after, int64_t decided);
/* attempts.c: a run before and after a write, and the start of an attempt. */
void judge_run_change(struct opinion *o, struct opinion_run *r, const struct run_row *now, int64_t decided);
void judge_start(struct opinion *o, struct opinion_run *r, uint16_t attempt);
void judge_question(struct opinion *o, struct opinion_run *r, enum rn_ask ask);
void judge_dropped_retries(struct opinion *o, const struct opinion_sched *s, const struct opinion_run *by);
void judge_waiting(struct opinion *o); /* after each step */
/* holds.c */
void judge_holds(struct opinion *o, const struct st_req *q); /* a hold or release was requested */
void holds_loaded(struct opinion *o);
void holds_restored(struct opinion *o); /* those of the rows are in force, and no others */
void holds_stepped(struct opinion *o, int64_t by);
void judge_hold_of_end(struct opinion *o, const struct opinion_run *r, const struct run_row *end,
		       int64_t decided);
void judge_pauses(struct opinion *o); /* after each step */
void judge_moved(struct opinion *o);  /* after each step */
void holds_released(struct opinion *o, uint32_t key, bool told);
int64_t rate_limit_delay(const struct opinion *o, const struct opinion_run *r);
/* gate.c */
void judge_orders(struct opinion *o); /* after each step */
void judge_gate(struct opinion *o);   /* after each step */
void judge_alive(struct opinion *o, const struct opinion_run *r);
/* kills.c */
void judge_kills(struct opinion *o); /* after each step */
/* follow.c */
void await_end(struct opinion *o, const struct run_row *end);
/* The schedule was changed: ends that came after the change may have been written before it. */
void await_earlier_ends(struct opinion *o, struct opinion_sched *s);
void judge_follower(struct opinion *o, struct opinion_sched *s, const struct run_row *r, int64_t decided);
void judge_awaited(struct opinion *o, const struct opinion_sched *s);
/* news.c: the news in the store must match what the request has changed. */
void judge_news(struct opinion *o, const struct st_req *q);
uint64_t missed_length(const struct model_sched *s); /* of all its missed ranges */
