#pragma once
/* Org timestamps as schedules: <2026-06-13 Sat 09:00 +1w>, their repeaters computed. Pure. */
#include "base/buf.h"
#include "base/err.h"
#include "core/when/zone/zone.h"

/* The tokens of a timestamp as they stand, nothing validated (seed 000). Fields not there are empty. */
struct org_stamp {
	struct str date, time, repeat;
	bool active;
};
/* False for what is no timestamp: wrong brackets, or no date. */
bool org_stamp_read(struct str text, struct org_stamp *ret);

enum org_unit { ORG_HOUR, ORG_DAY, ORG_WEEK, ORG_MONTH, ORG_YEAR };
/* `+` counts every interval, `++` only those to come, `.+` from the end of the occurrence before. */
enum org_style { ORG_ONCE, ORG_EVERY, ORG_FUTURE, ORG_RESTART };

struct org_rule {
	int64_t local; /* the first time, local seconds */
	uint16_t count;
	uint8_t unit, style;
};

/* Compiles an active timestamp. `day_off` is set when the day's name is not that of the date. */
must_check enum err org_parse(struct str text, struct org_rule *ret, bool *day_off, struct why *why);
/* First occurrence strictly after `after` (for `.+`: if each were completed when due). */
must_check enum err org_next(const struct org_rule *o, const struct zone *z, int64_t after, int64_t *ret);
/* The occurrence that follows one which ended at `end`: what `.+` means. */
must_check enum err org_after_end(const struct org_rule *o, const struct zone *z, int64_t end, int64_t *ret);
/* The timestamp again, in its plainest form. */
void org_format(const struct org_rule *o, struct buf *out);
