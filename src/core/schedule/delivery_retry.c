#include "core/schedule/delivery_retry.h"
#include "base/limits.h"
#include "base/time.h"

const struct delivery_retry_policy delivery_retry_usual = { .attempts = 32, .first = 5, .most = 3600 };

/* What no wait mends: our own rules, and a receiver that sends us in circles. */
static const bool final[OUT_FAULTS] = {
	[OUT_REFUSED] = true,
	[OUT_REDIRECTS] = true,
};

static enum delivery_verdict judge(struct delivery_attempt end)
{
	static const enum delivery_verdict of[] = {
		[OUT_DONE] = DELIVERY_DONE,
		[OUT_NO] = DELIVERY_REFUSED,
		[OUT_GONE] = DELIVERY_GONE,
		[OUT_LATER] = DELIVERY_RETRY,
	};
	assert(end.fault < OUT_FAULTS);
	if (end.fault == OUT_ANSWERED)
		return of[out_meaning(end.status)];
	return final[end.fault] ? DELIVERY_REFUSED : DELIVERY_RETRY;
}

/* d, and of `share` the part that chance says. */
static int64_t spread(int64_t d, int64_t share, uint32_t chance)
{
	return d + (share >> 32) * chance + ((share & UINT32_MAX) * chance >> 32);
}

struct delivery_decision delivery_retry_decide(const struct delivery_retry_policy *policy, unsigned n,
					       struct delivery_attempt end, uint32_t chance)
{
	struct delivery_decision next = { judge(end), 0 };
	assert(n >= 1);
	if (next.verdict != DELIVERY_RETRY)
		return next;
	if (n >= policy->attempts)
		return (struct delivery_decision){ DELIVERY_EXHAUSTED, 0 };
	int64_t backoff = retry_delay(BACKOFF_EXPONENTIAL, policy->first, policy->most, n) * USEC;
	int64_t asked = end.retry_after < DELIVERY_SECONDS_MAX ? end.retry_after : DELIVERY_SECONDS_MAX;
	asked *= USEC;
	next.delay_us = spread(backoff / 2, backoff / 2, chance);
	if (next.delay_us < asked)
		next.delay_us = spread(asked, asked / 10, chance);
	return next;
}
