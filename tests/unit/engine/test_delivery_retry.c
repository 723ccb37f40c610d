/* Verdicts and delays after attempts to deliver a message. */
#include "base/limits.h"
#include "base/time.h"
#include "core/schedule/delivery_retry.h"
#include "test.h"

static const struct delivery_retry_policy policy = { .attempts = 10, .first = 8, .most = 600 };

TEST(verdict_follows_the_end_of_the_attempt)
{
	static const struct {
		int line;
		enum out_fault fault;
		int status;
		enum delivery_verdict want;
	} rows[] = {
		{ __LINE__, OUT_ANSWERED, 200, DELIVERY_DONE },
		{ __LINE__, OUT_ANSWERED, 204, DELIVERY_DONE },
		{ __LINE__, OUT_ANSWERED, 299, DELIVERY_DONE },
		{ __LINE__, OUT_ANSWERED, 300, DELIVERY_REFUSED },
		{ __LINE__, OUT_ANSWERED, 304, DELIVERY_REFUSED },
		{ __LINE__, OUT_ANSWERED, 400, DELIVERY_REFUSED },
		{ __LINE__, OUT_ANSWERED, 401, DELIVERY_REFUSED },
		{ __LINE__, OUT_ANSWERED, 404, DELIVERY_REFUSED },
		{ __LINE__, OUT_ANSWERED, 408, DELIVERY_RETRY },
		{ __LINE__, OUT_ANSWERED, 410, DELIVERY_GONE },
		{ __LINE__, OUT_ANSWERED, 425, DELIVERY_RETRY },
		{ __LINE__, OUT_ANSWERED, 429, DELIVERY_RETRY },
		{ __LINE__, OUT_ANSWERED, 499, DELIVERY_REFUSED },
		{ __LINE__, OUT_ANSWERED, 500, DELIVERY_RETRY },
		{ __LINE__, OUT_ANSWERED, 503, DELIVERY_RETRY },
		{ __LINE__, OUT_ANSWERED, 599, DELIVERY_RETRY },
		{ __LINE__, OUT_REFUSED, 0, DELIVERY_REFUSED },
		{ __LINE__, OUT_RESOLVE, 0, DELIVERY_RETRY },
		{ __LINE__, OUT_CONNECT, 0, DELIVERY_RETRY },
		{ __LINE__, OUT_TLS, 0, DELIVERY_RETRY },
		{ __LINE__, OUT_TIMEOUT, 0, DELIVERY_RETRY },
		{ __LINE__, OUT_BROKEN, 200, DELIVERY_RETRY },
		{ __LINE__, OUT_TOO_LARGE, 0, DELIVERY_RETRY },
		{ __LINE__, OUT_REDIRECTS, 302, DELIVERY_REFUSED },
		{ __LINE__, OUT_CANCELLED, 0, DELIVERY_RETRY },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct delivery_attempt attempt = { rows[i].fault, rows[i].status, 0 };
		struct delivery_decision decision = delivery_retry_decide(&policy, 1, attempt, 0);
		CHECK_INT_AT(rows[i].line, decision.verdict, rows[i].want);
		CHECK_INT_AT(rows[i].line, decision.delay_us > 0, rows[i].want == DELIVERY_RETRY);
		/* After the last attempt there is no retry; other verdicts stay the same. */
		decision = delivery_retry_decide(&policy, policy.attempts, attempt, 0);
		CHECK_INT_AT(rows[i].line, decision.verdict,
			     rows[i].want == DELIVERY_RETRY ? DELIVERY_EXHAUSTED : rows[i].want);
		CHECK_INT_AT(rows[i].line, decision.delay_us, 0);
	}
}

TEST(delay_follows_backoff_and_receiver)
{
	static const struct {
		int line;
		unsigned n;
		int64_t after;
		uint32_t chance;
		int64_t want_ms;
	} rows[] = {
		{ __LINE__, 1, 0, 0, 4000 },
		{ __LINE__, 1, 0, UINT32_MAX, 7999 },
		{ __LINE__, 1, 0, 1u << 31, 6000 },
		{ __LINE__, 2, 0, 0, 8000 },
		{ __LINE__, 3, 0, 0, 16000 },
		{ __LINE__, 7, 0, 0, 256000 },
		{ __LINE__, 8, 0, 0, 300000 },
		{ __LINE__, 9, 0, UINT32_MAX, 599999 },
		{ __LINE__, 1, 3, 0, 4000 },     /* the receiver asks for less than the backoff */
		{ __LINE__, 1, 100, 0, 100000 }, /* the receiver asks for more than the backoff */
		{ __LINE__, 1, 100, 1u << 31, 105000 },
		{ __LINE__, 1, 86400, 0, 86400000 },
		{ __LINE__, 1, INT64_MAX, 0, 86400000 },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct delivery_attempt attempt = { OUT_ANSWERED, 503, rows[i].after };
		struct delivery_decision decision =
			delivery_retry_decide(&policy, rows[i].n, attempt, rows[i].chance);
		CHECK_INT_AT(rows[i].line, decision.verdict, DELIVERY_RETRY);
		CHECK_INT_AT(rows[i].line, decision.delay_us / 1000, rows[i].want_ms);
	}
}

/* With random ends: the attempts are limited, and every delay is within its bounds. */
TEST(attempts_and_delays_are_bounded)
{
	uint64_t seed = 1;
	for (unsigned round = 0; round < 10000; round++) {
		int64_t total = 0;
		unsigned n = 1;
		struct delivery_decision decision;
		for (;; n++) {
			struct delivery_attempt attempt = { test_random(&seed) % 2 ? OUT_TIMEOUT
										   : OUT_ANSWERED,
							    500, (int64_t)(test_random(&seed) % 8000) };
			decision = delivery_retry_decide(&delivery_retry_usual, n, attempt,
							 (uint32_t)test_random(&seed));
			if (decision.verdict != DELIVERY_RETRY)
				break;
			if (!(decision.delay_us >= attempt.retry_after * USEC && decision.delay_us >= USEC &&
			      decision.delay_us <= DELIVERY_SECONDS_MAX * USEC * 11 / 10))
				CHECK(!"within its bounds");
			total += decision.delay_us;
		}
		if (decision.verdict != DELIVERY_EXHAUSTED || n != delivery_retry_usual.attempts ||
		    total <= 0)
			CHECK(!"exhausted after the last attempt");
	}
	int64_t longest = 0;
	for (unsigned n = 1; n < delivery_retry_usual.attempts; n++)
		longest += delivery_retry_decide(&delivery_retry_usual, n,
						 (struct delivery_attempt){ OUT_TIMEOUT, 0, 0 }, UINT32_MAX)
				   .delay_us;
	CHECK(longest > 20 * 3600 * USEC && longest < 24 * 3600 * USEC);
}

TEST(every_fault_has_a_word_and_an_exit_code)
{
	for (unsigned i = 0; i < OUT_FAULTS; i++) {
		CHECK(out_fault_word(i));
		if (i)
			CHECK_INT(out_exit(i, 200), OUT_EXIT_FAULT + i);
	}
	CHECK_INT(out_exit(OUT_ANSWERED, 200), OUT_EXIT_DONE);
	CHECK_INT(out_exit(OUT_ANSWERED, 410), OUT_EXIT_GONE);
	CHECK_INT(out_exit(OUT_ANSWERED, 404), OUT_EXIT_NO);
	CHECK_INT(out_exit(OUT_ANSWERED, 503), OUT_EXIT_LATER);
}
