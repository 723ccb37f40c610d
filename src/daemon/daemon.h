#pragma once
/* The daemon without its surfaces: engine, store, runner, and the threads between them. It is opened, run by
 * one thread until it is stopped, and closed. What others may ask of it goes through its mailbox. */
#include "daemon/intern.h"
#include "daemon/loop.h"
#include "daemon/out_request.h"
#include "exec/launch.h"

struct daemon_options {
	const char *data;     /* the directory; made if need be */
	const char *socket;   /* told to runs as ROTA_SOCKET */
	const char *launcher; /* the program */
	struct way_out out;
	struct secret_list secrets;
	unsigned slots, catch_up_per_second;
	const struct config_notify *notify; /* who is told; NULL: whom the store says */
	bool documents_first;               /* nothing comes due before daemon_documents */
	struct {
		int64_t runs_days, logs_days, logs_bytes; /* what is older, or beyond, goes … */
		int64_t every;                            /* … and is looked for so often, in seconds */
	} kept;
	struct doc_env defaults; /* for documents that say nothing: timeouts */
	/* Told of everything that is durable, on the daemon's thread. May be NULL. */
	void *ctx;
	void (*happened)(void *ctx, const struct pump_fact *f, const struct st_ack *ack);
	void (*zones_changed)(void *ctx);
	/* A signal asks it to end: who can give it orders gives no more, and calls daemon_stop. May be NULL.
	 */
	void (*stopping)(void *ctx);
	/* Told on the daemon's thread when something of the machine's fails, and how, and when it is over
	 * (NULL): for a log, since the store may be what fails. May be NULL. */
	void (*trouble)(void *ctx, const char *what, const char *text);
};

/* For who works on a data directory without serving it: makes it if need be, and keeps daemons out until the
 * descriptor is closed. E_BUSY: one serves it. */
must_check enum err daemon_lock(const char *data, int *ret, struct why *why);

struct daemon;
/* Reads the store. E_BUSY: another daemon has this directory. E_INPUT, E_IO: as store_sqlite_open says. Call
 * it before any other thread is started: the launcher must be the child of a small process. */
must_check enum err daemon_open(const struct daemon_options *o, struct daemon **ret, struct why *why);
/* Goes on until SIGTERM, SIGINT or daemon_stop. */
must_check enum err daemon_run(struct daemon *d, struct why *why);
void daemon_close(struct daemon *d); /* runs go on */

/* --- from any thread --- */

typedef void reply_fn(void *ctx, const struct reply *r);
/* A command for the engine; texts are copied. `done` is called on the daemon's thread, once, unless the
 * daemon stops before. E_BUSY: too many at a time. A schedule whose row is being changed is busy for a
 * moment, and one that is edited while something of it is late is busy once: what is answered REPLY_BUSY is
 * asked again for ORDER_BUSY_MS (a run, which may be busy for hours, for RUN_BUSY_MS). While the store cannot
 * write, what needs it is E_BUSY, too, and what is under way is answered REPLY_BUSY, though it may still be
 * done when the store works again. */
must_check enum err daemon_order(struct daemon *d, const struct command *c, reply_fn *done, void *ctx);
/* A request of one's own to the store, whose texts are copied. `done` (may be NULL)
 * is called on the daemon's thread with its answer, unless the daemon stops before. E_BUSY: too many at a
 * time. */
typedef void sent_fn(void *ctx, const struct st_ack *ack);
must_check enum err daemon_send(struct daemon *d, const struct st_req *r, sent_fn *done, void *ctx);
/* Calls fn(arg) on the daemon's thread. */
must_check enum err daemon_call(struct daemon *d, mail_fn *fn, void *arg);
/* E_IO while nothing can be written, with the reason. */
must_check enum err daemon_writes(struct daemon *d, struct why *why);
void daemon_stop(struct daemon *d); /* when the orders it has are answered */

struct intern *daemon_intern(struct daemon *d);
const char *daemon_database(const struct daemon *d); /* the file a reader opens */
/* One more of it, to be closed before the daemon is. */
struct reader;
must_check enum err daemon_reader(struct daemon *d, struct reader **ret, struct why *why);
const char *daemon_runs(const struct daemon *d); /* the directory of run files and logs */
const char *daemon_out(const struct daemon *d);  /* the program that sends requests; NULL: none */
/* Who is told by the configuration or the store: see notifier_config. */
struct config_notify;
must_check enum err daemon_notify(struct daemon *d, struct reader *r, struct arena *a,
				  struct config_notify *ret, const char **origin, struct why *why);
struct token_key;
const struct token_key *daemon_tokens(const struct daemon *d);

/* --- on the daemon's thread --- */

/* What the documents say has been put in. */
void daemon_documents(struct daemon *d);
const struct engine *daemon_engine(const struct daemon *d);
/* What is wrong with the store, or else with the runner: E_IO with what, and which of the two. */
must_check enum err daemon_trouble(struct daemon *d, const char **which, struct why *why);
/* What is wrong with each of them. */
must_check enum err daemon_store_trouble(struct daemon *d, struct why *why);
must_check enum err daemon_runner_trouble(struct daemon *d, struct why *why);
bool daemon_has_cgroup(const struct daemon *d);
/* For people, where the store was found to be older than its directory; NULL: it was not. */
const char *daemon_restored(const struct daemon *d);
