#pragma once
/* Org timestamps as schedules, with their repeaters: <2026-06-13 Sat 09:00 +1w>. Pure. */
#include "base/buf.h"
#include "base/err.h"
#include "core/when/zone/zone.h"

/* The tokens of a timestamp as they are written, without validation. Missing ones are empty. */
struct org_stamp {
	struct str date, time, repeat;
	bool active;
};
/* False if the text is not a timestamp: wrong brackets, or no date. */
bool org_stamp_read(struct str text, struct org_stamp *ret);

enum org_unit { ORG_HOUR, ORG_DAY, ORG_WEEK, ORG_MONTH, ORG_YEAR };
/* `+` (EVERY) counts all intervals, `++` (FUTURE) only future ones, `.+` (RESTART) from the end of the
 * previous run. */
enum org_style { ORG_ONCE, ORG_EVERY, ORG_FUTURE, ORG_RESTART };

struct org_rule {
	int64_t local; /* the first time, in local seconds */
	uint16_t count;
	uint8_t unit, style;
};

/* Compiles an active timestamp. *day_off: the name of the day does not fit the date. */
must_check enum err org_parse(struct str text, struct org_rule *ret, bool *day_off, struct why *why);
/* The first occurrence strictly after `after`. For `.+` it assumes that each run ends when it is due. */
must_check enum err org_next(const struct org_rule *o, const struct zone *z, int64_t after, int64_t *ret);
/* The occurrence after a run that ended at `end`; for `.+` it is counted from there. The
 * engine does not use it yet. */
must_check enum err org_after_end(const struct org_rule *o, const struct zone *z, int64_t end, int64_t *ret);
/* Appends the timestamp in its simplest notation. */
void org_format(const struct org_rule *o, struct buf *out);
