/* Writes cron bitsets as text. */
#include "core/when/cron.h"

static void add_comma(struct buf *out, size_t start)
{
	if (out->n > start)
		buf_addc(out, ',');
}

/* Appends values as a list of ranges. */
static void add_ranges(uint64_t bits, unsigned lo, unsigned last, struct buf *out, size_t start)
{
	for (unsigned v = lo; v <= last; v++) {
		if (!(bits >> v & 1))
			continue;
		unsigned end = v;
		while (end < last && bits >> (end + 1) & 1)
			end++;
		add_comma(out, start);
		if (end == v)
			buf_addf(out, "%u", v);
		else
			buf_addf(out, end == v + 1 ? "%u,%u" : "%u-%u", v, end);
		v = end;
	}
}

static void add_field(enum cron_field which, uint64_t bits, bool star, struct buf *out)
{
	unsigned lo = cron_fields[which].lo, last = cron_fields[which].last;
	size_t start = out->n;
	bool day = which == CRON_MDAY || which == CRON_WDAY;
	/* The leading star of a day field has a meaning of its own: it is written if and only if it was
	 * there. */
	if (bits == cron_steps(lo, last, 1) && (star || !day)) {
		buf_addc(out, '*');
		return;
	}
	if (star || !day) {
		for (unsigned by = 2; by <= last - lo + 1; by++) {
			uint64_t pattern = cron_steps(lo, last, by);
			if (star ? (bits & pattern) == pattern : bits == pattern && lo + 2 * by <= last) {
				buf_addf(out, "*/%u", by);
				bits &= ~pattern;
				break;
			}
		}
	}
	add_ranges(bits, lo, last, out, start);
}

void cron_format(const struct cron *c, struct buf *out)
{
	if (c->second != 1) {
		add_field(CRON_SECOND, c->second, false, out);
		buf_addc(out, ' ');
	}
	add_field(CRON_MINUTE, c->minute, false, out);
	buf_addc(out, ' ');
	add_field(CRON_HOUR, c->hour, false, out);
	buf_addc(out, ' ');

	size_t start = out->n;
	if (c->mday)
		add_field(CRON_MDAY, c->mday, c->flags & CRON_MDAY_STAR, out);
	for (unsigned k = 0; k < 31; k++) {
		if (!(c->mday_last >> k & 1))
			continue;
		add_comma(out, start);
		buf_addf(out, k ? "L-%u" : "L", k);
	}
	for (unsigned d = 0; d < 32; d++) {
		if (!(c->mday_near >> d & 1))
			continue;
		add_comma(out, start);
		buf_addf(out, d ? "%uW" : "LW", d);
	}
	buf_addc(out, ' ');
	add_field(CRON_MONTH, c->month, false, out);
	buf_addc(out, ' ');

	start = out->n;
	if (c->wday)
		add_field(CRON_WDAY, c->wday, c->flags & CRON_WDAY_STAR, out);
	for (unsigned w = 0; w < 7; w++) {
		if (c->wday_last >> w & 1) {
			add_comma(out, start);
			buf_addf(out, "%uL", w);
		}
		for (unsigned n = 0; n < 5; n++) {
			if (!(c->wday_nth[n] >> w & 1))
				continue;
			add_comma(out, start);
			buf_addf(out, "%u#%u", w, n + 1);
		}
	}
}
