/* Numbers for runs and schedules, which the store gives out in blocks. */
#include "core/engine/state.h"

enum { BLOCK = CLAIMS_MAX }; /* as many numbers as claims can be under way */

bool numbers_ready(const struct engine *e, enum number_kind kind)
{
	return number_blocks_ready(&e->numbers[kind]);
}

uint64_t numbers_take(struct engine *e, enum number_kind kind)
{
	return number_blocks_take(&e->numbers[kind]);
}

void numbers_refill(struct engine *e)
{
	for (unsigned kind = 0; kind < ARRAY_LEN(e->numbers); kind++) {
		if (!number_blocks_ask(&e->numbers[kind]))
			continue; /* before the request, which is large, is filled: this is part of every step
				   */
		struct st_req r = { .op = ST_NUMBERS, .lane = LANE_USER };
		r.numbers = (struct numbers_request){ (uint8_t)kind, BLOCK };
		engine_submit_store(e, &r, FOR_NUMBERS, 0, 0, NULL);
	}
}

void numbers_acked(struct engine *e, const struct pending *pending, const struct st_ack *ack)
{
	if (ack->res != ST_OK)
		return; /* the store has no numbers left: requests that need them wait */
	number_blocks_add(&e->numbers[pending->kind], ack->first, BLOCK);
	if (pending->kind == NUMBER_RUN)
		command_resume_backfills(e);
}
