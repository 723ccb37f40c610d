#pragma once
/* What of a schedule somebody wants to be told: bits for st_req.news. Pure. */
#include "core/schedule/rules.h"

/* A run has ended for good. before, after: failures in a row. What a person ended, or what made room for the
 * next, is no failure to be told of. */
uint8_t news_of_end(const struct policy *p, const struct run_row *run, uint32_t before, uint32_t after);
/* An attempt is alive. */
uint8_t news_of_start(const struct policy *p);
/* A verdict, or what is recorded without one: RUN_MISSED alone is told. */
uint8_t news_of_refusal(const struct policy *p, enum run_state state);
