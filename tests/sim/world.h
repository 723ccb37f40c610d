#pragma once
/* The simulated world: an agenda of wake-ups, completions and faults on virtual clocks, the real engine, and
 * ports that delay, fail and crash. All random numbers come from one seed, so the seed determines the
 * history.
 *
 * There are three times. `t` is true time, which only the world knows. Wall time is the engine's time of day;
 * it can be stepped. Boot time counts from the last start of the machine, suspension included. */
#include "agenda.h"
#include "core/engine/engine.h"
#include "model/model.h"
#include "number_map.h"

#define SECONDS(n) ((int64_t)(n)*USEC)
#define MINUTES(n) SECONDS((int64_t)(n)*60)
#define HOURS(n)   MINUTES((int64_t)(n)*60)
#define DAYS(n)    HOURS((int64_t)(n)*24)

/* Every world has these zones and calendars. */
enum { ZONE_UTC, ZONE_NEW_YORK, ZONE_SYDNEY, ZONE_BERLIN, WORLD_ZONES };
enum { WORLD_AGENTS = 4 };
enum { CALENDAR_NONE, CALENDAR_SOME, WORLD_CALENDARS };
extern const struct days world_calendars[WORLD_CALENDARS];
const struct zone *world_zone(unsigned zone);

struct world;
struct check;
struct opinion;
struct coverage;

/* An interval of durations, in microseconds. */
struct span {
	int64_t lo, hi;
};

/* How slow and unreliable the ports are. */
struct port_timing {
	struct span commit;         /* from a request to the write of its group */
	struct span answer;         /* from the write to the answer */
	struct span launch;         /* from RN_START to the start of the process */
	struct span report;         /* from an event of the runner to its report */
	struct span ask;            /* from RN_ASK to RN_ANSWER */
	struct span wake;           /* lateness of the timer */
	unsigned repeat_percent;    /* percentage of groups that are written twice before they are answered */
	unsigned orphan_percent;    /* percentage of the starts requested before a crash of the daemon that
				       happen after the crash */
	unsigned unseen_percent;    /* percentage of probes that come before such a start and find nothing */
	unsigned elsewhere_percent; /* percentage of live runs that another node holds after a restart */
};

/* What a simulated process does. */
struct process_plan {
	int64_t lasts;
	uint8_t outcome;
	uint16_t reason;
	struct wall reset;
	bool starts_too_late;  /* cannot be started before its window has long closed */
	bool leaves_no_record; /* dies without a record of its end, noticed only by a probe */
	int64_t kill_takes;    /* from RN_KILL to the proven death of the tree */
};

/* The test's part of the simulation: the behaviour of runs, the answers of preconditions, and incidents. */
struct workload {
	struct process_plan (*plan)(struct world *w, const struct rn_req *start);
	bool (*answer)(struct world *w, const struct rn_req *ask, uint16_t *reason);
	void (*incident)(struct world *w, uint64_t a, uint64_t b); /* added by world_add_incident */
	void *self;
};

/* A bug planted between the engine and its ports. Each hook may be NULL. A hook may change the request or
 * answer that passes; it drops the request or answer by returning false. */
struct bug {
	const char *name, *rule;
	bool (*submit)(struct world *w, struct st_req *q);
	void (*applied)(struct world *w, const struct st_req *q, struct st_ack *a); /* the store's rows */
	bool (*ack)(struct world *w, struct st_ack *a);
	bool (*runner)(struct world *w, struct rn_req *q);
	bool (*report)(struct world *w, struct rn_report *s);
	void (*load)(struct world *w, struct load_item *item);
	void (*config)(struct engine_config *c);
	void (*later)(struct world *w, uint64_t a, uint64_t b); /* W_BUG */
};

/* --- the simulated runner --- */

enum file_state { FILE_REQUESTED, FILE_ALIVE, FILE_ENDED, FILE_LOST, FILE_PREVENTED };

/* The run file of an attempt, which survives crashes of the daemon. */
struct run_file {
	struct rn_req request; /* the RN_START */
	uint8_t state;         /* enum file_state */
	bool orphan;  /* a dead launcher started the attempt after the engine was told that it had not started
		       */
	bool watched; /* the present runner will report its end */
	bool kill_pending; /* the process is to be killed, for kill_reason */
	bool killed;       /* the process dies because it was killed */
	uint16_t kill_reason;
	struct process_plan plan;
	int64_t started, end;
	int64_t last_report; /* true time of the last report that was sent */
	struct rn_report exit;
};

