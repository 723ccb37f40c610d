#pragma once
/* Which news of a schedule are wanted: bits, 1 << enum news_kind, for st_req.news. Pure. */
#include "core/schedule/rules.h"

/* A run has ended. `before` and `after` are the schedule's failures in a row. A run that a person cancelled,
 * or that was replaced by the next one, is not news of a failure. */
uint8_t news_of_end(const struct policy *p, const struct run_row *run, uint32_t before, uint32_t after);
/* An attempt was started. */
uint8_t news_of_start(const struct policy *p);
/* An occurrence was recorded, or a verdict given, with this state. Only RUN_MISSED is news. */
uint8_t news_of_refusal(const struct policy *p, enum run_state state);
