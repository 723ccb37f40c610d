#pragma once
/* The engine decides what happens and does nothing itself. It is a function of (state, event, now) to (state,
 * effects): it reads no clock, calls no port and sees no document. Effects and events are plain values; the
 * daemon, or the simulator, carries the effects out and brings the answers back as events.
 *
 * Promises, on which the guarantees that the simulator checks (G1 to G8 in tests/sim/check) rest:
 *  - Total: every event is handled in every state; an event that makes no sense is ignored.
 *  - Nothing is started, answered or published before the store has confirmed its cause.
 *  - The state in memory can be rebuilt from the store: when the engine is quiet, its digest equals the
 *    digest of an engine freshly loaded from the same rows.
 *  - The engine decides only for the parts that it owns (LOAD_PART). After a fenced answer it asks nothing
 *    for that part any more.
 *  - Bounded: at most STEP_DUE_MAX due schedules per step, CLAIMS_MAX claims and LAUNCHES_MAX launches under
 *    way. */
#include "core/schedule/rules.h"
#include "port/runner.h"
#include "port/store.h"

/* Bits of sched_row.flags. */
enum sched_flag {
	SCHED_ENABLED = 1,
	SCHED_PAUSED = 2, /* by a person or by max_failures; ends at sched_row.paused_until */
};

/* --- events --- */

enum command_kind {
	CMD_PUT,        /* add a schedule (sid 0), or change schedule `sid` */
	CMD_DROP,       /* remove a schedule; with `kill` its live runs are killed, else they may finish */
	CMD_PAUSE,      /* pause schedule `sid`, or all with sid 0; until `to`, WALL_NEVER: until resumed */
	CMD_RESUME,     /* end the pause of `sid`, or the pause of all with sid 0 */
	CMD_RUN,        /* run now, as a manual run: ignores pause, condition and hook */
	CMD_STOP,       /* end run `run`; answered when it has ended */
	CMD_BACKFILL,   /* run the nominal times in [from, to] that have not run */
	CMD_RELEASE,    /* end the hold on agent or account `key` */
	CMD_CLOCK,      /* a person confirms that the clock is right although it jumped far ahead */
	CMD_RECOMPILE,  /* new rules, compiled from the same document, for an outdated schedule */
	CMD_NEXT_CHECK, /* one of the schedule's runs sets the next time, once, to `to` */
};

struct command {
	uint64_t tag; /* repeated in the reply; 0: no reply is wanted */
	uint8_t kind;
	uint64_t sid, run;
	struct rules rules; /* PUT, RECOMPILE */
	bool enabled;       /* PUT */
	bool bulk;          /* PUT: one of many; goes through the bulk lane so that others do not wait */
	uint32_t max_runs;  /* PUT; UINT32_MAX: no limit */
	uint64_t after;     /* PUT: the sid of the leader whose ends make this schedule due; 0: none */
	uint32_t part;      /* PUT of a new schedule: its part; a follower belongs to its leader's */
	struct str id, document;
	struct source_row source; /* PUT; from.p NULL: unchanged */
	struct str note;          /* PAUSE: why, for people; p NULL: unchanged */
	struct wall from, to;
	uint32_t key; /* RELEASE */
	bool kill;    /* DROP */
};

enum reply_code {
	REPLY_OK,        /* done, and durable */
	REPLY_NOT_FOUND, /* no such schedule, run or hold */
	REPLY_BUSY,      /* try again: a change is under way, a run is alive, the clock is not settled, or
			    another engine decides for the schedule */
	REPLY_REFUSED,   /* not possible in the present state; trying again does not help */
};
struct reply {
	uint64_t tag;
	uint8_t code;
	uint64_t sid, run;
	uint32_t count;       /* BACKFILL: runs that were recorded. RESUME: 0 if nothing was paused */
	uint32_t already_run; /* BACKFILL: times in the interval that have a run already */
	bool more;            /* BACKFILL: the limit was reached before the end of the interval */
};

enum event_kind {
	EV_TICK,    /* only the time has changed */
	EV_LOADED,  /* every item of the store has been passed to engine_load */
	EV_ACK,     /* an answer of the store */
	EV_RUNNER,  /* a report of the runner, or of another node about a run that it holds */
	EV_COMMAND, /* a command of a person, a document or a run */
	/* The documents have been applied: times that came due before may be settled now. Only with
	 * engine_config.documents_first. */
	EV_DOCUMENTS,
	EV_STATE,   /* the state of agent `key` has changed, 0: of all; conditions are asked again */
	EV_RESUMED, /* the machine was suspended until now */
	EV_ZONES,   /* zones or calendars of the configuration have been replaced, or numbers withdrawn */
	EV_AGENTS,  /* the definition of agent `key`, and perhaps the choice of the default, has changed */
};

