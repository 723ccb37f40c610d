/* Retries of runs, and the tables of words. */
#include "base/limits.h"
#include "core/schedule/retry.h"
#include "test.h"

TEST(delay_follows_the_backoff)
{
	static const struct {
		int line;
		enum backoff kind;
		int64_t delay, most;
		unsigned n;
		int64_t want;
	} rows[] = {
		{ __LINE__, BACKOFF_FIXED, 60, 3600, 1, 60 },
		{ __LINE__, BACKOFF_FIXED, 60, 3600, 9, 60 },
		{ __LINE__, BACKOFF_LINEAR, 60, 3600, 1, 60 },
		{ __LINE__, BACKOFF_LINEAR, 60, 3600, 3, 180 },
		{ __LINE__, BACKOFF_LINEAR, 60, 3600, 100, 3600 },
		{ __LINE__, BACKOFF_EXPONENTIAL, 60, 3600, 1, 60 },
		{ __LINE__, BACKOFF_EXPONENTIAL, 60, 3600, 2, 120 },
		{ __LINE__, BACKOFF_EXPONENTIAL, 60, 3600, 3, 240 },
		{ __LINE__, BACKOFF_EXPONENTIAL, 60, 3600, 7, 3600 },
		{ __LINE__, BACKOFF_EXPONENTIAL, 60, 3600, 100, 3600 },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_INT_AT(rows[i].line, retry_delay(rows[i].kind, rows[i].delay, rows[i].most, rows[i].n),
			     rows[i].want);
	static const int64_t limited[] = { 900, 1800, 3600, 7200, 14400, 18000, 18000 };
	for (unsigned n = 0; n < ARRAY_LEN(limited); n++)
		CHECK_INT(retry_rate_limited(n), limited[n]);
	CHECK_INT(retry_rate_limited(1000), 18000);
}

TEST(rules_survive_as_a_number)
{
	static const struct {
		int line;
		struct retry_rules in, out;
	} rows[] = {
		{ __LINE__, { 0, BACKOFF_FIXED, 0, 0 }, { 0, BACKOFF_FIXED, 0, 0 } },
		{ __LINE__, { 3, BACKOFF_EXPONENTIAL, 60, 3600 }, { 3, BACKOFF_EXPONENTIAL, 60, 3600 } },
		{ __LINE__,
		  { UINT16_MAX, BACKOFF_LINEAR, RETRY_SECONDS_MAX, RETRY_SECONDS_MAX - 1 },
		  { UINT16_MAX, BACKOFF_LINEAR, RETRY_SECONDS_MAX, RETRY_SECONDS_MAX - 1 } },
		{ __LINE__,
		  { UINT16_MAX + 1, BACKOFF_LINEAR, INT64_MAX, -1 },
		  { UINT16_MAX, BACKOFF_LINEAR, RETRY_SECONDS_MAX, 0 } },
	};
	struct retry_rules r;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t number = retry_encode(&rows[i].in);
		CHECK_AT(rows[i].line, number != 0 && number < INT64_MAX && retry_decode(number, &r));
		CHECK_INT_AT(rows[i].line, r.retries, rows[i].out.retries);
		CHECK_INT_AT(rows[i].line, r.backoff, rows[i].out.backoff);
		CHECK_INT_AT(rows[i].line, r.delay, rows[i].out.delay);
		CHECK_INT_AT(rows[i].line, r.most, rows[i].out.most);
	}
	uint64_t good = retry_encode(&rows[1].in);
	CHECK(!retry_decode(0, &r) && !retry_decode(1, &r) && !retry_decode(UINT64_MAX, &r));
	CHECK(!retry_decode(good | UINT64_C(1) << 62, &r) && !retry_decode(good | UINT64_C(15) << 40, &r));
}

TEST(final_outcomes_are_not_retried)
{
	static const struct {
		int line;
		enum outcome outcome;
		enum reason reason;
		bool want;
	} rows[] = {
		{ __LINE__, OUTCOME_FAILED, REASON_EXIT, true },
		{ __LINE__, OUTCOME_FAILED, REASON_LOST, true },
		{ __LINE__, OUTCOME_KILLED, REASON_TIMEOUT, true },
		{ __LINE__, OUTCOME_KILLED, REASON_STALLED, true },
		{ __LINE__, OUTCOME_KILLED, REASON_CANCELLED, false },
		{ __LINE__, OUTCOME_KILLED, REASON_BUDGET, false },
		{ __LINE__, OUTCOME_KILLED, REASON_REPLACED, false },
		{ __LINE__, OUTCOME_FAILED, REASON_DEFINITION, false },
		{ __LINE__, OUTCOME_FAILED, REASON_TEMPLATE, false },
		{ __LINE__, OUTCOME_FAILED, REASON_DENIED, false },
		{ __LINE__, OUTCOME_FAILED, REASON_AUTH, false },
		{ __LINE__, OUTCOME_DONE, REASON_NONE, false },
		{ __LINE__, OUTCOME_NO_WORK, REASON_NONE, false },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_INT_AT(rows[i].line, retry_wanted(rows[i].outcome, rows[i].reason), rows[i].want);
}

TEST(every_reason_and_outcome_has_a_word)
{
	for (unsigned i = 0; i < REASON_COUNT; i++)
		CHECK(reason_words[i]);
	for (unsigned i = 0; i < OUTCOME_COUNT; i++)
		CHECK(outcome_words[i]);
}
