#pragma once
/* The configuration: one table of settings, and for each value where it came from. A flag counts for more
 * than the environment, that for more than the file, that for more than the default. Pure: who asks brings
 * flags, environment and file along. See rota.yaml(5). */
#include "base/net.h"
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
	struct peer *allow; /* who is private and may be spoken to */
	unsigned allowed;
	struct str ca;  /* file of trusted certificates; empty: the machine's */
	bool downgrade; /* follow redirects from https to http */
};

/* What agents may be given by name; where it is to be had, one of these. Its value is no setting. */
struct config_secret {
	struct str name; /* of the variable it becomes */
	struct str file, credential;
	struct doc_command command;
};

struct config {
	struct str data, socket, timezone;
	struct str default_agent; /* empty: the only one there is */
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
	struct config_notify notify;
	bool says_notify; /* the file does */
};

struct setting {
	struct key key;
	const char *variable; /* of the environment; NULL: none */
	const char *help;
};
/* Ends with a NULL name. The key's name is that of the flag, too, with '-' for '_'. */
extern const struct setting config_settings[];
enum { CONFIG_SETTINGS_MAX = 32 };

/* A value beside its setting's place in the table. */
struct config_source {
	enum config_origin origin;
	uint32_t at; /* CONFIG_FILE: offset in its text */
};

/* What the values are put together from. */
struct config_env {
	const char *(*variable)(void *self, const char *name); /* NULL where it is not set */
	const char *(*flag)(void *self, const char *name);     /* NULL where it is not given */
	void *self;
	struct str text;        /* of the file; positions count in it */
	const struct val *file; /* its documents, a list; NULL: there is none */
	const struct zone_source *zones;
};

/* Whatever `ret` points to lives in `a` and in what `env` gave. why->at counts in env->text where the file is
 * at fault, else it is WHY_NOWHERE. */
must_check enum err config_read(const struct config_env *env, struct arena *a, struct config *ret,
				struct config_source source[CONFIG_SETTINGS_MAX], struct why *why);

/* For documents that say nothing: timeouts, and the agent. */
void config_defaults(const struct config *c, struct doc_env *ret);

/* The named lists of dates, as expressions ask for them. Lives as long as `c`. */
struct calendars config_calendars(struct config *c);
