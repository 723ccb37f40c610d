#pragma once
/* The state of the checker, shared by its source files. */
#include "check/check.h"
#include "room.h"

/* Reasons why the engine may be late. */
enum excuse_kind { EXCUSE_DOWN = 1, EXCUSE_SUSPENDED = 2, EXCUSE_CLOCK = 4, EXCUSE_STORE = 8 };

/* A version of a schedule, as it was written. */
struct version {
	uint32_t rev, flags;
	uint64_t after;
	struct wall changed;
	struct rules rules;
	int64_t t; /* when it was written */
	/* The next check that a run has set; 0: none. gated_until keeps it even after a step back of the
	 * clock has cancelled it. next_set_at: when it was set; WALL_NEVER: it has been recorded. */
	struct wall next_check, gated_until, next_check_set_at;
};

/* A stretch of wall time: one version is responsible for the nominal times in (from, to]. */
struct stretch {
	struct wall from, to; /* to is WALL_NEVER: the present version */
	unsigned version;
};

/* An end on which a follower must act. */
struct due_end {
	struct wall nominal; /* the instant of the end, plus a microsecond for each earlier end at the same
				instant */
	int64_t t;
	unsigned version;
	uint8_t outcome;
};

/* A schedule. Members called "known" hold what the engine has been told. */
struct check_sched {
	uint64_t sid;
	struct version *version;
	struct stretch *stretch;
	struct due_end *end;
	unsigned versions, version_room, stretches, stretch_room, ends, end_room;
	uint64_t allowed; /* number of runs that max_runs allows; UINT64_MAX: no limit */
	uint32_t known_flags, known_rev;
	bool dropped, known_dropped;
	int64_t resumed;   /* true time at which the engine was told that the schedule is resumed */
	bool killed;       /* CMD_DROP with `kill` was sent */
	uint32_t last_run; /* 1 + index of the newest run; 0: no run */
	uint64_t last_end; /* the number of the last entry of `end` */
	unsigned stuck;    /* number of consecutive claims that did not move the row */
	int64_t *lost;     /* true times of answers that a time is recorded already */
	unsigned losts, lost_room;
};

/* A run that was recorded as pending or claimed. */
struct check_run {
	struct run_row row;   /* the row of the run when it was recorded */
	int64_t recorded;     /* true time at which it was recorded */
	struct rules rules;   /* the rules of the version under which it was claimed */
	uint32_t known_epoch; /* the epoch of the engine that knows the next two members */
	uint8_t known_state;
	uint16_t known_attempt;
	uint16_t requested; /* the last attempt for which RN_START was sent */
	uint32_t requested_epoch;
	bool launching;  /* the last RN_START is not answered */
	uint8_t yes, no; /* bits: the last answers of preconditions that the engine of answers_epoch got */
	uint32_t answers_epoch;
	bool stopped; /* a person asked to stop it */
	bool orphan;  /* a dead launcher started its process, and the engine does not know the process */
	uint32_t kill_epoch; /* the epoch of the engine that sent RN_KILL */
	uint32_t agent, key; /* the agent and key against whose limits the run counts; 0: unknown, because of
				an edit */
	uint8_t agent_slots;
	int64_t last_finish; /* true time of the last ST_FINISH sent */
	bool ending;         /* the last ST_FINISH is not answered */
	uint32_t older;      /* 1 + index of the next older run of its schedule; 0: none */
	uint64_t steps_seen; /* clock_steps when last_finish was set */
};

/* At true time `t` the wall clock shows `wall`; from then on it runs evenly. */
struct clock_piece {
	int64_t t, wall;
};

/* An interval of true time in which the engine may be late. */
struct excuse {
	int64_t from, to; /* to INT64_MAX: it lasts */
	unsigned kinds;   /* bits of enum excuse_kind */
};

struct check_hold {
	uint32_t key;
	uint16_t reason;
	int64_t from, to; /* true time; to INT64_MAX: it lasts */
	struct wall until;
};

/* Wall times in (from, to] came twice because the clock was stepped back. */
struct repeated_span {
	int64_t from, to;
};

struct check_command {
	uint8_t kind;
	uint32_t epoch;
	int64_t t;
	uint64_t sid, run;
	uint32_t key;
	struct wall to;
	bool replied;
	struct reply reply;
};

