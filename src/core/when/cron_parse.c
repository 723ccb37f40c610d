/* Parses cron text into bitsets, field by field and item by item; every error has its byte offset. */
#include "base/cursor.h"
#include "base/hash.h"
#include "core/when/civil.h"
#include "core/when/cron.h"

static const char *const month_names[] = { "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL",
					   "AUG", "SEP", "OCT", "NOV", "DEC", NULL };
static const char *const wday_names[] = { "SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", NULL };

const struct cron_field_info cron_fields[CRON_FIELDS] = {
	[CRON_SECOND] = { "second", "second", 0, 59, 59, 59, NULL },
	[CRON_MINUTE] = { "minute", "minute", 0, 59, 59, 59, NULL },
	[CRON_HOUR] = { "hour", "hour", 0, 23, 23, 23, NULL },
	[CRON_MDAY] = { "day", "day of month", 1, 31, 31, 28, NULL },
	[CRON_MONTH] = { "month", "month", 1, 12, 12, 12, month_names },
	[CRON_WDAY] = { "weekday", "day of week", 0, 7, 6, 6, wday_names },
};

static const struct {
	const char *name, *text;
} presets[] = {
	{ "@yearly", "0 0 1 1 *" }, { "@annually", "0 0 1 1 *" }, { "@monthly", "0 0 1 * *" },
	{ "@weekly", "0 0 * * 0" }, { "@daily", "0 0 * * *" },    { "@midnight", "0 0 * * *" },
	{ "@hourly", "0 * * * *" },
};

/* A field being read. */
struct field_reader {
	struct cursor in; /* the expression up to the end of the field */
	enum cron_field which;
	const struct cron_field_info *info;
	struct str id;
	uint64_t bits; /* the values read so far */
	struct cron *cron;
	struct why *why;
};

/* Moves past a letter that is a word by itself, in either case. */
static bool accept_letter(struct field_reader *f, char upper)
{
	if (to_upper(cursor_peek(&f->in)) != upper || f->in.at >= f->in.text.n)
		return false;
	if (f->in.at + 1 < f->in.text.n && is_alpha(f->in.text.p[f->in.at + 1]))
		return false;
	f->in.at++;
	return true;
}

static struct str item_from(const struct field_reader *f, size_t from)
{
	size_t end = from;
	while (end < f->in.text.n && f->in.text.p[end] != ',')
		end++;
	return str_sub(f->in.text, from, end);
}

/* Refuses the item that begins at `from`: its text at the cursor is not understood. */
static enum err refuse_item(const struct field_reader *f, size_t from)
{
	struct str item = item_from(f, from);
	/* The place of the error: the whole word (MONDAY), or the text after a number (1x). */
	bool word = true;
	for (size_t i = 0; i < item.n; i++)
		word &= is_alpha(item.p[i]);
	size_t at = word || f->in.at > from + item.n ? from : f->in.at;
	if (f->which == CRON_WDAY && item.n == 1 && to_upper(item.p[0]) == 'L')
		return why_set(f->why, E_INPUT, at,
			       "day of week has 'L' without a day; write 5L or FRIL for the last Friday");
	if (item.n == 0)
		return why_set(f->why, E_INPUT, at, "%s is missing a value (%d-%d)", f->info->label,
			       f->info->lo, f->info->hi);
	return why_set(f->why, E_INPUT, at,
		       "%s has '%.*s', which is not understood; allowed are %d-%d%s and the signs * , - /%s",
		       f->info->label, STR_SHORT(item), f->info->lo, f->info->hi,
		       f->info->names ? ", names" : "",
		       f->which == CRON_MDAY   ? " ? L W H"
		       : f->which == CRON_WDAY ? " ? L # H"
					       : " H");
}

/* Reads a number; one that is too large for any field is not read exactly. */
static unsigned read_digits(struct field_reader *f)
{
	unsigned v = 0;
	for (; is_digit(cursor_peek(&f->in)); f->in.at++)
		v = v > 99999 ? v : v * 10 + (unsigned)(cursor_peek(&f->in) - '0');
	return v;
}

