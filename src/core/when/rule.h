#pragma once
/* The compiled "when": a small value without pointers that answers what comes next. The zone and the excluded
 * dates belong to it but live elsewhere, shared by many. Pure. */
#include "core/when/civil.h"
#include "core/when/cron.h"
#include "core/when/orgtime.h"

enum rule_kind { RULE_CRON, RULE_AT, RULE_EVERY, RULE_ORG, RULE_KINDS };
extern const char *const rule_kind_words[RULE_KINDS + 1];

struct rule {
	uint8_t kind;
	uint32_t jitter;     /* seconds; 0 for none */
	uint64_t spread;     /* the schedule's hash, as a share of the jitter */
	int64_t from, until; /* nominal times lie in [from, until), seconds UTC */
	union {
		struct cron cron;
		int64_t at;
		struct {
			int64_t anchor, interval;
		} every;
		struct org_rule org;
	};
};
static_assert(sizeof(struct rule) <= 96, "a million of them stay in memory");

#define RULE_FROM_ALWAYS SECONDS_MIN
#define RULE_UNTIL_NEVER INT64_MAX

/* The first nominal time strictly after `after`, the last one at or before `until`. E_NOTFOUND: none. */
must_check enum err rule_next(const struct rule *r, const struct zone *z, struct wall after,
			      struct wall *ret);
must_check enum err rule_prev(const struct rule *r, const struct zone *z, struct wall until,
			      struct wall *ret);
/* When a nominal time is due: later by the schedule's share of the jitter, and before the next nominal time.
 */
struct wall rule_due(const struct rule *r, const struct zone *z, struct wall nominal);

/* Do they name the same times? By their contents, not by their bytes. */
bool rule_same(const struct rule *a, const struct rule *b);

/* Local days (since 1970-01-01) on which nothing runs, ascending. */
struct days {
	const int32_t *day;
	unsigned n;
};
bool days_have(const struct days *d, const struct zone *z, struct wall t);
