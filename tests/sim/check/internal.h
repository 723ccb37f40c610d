#pragma once
/* What the judge keeps, shared by check.c (what passes by) and check_account.c (the account at the end). */
#include "check/check.h"

/* Why the engine may be excused for being late. */
enum excuse_kind { EXCUSE_DOWN = 1, EXCUSE_SUSPENDED = 2, EXCUSE_CLOCK = 4, EXCUSE_STORE = 8 };

/* One version of a schedule, as it was written. */
struct version {
	uint32_t rev, flags;
	uint64_t after;
	struct wall changed;
	struct rules rules;
	int64_t t;
	/* The time that one of its runs has set, once, in place of the rule's; 0: none. `gate` stays when a
	 * step back of the clock has taken it away. */
	struct wall next_check, gated_until,
		next_check_set_at; /* checked: when that was; never: it has been dealt with */
};

/* A stretch of wall time over which one version script_answer for the nominal times in (from, to]. */
struct stretch {
	struct wall from, to; /* to WALL_NEVER: the present one */
	unsigned version;
};

/* An end that a follower must act upon. */
struct due_end {
	struct wall nominal; /* its time, or the next that is free: two may end together */
	int64_t t;
	unsigned version;
	uint8_t outcome;
};

struct check_sched { /* of a schedule */
	uint64_t sid;
	struct version *version;
	struct stretch *stretch;
	struct due_end *end;
	unsigned versions, version_room, stretches, stretch_room, ends, end_room;
	uint64_t allowed; /* by max_runs; UINT64_MAX: any number */
	uint32_t known_flags, known_rev;
	bool dropped, known_dropped;
	int64_t resumed; /* true time at which the engine was told so */
	bool killed;     /* a person wants it gone, and its runs dead */
	struct wall dropped_at;
	uint32_t last_run; /* plus one */
	uint64_t last_end; /* the number of the last in `end` */
	int64_t recounted; /* true time at which a change of it said how often it failed, for what ends */
	uint32_t failures; /* in a row, and how long all that was missed … */
	uint64_t missed_length; /* … as they stood when the store last did something to it */
	unsigned stuck;         /* claims in a row that did not move it */
};

/* A run that is not all over, or that was started. */
struct check_run {
	struct run_row row; /* as recorded */
	int64_t recorded;   /* true time of that */
	struct rules rules; /* the version it was claimed under */
	uint32_t known_epoch;
	uint8_t known_state; /* what this engine knows to stand in the store */
	uint16_t known_attempt;
	uint16_t requested; /* the last attempt for which RN_START was sent … */
	uint32_t requested_epoch;
	bool launching;  /* … and nothing heard of it */
	uint8_t yes, no; /* guards' last script_answer to this engine */
	uint32_t answers_epoch;
	bool stopped;        /* a person wants it dead */
	bool orphan;         /* alive, and the engine does not know */
	uint32_t kill_epoch; /* RN_KILL was sent by this engine */
	uint32_t preventing; /* RN_PREVENT was, and is not answered: it may be alive */
	uint32_t agent, key; /* counted against the gate; 0 where an edit makes it unsure */
	uint8_t agent_slots;
	int64_t last_finish; /* true time of the last ST_FINISH sent … */
	bool ending;         /* … and not yet answered */
	uint32_t older;      /* the view of the same schedule before this one, plus one */
	uint64_t steps_seen; /* clock steps before that */
};

struct clock_piece { /* of the wall clock */
	int64_t t, wall;
};

struct excuse {
	int64_t from, to; /* true time; to INT64_MAX: still */
	unsigned kinds;
};

struct check_hold {
	uint32_t key;
	uint16_t reason;
	int64_t from, to;
	struct wall until;
};

struct repeated_span { /* wall times that came twice */
	int64_t from, to;
};

struct check_command { /* a command */
	uint8_t kind;
	uint32_t epoch;
	int64_t t;
	uint64_t sid, run;
	uint32_t key;
	struct wall to;
	bool replied;
	struct reply reply;
};