/* Reads a number in the field's range, or a name. */
static enum err read_value(struct field_reader *f, unsigned *ret)
{
	size_t from = f->in.at;
	if (is_digit(cursor_peek(&f->in))) {
		unsigned v = read_digits(f);
		if (v < f->info->lo || v > f->info->hi)
			return why_set(f->why, E_INPUT, from, "%s %.*s is out of range %d-%d", f->info->label,
				       STR_SHORT(str_sub(f->in.text, from, f->in.at)), f->info->lo,
				       f->info->hi);
		*ret = v;
		return OK;
	}
	for (const char *const *name = f->info->names; name && *name; name++)
		if (f->in.text.n - f->in.at >= 3 &&
		    str_ieq(str_sub(f->in.text, f->in.at, f->in.at + 3), str_of(*name))) {
			f->in.at += 3;
			*ret = (unsigned)(name - f->info->names) + f->info->lo;
			return OK;
		}
	return refuse_item(f, from);
}

/* Reads the number after a `/`. A step larger than the field would match only once, so it is refused. */
static enum err read_step(struct field_reader *f, unsigned *ret)
{
	size_t from = f->in.at;
	unsigned v = read_digits(f), most = f->info->last - f->info->lo + 1u;
	if (f->in.at == from)
		return why_set(f->why, E_INPUT, from, "%s step is missing after '/' (1-%u)", f->info->label,
			       most);
	if (v < 1 || v > most)
		return why_set(f->why, E_INPUT, from, "%s step %.*s is out of range 1-%u", f->info->label,
			       STR_SHORT(str_sub(f->in.text, from, f->in.at)), most);
	*ret = v;
	return OK;
}

static void set_bit(struct field_reader *f, unsigned v)
{
	if (f->which == CRON_WDAY && v == 7)
		v = 0;
	f->bits |= UINT64_C(1) << v;
}

/* Sets every by-th value from a to b; if b is before a the range goes on after the end of the field. */
static void set_range(struct field_reader *f, unsigned a, unsigned b, unsigned by)
{
	unsigned lo = f->info->lo, count = f->info->last - lo + 1u;
	unsigned span = b >= a ? b - a : b + count - a;
	for (unsigned i = 0; i <= span; i += by)
		set_bit(f, lo + (a - lo + i) % count);
}

/* H, H(0-7), H/15, H(0-29)/10: values derived from the schedule's id. */
static enum err read_hash(struct field_reader *f)
{
	unsigned lo = f->info->lo, hi = f->info->hash_hi, by;
	enum err e;
	f->cron->flags |= CRON_HASHED;
	if (cursor_accept(&f->in, '(')) {
		size_t from = f->in.at;
		e = read_value(f, &lo);
		if (e)
			return e;
		if (!cursor_accept(&f->in, '-'))
			return refuse_item(f, from);
		e = read_value(f, &hi);
		if (e)
			return e;
		if (!cursor_accept(&f->in, ')'))
			return why_set(f->why, E_INPUT, f->in.at, "%s: ')' is missing after H(%u-%u",
				       f->info->label, lo, hi);
		if (hi < lo)
			return why_set(f->why, E_INPUT, from, "%s range of H must rise, not %u-%u",
				       f->info->label, lo, hi);
	}
	uint64_t h = hash_field(f->id, str_of(f->info->name));
	if (!cursor_accept(&f->in, '/')) {
		set_bit(f, lo + (unsigned)(h % (hi - lo + 1)));
		return OK;
	}
	size_t from = f->in.at;
	e = read_step(f, &by);
	if (e)
		return e;
	if (by > hi - lo + 1)
		return why_set(f->why, E_INPUT, from, "%s step %u is out of range 1-%u", f->info->label, by,
			       hi - lo + 1);
	for (unsigned v = lo + (unsigned)(h % by); v <= hi; v += by)
		set_bit(f, v);
	return OK;
}

