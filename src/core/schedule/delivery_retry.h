#pragma once
/* What comes after an attempt to deliver a message to somebody on the network: it is there, it is tried
 * again, or nobody tries any more. Pure: chance and time are the caller's. */
#include "core/schedule/retry.h"
#include "port/out.h"

struct delivery_retry_policy {
	unsigned attempts;   /* in all, the first among them */
	int64_t first, most; /* seconds before the second attempt; doubles up to `most` */
};
/* 5 s, 10 s, … up to an hour between them: half a day to a day in all. */
extern const struct delivery_retry_policy delivery_retry_usual;

/* How an attempt ended, as out_send says it. */
struct delivery_attempt {
	enum out_fault fault;
	int status;
	int64_t retry_after; /* seconds; 0: not said */
};

enum delivery_verdict {
	DELIVERY_DONE,
	DELIVERY_RETRY,
	DELIVERY_REFUSED,   /* the same again will not help */
	DELIVERY_EXHAUSTED, /* it might have helped, but there were attempts enough */
	DELIVERY_GONE, /* the receiver wants no more, of this or of anything: stop using it, and say so */
	DELIVERY_VERDICTS
};

struct delivery_decision {
	enum delivery_verdict verdict;
	int64_t delay_us; /* DELIVERY_RETRY: from the end of this attempt to the next one */
};

/* Attempt n, from 1, ended so. `chance` is any number, equally likely: with it the delay is half of the
 * backoff to all of it, so that what failed together does not come back together. It is never shorter than
 * the receiver asks for (but for DELIVERY_SECONDS_MAX), nor longer than a tenth more than that. */
struct delivery_decision delivery_retry_decide(const struct delivery_retry_policy *policy, unsigned n,
					       struct delivery_attempt end, uint32_t chance);
