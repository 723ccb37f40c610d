#pragma once
/* The daemon without HTTP and command line: the engine, the store, the runner, and the threads between them.
 * It is opened, run by one thread until it is stopped, and closed. Other threads reach it by the functions
 * below, which put their work into its mailbox. */
#include "daemon/intern.h"
#include "daemon/loop.h"
#include "daemon/out_request.h"
#include "exec/launch.h"
#include "exec/lineage.h"

struct daemon_options {
	const char *data;     /* the data directory; created if it is missing */
	const char *socket;   /* passed to runs as ROTA_SOCKET */
	const char *launcher; /* path of the launcher program */
	struct out_service out;
	const char *rota;          /* path of this program; NULL: not known */
	int64_t component_seconds; /* default for a component of a workflow */
	struct secret_list secrets;
	const struct config_pass_env
		*pass_env; /* variables of the daemon that programs get; NULL: the usual */
	unsigned slots, catch_up_per_second;
	const struct config_notify *notify; /* targets of notifications; NULL: those in the store */
	const struct config_hooks *hooks;   /* NULL: none */
	const struct config_events *events; /* webhooks of events; NULL: none */
	const char *hooks_cwd;              /* where these hooks are executed; NULL: / */
	bool documents_first;               /* nothing comes due before daemon_documents_applied */
	struct {
		/* Records and files beyond these limits are removed. */
		int64_t runs_days, events_days, logs_days, logs_bytes;
		int64_t every; /* seconds between two passes */
	} retention;
	int stop_fd;             /* asks the daemon to end (daemon/stop_signal.h) */
	struct doc_env defaults; /* default values for documents: zone, calendars, timeouts, agent */
	/* The following are called on the daemon's thread, and may be NULL. */
	void *ctx;
	void (*zones_changed)(void *ctx);
	/* Called when the daemon is asked to end. The callee stops all callers of daemon_command, then calls
	 * daemon_stop. */
	void (*stopping)(void *ctx);
	/* Called when a part of the machine begins to fail and, with text NULL, when it has recovered. The
	 * callee writes it to a log, because the store may be the part that fails. */
	void (*trouble)(void *ctx, const char *what, const char *text);
};

/* Refuses a data directory that belongs to another user or that group or others can write: a user who can
 * replace the database can choose what rota executes. E_NOTFOUND: there is no such directory. */
must_check enum err daemon_check_data(const char *data, struct why *why);
/* For programs that work on a data directory without serving it: creates it if it is missing, and locks it,
 * so that no daemon can serve it until the descriptor is closed. E_BUSY: a daemon serves it. */
must_check enum err daemon_lock(const char *data, int *ret, struct why *why);

struct daemon;
/* Loads the engine from the store. E_BUSY: another daemon serves this directory. E_INPUT, E_IO: see
 * store_open. Call it before the process grows: the launcher must be the child of a small process. */
must_check enum err daemon_open(const struct daemon_options *o, struct daemon **ret, struct why *why);
/* Calls fn on the daemon's thread when events were logged; see pump_subscribe_log. Between daemon_open and
 * daemon_run only. */
void daemon_subscribe_log(struct daemon *d, pump_log_fn *fn, void *ctx);
/* Returns after SIGTERM, SIGINT or daemon_stop. */
must_check enum err daemon_run(struct daemon *d, struct why *why);
void daemon_close(struct daemon *d); /* runs continue */

/* --- from any thread --- */

typedef void reply_fn(void *ctx, const struct reply *r);
/* Gives the engine a command; its texts are copied. `replied` is called once, on the daemon's thread, unless
 * the daemon stops before.
 *
 * E_BUSY: too many commands, or the store cannot write and the command needs it. A schedule whose row is
 * being changed is busy for a moment, so a command that the engine answers with REPLY_BUSY is repeated for
 * COMMAND_BUSY_MS (CMD_RUN, whose schedule may be busy for hours, for RUN_BUSY_MS). If the store stops
 * writing, commands under way are answered with REPLY_BUSY, but they may still be carried out when the store
 * writes again. */
must_check enum err daemon_command(struct daemon *d, const struct command *c, reply_fn *replied, void *ctx);
typedef void store_answer_fn(void *ctx, const struct st_ack *ack);
/* Sends a request to the store; its texts are copied. `answered` (may be NULL) is called once, on the
 * daemon's thread, unless the daemon stops before. E_BUSY: too many requests. */
must_check enum err daemon_send(struct daemon *d, const struct st_req *r, store_answer_fn *answered,
				void *ctx);
/* The same, but waits while there are too many requests; E_GONE: the daemon stops. Not for the daemon's own
 * thread. */
must_check enum err daemon_send_wait(struct daemon *d, const struct st_req *r, store_answer_fn *answered,
				     void *ctx);
/* Whether the configuration has a hook before:schedule:create. */
bool daemon_has_create_hook(const struct daemon *d);
enum create_answer {
	CREATE_ALLOWED,
	CREATE_CANCELLED, /* `words` says why */
	CREATE_BUSY,      /* it could not be asked: try again */
};
typedef void create_hook_fn(void *ctx, enum create_answer answer, struct str words);
/* Asks that hook whether `run` may create or change a schedule; `input`, the hook's standard input, is
 * copied. `answered` is called once, on the daemon's thread, unless the daemon stops before. E_BUSY: too many
 * calls. */
must_check enum err daemon_ask_create_hook(struct daemon *d, const struct run_row *run, struct str input,
					   create_hook_fn *answered, void *ctx);
/* Calls fn(arg) on the daemon's thread. E_BUSY: too many calls. */
must_check enum err daemon_call(struct daemon *d, mail_fn *fn, void *arg);
/* Returns E_IO or E_NOMEM, and the reason, while the store cannot write. */
must_check enum err daemon_can_write(struct daemon *d, struct why *why);
void daemon_stop(struct daemon *d); /* ends daemon_run when all commands are answered */

struct reader;
/* Opens a reader of the store; close it before the daemon. */
must_check enum err daemon_reader(struct daemon *d, struct reader **ret, struct why *why);
struct intern *daemon_intern(struct daemon *d);
/* Where exec/lineage.h finds the runs of this daemon. */
struct lineage_place daemon_lineage_place(const struct daemon *d);
const char *daemon_runs_dir(const struct daemon *d);    /* the directory of run files and logs */
const char *daemon_out_program(const struct daemon *d); /* rota-out; NULL: not installed */
struct token_key;
const struct token_key *daemon_token_key(const struct daemon *d);
struct config_notify;
/* The targets of notifications: see notifier_config. */
must_check enum err daemon_notify_config(struct daemon *d, struct reader *r, struct arena *a,
					 struct config_notify *ret, const char **origin, struct why *why);
/* If the database was restored from a copy: a sentence for people that says so. Otherwise NULL. */
const char *daemon_restore_text(const struct daemon *d);

/* --- on the daemon's thread --- */

/* The documents that documents_first waits for are in the store. */
void daemon_documents_applied(struct daemon *d);
const struct engine *daemon_engine(const struct daemon *d);
bool daemon_has_cgroup(const struct daemon *d);
/* These return E_IO or E_NOMEM, and the reason: the first while the store fails, the second while runs cannot
 * be started. */
must_check enum err daemon_store_trouble(struct daemon *d, struct why *why);
must_check enum err daemon_runner_trouble(struct daemon *d, struct why *why);
/* Returns E_IO and the reason if the store or the runner fails, and sets *which to "store" or "runner"; to
 * "store" if both fail. */
must_check enum err daemon_trouble(struct daemon *d, const char **which, struct why *why);
