#pragma once
/* The engine: decides what happens, and does nothing itself. A function of (state, event, now) to (state,
 * effects): it reads no clock, makes no call, sees no text. Effects and events are values; who carries them
 * out is another's business.
 *
 * The promises (product.md's G1 to G8 rest on them):
 *  - total: any event in any state is handled; what makes no sense is ignored;
 *  - nothing is started, answered or told before the store has answered its cause;
 *  - memory is a fold of loaded rows and answered requests: when quiet, its digest is that of an engine
 * freshly loaded;
 *  - bounded: at most STEP_DUE_MAX due entries per step, CLAIMS_MAX claims and LAUNCHES_MAX launches under
 * way. */
#include "core/schedule/rules.h"
#include "port/runner.h"
#include "port/store.h"

/* sched_row.flags */
enum sched_flag {
	SCHED_ENABLED = 1,
	SCHED_PAUSED = 2, /* by a person, or by max_failures; until paused_until */
};

/* --- events --- */

enum command_kind {
	CMD_PUT,   /* add (sid 0) or change */
	CMD_DROP,  /* remove; with `kill` its live run too */
	CMD_PAUSE, /* sid, or all with sid 0; until `to`, or WALL_NEVER */
	CMD_RESUME,
	CMD_RUN,        /* now: a person's word */
	CMD_STOP,       /* a live run */
	CMD_BACKFILL,   /* what did not run in [from, to] */
	CMD_FREE,       /* an agent or account that is held */
	CMD_CLOCK,      /* a person believes the clock that ran far ahead */
	CMD_RECOMPILE,  /* new rules, of the same document, for a schedule that is outdated */
	CMD_NEXT_CHECK, /* one of its runs says when it runs next, once: at `to` */
};

struct command {
	uint64_t tag;
	uint8_t kind;
	uint64_t sid, run;
	struct rules rules; /* PUT, RECOMPILE */
	bool enabled;       /* PUT */
	bool bulk;          /* PUT: one of many, for which nobody else shall wait */
	uint32_t max_runs;  /* PUT; UINT32_MAX: no limit */
	uint64_t after;     /* PUT: the schedule it follows, or 0 */
	struct str id, document;
	struct source_row source; /* PUT: from.p NULL: as before */
	struct str note;          /* PAUSE: p NULL: as it was */
	struct wall from, to;
	uint32_t key; /* FREE */
	bool kill;
};

enum reply_code {
	REPLY_OK,
	REPLY_NOT_FOUND,
	REPLY_BUSY /* try again: alive already, or too much under way */,
	REPLY_REFUSED
};
struct reply {
	uint64_t tag;
	uint8_t code;
	uint64_t sid, run;
	uint32_t count;       /* BACKFILL: runs it made. RESUME: 0 if nothing was paused */
	uint32_t already_run; /* BACKFILL: times it left as they are: they have run, or run */
	bool more;            /* BACKFILL: there are times left, but so many are the most at once */
};

enum event_kind {
	EV_TICK,   /* nothing but the time */
	EV_LOADED, /* everything has been given to engine_load */
	EV_ACK,    /* the store has answered */
	EV_RUNNER, /* the runner says something */
	EV_COMMAND,
	EV_DOCUMENTS, /* what the documents say has been put in: what was due meanwhile may be settled by it
		       */
	EV_STATE,     /* the state of agent `key` has changed: conditions may be true now; 0: of all */
	EV_RESUMED,   /* the machine was suspended until now */
	EV_ZONES,     /* the zones or calendars of the configuration have been read anew */
	EV_AGENTS,    /* the definition of agent `key` has changed, and perhaps who is the default */
};

struct event {
	uint8_t kind;
	uint32_t key;
	union {
		const struct st_ack *ack;
		const struct rn_report *report;
		const struct command *command;
	};
};

/* --- effects --- */

struct effects {
	struct st_req *store;
	struct rn_req *runner;
	struct reply *reply;
	unsigned stores, runners, replies;
	unsigned store_room, runner_room, reply_room;
	bool failed; /* out of memory: the engine must be thrown away and loaded again */
};
void effects_clear(struct effects *fx); /* keeps the memory */
void effects_free(struct effects *fx);

/* --- the engine --- */

struct now {
	struct wall wall;
	struct boot boot;
};

struct engine_config {
	unsigned slots;               /* runs at once in all */
	unsigned catch_up_per_second; /* starts of what was missed */
	const struct zone *const *zones;
	unsigned zone_count;
	const struct days *calendars; /* [0] is empty */
	unsigned calendar_count;
	const uint64_t *agents; /* prints of their definitions, by number; 0: there is none */
	unsigned agent_count;
	const uint64_t
		*default_agent; /* that of who stands for those that name none; NULL: there is nobody */
	bool documents_first;   /* after EV_LOADED nothing comes due before EV_DOCUMENTS */
};

struct engine;
must_check enum err engine_new(const struct engine_config *config, struct engine **ret);
void engine_free(struct engine *e);
DEFINE_CLEANUP(struct engine *, engine_free)

/* Before anything else: every item of the store's load, then EV_LOADED. */
void engine_load(struct engine *e, const struct load_item *item);
void engine_step(struct engine *e, const struct event *ev, struct now now, struct effects *out);
/* When to call again with EV_TICK if nothing else happens; <= now: at once. False: never by itself. */
bool engine_next(const struct engine *e, struct now now, struct wall *ret);

/* The next schedule from *at on (0 at first) whose rules were compiled by another version or for other zone
 * data; 0: no more. */
uint64_t engine_outdated(const struct engine *e, uint32_t *at);
bool engine_is_outdated(const struct engine *e, uint64_t sid);

/* The largest number of an end such that no follower has to act on it, or on one before. */
uint64_t engine_acted_on(const struct engine *e);

/* Nothing under way, nothing due: what is left is a fold of the store's rows. */
bool engine_quiet(const struct engine *e, struct now now);
uint64_t engine_digest(const struct engine *e);

/* What is going on, for people and for tests. Costs by the runs that are open, not by how many schedules
 * there are. */
struct engine_counts {
	unsigned schedules, runs, waiting, queued, running, retrying, slots_used, claims_under_way,
		launches_under_way;
	unsigned outdated; /* schedules whose rules wait for CMD_RECOMPILE; nothing of theirs is settled
			      before */
	bool clock_held;   /* the clock ran far ahead: nothing comes due until it is back, or CMD_CLOCK */
	size_t bytes;
};
struct engine_counts engine_counts(const struct engine *e);
bool engine_clock_held(const struct engine *e); /* one of them, at no cost */

/* What comes due next, the soonest first, at most `most`; how many there are. Costs by what is asked for, not
 * by how many schedules there are. */
struct engine_due {
	uint64_t sid;
	struct wall due;
};
enum { ENGINE_COMING_MAX = 64 };
unsigned engine_coming(const struct engine *e, struct engine_due *ret, unsigned most);
