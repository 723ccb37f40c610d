#pragma once
/* Whether a failed attempt of a run is tried again, and when. Pure. */
#include "base/attr.h"
#include "core/model.h"

/* How a run is retried: the rules of the version under which it was claimed. */
struct retry_rules {
	unsigned retries; /* further attempts after the first */
	enum backoff backoff;
	int64_t delay, most; /* seconds before the next attempt, and at most */
};
/* The rules as one number, which is never 0, to be kept with the run; delays above RETRY_SECONDS_MAX become
 * that. Decoding returns false for a number that is none. */
uint64_t retry_encode(const struct retry_rules *r);
bool retry_decode(uint64_t number, struct retry_rules *ret);

/* False for done, no_work, and failures for which a retry does not help: cancelled, replaced, budget,
 * definition, template, denied, auth and billing. The caller decides about rate_limited, since it uses up no
 * attempt. */
bool retry_wanted(enum outcome outcome, enum reason reason);
/* Seconds before attempt n + 1, with n from 1: fixed d, linear d * n, exponential d * 2^(n-1); at most
 * `most`. */
int64_t retry_delay(enum backoff kind, int64_t delay, int64_t most, unsigned n);
/* Seconds until a rate-limited run is tried again if the provider names no time: 15 minutes, doubled for each
 * of the `n` attempts before that did not count, up to 5 hours. */
int64_t retry_rate_limited(unsigned n);
