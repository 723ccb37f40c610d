#pragma once
/* The notifier's own state, and the functions that its source files share. All of them run on its thread,
 * unless their comment says otherwise. */
#include "daemon/daemon.h"
#include "daemon/notify/delivery.h"
#include "daemon/notify/message.h"
#include "daemon/notify/notifier.h"
#include "exec/runner.h"
#include "runfile/walk.h"

#include <pthread.h>
#include <stdatomic.h>

enum delivery_phase {
	PHASE_FREE,
	PHASE_RUNNING,   /* the runner has it */
	PHASE_ENDED,     /* its result is not yet sent to the store */
	PHASE_RECORDING, /* the store has not yet answered */
};

/* One attempt to deliver a message. */
struct delivery {
	struct notifier *notifier;
	enum delivery_phase phase;
	atomic_bool recorded; /* PHASE_RECORDING: the store has answered */
	struct arena arena;   /* holds `message` and `launch` */
	struct message_row message;
	struct launch launch;
	struct st_req result; /* ST_DELIVERY */
	struct buf result_text;
};

/* A receiver that failed gets no further messages for a moment. */
struct paused_receiver {
	uint64_t receiver;
	struct boot until;
};

struct notifier {
	struct notifier_options options;
	struct reader *reader;
	struct runner *runner;
	int wakeup; /* an eventfd */
	pthread_t thread;
	bool started;
	atomic_bool stop, has_news, config_changed;

	struct arena config_arena; /* holds the next two members */
	struct config_notify config;
	const char *origin;           /* NULL: not yet read */
	atomic_bool gone_is_reported; /* there may be open problems of receivers that are gone */

	struct {
		bool under_way;
		atomic_bool answered;
		/* Number of batches that the store refused in a row. After one, a batch has only one row of
		 * news; after two, that row is removed without messages. */
		atomic_uint refused;
		struct boot next; /* no batch is made before this time, so that news that come together are
				     collected */
		struct arena arena;
	} batch; /* messages on their way to the store */

	struct {
		struct event_target *target;
		unsigned n;
		struct event_reader *reader;
		atomic_ullong last;    /* the newest event */
		bool problems_checked; /* none of them can be closed now */
	} events;                      /* event_targets.h */

	struct delivery delivery[DELIVERIES_MAX];
	struct paused_receiver paused[PAUSED_RECEIVERS_MAX];
	unsigned paused_count;
	struct wall next_due; /* when the next waiting message is due; WALL_NEVER: no message waits */
	bool check_due;       /* messages may be due */
	bool retry;           /* something failed: try again after NOTIFY_RETRY_MS */
};

/* Wakes the thread. From any thread. */
void notifier_wake(struct notifier *n);

/* --- config.c --- */
void config_reload(struct notifier *n); /* keeps the old configuration if the new one cannot be read now */

/* --- gone_receivers.c: receivers that answered 410 Gone --- */
void gone_report(struct notifier *n, const struct message_row *m);
/* Closes the problems of receivers whose document or configuration has changed. */
void gone_close_changed(struct notifier *n);

/* --- news.c: news to messages --- */
void news_take(struct notifier *n);

/* --- deliveries.c: the messages that are due --- */
void deliveries_want(void *ctx, const struct rn_req *r); /* the runner's callback */
void deliveries_collect(struct notifier *n);             /* takes reports of the runner */
void deliveries_record(struct notifier *n); /* sends the results of ended deliveries to the store */
void deliveries_start_due(struct notifier *n);
bool deliveries_have_room(const struct notifier *n);
/* After how many microseconds deliveries_start_due must be called even if nothing happens before; INT64_MAX:
 * never. */
int64_t deliveries_next(const struct notifier *n);
/* For runfile_walk: removes files of deliveries that nothing will read any more. */
bool deliveries_remove_stale(void *ctx, struct run_files *f);
