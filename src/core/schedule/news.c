/* Decides which news a run makes, and whether its schedule wants them. */
#include "core/schedule/news.h"

static unsigned bit(enum news_kind kind)
{
	return 1u << kind;
}

uint8_t news_of_end(const struct policy *p, const struct run_row *run, uint32_t before, uint32_t after)
{
	bool good = run->outcome == OUTCOME_DONE || run->outcome == OUTCOME_NO_WORK;
	bool intended = run->reason == REASON_CANCELLED || run->reason == REASON_REPLACED;
	unsigned news = bit(NEWS_PING);
	if (run->outcome == OUTCOME_DONE)
		news |= bit(NEWS_SUCCESS);
	if (good && before && !after)
		news |= bit(NEWS_RECOVERED);
	if (!good && !intended)
		news |= bit(NEWS_FAILURE);
	return (uint8_t)(news & p->news);
}

uint8_t news_of_start(const struct policy *p)
{
	return (uint8_t)(p->news & bit(NEWS_PING) ? bit(NEWS_STARTED) : 0);
}

uint8_t news_of_refusal(const struct policy *p, enum run_state state)
{
	return (uint8_t)(state == RUN_MISSED ? p->news & bit(NEWS_MISSED) : 0);
}
