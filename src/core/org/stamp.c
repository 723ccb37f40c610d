/* Timestamps of tasks: reading, the times of their series, and the next one after a completion. */
#include "core/org/stamp.h"
#include "core/when/civil.h"
#include "core/when/cron.h"

/* --- reading --- */

/* Reads n digits, at most four. */
static bool read_digits(struct str s, size_t at, size_t n, unsigned *ret)
{
	unsigned v = 0;
	if (at + n > s.n)
		return false;
	for (size_t i = at; i < at + n; i++) {
		if (!is_digit(s.p[i]))
			return false;
		v = v * 10 + (unsigned)(s.p[i] - '0');
	}
	*ret = v;
	return true;
}

/* A day beyond the end of its month counts into the next month. */
static bool read_date(struct str s, int64_t *days)
{
	unsigned y, m, d;
	if (s.n < 10 || s.p[4] != '-' || s.p[7] != '-' || !read_digits(s, 0, 4, &y) ||
	    !read_digits(s, 5, 2, &m) || !read_digits(s, 8, 2, &d) || y < YEAR_MIN || m < 1 || m > 12 ||
	    d < 1 || d > 31)
		return false;
	*days = days_of((int32_t)y, m, d);
	return true;
}

/* 9:00 at the front of s. */
static bool read_time(struct str s, int64_t *seconds)
{
	size_t colon = 0;
	unsigned h, m;
	while (colon < s.n && is_digit(s.p[colon]))
		colon++;
	if (colon < 1 || colon > 2 || colon == s.n || s.p[colon] != ':' || !read_digits(s, 0, colon, &h) ||
	    !read_digits(s, colon + 1, 2, &m) || h > 24 || m > 59)
		return false;
	*seconds = h * 3600 + m * 60;
	return true;
}

/* Finds the first repeater; false: there is none. */
static bool read_repeater(struct str s, struct task_time *t)
{
	static const char units[] = {
		[ORG_HOUR] = 'h', [ORG_DAY] = 'd', [ORG_WEEK] = 'w', [ORG_MONTH] = 'm', [ORG_YEAR] = 'y'
	};
	for (size_t at = 0; at < s.n; at++) {
		size_t digits = at + 1, end;
		uint64_t n;
		if (s.p[at] != '+')
			continue;
		for (end = digits; end < s.n && is_digit(s.p[end]);)
			end++;
		const char *unit = end < s.n ? memchr(units, s.p[end], sizeof units) : NULL;
		if (!unit || !str_number(str_sub(s, digits, end), ORG_REPEAT_MAX, &n))
			continue;
		char mark = at ? s.p[at - 1] : ' ';
		t->style = mark == '.' ? ORG_RESTART : mark == '+' ? ORG_FUTURE : ORG_EVERY;
		t->count = (uint16_t)n;
		t->unit = (uint8_t)(unit - units);
		return true;
	}
	return false;
}

bool task_time_read(struct str text, struct task_time *ret)
{
	struct task_time t = { 0 };
	struct org_stamp s;
	int64_t days, seconds = 0;
	if (!org_stamp_read(text, &s) || !read_date(s.date, &days))
		return false;
	t.timed = s.time.n && read_time(s.time, &seconds);
	if (s.time.n && !t.timed)
		return false;
	t.local = days * DAY + seconds;
	t.active = s.active;
	read_repeater(s.repeat, &t);
	*ret = t;
	return true;
}

/* --- series --- */

static int64_t utc_of(const struct task_time *t, const struct zone *z)
{
	return zone_utc(z, t->local, NULL);
}

int64_t task_time_begin(const struct task_time *t, const struct zone *z)
{
	return utc_of(t, z);
}

int64_t task_time_end(const struct task_time *t, const struct zone *z)
{
	return t->timed ? utc_of(t, z) : zone_utc(z, (floor_div(t->local, DAY) + 1) * DAY, NULL);
}

/* Moves it by n units, and returns its instant. A time that does not exist becomes one that does, as if it
 * was written and read again. */
