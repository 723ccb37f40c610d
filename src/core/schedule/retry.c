/* Retries of runs: final reasons and delays. */
#include "core/schedule/retry.h"

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
