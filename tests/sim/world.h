#pragma once
/* The simulated world: one agenda of wake-ups, completions and faults on virtual clocks, the engine unchanged
 * in the middle, and ports that delay, fail and crash. Everything random comes from one seed, so that a seed
 * is a history.
 *
 * Three times: `t` is true time, which only the world knows; wall is what the engine reads as the time of
 * day (it can be stepped); boot counts from the last start of the machine, suspension included. */
#include "agenda.h"
#include "core/engine/engine.h"
#include "model.h"
#include "table.h"

#define SECONDS(n) ((int64_t)(n)*USEC)
#define MINUTES(n) SECONDS((int64_t)(n)*60)
#define HOURS(n)   MINUTES((int64_t)(n)*60)
#define DAYS(n)    HOURS((int64_t)(n)*24)

/* The zones and calendars every world has. */
enum { ZONE_UTC, ZONE_NEW_YORK, ZONE_SYDNEY, ZONE_BERLIN, WORLD_ZONES };
enum { WORLD_AGENTS = 4 };
enum { CALENDAR_NONE, CALENDAR_SOME, WORLD_CALENDARS };
extern const struct days world_calendars[WORLD_CALENDARS];
const struct zone *world_zone(unsigned zone);

struct world;
struct check;
struct coverage;

/* From, to, in microseconds. */
struct span {
	int64_t lo, hi;
};

/* How slow the ports are. */
struct port_timing {
	struct span commit;      /* a request until its group is written */
	struct span answer;      /* written until the engine hears of it */
	struct span launch;      /* asked until born */
	struct span report;      /* something happened until the engine hears of it */
	struct span ask;         /* a guard's answer */
	struct span wake;        /* the timer's lateness */
	unsigned repeat_percent; /* percent of groups that are written twice before they are answered */
	unsigned orphan_percent; /* percent of starts in a dead launcher's buffer that happen all the same */
};

/* What a process does. */
struct process_plan {
	int64_t lasts;
	uint8_t outcome;
	uint16_t reason;
	struct wall reset;
	bool starts_too_late;  /* cannot be born before its window is long over */
	bool leaves_no_record; /* dies without a record, and nobody notices until a probe */
	int64_t kill_takes;    /* from RN_KILL to the proven death of the tree */
};

/* Who script_run: what runs do and what guards say. */
struct workload {
	struct process_plan (*plan)(struct world *w, const struct rn_req *start);
	bool (*answer)(struct world *w, const struct rn_req *ask, uint16_t *reason);
	void (*incident)(struct world *w, uint64_t a, uint64_t b); /* agenda entries of the history itself */
	void *self;
};

/* Bugs on purpose, between the engine and its ports. Any may be NULL. */
struct bug {
	const char *name, *rule;
	bool (*submit)(struct world *w, struct st_req *q); /* false: swallow it */
	bool (*ack)(struct world *w, struct st_ack *a);
	bool (*runner)(struct world *w, struct rn_req *q);
	bool (*report)(struct world *w, struct rn_report *s);
	void (*load)(struct world *w, struct load_item *item);
	void (*config)(struct engine_config *c);
	void (*later)(struct world *w, uint64_t a, uint64_t b); /* W_BUG */
};

/* --- the runner's side --- */

enum file_state { FILE_REQUESTED, FILE_ALIVE, FILE_ENDED, FILE_LOST, FILE_PREVENTED };

/* A run file: what is left of an attempt, whatever becomes of the daemon. */
struct run_file {
	struct rn_req request;
	uint8_t state;
	bool orphan;       /* born of a dead launcher's buffer, after the engine was told otherwise */
	bool watched;      /* somebody waits for its end and will say so */
	bool kill_pending; /* to be killed, with this reason … */
	bool killed;       /* … and that is what it dies of */
	uint16_t kill_reason;
	uint32_t boot_id;
	struct process_plan plan;
	int64_t started, end;
	int64_t last_report;
	struct rn_report exit;
};

struct sent_report { /* on its way to the engine */
	struct rn_report report;
	uint32_t epoch;
	uint8_t answers; /* the request it script_answer, if it does */
};

/* --- the store's side --- */

struct commit_group { /* one commit */
	struct st_req *req;
	struct st_ack *ack;
	unsigned n, applied; /* how often */
	uint32_t epoch;
};

struct lane_queue {
	struct st_req *req;
	size_t head, n, room;
};

struct world {
	uint64_t seed, random;
	int64_t t;
	int64_t wall_ahead; /* wall - t */
	int64_t booted;     /* t at which the machine was started */
	uint32_t boot_id;
	uint32_t epoch; /* counts the engines */

