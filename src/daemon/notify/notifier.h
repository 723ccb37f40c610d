#pragma once
/* The post: a thread that tells people. News become notices, one for each target; what is due is tried, and
 * how each attempt ended is recorded. Everything it starts is started by a launcher of its own, in a
 * directory of its own: nothing that hangs there delays a run, what is under way is adopted by the next
 * daemon, and the daemon itself speaks to nobody. */
#include "core/doc/config/notify.h"
#include "daemon/out_request.h"
#include "port/store.h"

struct notifier;

struct notifier_options {
	struct store *store;
	const char *dir;      /* of what it starts */
	const char *runs;     /* of what it tells of */
	const char *launcher; /* the program */
	struct way_out out;
	const struct config_notify *config; /* NULL: what the store has counts */
	void *ctx;
	/* A request to the store, whose texts are copied; `done` is called on any thread. E_BUSY: later. */
	enum err (*send)(void *ctx, const struct st_req *r, void (*done)(void *arg, const struct st_ack *ack),
			 void *arg);
};

must_check enum err notifier_open(const struct notifier_options *o, struct notifier **ret, struct why *why);
void notifier_close(struct notifier *p); /* what is under way goes on */

/* --- from any thread --- */
void notifier_news(struct notifier *p);             /* there are some, or notices */
void notifier_changed(struct notifier *p);          /* the configuration in the store */
void notifier_changed_document(struct notifier *p); /* any of them; costs nothing unless a receiver is gone */

/* Where the store keeps what `rota notify set` said: no agent has such a name. */
#define NOTIFIER_STATE_KEY "/notify"
/* Who is told by the configuration, and the origin that notices to them have; config NULL: by what the store
 * has. Nobody: no targets. */
struct reader;
struct arena;
must_check enum err notifier_config(struct reader *r, const struct config_notify *config, struct arena *a,
				    struct config_notify *ret, const char **origin, struct why *why);
