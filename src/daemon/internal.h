#pragma once
/* Within the daemon: what it is, and what its parts do for each other. All on the daemon's thread, where
 * nothing else is said. */
#include "daemon/daemon.h"
#include "daemon/notify/notifier.h"
#include "daemon/prepare/worker.h"
#include "daemon/problems.h"
#include "daemon/retention/retention.h"

#include <stdatomic.h>

/* A command on its way: from whoever gave it to the engine, and its answer back. */
struct pending_command {
	struct daemon *d;
	struct command command;
	reply_fn *done;
	void *ctx;
	char *id, *document, *source, *note; /* copies, until the store has answered */
	struct boot give_up;                 /* until then a busy schedule is asked again */
	struct pending_command *next;
};

/* A request of somebody's own to the store. */
struct store_request {
	struct daemon *d;
	struct st_req req;
	sent_fn *done;
	void *ctx;
	struct arena texts;
	struct store_request *next;
};

enum { LOG_STORE, LOG_RUNNER, LOG_CLOCK, LOG_STEP, LOGS };

struct daemon {
	struct daemon_options options;
	char *database, *runs, *letters;
	int lock;
	struct buf cgroup;
	struct token_key tokens;
	struct intern *names;
	struct store *store;
	struct runner *runner;
	struct prepare_worker *desk;
	atomic_bool closing;
	struct mailbox *mail;
	struct pump *pump;
	struct loop *loop;
	uint64_t last_tag;
	bool stopping;                   /* as soon as nothing is pending */
	struct pending_command *pending; /* those the engine has; few at a time */
	struct pending_command *again;   /* those that were answered BUSY */
	struct store_request *sent;
	struct problems *problems;
	struct retention *retain;
	struct notifier *post;
	char restored[WHY_TEXT_MAX]; /* what is to be said of it; empty: nothing */
	bool said_restored;          /* a problem of an earlier start is open */
	struct boot looked;
	struct boot fed;     /* when memory was last enough, … */
	atomic_bool starved; /* … and whether it is */
	int64_t skew;        /* wall - boot, at the last turn; 0: there was none */
	struct {
		struct boot at;
		bool fresh;              /* not yet told */
		char text[WHY_TEXT_MAX]; /* "": none of late */
	} step;                          /* the last time somebody set the clock */
	bool unwell;                     /* at the last look */
	bool said[LOGS];                 /* that it fails */
	struct {
		uint32_t at;        /* where to look on for the next outdated one */
		unsigned under_way; /* on the desk, or with the engine */
		bool again;         /* one was busy: look again when something was answered */
	} compile;
};

void daemon_tell(struct daemon *d, const struct pump_fact *f, const struct st_ack *ack);

/* --- orders.c: commands for the engine, and their answers --- */
void commands_take(void *arg); /* mail */
void commands_replied(void *ctx, const struct reply *r);
void commands_again(struct daemon *d);      /* those that were busy */
void commands_refuse_all(struct daemon *d); /* nothing can be written */
void commands_stop(void *arg);              /* mail: as soon as all are answered */
void commands_free(struct pending_command *p);
void commands_free_all(struct pending_command *p);

/* --- sends.c: requests of others to the store --- */
void store_requests_take(void *arg); /* mail */
void store_requests_answered(void *ctx, const struct st_ack *ack);
void store_requests_problem(void *ctx, const struct st_req *r); /* from the desk's thread */
must_check enum err store_requests_post(void *ctx, const struct st_req *r, sent_fn *done, void *arg);
void store_requests_free(struct store_request *s);

/* --- health.c: what fails, and who is told --- */
int64_t health_turned(void *ctx, struct now now);

/* --- attempts.c: between the runner and the desk --- */
void attempts_want(void *ctx, const struct rn_req *r);
must_check enum err attempts_ask(void *ctx, const struct rn_req *r);
void attempts_prepared(void *ctx, struct prepare_task *j); /* on the desk's thread, as the next */
void attempts_answered(void *ctx, const struct rn_report *says, struct str words);
void attempts_give(void *arg); /* mail, as the next */
void attempts_say(void *arg);

/* --- outdated.c: rules of another version, for other zone files or another agent --- */
void recompile_all(void *arg); /* mail */
void recompile_compiled(void *ctx, uint64_t sid, enum err e,
			const struct rules *rules); /* on the desk's thread */
void recompile_zones_read(void *ctx);               /* so is this */
/* The definition of this agent is another now, is there for the first time, or has gone: the store has it,
 * and readers see it. */
void recompile_agent(struct daemon *d, const struct agent_row *changed);

/* --- datadir.c: the directory, and who has it --- */
char *datadir_path(const char *dir, const char *name); /* NULL: no memory */
must_check enum err datadir_make(const char *path, struct why *why);

/* --- past.c: what is old, and what was brought back --- */
must_check enum err retention_start(struct daemon *d, struct why *why);
must_check enum err restore_check(struct daemon *d, struct why *why);
void restore_report(void *arg); /* mail */
