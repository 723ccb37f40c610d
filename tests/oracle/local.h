#pragma once
/* Local time by brute force: a table of libc's localtime_r for every minute of some years, inverted so that
 * every local minute has its instants. Shares no code with rota. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOCAL_PAD = 4 * 1440, LOCAL_CHANGES_MAX = 64 };

struct local {
	const char *zone;
	int64_t from, to; /* the range of the table, in seconds UTC */
	int64_t base; /* minute 0 of the arrays, in minutes since 1970 (UTC for `offset`, local for the rest)
		       */
	int64_t minutes;
	int32_t *offset;         /* [UTC minute]: seconds east */
	int32_t *first, *second; /* [local minute]: its UTC minutes; -1: none */
	int32_t *after, *before; /* [local minute in a gap]: UTC minute of the clock change, and the offset
				    before it */
	int64_t change[LOCAL_CHANGES_MAX];
	int changes;
};

static inline void local_set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static inline int32_t local_offset_of(int64_t t)
{
	time_t at = t;
	struct tm tm;
	if (!localtime_r(&at, &tm))
		abort();
	return (int32_t)tm.tm_gmtoff;
}

static inline int64_t local_utc(int year, int month, int day)
{
	struct tm tm = { .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day };
	return timegm(&tm);
}

static inline void local_free(struct local *l)
{
	free(l->offset);
	free(l->first);
	free(l->second);
	free(l->after);
	free(l->before);
}

/* Asks libc for the offset of every 15th minute and, where two of them differ, of every minute in between. */
static inline void local_ask(struct local *l)
{
	int32_t prev = local_offset_of(l->base * 60);
	l->offset[0] = prev;
	for (int64_t i = 15; i < l->minutes + 15; i += 15) {
		int32_t off = local_offset_of((l->base + i) * 60);
		for (int64_t k = i - 14; k <= i && k < l->minutes; k++)
			l->offset[k] = off == prev ? off : local_offset_of((l->base + k) * 60);
		prev = off;
	}
}

/* From 1 January of year `from` to 1 January of year `to`, exclusive. */
static inline void local_init(struct local *l, const char *zone, int from, int to)
{
	*l = (struct local){ .zone = zone, .from = local_utc(from, 1, 1), .to = local_utc(to, 1, 1) };
	l->base = l->from / 60 - LOCAL_PAD;
	l->minutes = (l->to - l->from) / 60 + 2 * LOCAL_PAD;
	size_t n = (size_t)l->minutes;
	l->offset = malloc(n * sizeof(int32_t));
	l->first = malloc(n * sizeof(int32_t));
	l->second = malloc(n * sizeof(int32_t));
	l->after = malloc(n * sizeof(int32_t));
	l->before = malloc(n * sizeof(int32_t));
	if (!l->offset || !l->first || !l->second || !l->after || !l->before)
		abort();
	local_set_zone(zone);
	local_ask(l);
	for (int64_t m = 0; m < l->minutes; m++)
		l->first[m] = l->second[m] = l->after[m] = -1;
	for (int32_t u = 0; u < l->minutes; u++) {
		if (l->offset[u] % 60)
			abort(); /* no zone has had such an offset since 1972 */
		int64_t m = u + l->offset[u] / 60;
		if (m >= 0 && m < l->minutes)
			*(l->first[m] < 0 ? &l->first[m] : &l->second[m]) = u;
		if (u == 0 || l->offset[u] == l->offset[u - 1])
			continue;
		if (l->changes < LOCAL_CHANGES_MAX)
			l->change[l->changes++] = (l->base + u) * 60;
		for (int64_t g = u - 1 + l->offset[u - 1] / 60 + 1; g < m; g++) {
			if (g < 0 || g >= l->minutes)
				continue;
			l->after[g] = u;
			l->before[g] = l->offset[u - 1];
		}
	}
}

static inline int32_t local_offset(const struct local *l, int64_t t)
{
	return l->offset[t / 60 - l->base];
}

static inline int64_t local_day(const struct local *l, int64_t t)
{
	return (t + local_offset(l, t)) / 86400;
}

/* "2024-03-10 07:00:00Z (local 2024-03-10 03:00:00 -0400)"; libc must be set to the zone. */
static inline const char *local_show(int64_t t)
{
	static char ring[8][96];
	static unsigned turn;
	char *s = ring[turn++ % 8], utc[40], here[48];
	time_t at = t;
	struct tm tm;
	gmtime_r(&at, &tm);
	strftime(utc, sizeof utc, "%F %TZ", &tm);
	localtime_r(&at, &tm);
	strftime(here, sizeof here, "%F %T %z", &tm);
	snprintf(s, sizeof ring[0], "%s (local %s)", utc, here);
	return s;
}