static int64_t shift(struct task_time *t, const struct zone *z, enum org_unit unit, int64_t n)
{
	int64_t day = floor_div(t->local, DAY), second = t->local - day * DAY;
	static const int64_t seconds[] = { [ORG_HOUR] = 3600, [ORG_DAY] = DAY, [ORG_WEEK] = 7 * DAY };
	if (unit <= ORG_WEEK) {
		t->local += n * seconds[unit];
	} else {
		struct date d = date_of(day);
		int64_t months = d.year * INT64_C(12) + d.month - 1 + n * (unit == ORG_YEAR ? 12 : 1);
		int32_t year = (int32_t)floor_div(months, 12);
		t->local = days_of(year, (unsigned)(months - year * INT64_C(12)) + 1, d.day) * DAY + second;
	}
	enum zone_fit fit;
	int64_t utc = zone_utc(z, t->local, &fit);
	if (fit == ZONE_GAP)
		t->local = utc + zone_offset(z, utc);
	return utc;
}

/* Moves it on until it is after `now`, at least once; `utc` is its instant. Returns the new instant. All but
 * the last `most` steps are jumped at first: one step at a time would take long from the year 1 on. */
static int64_t shift_past(struct task_time *t, const struct zone *z, int64_t utc, int64_t now, int64_t most)
{
	static const int64_t longest[] = { [ORG_HOUR] = 3600,
					   [ORG_DAY] = DAY,
					   [ORG_WEEK] = 7 * DAY,
					   [ORG_MONTH] = 31 * DAY,
					   [ORG_YEAR] = 366 * DAY };
	int64_t steps = (now - utc) / (longest[t->unit] * t->count);
	if (steps > most)
		shift(t, z, t->unit, (steps - most) * t->count);
	do
		utc = shift(t, z, t->unit, t->count);
	while (utc <= now && t->local < SECONDS_MAX);
	return utc;
}

bool task_time_next(const struct task_time *t, const struct zone *z, int64_t now, int64_t *ret)
{
	struct task_time next = *t;
	int64_t utc = utc_of(t, z);
	if (utc <= now) {
		if (!t->count)
			return false;
		/* A day that every month has does not overflow, so one jump ends at the same day as single
		 * steps. */
		bool even = t->unit <= ORG_WEEK || date_of(floor_div(t->local, DAY)).day <= 28;
		utc = shift_past(&next, z, utc, now, even ? 1 : ORG_SHIFTS_MAX);
	}
	*ret = utc;
	return true;
}

/* --- completion --- */

bool stamp_repeats(struct str text, size_t *length, struct task_time *ret)
{
	const char *close = memchr(text.p, '>', text.n < STAMP_BYTES_MAX ? text.n : STAMP_BYTES_MAX);
	struct task_time t = { .active = true };
	int64_t days, seconds = 0;
	if (!close || text.n < 12 || text.p[11] != ' ')
		return false;
	struct str inner = str_sub(text, 1, (size_t)(close - text.p));
	if (inner.n < 11 || !read_date(inner, &days) || !read_repeater(str_from(inner, 11), &t))
		return false;
	/* The time follows the date, or the name of the day. */
	struct str rest = str_from(inner, 10);
	for (struct str word = str_token(&rest); word.n && !t.timed; word = str_token(&rest)) {
		t.timed = read_time(word, &seconds);
		if (is_digit(word.p[0]) || word.p[0] == '+' || word.p[0] == '-' || word.p[0] == '.')
			break;
	}
	t.local = days * DAY + seconds;
	*length = inner.n + 2;
	*ret = t;
	return true;
}

/* Moves it to the time after the completion, as org-auto-repeat-maybe does. */
static void advance(struct task_time *t, const struct zone *z, int64_t now)
{
	int64_t today = floor_div(now + zone_offset(z, now), DAY);
	if (t->style == ORG_RESTART && t->unit == ORG_HOUR) {
		t->local += floor_div(now - utc_of(t, z), 60) * 60;
		shift(t, z, ORG_HOUR, 0);
	} else if (t->style == ORG_RESTART) {
		shift(t, z, ORG_DAY, today - floor_div(t->local, DAY));
	} else if (t->style == ORG_FUTURE && t->count) {
		shift_past(t, z, utc_of(t, z), now, ORG_SHIFTS_MAX);
		shift(t, z, t->unit, -(int64_t)t->count);
	}
	shift(t, z, t->unit, t->count);
}

