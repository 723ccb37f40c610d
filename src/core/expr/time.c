/* Timestamps and durations: parsing, parts, text. */
#include "base/buf.h"
#include "core/expr/code.h"
#include "core/when/civil.h"
#include "core/when/iso.h"

/* --- timestamps --- */

/* Is it strictly RFC 3339, with seconds and an offset? */
static bool is_rfc3339(struct str s)
{
	bool z = s.n && (s.p[s.n - 1] == 'Z' || s.p[s.n - 1] == 'z');
	return s.n >= 20 && s.p[4] == '-' && s.p[10] != ' ' && s.p[16] == ':' && !memchr(s.p, ',', s.n) &&
	       (z || s.p[s.n - 3] == ':');
}

/* The fraction of a time in nanoseconds. */
static int32_t fraction_nanos(struct str s)
{
	const char *dot = memchr(s.p, '.', s.n);
	int32_t nanos = 0, unit = (int32_t)(NANOS / 10);
	for (size_t i = dot ? (size_t)(dot - s.p) + 1 : s.n; i < s.n && is_digit(s.p[i]); i++, unit /= 10)
		nanos += unit * (s.p[i] - '0');
	return nanos;
}

static struct expr_value timestamp_at(struct expr_machine *m, int64_t seconds, int32_t nanos)
{
	if (seconds < SECONDS_MIN || seconds > SECONDS_MAX)
		return expr_error(m, "the time is out of range 0001-9999");
	return (struct expr_value){ .kind = EXPR_TIMESTAMP, .time = { seconds, nanos } };
}

struct expr_value expr_timestamp(struct expr_machine *m, const struct expr_function *f,
				 const struct expr_value *arg, unsigned n)
{
	struct iso iso;
	struct why why;
	assert(n == 1);
	if (arg->kind == EXPR_TIMESTAMP)
		return *arg;
	if (arg->kind == EXPR_INT)
		return timestamp_at(m, arg->integer, 0);
	if (arg->kind != EXPR_STRING)
		return expr_error(m, "%s() takes text such as '2026-11-16T14:00:00Z', not %s", f->name,
				  expr_kind_words[arg->kind]);
	if (iso_parse(arg->str, &iso, &why))
		return expr_error(m, "%s", why.text);
	if (!iso.has_offset || !is_rfc3339(arg->str))
		return expr_error(
			m,
			"'%.*s' is not a time with seconds and offset, such as '2026-11-16T14:00:00Z' "
			"or '2026-11-16T14:00:00+01:00'",
			STR_SHORT(arg->str));
	return timestamp_at(m, iso.local - iso.offset, fraction_nanos(arg->str));
}

struct expr_value expr_shift_time(struct expr_machine *m, const struct expr_value *t, int64_t nanos,
				  bool back)
{
	int64_t s = nanos / NANOS, rest = nanos % NANOS;
	rest = t->time.nanos + (back ? -rest : rest);
	int64_t carry = floor_div(rest, NANOS);
	return timestamp_at(m, t->time.seconds + (back ? -s : s) + carry, (int32_t)(rest - carry * NANOS));
}

/* --- durations --- */

static const struct {
	const char *name;
	int64_t nanos;
} units[] = { { "ns", 1 },       { "us", 1000 },        { "\xC2\xB5s", 1000 }, { "\xCE\xBCs", 1000 },
	      { "ms", 1000000 }, { "h", 3600 * NANOS }, { "m", 60 * NANOS },   { "s", NANOS } };

/* Adds the digits before and after the point, times the unit. False: the sum does not fit. */
static bool add_amount(struct str whole, struct str part, int64_t unit, int64_t *total)
{
	uint64_t v;
	int64_t nanos, rest = 0, scale = unit;
	if (whole.n && !str_number(whole, INT64_MAX, &v))
		return false;
	if (__builtin_mul_overflow(whole.n ? (int64_t)v : 0, unit, &nanos))
		return false;
	for (size_t i = 0; i < part.n && scale; i++) {
		/* Exact to the nanosecond, in integers; smaller fractions are dropped. */
		int64_t tenth = scale / 10;
		rest += tenth * (part.p[i] - '0') + scale % 10 * (part.p[i] - '0') / 10;
		scale = tenth;
	}
	return !__builtin_add_overflow(nanos, rest, &nanos) && !__builtin_add_overflow(*total, nanos, total);
}

/* Removes the leading digits from *s and returns them. */
static struct str cut_digits(struct str *s)
{
	struct str d = *s;
	d.n = 0;
	while (d.n < s->n && is_digit(s->p[d.n]))
		d.n++;
	*s = str_from(*s, d.n);
	return d;
}

struct expr_value expr_duration(struct expr_machine *m, const struct expr_function *f,
				const struct expr_value *arg, unsigned n)
{
	assert(n == 1);
	if (arg->kind == EXPR_DURATION)
		return *arg;
	if (arg->kind != EXPR_STRING)
		return expr_error(m, "%s() takes text such as '1h30m', not %s", f->name,
				  expr_kind_words[arg->kind]);
	struct str s = arg->str;
	bool minus = s.n && s.p[0] == '-', some = false, fits = true;
	if (s.n && (minus || s.p[0] == '+'))
		s = str_from(s, 1);
	int64_t total = 0;
	if (str_eq(s, STR("0")))
		return (struct expr_value){ .kind = EXPR_DURATION };
	while (s.n && fits) {
		struct str whole = cut_digits(&s), part = { "", 0 };
		if (s.n && s.p[0] == '.') {
			s = str_from(s, 1);
			part = cut_digits(&s);
		}
		size_t u = 0;
		while (u < ARRAY_LEN(units) && !str_starts(s, str_of(units[u].name)))
			u++;
		some = (whole.n || part.n) && u < ARRAY_LEN(units);
		if (!some)
			break;
		s = str_from(s, strlen(units[u].name));
		fits = add_amount(whole, part, units[u].nanos, &total);
	}
	if (!fits)
		return expr_error(m, "duration '%.*s' is out of range: at most 292 years",
				  STR_SHORT(arg->str));
	if (!some)
		return expr_error(m, "'%.*s' is not a duration such as '1h30m'; units are h m s ms us ns",
				  STR_SHORT(arg->str));
	return (struct expr_value){ .kind = EXPR_DURATION, .duration = minus ? -total : total };
}

