#pragma once
/* The times and days of a cron value in words: "At 09:00 on Monday to Friday". */
#include "core/when/cron.h"

void explain_cron(const struct cron *c, struct buf *out);
