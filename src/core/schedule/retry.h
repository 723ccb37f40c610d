#pragma once
/* Whether a failed attempt is tried again, and when. Pure. */
#include "base/attr.h"
#include "core/model.h"

/* no_work, done, cancelled, budget, definition, template, denied, and what cancel_running ended are final;
 * auth and billing wait for a person. rate_limited is not judged here: it uses up no attempt. */
bool retry_wanted(enum outcome outcome, enum reason reason);
/* Seconds before attempt n + 1, n from 1: fixed d, linear d*n, exponential d*2^(n-1); at most `most`. */
int64_t retry_delay(enum backoff kind, int64_t delay, int64_t most, unsigned n);
/* Seconds until a rate-limited run is tried again if the provider does not say: 15 minutes, doubling to 5
 * hours. */
int64_t retry_rate_limited(unsigned n);