/* --- accessors --- */

/* +05:30, -02:00, 02:00 */
static bool parse_offset(struct str s, int64_t *ret)
{
	uint64_t h, min;
	bool minus = s.n && s.p[0] == '-';
	if (s.n && (minus || s.p[0] == '+'))
		s = str_from(s, 1);
	if (s.n != 5 || s.p[2] != ':' || !str_number(str_sub(s, 0, 2), 23, &h) ||
	    !str_number(str_from(s, 3), 59, &min))
		return false;
	int64_t v = (int64_t)(h * 3600 + min * 60);
	*ret = minus ? -v : v;
	return true;
}

static struct expr_value int_value(int64_t v)
{
	return (struct expr_value){ .kind = EXPR_INT, .integer = v };
}

static struct expr_value duration_part(struct expr_machine *m, const struct expr_function *f, int64_t nanos)
{
	switch (f->part) {
	case TIME_HOURS:
		return int_value(nanos / (3600 * NANOS));
	case TIME_MINUTES:
		return int_value(nanos / (60 * NANOS));
	case TIME_SECONDS:
		return int_value(nanos / NANOS);
	case TIME_MILLIS: /* only the milliseconds within the second, as CEL's conformance tests require */
		return int_value(nanos % NANOS / 1000000);
	default:
		return expr_error(m, "a duration has no %s()", f->name);
	}
}

static struct expr_value time_part(unsigned part, int64_t local, int32_t nanos)
{
	int64_t days = floor_div(local, DAY), second = local - days * DAY;
	struct date d = date_of(days);
	switch (part) {
	case TIME_YEAR:
		return int_value(d.year);
	case TIME_MONTH:
		return int_value(d.month - 1);
	case TIME_DATE:
		return int_value(d.day);
	case TIME_DAY:
		return int_value(d.day - 1);
	case TIME_WEEKDAY:
		return int_value(weekday_of(days));
	case TIME_YEARDAY:
		return int_value(days - days_of(d.year, 1, 1));
	case TIME_HOURS:
		return int_value(second / 3600);
	case TIME_MINUTES:
		return int_value(second / 60 % 60);
	case TIME_SECONDS:
		return int_value(second % 60);
	default:
		return int_value(nanos / 1000000);
	}
}

struct expr_value expr_time_part(struct expr_machine *m, const struct expr_function *f,
				 const struct expr_value *arg, unsigned n)
{
	int64_t offset = 0;
	if (arg->kind == EXPR_DURATION && n == 1)
		return duration_part(m, f, arg->duration);
	if (arg->kind != EXPR_TIMESTAMP)
		return expr_error(m, "%s() takes a timestamp%s, not %s", f->name,
				  f->part >= TIME_HOURS && n == 1 ? " or a duration" : "",
				  expr_kind_words[arg->kind]);
	if (n == 2 && arg[1].kind != EXPR_STRING)
		return expr_error(m, "a zone is text such as 'Europe/Berlin', not %s",
				  expr_kind_words[arg[1].kind]);
	if (n == 2 && !str_eq(arg[1].str, STR("UTC")) && !parse_offset(arg[1].str, &offset)) {
		const struct zone *zone;
		struct why why = { 0 };
		if (!m->env->zones)
			return expr_error(m, "zones are not known here; write an offset such as '+01:00'");
		if (zones_find(m->env->zones, arg[1].str, &zone, &why))
			return expr_error(m, "%s", why.text);
		offset = zone_offset(zone, arg->time.seconds);
	}
	return time_part(f->part, arg->time.seconds + offset, arg->time.nanos);
}

/* --- text --- */

/* Appends 0, 3, 6 or 9 digits, as in the JSON of protobuf. */
static void add_fraction(uint32_t nanos, struct buf *out)
{
	if (nanos % 1000)
		buf_addf(out, ".%09u", nanos);
	else if (nanos % 1000000)
		buf_addf(out, ".%06u", nanos / 1000);
	else if (nanos)
		buf_addf(out, ".%03u", nanos / 1000000);
}

void expr_time_text(const struct expr_value *v, const struct zone *zone, struct buf *out)
{
	char text[ISO_SIZE];
	if (v->kind == EXPR_DURATION) {
		uint64_t nanos = v->duration < 0 ? -(uint64_t)v->duration : (uint64_t)v->duration;
		buf_addf(out, "%s%llu", v->duration < 0 ? "-" : "", (unsigned long long)(nanos / NANOS));
		add_fraction((uint32_t)(nanos % NANOS), out);
		buf_addc(out, 's');
		return;
	}
	int32_t offset = zone ? zone_offset(zone, v->time.seconds) : 0;
	int64_t local = v->time.seconds + offset;
	/* Uses UTC if the local time is out of range, or if the offset has seconds, which RFC 3339 cannot
	 * write. */
	if (local < SECONDS_MIN || local > SECONDS_MAX || offset % 60)
		offset = 0;
	buf_add(out, str_of(iso_format_local(v->time.seconds + offset, text)));
	add_fraction((uint32_t)v->time.nanos, out);
	buf_add(out, zone && offset ? str_of(iso_format_offset(offset, text)) : STR("Z"));
}