/* Reads L, L-3, LW or 15W of the day of month. *done: the item was one of them. */
static enum err read_special_mday(struct field_reader *f, bool *done)
{
	struct cron *c = f->cron;
	size_t from = f->in.at;
	*done = true;
	if (f->in.text.n - f->in.at >= 2 && str_ieq(str_sub(f->in.text, f->in.at, f->in.at + 2), STR("LW"))) {
		f->in.at += 2;
		c->mday_near |= 1;
	} else if (accept_letter(f, 'L')) {
		unsigned back = 0;
		if (cursor_accept(&f->in, '-')) {
			size_t at = f->in.at;
			back = read_digits(f);
			if (f->in.at == at || back < 1 || back > 30)
				return why_set(f->why, E_INPUT, at,
					       "days before the last in '%.*s' are out of range 1-30",
					       STR_SHORT(item_from(f, from)));
		}
		c->mday_last |= UINT32_C(1) << back;
	} else {
		size_t end = f->in.at;
		while (end < f->in.text.n && is_digit(f->in.text.p[end]))
			end++;
		if (end == f->in.at || end >= f->in.text.n || to_upper(f->in.text.p[end]) != 'W') {
			*done = false;
			f->in.at = from;
			return OK;
		}
		unsigned day;
		enum err e = read_value(f, &day);
		if (e)
			return e;
		f->in.at++;
		c->mday_near |= UINT32_C(1) << day;
	}
	c->flags |= CRON_SPECIAL;
	return OK;
}

/* Reads the suffix of a weekday, as in 5L and 5#2. *done: there was a suffix. */
static enum err read_special_wday(struct field_reader *f, size_t from, unsigned day, bool *done)
{
	struct cron *c = f->cron;
	uint8_t bit = (uint8_t)(1u << day % 7);
	*done = true;
	if (accept_letter(f, 'L')) {
		c->wday_last |= bit;
	} else if (cursor_accept(&f->in, '#')) {
		unsigned nth = is_digit(cursor_peek(&f->in)) ? (unsigned)(cursor_peek(&f->in) - '0') : 0;
		if (nth < 1 || nth > 5 ||
		    (f->in.at + 1 < f->in.text.n && is_digit(f->in.text.p[f->in.at + 1])))
			return why_set(f->why, E_INPUT, f->in.at,
				       "the number after # in '%.*s' is out of range 1-5",
				       STR_SHORT(item_from(f, from)));
		f->in.at++;
		c->wday_nth[nth - 1] |= bit;
	} else {
		*done = false;
		return OK;
	}
	c->flags |= CRON_SPECIAL;
	return OK;
}

/* Normalizes a range of weekdays in which Sunday is written as 7; 0-7 is the whole week. */
static void normalize_sundays(unsigned *a, unsigned *b)
{
	if (*a == 0 && *b == 7)
		*b = 6;
	*a %= 7;
	*b %= 7;
}

static enum err read_item(struct field_reader *f)
{
	unsigned a = 0, b = 0, by = 1;
	enum err e;
	bool done = false;
	size_t from = f->in.at;
	if (accept_letter(f, 'H'))
		return read_hash(f);
	if (f->which == CRON_MDAY) {
		e = read_special_mday(f, &done);
		if (e || done)
			return e;
	}
	if (cursor_peek(&f->in) == '*' ||
	    (cursor_peek(&f->in) == '?' && (f->which == CRON_MDAY || f->which == CRON_WDAY))) {
		f->in.at++;
		a = f->info->lo;
		b = f->info->last;
	} else {
		e = read_value(f, &a);
		if (e)
			return e;
		if (f->which == CRON_WDAY) {
			e = read_special_wday(f, from, a, &done);
			if (e || done)
				return e;
		}
		b = a;
		if (cursor_accept(&f->in, '-')) {
			e = read_value(f, &b);
			if (e)
				return e;
			if (f->which == CRON_WDAY)
				normalize_sundays(&a, &b);
		} else if (cursor_peek(&f->in) == '/') {
			b = f->info->last > a ? f->info->last : a;
		}
	}
	if (cursor_accept(&f->in, '/')) {
		e = read_step(f, &by);
		if (e)
			return e;
	}
	if (f->in.at < f->in.text.n && cursor_peek(&f->in) != ',')
		return refuse_item(f, from);
	set_range(f, a, b, by);
	return OK;
}

static enum err read_field(struct field_reader *f)
{
	do {
		size_t from = f->in.at;
		enum err e = read_item(f);
		if (e)
			return e;
		if (f->in.at < f->in.text.n && cursor_peek(&f->in) != ',')
			return refuse_item(f, from);
	} while (cursor_accept(&f->in, ','));
	return OK;
}

