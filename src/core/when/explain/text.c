/* Sets of values and moments of time in words. */
#include "core/when/explain/text.h"
#include "core/when/civil.h"
#include "core/when/iso.h"

const char *const text_wdays[] = { "Sunday",   "Monday", "Tuesday",  "Wednesday",
				   "Thursday", "Friday", "Saturday", "Sunday" };

unsigned value_runs(uint64_t bits, unsigned shortest, struct value_run ret[VALUE_RUNS_MAX])
{
	unsigned n = 0;
	for (unsigned v = 0; v < 64; v++) {
		if (!(bits >> v & 1))
			continue;
		unsigned end = v;
		while (end < 63 && bits >> (end + 1) & 1)
			end++;
		if (end - v + 1 < shortest)
			end = v;
		ret[n++] = (struct value_run){ (uint8_t)v, (uint8_t)end };
		v = end;
	}
	return n;
}

void text_join(struct buf *out, unsigned i, unsigned n, const char *last)
{
	if (i)
		buf_add(out, i + 1 == n ? str_of(last) : STR(", "));
}

static void add_value(struct buf *out, unsigned v, const char *const *names)
{
	if (names)
		buf_add(out, str_of(names[v]));
	else
		buf_addf(out, "%u", v);
}

void text_values(struct buf *out, uint64_t bits, const char *const *names, const char *last)
{
	struct value_run run[VALUE_RUNS_MAX];
	unsigned n = value_runs(bits, 3, run);
	for (unsigned i = 0; i < n; i++) {
		text_join(out, i, n, last);
		add_value(out, run[i].from, names);
		if (run[i].to == run[i].from)
			continue;
		buf_add(out, STR(" to "));
		add_value(out, run[i].to, names);
	}
}

void text_every(struct buf *out, unsigned n, const char *unit)
{
	if (n == 1)
		buf_addf(out, "Every %s", unit);
	else
		buf_addf(out, "Every %u %ss", n, unit);
}

void text_date(struct buf *out, int64_t day)
{
	struct date d = date_of(day);
	buf_addf(out, "%04d-%02u-%02u", d.year, d.month, d.day);
}

void text_clock(struct buf *out, unsigned sod, bool with_seconds)
{
	buf_addf(out, "%02u:%02u", sod / 3600, sod / 60 % 60);
	if (with_seconds)
		buf_addf(out, ":%02u", sod % 60);
}

void text_time(struct buf *out, int64_t local)
{
	unsigned sod = (unsigned)(local - floor_div(local, DAY) * DAY);
	text_clock(out, sod, sod % 60);
}

void text_stamp(struct buf *out, int64_t local)
{
	text_date(out, floor_div(local, DAY));
	buf_addc(out, ' ');
	text_time(out, local);
}

struct local_moment local_moment(const struct zone *z, int64_t t)
{
	int32_t offset = zone_offset(z, t);
	struct local_moment s = { .local = t + offset };
	enum zone_fit fit;
	zone_utc(z, s.local, &fit);
	if (fit != ZONE_ONCE)
		iso_format_offset(offset, s.offset);
	return s;
}

void text_moment(struct buf *out, const struct zone *z, int64_t t)
{
	struct local_moment s = local_moment(z, t);
	text_stamp(out, s.local);
	if (s.offset[0])
		buf_addf(out, " (UTC%s)", s.offset);
}
