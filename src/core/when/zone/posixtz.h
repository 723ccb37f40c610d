#pragma once
/* The POSIX TZ rule at the end of a TZif file ("EST5EDT,M3.2.0,M11.1.0"), with the extended hours of RFC
 * 8536. Pure. */
#include "base/err.h"

struct tz_day {
	enum { TZ_JULIAN1, TZ_JULIAN0, TZ_MONTH } kind;
	uint16_t day;        /* 1-365 without 29 February, or 0-365 */
	uint8_t month, week; /* week 5 is the last one of the month */
	uint8_t wday;        /* 0 is Sunday */
	int32_t second;      /* seconds from local midnight of that day; -167 h to 167 h */
};

struct tz_rule {
	int32_t std, dst; /* seconds east of UTC; equal when there is no daylight saving time */
	struct tz_day start, end;
};

must_check enum err tz_rule_parse(struct str text, struct tz_rule *ret, struct why *why);

/* A change of the offset at the instant `at`. */
struct tz_change {
	int64_t at;
	int32_t offset;
};
/* The two changes of a calendar year, in order. Only for a rule whose std and dst differ. */
void tz_rule_year(const struct tz_rule *r, int32_t year, struct tz_change ret[2]);
