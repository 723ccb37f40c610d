#pragma once
/* The notifier: a thread that sends messages to people. It turns news, which the store has written together
 * with their causes, into messages, one for each target; delivers the messages that are due; and records the
 * result of each attempt.
 *
 * It executes deliveries with a runner, a launcher and a directory of its own. So a delivery that hangs
 * delays no run, the next daemon adopts deliveries under way, and the daemon itself opens no connection. */
#include "core/doc/config/events.h"
#include "core/doc/config/notify.h"
#include "daemon/out_request.h"
#include "daemon/pump.h"

struct daemon;
struct notifier;

struct notifier_options {
	struct daemon *daemon;
	const char *dir;      /* the directory of the files of deliveries */
	const char *launcher; /* path of the launcher program */
	const char *owner;    /* as for launcher_start */
	struct out_service out;
	const struct config_pass_env *pass_env;
	const struct config_notify *config; /* NULL: the configuration in the store */
	const struct config_events *events; /* webhooks of events; NULL: none */
};

must_check enum err notifier_open(const struct notifier_options *o, struct notifier **ret, struct why *why);
void notifier_close(struct notifier *n); /* deliveries under way continue */

/* --- from any thread --- */

/* The configuration in the store has changed. */
void notifier_config_changed(struct notifier *n);
/* For pump_subscribe; `notifier` is a struct notifier. */
void notifier_happened(void *notifier, const struct pump_fact *f, const struct st_ack *ack);

/* For pump_subscribe_log: events were logged up to this number. */
void notifier_logged(void *notifier, uint64_t number, struct wall done);

/* The beginning of the keys of states in which the store keeps the positions of webhooks of events. */
#define EVENT_STATE_KEY "/events/"
/* The key of the state in which the store keeps what `rota notify set` configured. No agent can have this
 * name. */
#define NOTIFIER_STATE_KEY "/notify"
/* The targets of the configuration or, if `config` is NULL, of the store; there may be none. *origin is set
 * to the part of message_row.origin that changes whenever the targets change. */
struct reader;
must_check enum err notifier_config(struct reader *r, const struct config_notify *config, struct arena *a,
				    struct config_notify *ret, const char **origin, struct why *why);
