#pragma once
/* The post: a thread that tells people. News become notices, one for each target; what is due is tried, and
 * how each attempt ended is recorded. Everything it starts is started by a launcher of its own, in a
 * directory of its own: nothing that hangs there delays a run, what is under way is adopted by the next
 * daemon, and the daemon itself speaks to nobody. */
#include "core/doc/config/notify.h"
#include "daemon/out_request.h"
#include "daemon/pump.h"

struct daemon;
struct notifier;

struct notifier_options {
	struct daemon *daemon;
	const char *dir;      /* of what it starts */
	const char *launcher; /* the program */
	struct way_out out;
	const struct config_notify *config; /* NULL: what the store has counts */
};

must_check enum err notifier_open(const struct notifier_options *o, struct notifier **ret, struct why *why);
void notifier_close(struct notifier *p); /* what is under way goes on */

/* --- from any thread --- */
void notifier_config_changed(struct notifier *p); /* in the store */
/* For pump_subscribe. */
void notifier_happened(void *notifier, const struct pump_fact *f, const struct st_ack *ack);

/* Where the store keeps what `rota notify set` said: no agent has such a name. */
#define NOTIFIER_STATE_KEY "/notify"
/* Who is told by the configuration, and the origin that notices to them have; config NULL: by what the store
 * has. Nobody: no targets. */
struct reader;
struct arena;
must_check enum err notifier_config(struct reader *r, const struct config_notify *config, struct arena *a,
				    struct config_notify *ret, const char **origin, struct why *why);
