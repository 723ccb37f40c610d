#pragma once
/* The daemon's own state, and the functions that its source files share. They run on the daemon's thread,
 * unless their comment says otherwise. A function marked "mail" is called from the daemon's mailbox. */
#include "daemon/daemon.h"
#include "daemon/notify/notifier.h"
#include "daemon/prepare/worker.h"
#include "daemon/problems.h"
#include "daemon/retention/retention.h"

#include <stdatomic.h>

/* A command on its way to the engine, or waiting for the engine's reply. */
struct pending_command {
	struct daemon *d;
	struct command command;
	reply_fn *replied;
	void *ctx;
	struct boot give_up; /* a command that is answered with REPLY_BUSY is repeated until this time */
	struct pending_command *next;
	char texts[]; /* the texts that the command points to */
};

/* A request of daemon_send on its way to the store, or waiting for its answer. */
struct store_request {
	struct daemon *d;
	struct st_req req;
	store_answer_fn *answered;
	void *ctx;
	struct arena texts;
	struct store_request *next;
};

/* A change of a schedule that waits for the hook before it. */
struct create_hook {
	struct daemon *d;
	uint64_t run, sid; /* the run that makes the change */
	uint32_t rev, number;
	struct str input; /* allocated by malloc; p NULL: the prepare worker has it */
	create_hook_fn *answered;
	void *ctx;
	struct create_hook *next;
};

/* Numbers for names that were asked for. */
struct name_numbers {
	struct daemon *d;
	enum name_kind kind;
	uint32_t n;
};

enum health_part { HEALTH_STORE, HEALTH_RUNNER, HEALTH_CLOCK, HEALTH_CLOCK_STEP, HEALTH_PARTS };

struct daemon {
	struct daemon_options options;
	char *runs_dir, *notify_dir;
	char owner[64]; /* RUN_OWNER_NAME=value, for launchers */
	int lock;       /* descriptor that locks the data directory */
	struct buf cgroup;
	struct boot subreaper_since;
	struct token_key token_key;
	bool has_token_key; /* the store has it */
	struct name_numbers name_numbers[NAME_KINDS];

	struct store *store;
	struct runner *runner;
	struct intern *intern;
	struct mailbox *mail;
	struct prepare_worker *prepare;
	struct pump *pump;
	struct loop *loop;
	struct problems *problems;
	struct retention *retention;
	struct notifier *notifier;

	uint64_t last_tag;               /* the tag of the last command */
	struct pending_command *pending; /* commands that the engine has; few at a time */
	struct pending_command *busy;    /* commands answered with REPLY_BUSY, to be repeated */
	struct store_request *sent;      /* requests that the store has */
	struct create_hook *creates;     /* create hooks that have not answered */
	uint32_t last_create;            /* number of the last one */
	bool stopping;                   /* the loop stops as soon as no command is pending */

	struct {
		uint32_t cursor;    /* where engine_outdated continues */
		unsigned under_way; /* schedules that the prepare worker or the engine has */
		bool again; /* a schedule was busy, or the prepare worker was full: begin again after the next
			       fact */
	} recompile;

	struct {
		struct boot checked;       /* when the last check was made */
		bool failing;              /* something failed at the last check */
		bool logged[HEALTH_PARTS]; /* parts that were logged as failing */
		struct boot memory_ok;     /* when there was enough memory for the last time */
		atomic_bool lacks_memory;
		int64_t wall_minus_boot; /* wall clock minus boot clock at the last turn; 0: there was no turn
					    yet */
	} health;
	struct {
		struct boot at;
		bool fresh;              /* the step of the clock is not yet reported */
		char text[WHY_TEXT_MAX]; /* for people; empty: the clock was not set within the last
					    CLOCK_CALM_SECONDS */
	} clock_step;                    /* the last time the clock was set */

	struct {
		atomic_bool pending; /* a search is requested and has not begun */
		atomic_bool again;   /* the last search could not do everything */
	} makers;

	char restore_text[WHY_TEXT_MAX]; /* see daemon_restore_text; empty: the database was not restored */
	bool restore_problem_open; /* an earlier start opened the problem "restored", and it is still open */
};

