#pragma once
/* What to do after an attempt to deliver a message over the network: it is delivered, it is tried again, or
 * it is given up. Pure: the caller provides chance and time. */
#include "core/schedule/retry.h"
#include "port/out.h"

struct delivery_retry_policy {
	unsigned attempts;   /* in all, including the first */
	int64_t first, most; /* seconds before the second attempt, which double up to `most` */
};
/* 5 s, 10 s, … up to an hour between attempts: half a day to a day in all. */
extern const struct delivery_retry_policy delivery_retry_usual;

/* How an attempt ended, as out_send reports it. */
struct delivery_attempt {
	enum out_fault fault;
	int status;
	int64_t retry_after; /* seconds that the receiver asks to wait; 0: it does not ask */
};

enum delivery_verdict {
	DELIVERY_DONE,
	DELIVERY_RETRY,
	DELIVERY_REFUSED,   /* a retry would not help */
	DELIVERY_EXHAUSTED, /* a retry might help, but all attempts are used up */
	DELIVERY_GONE, /* the receiver wants no further messages of any kind: stop using it, and say so */
	DELIVERY_VERDICTS
};

struct delivery_decision {
	enum delivery_verdict verdict;
	int64_t delay_us; /* DELIVERY_RETRY: from the end of this attempt to the next one */
};

/* Attempt `n`, counted from 1, has ended. `chance` is a uniformly random number: it picks a delay between
 * half of the backoff and the whole backoff, so that deliveries that failed together are not repeated
 * together. The delay is at least the time that the receiver asks for, up to DELIVERY_SECONDS_MAX, and at
 * most a tenth more than that. */
struct delivery_decision delivery_retry_decide(const struct delivery_retry_policy *policy, unsigned n,
					       struct delivery_attempt attempt, uint32_t chance);
