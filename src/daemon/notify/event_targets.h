#pragma once
/* Webhooks of events: every target of the setting `events` gets the events that it wants, in the order of
 * their numbers, in batches.
 *
 * A target has a position in the log, which the store keeps, and one request at a time: so a target that is
 * down gets what it missed, one that is slow delays no other, and the order is kept. A batch that may have
 * arrived is sent again if the answer was lost: a receiver can tell by `seq`. A target begins at the end of
 * the log. Events that were pruned before a target got them are named in its next batch, and are a problem.
 *
 * A target that fails is tried again with growing pauses, at most an hour. After EVENT_TARGET_PROBLEM_SECONDS
 * there is a problem; after EVENT_TARGET_GONE_SECONDS, or at once if it answers 410, it gets nothing more
 * until the daemon is started again. */
#include "core/doc/config/events.h"
#include "daemon/event_reader.h"
#include "daemon/notify/internal.h"

enum event_target_phase {
	TARGET_UNLOADED,  /* its position is not read yet */
	TARGET_CLEARING,  /* a request of an earlier daemon is being stopped */
	TARGET_READY,     /* gets the next batch, not before `next` */
	TARGET_SENDING,   /* the runner has the request */
	TARGET_CHANGED,   /* its position is to be recorded */
	TARGET_RECORDING, /* the store has not answered */
	TARGET_GONE,
};

struct event_target {
	struct notifier *notifier;
	const struct config_event_target *config;
	uint64_t number; /* of its requests in the runner */
	char key[32];    /* of its row in the store */
	enum event_target_phase phase;
	uint64_t position;         /* it has got, or does not want, the events up to this number */
	uint64_t recorded;         /* the position that the store has */
	uint32_t rev;              /* of its row; 0: there is none */
	unsigned failures;         /* in a row */
	struct wall failing_since; /* 0: it does not fail */
	bool problem_unknown;      /* an earlier daemon may have opened its problem */
	bool has_problem;
	uint64_t gap_told; /* the last event of the last gap that was reported; 0: none */
	struct boot next;
	/* The batch that is being sent: */
	struct arena arena;
	struct launch launch;
	uint64_t batch_last;
	atomic_bool answered;
	atomic_uint answered_rev; /* 0: not recorded */
};

must_check enum err event_targets_open(struct notifier *n);
void event_targets_close(struct notifier *n);
void event_targets_turn(struct notifier *n);
/* After how many microseconds event_targets_turn must be called even if nothing happens before; INT64_MAX:
 * never. */
int64_t event_targets_next(const struct notifier *n);
/* The request of a target; NULL: the number is that of a message. */
struct event_target *event_targets_find(struct notifier *n, uint64_t number);
void event_target_ended(struct event_target *t, const struct rn_report *report);

/* event_problems.c */
void event_problem_failing(struct event_target *t, const char *text);
void event_problem_gap(struct event_target *t, uint64_t from, uint64_t to);
void event_problem_close(struct event_target *t);
/* Closes problems of targets that the configuration does not have any more, and gaps that were acknowledged.
 */
void event_problems_check(struct notifier *n);