	struct engine *engine; /* NULL: down */
	struct engine_config config;
	const struct zone *zones[WORLD_ZONES];
	uint64_t agents[WORLD_AGENTS], default_agent; /* prints of definitions */
	struct effects fx;
	int64_t wake; /* when the timer goes off; INT64_MAX: never */
	int64_t down_since, up_since;
	unsigned idle_steps; /* steps since time last moved */
	uint64_t steps;

	struct agenda agenda;
	struct port_timing timing;
	const struct workload *workload;
	const struct bug *bug;

	struct rows *rows;
	struct lane_queue lane[LANES];
	struct commit_group *group;
	unsigned groups, group_room;
	bool commit_armed, repeating; /* a group is to be written again: nothing may overtake it */
	int64_t outage_until, last_answer;

	struct run_file *file;
	unsigned files, file_room;
	struct table file_of; /* (run, attempt) */
	struct sent_report *report;
	unsigned reports, report_room, reports_under_way;

	uint64_t calls,
		crash_at;   /* port calls so far; the call to crash at, before it if odd, after it if even */
	bool crash_machine; /* … the machine, not only the daemon */
	int64_t down_for;   /* after such a crash */
	uint64_t crash_again; /* so many calls after it once more; 0: no */

	struct check *check;
	struct coverage *coverage;
	uint64_t hash;
	uint64_t digests;             /* compared so far */
	bool verbose, foreign_writes; /* foreign: others write too, and memory may lag behind */
	bool draining;                /* no more faults, no more commands: everything comes to its end */
	uint64_t command_tag;
};

struct world_options {
	uint64_t seed;
	struct wall start;
	unsigned slots, catch_up_per_second;
	struct port_timing timing;
	const struct workload *workload;
	const struct bug *bug;
	bool verbose;
};

void world_open(struct world *w, const struct world_options *o);
void world_close(struct world *w);

/* Lets time pass up to `t`; false as soon as too much has gone wrong. */
bool world_run(struct world *w, int64_t t);
bool world_run_until_wall(struct world *w, struct wall at);
/* Runs on without faults until all is done and quiet; false if that never comes. */
bool world_drain(struct world *w, int64_t most);

struct now world_now(const struct world *w);
struct wall world_wall(const struct world *w);
uint64_t world_random(struct world *w, uint64_t below);
int64_t world_between(struct world *w, struct span s);
bool world_chance(struct world *w, unsigned percent);
/* A scene of the cast's, later. */
void world_add_incident(struct world *w, int64_t delay, uint64_t a, uint64_t b);

/* --- what befalls it --- */

void world_start_engine(struct world *w);
void world_crash(struct world *w, int64_t down_for);         /* the daemon; runs go on */
void world_crash_machine(struct world *w, int64_t down_for); /* all of it */
void world_outage(struct world *w, int64_t lasts);
void world_step_clock(struct world *w, int64_t by);
void world_suspend(struct world *w, int64_t lasts);
/* A command of a person; returns its tag. */
uint64_t world_command(struct world *w, struct command c);
void world_state_changed(struct world *w, uint32_t key);
/* With config.documents_first: they have been put in. */
void world_documents_applied(struct world *w);
/* A request that is not the engine's. */
void world_foreign_write(struct world *w, const struct st_req *q);
/* A quiet engine must equal one freshly loaded; says so if not. */
void world_compare(struct world *w);

/* --- between the files of the world --- */

enum world_kind { W_COMMIT, W_ANSWER, W_START, W_END, W_REPORT, W_UP, W_TICK, W_RESUMED, W_INCIDENT, W_BUG };

/* Counts a port call; true if the engine died at it. */
bool world_call(struct world *w);
/* Gives the engine an event and carries out what it wants. */
void world_step(struct world *w, const struct event *ev);
void world_hash(struct world *w, uint64_t what);
void world_log(struct world *w, const char *fmt, ...) printf_like(2, 3);

void sim_store_submit(struct world *w, const struct st_req *q); /* desk.c: the store */
void sim_store_commit(struct world *w, unsigned again); /* 0, or the group to write once more, plus one */
void sim_store_answer(struct world *w, unsigned group);
void sim_store_crash(struct world *w);
void sim_store_free(struct world *w);
bool sim_store_idle(const struct world *w);
/* Every request that is under way, for those who count. */
void sim_store_each(const struct world *w, void (*fn)(void *ctx, const struct st_req *q, bool applied),
		    void *ctx);

void sim_runner_request(struct world *w, const struct rn_req *q); /* hands.c: the runner */
void sim_runner_start(struct world *w, unsigned file);
void sim_runner_end(struct world *w, unsigned file);
void sim_runner_report(struct world *w, unsigned say);
void sim_runner_crash(struct world *w, bool machine);
void sim_runner_suspend(struct world *w, int64_t lasts);
void sim_runner_free(struct world *w);
struct run_file *sim_runner_file(const struct world *w, uint64_t run, uint16_t attempt);
