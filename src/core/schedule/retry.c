/* Retries of runs: their rules as a number, final reasons and delays. */
#include "core/schedule/retry.h"
#include "base/limits.h"

/* From the lowest bit: 20 bits each for the delays, 4 for the backoff, 16 for the retries, and a 1. */
enum { DELAY_BITS = 20, BACKOFF_BITS = 4, RETRIES_BITS = 16 };
static_assert(RETRY_SECONDS_MAX < 1 << DELAY_BITS, "a delay fits");
static_assert(BACKOFF_COUNT <= 1 << BACKOFF_BITS, "a backoff fits");

static uint64_t bounded_seconds(int64_t seconds)
{
	return seconds < 0 ? 0 : seconds > RETRY_SECONDS_MAX ? RETRY_SECONDS_MAX : (uint64_t)seconds;
}

uint64_t retry_encode(const struct retry_rules *r)
{
	uint64_t n = 1;
	n = n << RETRIES_BITS | (r->retries < UINT16_MAX ? r->retries : UINT16_MAX);
	n = n << BACKOFF_BITS | r->backoff;
	n = n << DELAY_BITS | bounded_seconds(r->delay);
	return n << DELAY_BITS | bounded_seconds(r->most);
}

static uint64_t take_bits(uint64_t *n, unsigned bits)
{
	uint64_t low = *n & ((UINT64_C(1) << bits) - 1);
	*n >>= bits;
	return low;
}

bool retry_decode(uint64_t number, struct retry_rules *ret)
{
	struct retry_rules r;
	r.most = (int64_t)take_bits(&number, DELAY_BITS);
	r.delay = (int64_t)take_bits(&number, DELAY_BITS);
	uint64_t backoff = take_bits(&number, BACKOFF_BITS);
	r.retries = (unsigned)take_bits(&number, RETRIES_BITS);
	if (number != 1 || backoff >= BACKOFF_COUNT)
		return false;
	r.backoff = (enum backoff)backoff;
	*ret = r;
	return true;
}

bool retry_wanted(enum outcome outcome, enum reason reason)
{
	static const bool final[REASON_COUNT] = {
		[REASON_CANCELLED] = true, [REASON_BUDGET] = true,  [REASON_DEFINITION] = true,
		[REASON_TEMPLATE] = true,  [REASON_DENIED] = true,  [REASON_REPLACED] = true,
		[REASON_AUTH] = true,      [REASON_BILLING] = true,
	};
	if (outcome != OUTCOME_FAILED && outcome != OUTCOME_KILLED)
		return false;
	return reason < REASON_COUNT && !final[reason];
}

int64_t retry_delay(enum backoff kind, int64_t delay, int64_t most, unsigned n)
{
	int64_t d = delay;
	if (kind == BACKOFF_LINEAR)
		d = delay * n;
	else if (kind == BACKOFF_EXPONENTIAL)
		for (unsigned i = 1; i < n && d < most; i++)
			d *= 2;
	return d < most ? d : most;
}

int64_t retry_rate_limited(unsigned n)
{
	const int64_t first = INT64_C(15) * 60, most = INT64_C(5) * 3600;
	return n > 10 || first << n > most ? most : first << n;
}
