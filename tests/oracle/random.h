#pragma once
/* Random cron expressions, valid except for some that never fire. Hours and minutes near clock changes are
 * more likely than others. */
#include "test.h"

static uint64_t random_state;
enum { RANDOM_MAX = 400 };

static inline int below(int n)
{
	return (int)(test_random(&random_state) % (unsigned)n);
}

static inline int between(int lo, int hi)
{
	return lo + below(hi - lo + 1);
}

static inline int random_value(int field)
{
	switch (field) {
	case 0:
	case 1:
		return below(2) ? (int[]){ 0, 1, 15, 29, 30, 31, 45, 59 }[below(8)] : below(60);
	case 2:
		return below(2) ? (int[]){ 23, 0, 1, 2, 3, 4 }[below(6)] : below(24);
	case 3:
		return between(1, 31);
	case 4:
		return between(1, 12);
	default:
		return between(0, 7);
	}
}

static inline void add_value(char *s, int field, int v)
{
	static const char *const months[] = { "JAN", "feb", "Mar", "APR", "may", "JUN",
					      "Jul", "AUG", "sep", "OCT", "NOV", "dEc" };
	static const char *const days[] = { "SUN", "mon", "Tue", "WED", "tHu", "FRI", "sat" };
	size_t at = strlen(s);
	if (field == 4 && below(3) == 0)
		snprintf(s + at, RANDOM_MAX - at, "%s", months[v - 1]);
	else if (field == 5 && v < 7 && below(3) == 0)
		snprintf(s + at, RANDOM_MAX - at, "%s", days[v]);
	else
		snprintf(s + at, RANDOM_MAX - at, "%0*d", below(8) ? 1 : 2, v);
}

static inline void add_text(char *s, const char *fmt, int v)
{
	size_t at = strlen(s);
	snprintf(s + at, RANDOM_MAX - at, fmt, v);
}

static inline void add_item(char *s, int field)
{
	static const int steps[] = { 31, 31, 13, 16, 7, 4 };
	int v = random_value(field), kind = below(10);
	if (field == 3 && kind >= 7) {
		kind = below(4);
		if (kind == 0)
			add_text(s, "L", 0);
		else if (kind == 1)
			add_text(s, "LW", 0);
		else if (kind == 2)
			add_text(s, "L-%d", between(1, 30));
		else
			add_text(s, "%dW", v);
		return;
	}
	if (field == 5 && kind >= 7) {
		add_value(s, field, v);
		if (below(2))
			add_text(s, "L", 0);
		else
			add_text(s, "#%d", between(1, 5));
		return;
	}
	add_value(s, field, kind == 6 && field == 5 ? v % 7 : v); /* 7/2 is not defined */
	if (kind == 4 || kind == 5) {
		add_text(s, "-", 0);
		add_value(s, field, random_value(field));
	}
	if (kind == 5 || kind == 6)
		add_text(s, "/%d", between(1, steps[field]));
}

static inline void add_field(char *s, int field)
{
	static const int stars[] = { 5, 5, 4, 6, 11, 7 }; /* chances of `*` for each field, out of 16 */
	if (*s)
		add_text(s, below(10) ? " " : " \t", 0);
	int kind = below(16);
	if (kind < stars[field]) {
		add_text(s, field != 4 && field >= 3 && below(3) == 0 ? "?" : "*", 0);
	} else if (kind == 15) {
		add_text(s, "*/%d", between(1, 7));
		if (below(4) == 0) {
			add_text(s, ",", 0);
			add_item(s, field);
		}
	} else {
		for (int items = below(3) ? 1 : between(2, 4); items > 0; items--) {
			add_item(s, field);
			if (items > 1)
				add_text(s, ",", 0);
		}
	}
}

static inline void random_cron(char text[RANDOM_MAX])
{
	bool seconds = below(6) == 0;
	*text = 0;
	for (int field = !seconds; field < 6; field++)
		add_field(text, field);
}
