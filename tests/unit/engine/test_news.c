/* Which news follow from the end, the start or the refusal of a run. */
#include "core/schedule/news.h"
#include "test.h"

enum { ALL = (1 << (NEWS_PING + 1)) - 1 };
#define BIT(t) (1u << NEWS_##t)

TEST(news_of_an_end)
{
	static const struct {
		int line;
		unsigned wanted, outcome, reason, before, after, want;
	} rows[] = {
		{ __LINE__, ALL, OUTCOME_DONE, 0, 0, 0, BIT(SUCCESS) | BIT(PING) },
		{ __LINE__, ALL, OUTCOME_DONE, 0, 2, 0, BIT(SUCCESS) | BIT(RECOVERED) | BIT(PING) },
		{ __LINE__, ALL, OUTCOME_NO_WORK, 0, 0, 0, BIT(PING) },
		{ __LINE__, ALL, OUTCOME_NO_WORK, 0, 1, 0, BIT(RECOVERED) | BIT(PING) },
		{ __LINE__, ALL, OUTCOME_FAILED, REASON_EXIT, 0, 1, BIT(FAILURE) | BIT(PING) },
		/* The run was started by hand. */
		{ __LINE__, ALL, OUTCOME_FAILED, REASON_EXIT, 3, 3, BIT(FAILURE) | BIT(PING) },
		{ __LINE__, ALL, OUTCOME_KILLED, REASON_TIMEOUT, 0, 1, BIT(FAILURE) | BIT(PING) },
		{ __LINE__, ALL, OUTCOME_KILLED, REASON_CANCELLED, 1, 1, BIT(PING) },
		{ __LINE__, ALL, OUTCOME_KILLED, REASON_REPLACED, 1, 1, BIT(PING) },
		/* Only news that the schedule wants are made. */
		{ __LINE__, 0, OUTCOME_FAILED, REASON_EXIT, 0, 1, 0 },
		{ __LINE__, BIT(FAILURE), OUTCOME_DONE, 0, 2, 0, 0 },
		{ __LINE__, BIT(RECOVERED), OUTCOME_DONE, 0, 2, 0, BIT(RECOVERED) },
		{ __LINE__, BIT(PING), OUTCOME_FAILED, REASON_EXIT, 0, 1, BIT(PING) },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct policy p = { .news = (uint8_t)rows[i].wanted };
		const struct run_row r = { .outcome = (uint8_t)rows[i].outcome,
					   .reason = (uint16_t)rows[i].reason };
		CHECK_INT_AT(rows[i].line, news_of_end(&p, &r, rows[i].before, rows[i].after), rows[i].want);
	}
}

TEST(only_missed_refusals_are_news)
{
	const struct policy all = { .news = ALL }, none = { .news = ALL & ~BIT(MISSED) };
	CHECK_INT(news_of_refusal(&all, RUN_MISSED), BIT(MISSED));
	CHECK_INT(news_of_refusal(&none, RUN_MISSED), 0);
	CHECK_INT(news_of_refusal(&all, RUN_SKIPPED), 0);
	CHECK_INT(news_of_refusal(&all, RUN_CLAIMED), 0);
}

TEST(starts_are_news_if_pings_are_wanted)
{
	const struct policy pinged = { .news = BIT(PING) }, other = { .news = ALL & ~BIT(PING) };
	CHECK_INT(news_of_start(&pinged), BIT(STARTED));
	CHECK_INT(news_of_start(&other), 0);
}