/* A report on its way to the engine. */
struct sent_report {
	struct rn_report report;
	uint32_t epoch;  /* epoch of the engine that gets the report; 0: this slot is free */
	uint8_t answers; /* the op of the request that it answers */
};

/* --- the simulated store --- */

/* Requests that are committed together. */
struct commit_group {
	struct st_req *req; /* NULL: this slot is free */
	struct st_ack *ack;
	unsigned n;
	unsigned applied; /* how often the group was written */
	uint32_t epoch;
};

struct lane_queue {
	struct st_req *req;
	unsigned head, n, room;
};

struct world {
	uint64_t seed, random;
	int64_t t;          /* true time */
	int64_t wall_ahead; /* wall - t */
	int64_t booted;     /* t at which the machine was started */
	/* Counts engines and crashes; agenda entries and answers of an older epoch are void. */
	uint32_t epoch;

	struct engine *engine; /* NULL: the daemon is down */
	struct engine_config config;
	const struct zone *zones[WORLD_ZONES];
	uint64_t agents[WORLD_AGENTS], default_agent; /* fingerprints of definitions */
	struct effects fx;
	int64_t wake;        /* when the engine's timer expires; INT64_MAX: never */
	unsigned idle_steps; /* number of steps without any effect at the present time */
	uint64_t steps;

	struct agenda agenda;
	struct port_timing timing;
	const struct workload *workload;
	const struct bug *bug;

	struct model *rows;   /* the contents of the store */
	struct model *backup; /* or NULL */
	int64_t backup_t;     /* when it was made */
	struct lane_queue lane[LANES];
	struct commit_group *group;
	unsigned groups, group_room;
	bool commit_armed; /* W_COMMIT is in the agenda */
	bool repeating;    /* a group will be written again, and no other request may overtake it */
	int64_t outage_until, last_answer;

	struct run_file *file;
	unsigned files, file_room;
	struct map file_of; /* run files by (run, attempt) */
	struct sent_report *report;
	unsigned reports, report_room, reports_under_way;

	uint64_t calls;       /* port calls so far; each counts twice, before and after it */
	uint64_t crash_at;    /* the call at which to crash; 0: none */
	bool crash_machine;   /* at crash_at the machine crashes, not only the daemon */
	int64_t down_for;     /* how long the daemon is down after that crash */
	uint64_t crash_again; /* crash once more, this many calls later; 0: do not */

	struct check *check;
	struct opinion *opinion;
	struct coverage *coverage; /* may be NULL */
	uint64_t hash;             /* hash of everything that happened */
	uint64_t digests;          /* number of comparisons of the engine with a freshly loaded engine */
	bool verbose;
	bool foreign_writes; /* another writer changes the store, so the engine's memory may be older than the
				store */
	bool taken;          /* another node owns the part of all schedules */
	bool fenced;         /* the engine has learned from an answer that the part is taken */
	bool draining;       /* there are no more faults and commands, so that all runs end */
	uint64_t command_tag;
};

struct world_options {
	uint64_t seed;
	struct wall start;
	unsigned slots, catch_up_per_second;
	struct port_timing timing;
	const struct workload *workload;
	const struct bug *bug;
	bool has_hook; /* the configuration has a hook before every run */
	bool verbose;
};

void world_open(struct world *w, const struct world_options *o);
void world_close(struct world *w);

/* Lets time pass up to `t`. False: the checker has too many findings. */
bool world_run(struct world *w, int64_t t);
bool world_run_until_wall(struct world *w, struct wall at);
/* Continues without faults until every run has ended and the engine is quiet. If that takes longer than
 * `most`, reports a finding and returns false. */
bool world_drain(struct world *w, int64_t most);

struct now world_now(const struct world *w);
struct wall world_wall(const struct world *w);
uint64_t world_random(struct world *w, uint64_t below);
int64_t world_between(struct world *w, struct span s);
bool world_chance(struct world *w, unsigned percent);

/* --- faults and events of the daemon and the machine --- */