struct check {
	struct world *w;
	unsigned failures;
	bool quiet, found;
	unsigned others; /* findings that were not wanted */
	const char *want;
	char first[512];
	const char *kind[CHECK_KINDS_MAX]; /* found already, by their format */

	struct check_sched *sched;
	size_t scheds, sched_room;
	struct table sched_of;
	struct check_run *run;
	size_t runs, run_room;
	struct table run_of;
	struct table last_seen; /* what a run was when something last happened to it */
	uint64_t last_news;
	struct table first_started; /* (sid, nominal) to the view that was born first */
	uint32_t *alive;            /* views with a process */
	size_t alives, alive_room;
	struct check_command *command;
	size_t commands, command_room;

	struct clock_piece *piece;
	struct excuse *excuse;
	struct check_hold *hold;
	struct repeated_span *repeated;
	size_t pieces, piece_room, excuses, excuse_room, holds, hold_room, repeateds, repeated_room;
	uint64_t clock_steps;
	/* A clock that runs far ahead is held, as the contract has it: ahead of the most that was believed.
	 */
	bool clock_held;
	int64_t clock_believed, clock_most;
	bool all_paused;            /* as the engine was told … */
	int64_t all_resumed;        /* … at this true time that it is over */
	int64_t hold_requested[64]; /* true time at which a hold of this key was last asked for, plus one */
	int64_t slack;              /* what the ports' delays alone can cost */

	unsigned claims, launches; /* under way */
	uint32_t claims_epoch;
	int64_t *catch_up_start; /* the last so many starts of what was missed */
	size_t catch_up_starts;
};

#define CHECK_ROOM(array, n, room)                                                                           \
	do {                                                                                                 \
		if ((n) == (room)) {                                                                         \
			(room) = (room) ? (room)*2 : 16;                                                     \
			(array) = grow((array), (room) * sizeof *(array));                                   \
		}                                                                                            \
	} while (0)

/* The views of a schedule, newest first. */
static inline const struct check_run *run_newest(const struct check *c, const struct check_sched *b)
{
	return b->last_run ? &c->run[b->last_run - 1] : NULL;
}

static inline const struct check_run *run_before(const struct check *c, const struct check_run *v)
{
	return v->older ? &c->run[v->older - 1] : NULL;
}

/* The store has carried this out. */
void check_news(struct check *c, const struct st_req *q);

/* Is this version due when its leader's run has ended so? */
bool check_follows(const struct version *v, uint8_t outcome);
struct check_sched *check_find_sched(const struct check *c, uint64_t sid);
struct check_run *check_find_run(const struct check *c, uint64_t run);
/* A claimed occurrence keeps the version it was claimed under; the engine, which holds only the latest, may
 * go by that. What is right by either is let pass. */
/* The guards that every version since has had. */
unsigned check_guards(const struct check *c, const struct check_run *v);
const struct policy *check_latest_policy(const struct check *c, const struct check_run *v);
/* Is this agent or account held, as the store knows? Never after a step of the clock, which moves the end of
 * the hold but not that of a retry. */
bool check_is_held(const struct check *c, uint32_t key);
const struct version *check_version(const struct check_sched *b, uint32_t rev);
const struct zone *check_zone(const struct check *c, const struct rules *r);
/* True time at which the wall clock (last) reached this. */
int64_t check_true_time(const struct check *c, struct wall at);
/* Did the wall clock come here more than once? */
bool check_repeated(const struct check *c, struct wall n);
/* The kinds of illness in the stretch that touches [from, to]; 0: all was well. */
/* When the stretch of illness at `t` was over; `t` if all was well, or is not yet. */
int64_t check_excuse_end(const struct check *c, int64_t t);
unsigned check_excuse(const struct check *c, int64_t from, int64_t to);

static inline int64_t grace_of(const struct policy *p)
{
	return SECONDS(p->window ? p->window : 60);
}

/* 23 05:30:00, for messages; four in turn. */
const char *check_time_text(struct wall at);
