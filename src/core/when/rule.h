#pragma once
/* A compiled when expression: a small value without pointers that gives the next and the previous time. Its
 * zone and its excluded dates are kept elsewhere, since many rules share them. Pure. */
#include "core/when/civil.h"
#include "core/when/cron.h"
#include "core/when/orgtime.h"

enum rule_kind { RULE_CRON, RULE_AT, RULE_EVERY, RULE_ORG, RULE_KINDS };
extern const char *const rule_kind_words[RULE_KINDS + 1];

struct rule {
	uint8_t kind;
	uint32_t jitter;     /* seconds; 0: none */
	uint64_t spread;     /* the schedule's hash: spread / 2^64 of the jitter is added to each time */
	int64_t from, until; /* nominal times are in [from, until), seconds UTC */
	union {
		struct cron cron;
		int64_t at;
		struct {
			int64_t anchor, interval;
		} every;
		struct org_rule org;
	};
};
static_assert(sizeof(struct rule) <= 96, "small, since a daemon keeps a million of them in memory");

#define RULE_FROM_ALWAYS SECONDS_MIN
#define RULE_UNTIL_NEVER INT64_MAX

/* The first nominal time strictly after `after`; the last one at or before `until`. E_NOTFOUND: there is
 * none.
 */
must_check enum err rule_next(const struct rule *r, const struct zone *z, struct wall after,
			      struct wall *ret);
must_check enum err rule_prev(const struct rule *r, const struct zone *z, struct wall until,
			      struct wall *ret);
/* When a nominal time is due: later by the schedule's share of the jitter, but before the next nominal time.
 */
struct wall rule_due(const struct rule *r, const struct zone *z, struct wall nominal);

/* Whether all values are within the bounds that the other functions rely on: the bytes may come from a file.
 */
bool rule_is_valid(const struct rule *r);
/* Do both give the same times? Compares the fields, not the bytes. */
bool rule_same(const struct rule *a, const struct rule *b);

/* Excluded local days, as days since 1970-01-01, ascending. */
struct days {
	const int32_t *day;
	unsigned n;
};
/* Is the local day of t in `z` one of them? */
bool days_have(const struct days *d, const struct zone *z, struct wall t);