void world_start_engine(struct world *w);
void world_crash(struct world *w, int64_t down_for);         /* the daemon crashes; its runs continue */
void world_crash_machine(struct world *w, int64_t down_for); /* down_for is at least 30 s */
void world_outage(struct world *w, int64_t lasts);           /* the store fails */
void world_step_clock(struct world *w, int64_t by);
void world_suspend(struct world *w, int64_t lasts);
uint64_t world_command(struct world *w, struct command c); /* returns its tag */
/* Removes records that are old by then, and may be removed. */
void world_prune(struct world *w, struct wall by);
void world_back_up(struct world *w);
/* The daemon is stopped, the last backup takes the place of the store's contents, and the daemon is started.
 * There must have been no step of the clock since the backup. */
void world_restore(struct world *w, int64_t down_for);
void world_state_changed(struct world *w, uint32_t key); /* EV_STATE */
void world_documents_applied(struct world *w);           /* EV_DOCUMENTS */
/* Calls the workload's incident function after `delay`. */
void world_add_incident(struct world *w, int64_t delay, uint64_t a, uint64_t b);
/* Changes the store as another writer than the engine. */
void world_foreign_write(struct world *w, const struct st_req *q);
/* nodes.c: another node takes over the part of all schedules. The daemon learns it from a fenced answer, and
 * takes the part back when it is started again. */
void world_take_over(struct world *w);
void world_take_back(struct world *w); /* if another node has it */
/* Another node records a run of this schedule with the number that the engine is to use next. */
void world_collide(struct world *w, uint64_t sid);
/* Whether another node holds this run, which has not ended. */
bool world_is_elsewhere(const struct world *w, uint64_t run);
/* If the engine is quiet, compares its digest with that of a freshly loaded engine, and reports a finding if
 * they differ. */
void world_compare(struct world *w);

/* --- shared by the source files of the world --- */

enum world_kind {
	W_COMMIT,  /* a: 0, or 1 + the group to write again */
	W_ANSWER,  /* a: group */
	W_START,   /* a: run file */
	W_END,     /* a: run file */
	W_REPORT,  /* a: report */
	W_UP,      /* the daemon is started */
	W_TICK,    /* a: epoch */
	W_RESUMED, /* a: epoch */
	W_RELOAD,  /* a: epoch; the fenced daemon is started again */
	W_INCIDENT,
	W_BUG
};

/* Counts a port call. True: the daemon or the machine crashed at this call. */
bool world_call(struct world *w);
/* Steps the engine with an event, and carries out its effects. */
void world_step(struct world *w, const struct event *ev);
void world_hash(struct world *w, uint64_t what);                         /* adds to world.hash */
void world_log(struct world *w, const char *fmt, ...) printf_like(2, 3); /* prints only with -v */

/* nodes.c */
void world_fenced(struct world *w); /* the engine is about to get a fenced answer */
/* Another node holds some of the live runs, and reports the ends of those that it holds. */
void world_hold_elsewhere(struct world *w);

/* store.c */
void sim_store_submit(struct world *w, const struct st_req *q);
void sim_store_commit(struct world *w, unsigned again); /* 0, or 1 + the group to write again */
void sim_store_answer(struct world *w, unsigned group);
void sim_store_crash(struct world *w);
void sim_store_free(struct world *w);
bool sim_store_idle(const struct world *w);
/* Calls `fn` for every request that is not answered; `applied`: it was written. */
void sim_store_each(const struct world *w, void (*fn)(void *ctx, const struct st_req *q, bool applied),
		    void *ctx);

/* runner.c */
void sim_runner_request(struct world *w, const struct rn_req *q);
void sim_runner_start(struct world *w, unsigned file);
void sim_runner_end(struct world *w, unsigned file);
void sim_runner_report(struct world *w, unsigned report);
/* The other node reports the end of this attempt, now or when it comes. */
void sim_runner_report_elsewhere(struct world *w, unsigned file);
void sim_runner_crash(struct world *w, bool machine);
void sim_runner_suspend(struct world *w, int64_t lasts);
/* The store was restored and contains no run above `known`: those that are alive are killed. */
void sim_runner_restore(struct world *w, uint64_t known);
void sim_runner_free(struct world *w);
struct run_file *sim_runner_file(const struct world *w, uint64_t run, uint16_t attempt); /* NULL: none */