void stamp_write_date(int64_t local, bool timed, struct buf *out)
{
	int64_t day = floor_div(local, DAY);
	unsigned second = (unsigned)(local - day * DAY);
	struct date d = date_of(day);
	const char *name = cron_fields[CRON_WDAY].names[weekday_of(day)];
	buf_addf(out, "%04d-%02u-%02u %c%c%c", d.year, d.month, d.day, name[0], to_lower(name[1]),
		 to_lower(name[2]));
	if (timed)
		buf_addf(out, " %02u:%02u", second / 3600, second / 60 % 60);
}

/* The end of a repeater or warning at `at`, which begins with blanks; `at` itself: there is none. */
static size_t skip_mark(struct str s, size_t at)
{
	size_t end = at;
	while (end < s.n && s.p[end] == ' ')
		end++;
	if (end == at || end == s.n)
		return at;
	size_t marks = end;
	while (end < s.n && memchr(".+-", s.p[end], 3))
		end++;
	size_t digits = end;
	while (end < s.n && is_digit(s.p[end]))
		end++;
	if (digits == marks || digits - marks > 3 || end == digits || end == s.n ||
	    !memchr("hdwmy", s.p[end], 5))
		return at;
	end++;
	if (end + 2 < s.n && s.p[end] == '/' && is_digit(s.p[end + 1])) {
		size_t habit = end + 1;
		while (habit < s.n && is_digit(s.p[habit]))
			habit++;
		if (habit < s.n && memchr("hdwmy", s.p[habit], 5))
			end = habit + 1;
	}
	return end;
}

/* The end of a time range, -10:00, at `at`. */
static size_t skip_range(struct str s, size_t at)
{
	static const char shape[] = "-00:00";
	for (unsigned i = 0; shape[i]; i++) {
		char c = at + i < s.n ? s.p[at + i] : 0;
		if (shape[i] == '0' ? !is_digit(c) : c != shape[i])
			return at;
	}
	return at + sizeof shape - 1;
}

/* What follows date and time and is kept: the end of a range, repeaters, warnings. */
static struct str kept_part(struct str inner, size_t *range)
{
	for (size_t from = 0; from < inner.n; from++) {
		size_t at = skip_range(inner, from), before;
		*range = at - from;
		do {
			before = at;
			at = skip_mark(inner, at);
		} while (at > before);
		if (at == inner.n && at > from)
			return str_from(inner, from);
	}
	*range = 0;
	return STR("");
}

void stamp_write_next(struct str text, const struct zone *z, int64_t now, struct buf *out)
{
	struct task_time t;
	size_t length, range, at;
	if (!stamp_repeats(text, &length, &t))
		return;
	struct str inner = str_sub(text, 1, length - 1), kept = kept_part(inner, &range);
	advance(&t, z, now);
	buf_addc(out, '<');
	stamp_write_date(t.local, t.timed, out);
	if (range && t.unit == ORG_HOUR) { /* the end of the range moves with its beginning */
		unsigned hour = (unsigned)(kept.p[1] - '0') * 10 + (unsigned)(kept.p[2] - '0');
		buf_addf(out, "-%02u:%.2s", (hour + t.count) % 24, kept.p + 4);
		kept = str_from(kept, range);
	}
	for (at = 0; at < kept.n;) { /* leaves out a warning that applies to the first time only: --2d */
		size_t end = skip_mark(kept, at);
		if (end == at)
			end = at + 1;
		struct str one = str_sub(kept, at, end);
		if (!str_starts(str_trim(one), STR("--")))
			buf_add(out, one);
		at = end;
	}
	buf_addc(out, '>');
}
