/* Decides whether and when a delivery is tried again. */
#include "core/schedule/delivery_retry.h"
#include "base/limits.h"
#include "base/time.h"

const struct delivery_retry_policy delivery_retry_usual = { .attempts = 32, .first = 5, .most = 3600 };

/* Faults for which a retry does not help: rota itself refused the address, or there were too many
 * redirects. */
static const bool final[OUT_FAULTS] = {
	[OUT_REFUSED] = true,
	[OUT_REDIRECTS] = true,
};

static enum delivery_verdict verdict_of(struct delivery_attempt attempt)
{
	static const enum delivery_verdict by_meaning[] = {
		[OUT_DONE] = DELIVERY_DONE,
		[OUT_NO] = DELIVERY_REFUSED,
		[OUT_GONE] = DELIVERY_GONE,
		[OUT_LATER] = DELIVERY_RETRY,
	};
	assert(attempt.fault < OUT_FAULTS);
	if (attempt.fault == OUT_ANSWERED)
		return by_meaning[out_meaning(attempt.status)];
	return final[attempt.fault] ? DELIVERY_REFUSED : DELIVERY_RETRY;
}

/* d plus a random part of `share`. */
static int64_t spread(int64_t d, int64_t share, uint32_t chance)
{
	return d + (share >> 32) * chance + ((share & UINT32_MAX) * chance >> 32);
}

struct delivery_decision delivery_retry_decide(const struct delivery_retry_policy *policy, unsigned n,
					       struct delivery_attempt attempt, uint32_t chance)
{
	struct delivery_decision decision = { verdict_of(attempt), 0 };
	assert(n >= 1);
	if (decision.verdict != DELIVERY_RETRY)
		return decision;
	if (n >= policy->attempts)
		return (struct delivery_decision){ DELIVERY_EXHAUSTED, 0 };
	int64_t backoff = retry_delay(BACKOFF_EXPONENTIAL, policy->first, policy->most, n) * USEC;
	int64_t asked =
		attempt.retry_after < DELIVERY_SECONDS_MAX ? attempt.retry_after : DELIVERY_SECONDS_MAX;
	asked *= USEC;
	decision.delay_us = spread(backoff / 2, backoff / 2, chance);
	if (decision.delay_us < asked)
		decision.delay_us = spread(asked, asked / 10, chance);
	return decision;
}