static void store_field(struct cron *c, enum cron_field which, uint64_t bits, bool star)
{
	switch (which) {
	case CRON_SECOND:
		c->second = bits;
		break;
	case CRON_MINUTE:
		c->minute = bits;
		break;
	case CRON_HOUR:
		c->hour = (uint32_t)bits;
		break;
	case CRON_MDAY:
		c->mday = (uint32_t)bits;
		c->flags |= star ? CRON_MDAY_STAR : 0;
		break;
	case CRON_MONTH:
		c->month = (uint16_t)bits;
		break;
	case CRON_WDAY:
		c->wday = (uint8_t)bits;
		c->flags |= star ? CRON_WDAY_STAR : 0;
		break;
	case CRON_FIELDS:
		assert(false);
	}
}

static enum err expand_preset(struct str text, struct str *ret, struct why *why)
{
	struct str rest = text, word = str_token(&rest);
	for (size_t i = 0; i < ARRAY_LEN(presets); i++) {
		if (!str_ieq(word, str_of(presets[i].name)))
			continue;
		rest = str_trim(rest);
		if (rest.n)
			return why_set(why, E_INPUT, (size_t)(rest.p - text.p),
				       "nothing may follow %s, but '%.*s' does", presets[i].name,
				       STR_SHORT(rest));
		*ret = str_of(presets[i].text);
		return OK;
	}
	return why_set(why, E_INPUT, 0,
		       "'%.*s' is not known; allowed are @yearly @annually @monthly @weekly @daily @midnight "
		       "@hourly "
		       "and @every with a duration",
		       STR_SHORT(word));
}

enum err cron_parse(struct str text, struct str id, struct cron *ret, struct why *why)
{
	struct str whole = str_trim(text);
	size_t shift = (size_t)(whole.p - text.p);
	if (whole.n && whole.p[0] == '@') {
		enum err e = expand_preset(whole, &whole, why);
		if (e) {
			if (why)
				why->at += shift;
			return e;
		}
	}
	struct str tokens[CRON_FIELDS + 1], rest = whole;
	unsigned n = 0;
	size_t extra = 0;
	for (struct str t = str_token(&rest); t.n; t = str_token(&rest), n++) {
		if (n < CRON_FIELDS)
			tokens[n] = t;
		else if (n == CRON_FIELDS)
			extra = (size_t)(t.p - whole.p);
	}
	if (n != 5 && n != 6)
		return why_set(why, E_INPUT, shift + (n > 6 ? extra : whole.n),
			       "%u field%s, where 5 are expected (minute hour day month weekday), or 6 with "
			       "seconds first",
			       n, n == 1 ? "" : "s");

	struct cron c = { .second = 1 };
	for (unsigned i = 0; i < n; i++) {
		enum cron_field which = (enum cron_field)(i + (n == 5));
		size_t at = (size_t)(tokens[i].p - whole.p);
		struct field_reader f = { .in = { str_sub(whole, 0, at + tokens[i].n), at },
					  .which = which,
					  .info = &cron_fields[which],
					  .id = id,
					  .cron = &c,
					  .why = why };
		enum err e = read_field(&f);
		if (e) {
			if (why)
				why->at += shift;
			return e;
		}
		store_field(&c, which, f.bits, tokens[i].p[0] == '*' || tokens[i].p[0] == '?');
	}
	bool all_day = c.hour == CRON_ALL_HOURS;
	c.gap = all_day ? GAP_SKIP : GAP_SHIFT;
	c.fold = all_day ? FOLD_BOTH : FOLD_FIRST;
	/* Searches all 400 years of the calendar's cycle, from 2000 on. */
	if (!cron_between(&c, seconds_of(2000, 1, 1, 0, 0, 0),
			  seconds_of(2000 + CRON_YEARS_MAX, 1, 1, 0, 0, 0))) {
		size_t days = (size_t)(tokens[n - 3].p - whole.p);
		struct str day_fields = str_from(whole, days);
		return why_set(why, E_INPUT, shift + days,
			       "this never fires: no year has a day that matches '%.*s'",
			       STR_SHORT(day_fields));
	}
	*ret = c;
	return OK;
}
