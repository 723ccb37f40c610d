#pragma once
/* A naive model of cron expressions, written from the specification and sharing no code with rota: one bool
 * for each value, one test for each day. Its calendar is libc's gmtime_r and timegm. It reads valid
 * expressions of five or six fields without H and presets. It aborts on anything else, because it is not made
 * to test errors. */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct naive {
	bool second[60], minute[60], hour[24], mday[32], month[13], wday[7];
	bool last[31];  /* [k]: the k-th day before the last of the month */
	bool near[32];  /* [d]: the weekday nearest to day d */
	bool near_last; /* the last weekday of the month */
	bool wday_last[7];
	bool nth[7][6];
	bool both_days; /* day of month and day of week must both match */
	bool every_hour;
};

/* One calendar day, by libc. */
struct naive_day {
	int year, month, mday, wday, month_days;
};

static inline struct naive_day naive_day(int64_t day)
{
	time_t t = day * 86400;
	struct tm tm;
	gmtime_r(&t, &tm);
	struct tm next = { .tm_year = tm.tm_year, .tm_mon = tm.tm_mon + 1, .tm_mday = 1 };
	time_t last = timegm(&next) - 86400;
	struct tm end;
	gmtime_r(&last, &end);
	return (struct naive_day){ tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_wday, end.tm_mday };
}

static inline void naive_bad(const char *item)
{
	fprintf(stderr, "naive model: cannot read '%s'\n", item);
	abort();
}

/* Reads a number, or one of `names` (three letters each; the first is `base`), and moves *s past it. */
static inline int naive_value(const char **s, const char *names, int base)
{
	if (isdigit((unsigned char)**s)) {
		char *end;
		int v = (int)strtol(*s, &end, 10);
		*s = end;
		return v;
	}
	for (int i = 0; names && names[3 * i]; i++)
		if (strncasecmp(names + 3 * i, *s, 3) == 0) {
			*s += 3;
			return base + i;
		}
	naive_bad(*s);
	return 0;
}

/* Reads one item without L, W and #. The field has `n` values from `lo` on; a value v means lo + (v - lo) mod
 * n, which makes day of week 7 a Sunday. */
static inline void naive_item(const char *s, bool *set, int lo, int n, const char *names)
{
	const char *whole = s;
	int from = lo, to = lo + n - 1, step = 1;
	if (*s == '*' || *s == '?') {
		s++;
	} else {
		from = to = naive_value(&s, names, lo == 1 ? 1 : 0);
		if (*s == '-') {
			s++;
			to = naive_value(&s, names, lo == 1 ? 1 : 0);
		} else if (*s == '/') {
			to = lo + n - 1;
		}
	}
	if (*s == '/')
		step = atoi(s + 1), s += 1 + strspn(s + 1, "0123456789");
	if (*s || step < 1)
		naive_bad(whole);
	if (to < from) /* 22-2 wraps around */
		to += n;
	for (int v = from; v <= to; v += step)
		set[lo + (v - lo) % n] = true;
}

static inline bool naive_mday_special(struct naive *c, const char *s)
{
	int v, used = 0;
	if (strcasecmp(s, "L") == 0)
		return c->last[0] = true;
	if (strcasecmp(s, "LW") == 0)
		return c->near_last = true;
	if (sscanf(s, "L-%d%n", &v, &used) == 1 && !s[used])
		return c->last[v] = true;
	if (sscanf(s, "%dW%n", &v, &used) == 1 && used && !s[used])
		return c->near[v] = true;
	return false;
}

static inline bool naive_wday_special(struct naive *c, const char *s, const char *names)
{
	if (!isalnum((unsigned char)*s))
		return false;
	int w = naive_value(&s, names, 0) % 7;
	if (*s == 'L' && !s[1])
		return c->wday_last[w] = true;
	if (*s == '#' && s[1] >= '1' && s[1] <= '5' && !s[2])
		return c->nth[w][s[1] - '0'] = true;
	return false;
}

static inline struct naive naive_parse(const char *text)
{
	static const char months[] = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", days[] = "SUNMONTUEWEDTHUFRISAT";
	struct naive c = { 0 };
	char copy[512], *field[7], *save;
	int n = 0;
	snprintf(copy, sizeof copy, "%s", text);
	for (char *f = strtok_r(copy, " \t", &save); f && n < 7; f = strtok_r(NULL, " \t", &save))
		field[n++] = f;
	if (n != 5 && n != 6)
		naive_bad(text);
	char **f = field + (n == 6);
	if (n == 5)
		c.second[0] = true;
	c.both_days = *f[2] == '*' || *f[2] == '?' || *f[4] == '*' || *f[4] == '?';
	for (int i = 0; i < n; i++) {
		for (char *item = strtok_r(field[i], ",", &save); item; item = strtok_r(NULL, ",", &save)) {
			switch (i + 6 - n) {
			case 0:
				naive_item(item, c.second, 0, 60, NULL);
				break;
			case 1:
				naive_item(item, c.minute, 0, 60, NULL);
				break;
			case 2:
				naive_item(item, c.hour, 0, 24, NULL);
				break;
			case 3:
				if (!naive_mday_special(&c, item))
					naive_item(item, c.mday, 1, 31, NULL);
				break;
			case 4:
				naive_item(item, c.month, 1, 12, months);
				break;
			case 5:
				if (!naive_wday_special(&c, item, days))
					naive_item(item, c.wday, 0, 7, days);
				break;
			}
		}
	}
	c.every_hour = true;
	for (int h = 0; h < 24; h++)
		c.every_hour &= c.hour[h];
	return c;
}

/* The weekday (Monday to Friday) of the month of `d` that is nearest to its day `mday`. */
static inline int naive_nearest(struct naive_day d, int mday)
{
	for (int away = 0; away < 3; away++)
		for (int sign = -1; sign <= 1; sign += 2) {
			int day = mday + sign * away;
			int wday = ((d.wday + day - d.mday) % 7 + 7) % 7;
			if (day >= 1 && day <= d.month_days && wday != 0 && wday != 6)
				return day;
		}
	abort();
}

static inline bool naive_has_day(const struct naive *c, struct naive_day d)
{
	if (!c->month[d.month])
		return false;
	bool mday = c->mday[d.mday] || c->last[d.month_days - d.mday];
	for (int i = 1; i <= d.month_days; i++)
		if (c->near[i] && naive_nearest(d, i) == d.mday)
			mday = true;
	if (c->near_last) {
		int last = d.month_days;
		for (int w; (w = (d.wday + last - d.mday + 7) % 7) == 0 || w == 6;)
			last--;
		mday |= last == d.mday;
	}
	bool wday = c->wday[d.wday] || c->nth[d.wday][(d.mday + 6) / 7] ||
		    (c->wday_last[d.wday] && d.mday + 7 > d.month_days);
	return c->both_days ? mday && wday : mday || wday;
}

/* Whether any day of 400 years matches. After 400 years the calendar repeats. */
static inline bool naive_ever(const struct naive *c)
{
	enum { DAYS = 146097 };
	static struct naive_day *day;
	if (!day) {
		day = malloc(DAYS * sizeof *day);
		for (int i = 0; i < DAYS; i++)
			day[i] = naive_day(10957 + i);
	}
	for (int i = 0; i < DAYS; i++)
		if (naive_has_day(c, day[i]))
			return true;
	return false;
}
