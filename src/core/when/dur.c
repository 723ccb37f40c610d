/* Durations: parsing and formatting. */
#include "core/when/dur.h"

static const struct {
	char unit;
	int32_t seconds;
} units[] = { { 'w', 604800 }, { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };

enum err dur_parse(struct str text, int64_t *seconds, struct why *why)
{
	int64_t total = 0;
	size_t i = 0, next_unit = 0;
	if (text.n == 0)
		return why_set(why, E_INPUT, 0,
			       "a duration is missing, such as 90s, 10m, 2h, 3d, 1w or 1h30m");
	while (i < text.n) {
		size_t from = i, u;
		int64_t v = 0;
		for (; i < text.n && is_digit(text.p[i]); i++)
			v = v > DURATION_SECONDS_MAX ? v : v * 10 + (text.p[i] - '0');
		if (i == from)
			return why_set(why, E_INPUT, from,
				       "'%.*s' is not a duration; write 90s, 10m, 2h, 3d, 1w or 1h30m",
				       STR_SHORT(text));
		if (i == text.n)
			return why_set(
				why, E_INPUT, from,
				"duration %.*s has no unit at its end; units are w d h m s, as in 1h30m",
				STR_SHORT(text));
		for (u = next_unit; u < ARRAY_LEN(units) && units[u].unit != text.p[i];)
			u++;
		if (u == ARRAY_LEN(units))
			return why_set(why, E_INPUT, i,
				       "'%.*s' is not a duration; units are w d h m s, each once, from large "
				       "to small",
				       STR_SHORT(text));
		if (v <= DURATION_SECONDS_MAX)
			total += v * units[u].seconds;
		if (v > DURATION_SECONDS_MAX || total > DURATION_SECONDS_MAX)
			return why_set(why, E_INPUT, from, "duration %.*s is out of range: at most %dd",
				       STR_SHORT(text), (int)(DURATION_SECONDS_MAX / 86400));
		next_unit = u + 1;
		i++;
	}
	*seconds = total;
	return OK;
}

void dur_format(int64_t seconds, struct buf *out)
{
	if (seconds == 0)
		buf_add(out, STR("0s"));
	for (size_t u = 0; u < ARRAY_LEN(units); u++) {
		int64_t v = seconds / units[u].seconds;
		/* Weeks only if nothing is left over: 8d reads better than 1w1d. */
		if (v == 0 || (units[u].unit == 'w' && seconds % units[u].seconds))
			continue;
		buf_addf(out, "%lld%c", (long long)v, units[u].unit);
		seconds %= units[u].seconds;
	}
}
