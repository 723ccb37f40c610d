#pragma once
/* The part of explain that tells a cron value's times and days: "At 09:00 on Monday to Friday". */
#include "core/when/cron.h"

void explain_cron(const struct cron *c, struct buf *out);