/* --- commands.c: commands to the engine, and its replies --- */
void commands_take(void *arg); /* mail */
/* Like daemon_command, but does not check whether the store can write. E_NOMEM. */
must_check enum err commands_give(struct daemon *d, const struct command *c, reply_fn *replied, void *ctx);
void commands_replied(void *ctx, const struct reply *r);
void commands_repeat(struct daemon *d);     /* repeats the commands that were answered with REPLY_BUSY */
void commands_refuse_all(struct daemon *d); /* because the store cannot write */
void commands_stop(void *arg);              /* mail: stops the loop as soon as no command is pending */
void commands_free_all(struct pending_command *p);

/* --- store_requests.c: requests to the store that are not the engine's --- */
void store_requests_take(void *arg); /* mail */
/* Submits a request at once, before the requests of events that follow. On the daemon's thread. E_NOMEM. */
must_check enum err store_requests_submit(struct daemon *d, const struct st_req *r);
void store_requests_answered(void *ctx, const struct st_ack *ack);
void store_requests_free(struct store_request *s);

/* --- shared.c: what several nodes share --- */
void shared_load(struct daemon *d, const struct load_item *item);
/* To be called when everything is loaded: makes and stores a key, if the store has none. */
must_check enum err shared_open_key(struct daemon *d, struct why *why);
/* To be called before any other request is under way: takes the first numbers for names, and waits for them.
 */
void shared_take_numbers(struct daemon *d);
void shared_number_names(struct daemon *d); /* lets new names get further numbers from the store */

/* --- attempts.c: attempts to be prepared, and finished tasks --- */
void attempts_want(void *ctx, const struct rn_req *r);
void attempts_finished(void *ctx, struct prepare_task *t); /* runs on a thread of the prepare worker */
void attempts_take(void *arg);                             /* mail */
bool attempts_hook_ended(void *ctx, const struct rn_report *program);
struct str attempts_result(void *ctx, const struct run_row *run, struct arena *a);
void attempts_happened(void *ctx, const struct pump_fact *f, const struct st_ack *ack);

/* --- create_hooks.c: the hook before a run creates or changes a schedule --- */
void create_hooks_take(void *arg); /* mail */
must_check enum err create_hooks_prepare(struct daemon *d, const struct rn_req *r);
void create_hooks_answered(struct daemon *d, const struct prepare_task *t);
void create_hooks_free(struct create_hook *h);

/* --- recompile.c: schedules whose rules are outdated --- */
void recompile_all(void *arg); /* mail */
void recompile_finished(struct daemon *d, struct prepare_task *t);
void recompile_zones_read(void *ctx); /* runs on a thread of the prepare worker */
/* Recompiles the schedules that use an agent. To be called when the agent was defined, changed or removed,
 * and readers of the store see the change. */
void recompile_agent(struct daemon *d, const struct agent_row *changed);
/* The store has answered a request to store a name. If the name has another number there, recompiles the
 * schedules that were compiled with the number that it had here. */
void recompile_name(struct daemon *d, const struct name_row *asked, const struct st_ack *ack);
void recompile_happened(void *ctx, const struct pump_fact *f, const struct st_ack *ack);

/* --- makers.c: schedules that runs have made end with the schedule of these runs --- */
void makers_check(struct daemon *d);
void makers_happened(void *ctx, const struct pump_fact *f, const struct st_ack *ack);

/* --- health.c: logs failures, and reports them as problems --- */
/* After every turn of the loop: see struct loop_config. */
int64_t health_after_turn(void *ctx, struct now now);

/* --- datadir.c: the data directory and its lock --- */
char *datadir_path(const char *dir, const char *name); /* NULL: no memory */
must_check enum err datadir_make(const char *path, struct why *why);

/* --- retention/restore_check.c: databases that were restored from a copy --- */
/* To be called before the engine is loaded, and before anything else uses the store and the runner. */
must_check enum err restore_check(struct daemon *d, struct why *why);
void restore_report(void *arg); /* mail */