/* The rows that a request is about, before it is carried out. */
struct rows_seen {
	struct run_row run; /* run 0: there is none */
	uint32_t rev;       /* of the schedule; 0: there is none */
	bool dropped;
	uint64_t ranges; /* a hash */
	struct hold_row hold;
	uint64_t last_event;
};

struct check {
	struct world *w;
	unsigned failures;
	bool quiet, found;
	unsigned others;  /* number of findings that do not contain `want` */
	const char *want; /* the check ends when a finding contains this text; NULL: not used */
	char first[512];
	const char *kind[CHECK_KINDS_MAX]; /* formats of the findings that were printed */

	struct check_sched *sched;
	unsigned scheds, sched_room;
	struct map sched_of; /* schedules by sid */
	struct check_run *run;
	unsigned runs, run_room;
	struct map run_of;        /* runs by run number */
	struct map first_started; /* by (sid, nominal): the first run that was started */
	uint32_t *alive;          /* runs with a process */
	unsigned alives, alive_room;
	struct check_command *command; /* commands; the index is the tag - 1 */
	unsigned commands, command_room;

	struct clock_piece *piece;
	struct excuse *excuse;
	struct check_hold *hold;
	struct repeated_span *repeated;
	unsigned pieces, piece_room, excuses, excuse_room, holds, hold_room, repeateds, repeated_room;
	uint64_t clock_steps;
	/* clock_believed is the largest value of wall_ahead that was accepted. The clock must be held while
	 * wall_ahead is larger than that by clock_most or more. */
	bool clock_held;
	int64_t clock_believed, clock_most;
	bool all_paused;            /* the engine has been told that all schedules are paused */
	int64_t all_resumed;        /* true time at which the engine was told that all are resumed */
	int64_t hold_requested[64]; /* by key: 1 + true time of the last request for a hold; 0: released */
	struct wall restored;       /* when the store was last restored; 0: never */
	uint64_t restored_sid;      /* the largest sid that the restored store has */
	uint64_t restores;
	int64_t slack; /* lateness that the delays of the ports can cause */

	struct rows_seen before; /* the request that is being carried out */

	unsigned claims, launches; /* number of claims and launches under way */
	int64_t *catch_up_start;   /* ring of the last starts of missed times */
	size_t catch_up_starts;
};

/* The runs of a schedule, newest first. */
static inline const struct check_run *run_newest(const struct check *c, const struct check_sched *sched)
{
	return sched->last_run ? &c->run[sched->last_run - 1] : NULL;
}

static inline const struct check_run *run_older(const struct check *c, const struct check_run *v)
{
	return v->older ? &c->run[v->older - 1] : NULL;
}

/* True if this version is due when a run of its leader has ended with the outcome. */
bool check_follows(const struct version *v, uint8_t outcome);
struct check_sched *check_find_sched(const struct check *c, uint64_t sid);
struct check_run *check_find_run(const struct check *c, uint64_t run);
/* A run keeps the version under which it was claimed. The engine has only the latest one, and may use that.
 * The checker accepts a behaviour that is right for either version. */
const struct policy *check_latest_policy(const struct check *c, const struct check_run *v);
/* The preconditions of a run with this policy, bits of enum rn_ask. */
unsigned check_asks(const struct check *c, const struct policy *p);
/* The preconditions that every version since the run was claimed has. */
unsigned check_preconditions(const struct check *c, const struct check_run *v);
/* True if this agent or account is held in the store. Always false after a step of the clock, because a step
 * moves the end of a hold, but not the time of a retry. */
bool check_is_held(const struct check *c, uint32_t key);
const struct version *check_version(const struct check_sched *sched, uint32_t rev);
const struct zone *check_zone(const struct check *c, const struct rules *r);
/* The true time at which the wall clock reached `at` for the last time. */
int64_t check_true_time(const struct check *c, struct wall at);
/* True if the wall clock reached `n` more than once. */
bool check_repeated(const struct check *c, struct wall n);
/* The kinds of excuse in [from, to]; 0: none. */
unsigned check_excuse(const struct check *c, int64_t from, int64_t to);
/* When the excuse at `t` ended; `t` if there is no excuse, or if it has not ended. */
int64_t check_excuse_end(const struct check *c, int64_t t);

/* nodes.c: rules about other nodes. */
void check_owner(struct check *c, const struct st_req *q);
void check_holder(struct check *c, const struct rn_req *q);

static inline int64_t grace_of(const struct policy *p)
{
	return SECONDS(p->window ? p->window : 60);
}