struct event {
	uint8_t kind;
	uint32_t key; /* STATE, AGENTS */
	union {
		const struct st_ack *ack;
		const struct rn_report *report;
		const struct command *command;
	};
};

/* --- effects --- */

/* The requests of a step. The order matters within each of the three lists, but not between them. */
struct effects {
	struct st_req *store;
	struct rn_req *runner;
	struct reply *reply;
	unsigned stores, runners, replies;
	unsigned store_room, runner_room, reply_room;
	bool failed; /* out of memory: free the engine, and load a new one */
};
void effects_clear(struct effects *fx); /* keeps the memory for the next step */
void effects_free(struct effects *fx);

/* --- the engine --- */

struct now {
	struct wall wall; /* the time of day, which can be stepped */
	struct boot boot; /* since the machine was started, suspension included; never stepped */
};

/* The tables must stay valid as long as the engine. Their contents may change; EV_ZONES or EV_AGENTS must
 * follow. */
struct engine_config {
	unsigned slots;                  /* runs alive at once, in all */
	unsigned catch_up_per_second;    /* starts of missed times per second */
	const struct zone *const *zones; /* by policy.zone; [0] is always there */
	unsigned zone_count;
	/* The number of the zone of the configuration, in which schedules that name none are compiled. NULL:
	 * it is [0]; a number that no rules have: it has none yet. */
	const uint32_t *default_zone;
	const struct days *calendars; /* by policy.calendar; [0] is empty */
	unsigned calendar_count;
	const uint64_t
		*agents; /* fingerprints of the agents' definitions, by policy.agent; 0: no definition */
	unsigned agent_count;
	const uint64_t *default_agent; /* fingerprint of the default agent; NULL: there is no default */
	/* Whether a number of policy.zone, of policy.calendar, or of policy.agent, .account and .key (below
	 * agent_count) belongs to a name. NULL: all do. */
	const uint8_t *known_zones, *known_calendars, *known_names;
	bool documents_first; /* after EV_LOADED nothing comes due before EV_DOCUMENTS */
	bool has_hook;        /* every schedule has the precondition ASK_CONFIG_HOOK */
};

struct engine;
must_check enum err engine_new(const struct engine_config *config, struct engine **ret);
void engine_free(struct engine *e);
DEFINE_CLEANUP(struct engine *, engine_free)

/* Pass every item of the store's load first, then step with EV_LOADED; steps before that do nothing. */
void engine_load(struct engine *e, const struct load_item *item);
/* Handles one event and appends its effects to `out`. */
void engine_step(struct engine *e, const struct event *ev, struct now now, struct effects *out);
/* When to step with EV_TICK if nothing else happens; <= now: at once. False: no tick is needed. */
bool engine_next(const struct engine *e, struct now now, struct wall *ret);

/* Iterates over the schedules whose rules are outdated: compiled by another version, for other zone data, for
 * another zone of the configuration, for another definition of their agent, or with a number that belongs to
 * no name. Start with *at 0; returns a sid, or 0 at the end. */
uint64_t engine_outdated(const struct engine *e, uint32_t *at);
bool engine_is_outdated(const struct engine *e, uint64_t sid);

/* All followers have acted on every end up to and including this instant. */
struct wall engine_acted_until(const struct engine *e);

/* True if nothing is under way and nothing is due, so that the state follows from the store's rows alone. */
bool engine_quiet(const struct engine *e, struct now now);
/* A hash of the state, independent of the order in which it was loaded. */
uint64_t engine_digest(const struct engine *e);

/* Counts for people and tests. Costs time proportional to the open runs, not to the schedules. */
struct engine_counts {
	unsigned schedules, runs, waiting, queued, running, retrying, slots_used, claims_under_way,
		launches_under_way;
	unsigned elsewhere; /* runs that other nodes hold */
	unsigned outdated;  /* schedules that wait for CMD_RECOMPILE; none of their times is settled before */
	bool clock_held;    /* the clock jumped far ahead: nothing comes due until it is back, or CMD_CLOCK */
	size_t bytes;
};
struct engine_counts engine_counts(const struct engine *e);
bool engine_clock_held(const struct engine *e); /* engine_counts().clock_held in constant time */

/* The schedules that come due next, soonest first, at most `most` of them; returns how many. The time it
 * takes depends on `most`, not on the number of schedules. */
struct engine_due {
	uint64_t sid;
	struct wall due;
};
enum { ENGINE_COMING_MAX = 64 };
unsigned engine_coming(const struct engine *e, struct engine_due *ret, unsigned most);
