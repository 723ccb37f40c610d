#include "core/schedule/delivery_retry.h"
#include "base/limits.h"
#include "base/time.h"

const struct deliver_policy deliver_usual = { .attempts = 32, .first = 5, .most = 3600 };

/* What no wait mends: our own rules, and a receiver that sends us in circles. */
static const bool final[OUT_FAULTS] = {
	[OUT_REFUSED] = true,
	[OUT_REDIRECTS] = true,
};

static enum deliver_verdict judge(struct deliver_end end)
{
	static const enum deliver_verdict of[] = {
		[OUT_DONE] = DELIVER_DONE,
		[OUT_NO] = DELIVER_REFUSED,
		[OUT_GONE] = DELIVER_GONE,
		[OUT_LATER] = DELIVER_AGAIN,
	};
	assert(end.fault < OUT_FAULTS);
	if (end.fault == OUT_ANSWERED)
		return of[out_meaning(end.status)];
	return final[end.fault] ? DELIVER_REFUSED : DELIVER_AGAIN;
}

/* d, and of `share` the part that chance says. */
static int64_t spread(int64_t d, int64_t share, uint32_t chance)
{
	return d + (share >> 32) * chance + ((share & UINT32_MAX) * chance >> 32);
}

struct deliver_next deliver_next(const struct deliver_policy *policy, unsigned n, struct deliver_end end,
				 uint32_t chance)
{
	struct deliver_next next = { judge(end), 0 };
	assert(n >= 1);
	if (next.verdict != DELIVER_AGAIN)
		return next;
	if (n >= policy->attempts)
		return (struct deliver_next){ DELIVER_EXHAUSTED, 0 };
	int64_t backoff = retry_delay(BACKOFF_EXPONENTIAL, policy->first, policy->most, n) * USEC;
	int64_t asked = end.retry_after < DELIVER_SECONDS_MAX ? end.retry_after : DELIVER_SECONDS_MAX;
	asked *= USEC;
	next.delay_us = spread(backoff / 2, backoff / 2, chance);
	if (next.delay_us < asked)
		next.delay_us = spread(asked, asked / 10, chance);
	return next;
}
