#pragma once
/* The configuration: one table of settings, and where each value came from. A flag overrides the environment,
 * the environment overrides the file, and the file overrides the default. Pure: the caller provides flags,
 * environment and file. See rota.yaml(5). */
#include "base/net.h"
#include "core/doc/config/events.h"
#include "core/doc/config/notify.h"
#include "core/doc/doc.h"
#include "core/doc/keys.h"
#include "core/when/when.h"

enum config_origin { CONFIG_DEFAULT, CONFIG_FILE, CONFIG_ENVIRONMENT, CONFIG_FLAG };

struct config_calendar {
	struct str name;
	struct days days;
};

/* Requests to the network: webhooks, notifications, pings. */
struct config_out {
	struct peer *allow; /* private addresses and hosts that requests may be sent to */
	unsigned allowed;
	struct str ca;  /* file of trusted certificates; empty: those of the system */
	bool downgrade; /* follow redirects from https to http */
};

/* A secret that agents can name. Exactly one of file, credential and command says where its value is; the
 * value itself is never part of the configuration. */
struct config_secret {
	struct str name; /* of the environment variable that has the value */
	struct str file, credential;
	struct doc_command command;
};

/* Variables of the daemon's environment that runs get besides the usual ones. */
struct config_pass_env {
	bool all;
	struct str *name; /* NAME, or BEGINNING* */
	unsigned names;
};

/* Hooks of all schedules. */
struct config_hooks {
	struct doc_hook trigger, create;
};

struct config {
	struct str data, socket, timezone;
	bool has_timezone;        /* false: it is not set, and `timezone` is UTC for that reason */
	struct str default_agent; /* empty: the only agent, if there is one */
	int64_t slots, catch_up_per_second;
	int64_t timeout_command, timeout_agent, timeout_request; /* seconds */
	int64_t log_head, log_tail;                              /* bytes */
	int64_t kept_runs_days, kept_events_days, kept_logs_days;
	int64_t kept_logs;  /* bytes */
	int64_t kept_every; /* seconds */
	struct config_calendar *calendar;
	unsigned calendars;
	struct config_out out;
	struct config_secret *secret;
	unsigned secrets;
	struct config_pass_env pass_env;
	struct val interpreters; /* of workflows: the command by language */
	struct config_notify notify;
	bool has_notify; /* `notify` is in the file */
	struct config_hooks hooks;
	struct config_events events;
};

struct setting {
	struct key key;
	const char *variable; /* of the environment; NULL: only the file can set it */
	const char *help;
};
/* Ends with a NULL name. The flag has the name of the key, with '-' for '_'. */
extern const struct setting config_settings[];
enum { CONFIG_SETTINGS_MAX = 32 };

/* Where the value of a setting came from. */
struct config_source {
	enum config_origin origin;
	uint32_t at; /* CONFIG_FILE: offset in the file */
};

/* The sources of the values. */
struct config_env {
	const char *(*variable)(void *self, const char *name); /* NULL: not set */
	const char *(*flag)(void *self, const char *name);     /* NULL: not given */
	void *self;
	struct str text;        /* the text of the file; positions are offsets in it */
	const struct val *file; /* the list of its documents; NULL: there is no file */
	const struct zone_source *zones;
	/* The caller needs only the settings of expressions: data and socket may stay empty, so that a
	 * machine without a home directory is no error. */
	bool expressions_only;
};

/* source[i] becomes the source of config_settings[i]. `ret` points into `a` and into the texts that `env`
 * returned. why->at is an offset in env->text if the error is in the file, else WHY_NOWHERE. */
must_check enum err config_read(const struct config_env *env, struct arena *a, struct config *ret,
				struct config_source source[CONFIG_SETTINGS_MAX], struct why *why);

/* Sets the defaults of documents: timeouts, the agent, and the zone of expressions that name none (the
 * setting `timezone`, UTC if it is not set). ret->when.zones may be NULL: then only the name of the zone is
 * set. */
void config_defaults(const struct config *c, struct doc_env *ret);

/* The calendars, for expressions. They live as long as `c`. */
struct calendars config_calendars(struct config *c);
