/* The clauses of a phrase, in any order, each kind once. Each function reads from word p->i on, and moves
 * p->i past the words that it has read. */
#include "core/when/phrase/parts.h"

/* One day of the week, in the singular. */
static bool is_one_wday(const struct phrase_word *w)
{
	return w->kind == W_WDAYS && (w->value & (w->value - 1)) == 0;
}

static const struct phrase_word *this_word(const struct phrase_parser *p)
{
	return &p->w[p->i];
}

/* The word that is `ahead` words further on; W_END beyond the last one. */
static const struct phrase_word *word_ahead(const struct phrase_parser *p, unsigned ahead)
{
	return &p->w[p->i + ahead < p->n ? p->i + ahead : p->n];
}

static bool accept_word(struct phrase_parser *p, enum word_kind kind)
{
	bool here = this_word(p)->kind == kind;
	p->i += here;
	return here;
}

/* Is the next word separated from the one before, by "and" or by a comma? *words: the words of the separator;
 * a comma is not a word. */
static bool at_separator(const struct phrase_parser *p, unsigned *words)
{
	*words = this_word(p)->kind == W_AND;
	return *words || (this_word(p)->comma && this_word(p)->kind != W_END);
}

static bool is_unit(const struct phrase_word *w, enum unit *ret)
{
	if (w->kind != W_SECOND && w->kind != W_UNIT)
		return false;
	*ret = w->kind == W_SECOND ? U_SECOND : (enum unit)w->value;
	return true;
}

static bool is_ordinal(const struct phrase_word *w)
{
	return w->kind == W_ORDINAL || w->kind == W_SECOND;
}

static const char date_examples[] = "30 June, June 30th 2027 or 2027-06-30";

static bool is_date(const struct phrase_parser *p)
{
	unsigned a = this_word(p)->kind == W_THE;
	enum word_kind k = word_ahead(p, a)->kind, next = word_ahead(p, a + 1)->kind;
	if (k == W_ISO || k == W_MONTH)
		return true;
	return (k == W_NUMBER || k == W_ORDINAL) &&
	       (next == W_MONTH || (next == W_OF && word_ahead(p, a + 2)->kind == W_MONTH));
}

static enum err read_iso_date(struct phrase_parser *p, struct date *ret)
{
	struct iso t;
	enum err e = iso_parse(this_word(p)->s, &t, p->why);
	if (e && p->why)
		p->why->at += this_word(p)->at;
	if (e)
		return e;
	if (t.has_time)
		return phrase_refuse(p, p->i, "'$0' has a time, where a phrase takes the date alone");
	*ret = date_of(floor_div(t.local, DAY));
	p->i++;
	return OK;
}

/* 30 June, June 30th 2027, the 30th of June, 2027-06-30 */
static enum err read_date(struct phrase_parser *p, struct date *ret)
{
	struct date d = { 0 };
	bool date = is_date(p);
	accept_word(p, W_THE);
	if (!date)
		return phrase_expected(p, p->i, "a date", date_examples);
	if (this_word(p)->kind == W_ISO)
		return read_iso_date(p, ret);
	unsigned month = p->i;
	if (accept_word(p, W_MONTH))
		accept_word(p, W_THE);
	unsigned day = p->i;
	if (!accept_word(p, W_NUMBER) && !accept_word(p, W_ORDINAL))
		return phrase_expected(p, p->i, "a day of the month", date_examples);
	if (month == day) {
		accept_word(p, W_OF);
		month = p->i++;
	}
	d.month = (uint8_t)p->w[month].value;
	if (this_word(p)->kind == W_NUMBER && this_word(p)->s.n == 4 && is_digit(this_word(p)->s.p[0])) {
		d.year = (int32_t)this_word(p)->value;
		if (d.year < YEAR_MIN)
			return phrase_refuse(p, p->i, "year $0 is out of range 0001-9999");
		p->i++;
	}
	unsigned most = month_days(d.year ? d.year : 2000 /* a leap year */, d.month);
	if (p->w[day].value < 1 || p->w[day].value > most)
		return phrase_refuse(p, day, "day $0 is out of range 1-%u", most);
	d.day = (uint8_t)p->w[day].value;
	*ret = d;
	return OK;
}

static enum err date_clause(struct phrase_parser *p)
{
	unsigned from = p->i;
	struct date d;
	enum err e = read_date(p, &d);
	if (!e)
		e = phrase_set_part(p, PART_DATE, from);
	if (!e)
		p->parts.date = d;
	return e;
}

static const char time_examples[] = "9, 9:30, 9am, 9:30pm, noon or midnight";

/* A time of day as written. */
struct clock_time {
	int64_t hour;
	uint64_t minute;
	int64_t half; /* 0 with am, 12 with pm, -1 with neither */
};

/* Reads one word: 9, 9am, 9:30 or 9:30pm. */
static enum err read_clock(const struct phrase_parser *p, struct clock_time *ret)
{
	const struct phrase_word *w = this_word(p);
	struct phrase_word suffix;
	size_t i = 0;
	*ret = (struct clock_time){ w->value, 0, -1 };
	if (w->kind == W_NUMBER)
		return OK;
	while (is_digit(w->s.p[i]))
		i++;
	struct str rest = str_from(w->s, i);
	if (rest.p[0] == ':') {
		if (rest.n < 3 || !str_number(str_sub(rest, 1, 3), 99, &ret->minute))
			return phrase_expected(p, p->i, "a time", time_examples);
		rest = str_from(rest, 3);
	}
	if (ret->minute > 59)
		return phrase_refuse(p, p->i, "the minute of '$0' is out of range 00-59");
	if (rest.n == 0)
		return OK;
	if (!phrase_look_up(rest, &suffix) || suffix.kind != W_HALFDAY)
		return phrase_expected(p, p->i, "a time", time_examples);
	ret->half = suffix.value;
	return OK;
}

/* Reads one time of day. *half: it has am or pm. *bare: it has neither, and could be either. */
static enum err read_time(struct phrase_parser *p, unsigned *minute, bool *bare, bool *half)
{
	struct clock_time c;
	unsigned from = p->i;
	*bare = *half = false;
	if (accept_word(p, W_NOON)) {
		*minute = (unsigned)p->w[from].value;
		return OK;
	}
	if (this_word(p)->kind != W_NUMBER && this_word(p)->kind != W_CLOCK)
		return phrase_expected(p, p->i, "a time", time_examples);
	enum err e = read_clock(p, &c);
	if (e)
		return e;
	p->i++;
	if (c.half < 0) {
		accept_word(p, W_OCLOCK);
		c.half = accept_word(p, W_HALFDAY) ? p->w[p->i - 1].value : -1;
	}
	*half = c.half >= 0;
	*bare = !*half && c.hour >= 1 && c.hour <= 12;
	if (c.hour < *half || c.hour > (*half ? 12 : 23))
		return phrase_refuse(p, from, "the hour of '$0' is out of range %s",
				     *half ? "1-12 with am or pm" : "0-23");
	*minute = (unsigned)(*half ? c.hour % 12 + c.half : c.hour) * 60 + (unsigned)c.minute;
	return OK;
}

/* Is this word a time? The number in "24 december" or "30 minutes" is not. */
static bool is_time(const struct phrase_parser *p, unsigned ahead)
{
	enum word_kind k = word_ahead(p, ahead)->kind, next = word_ahead(p, ahead + 1)->kind;
	return k == W_CLOCK || k == W_NOON ||
	       (k == W_NUMBER && next != W_MONTH && next != W_OF && next != W_UNIT && next != W_SECOND);
}

static enum err add_time(struct phrase_parser *p, unsigned minute, unsigned word)
{
	struct phrase_parts *s = &p->parts;
	for (unsigned i = 0; i < s->time_count; i++)
		if (s->times[i] == minute)
			return OK;
	if (s->time_count == PHRASE_TIMES_MAX)
		return phrase_refuse(p, word, "too many times: a phrase has at most %d", PHRASE_TIMES_MAX);
	s->times[s->time_count++] = (uint16_t)minute;
	s->hours |= UINT64_C(1) << minute / 60;
	s->minutes |= UINT64_C(1) << minute % 60;
	return OK;
}

/* [at] 8, 12 and 18 */
static enum err times_clause(struct phrase_parser *p)
{
	unsigned from = p->i, bare_at = PHRASE_WORDS_MAX, halves = 0, words;
	bool again = phrase_has(p, PART_TIMES), more;
	accept_word(p, W_AT);
	do {
		unsigned word = p->i, minute = 0;
		bool bare, half;
		enum err e = read_time(p, &minute, &bare, &half);
		if (!e && !again)
			e = add_time(p, minute, word);
		if (e)
			return e;
		halves += half;
		if (bare && bare_at == PHRASE_WORDS_MAX)
			bare_at = word;
		more = at_separator(p, &words) && is_time(p, words);
		p->i += more ? words : 0;
	} while (more);
	if (halves && bare_at < PHRASE_WORDS_MAX)
		return phrase_refuse(
			p, bare_at,
			"'$0' beside am or pm could be morning or evening; write am or pm with each time");
	return phrase_set_part(p, PART_TIMES, from);
}

/* monday, tuesday to thursday and weekends */
static enum err wdays_clause(struct phrase_parser *p)
{
	unsigned from = p->i, words;
	int64_t days = 0;
	bool more;
	do {
		const struct phrase_word *a = this_word(p), *b = word_ahead(p, 2);
		days |= a->value;
		p->i++;
		if (accept_word(p, W_TO)) {
			if (!phrase_wday_range(a, b))
				return phrase_expected(p, p->i, "the last day of a range",
						       "\"monday to friday\"");
			days |= phrase_wday_range(a, b);
			p->i++;
		}
		more = at_separator(p, &words) && word_ahead(p, words)->kind == W_WDAYS;
		p->i += more ? words : 0;
	} while (more);
	enum err e = phrase_set_part(p, PART_WDAYS, from);
	if (!e)
		p->parts.wdays = (uint8_t)days;
	return e;
}

/* Reads the noun that the ordinals count: one weekday (first and third monday), "weekday" (Monday to Friday),
 * or days. */
static enum err monthly_days(struct phrase_parser *p, uint64_t ordinals, unsigned from)
{
	const uint64_t first = 1 << 1, last = UINT64_C(1) << ORDINAL_LAST, nth = last | 0x3E;
	struct phrase_parts *s = &p->parts;
	const struct phrase_word *w = this_word(p);
	enum unit unit;
	if (is_one_wday(w)) {
		if (ordinals & ~nth)
			return phrase_refuse(
				p, from,
				"'$0' is out of range: days of the week go from first to fifth, and "
				"last");
		s->nth = ordinals;
		s->nth_wday = (unsigned)__builtin_ctz((unsigned)w->value);
		p->i++;
		return OK;
	}
	if (w->kind == W_WDAYS && w->value == WORKDAYS) {
		if (ordinals & ~(first | last))
			return phrase_refuse(p, from,
					     "only the first and the last weekday of a month can be named");
		s->first_workday = ordinals & first;
		s->last_workday = ordinals & last;
		p->i++;
		return OK;
	}
	bool noun = is_unit(w, &unit) && unit == U_DAY;
	if ((ordinals & last) && !noun)
		return phrase_expected(p, p->i, "a day or a day of the week",
				       "\"last day of the month\" or \"last friday of the month\"");
	p->i += noun;
	s->mdays = (uint32_t)ordinals; /* without the bit of "last", which is above 31 */
	s->mday_last = ordinals & last;
	return OK;
}

/* the 1st and 15th [of every month], first monday of the month, last day */
static enum err monthly_clause(struct phrase_parser *p)
{
	unsigned from = p->i, words;
	uint64_t ordinals = 0;
	enum unit unit;
	bool more;
	do {
		const struct phrase_word *w = this_word(p);
		bool last = w->value == ORDINAL_LAST && !is_digit(w->s.p[0]);
		if (w->value < 1 || (w->value > 31 && !last))
			return phrase_refuse(p, p->i, "day $0 is out of range 1-31");
		ordinals |= UINT64_C(1) << w->value;
		p->i++;
		more = at_separator(p, &words);
		words += word_ahead(p, words)->kind == W_THE;
		more = more && is_ordinal(word_ahead(p, words));
		p->i += more ? words : 0;
	} while (more);
	enum err e = phrase_has(p, PART_MONTHLY) ? OK : monthly_days(p, ordinals, from);
	if (e)
		return e;
	if (accept_word(p, W_OF)) {
		if (!accept_word(p, W_THE))
			accept_word(p, W_EVERY);
		if (!is_unit(this_word(p), &unit) || unit != U_MONTH)
			return phrase_expected(p, p->i, "the month",
					       "\"of the month\" or \"of every month\"");
		p->i++;
		p->parts.of_month = true;
	}
	return phrase_set_part(p, PART_MONTHLY, from);
}

static enum err every_clause(struct phrase_parser *p);

/* Reads the day after "on": weekdays, a day of the month, a date. */
static enum err day_clause(struct phrase_parser *p)
{
	accept_word(p, W_ON);
	if (is_date(p))
		return date_clause(p);
	accept_word(p, W_THE);
	if (this_word(p)->kind == W_EVERY)
		return every_clause(p);
	if (this_word(p)->kind == W_WDAYS)
		return wdays_clause(p);
	if (is_ordinal(this_word(p)))
		return monthly_clause(p);
	return phrase_expected(p, p->i, "a day",
			       "\"monday\", \"the 15th\", \"the last friday\" or \"24 december\"");
}

/* 20 minutes, 20m, an hour, half an hour; after "every" also hour alone. */
static enum err read_amount(struct phrase_parser *p, int64_t *count, enum unit *unit)
{
	unsigned from = p->i;
	const struct phrase_word *w = this_word(p);
	bool half = accept_word(p, W_HALF);
	*count = 1;
	if (accept_word(p, W_AMOUNT) || accept_word(p, W_NUMBER))
		*count = w->value;
	else
		accept_word(p, W_A);
	if (w->kind == W_AMOUNT)
		*unit = w->unit;
	else if (is_unit(this_word(p), unit))
		p->i++;
	else
		return phrase_expected(p, p->i, "a unit of time",
				       "seconds, minutes, hours, days, weeks, months or years");
	if (*count < 1 || *count > phrase_units[*unit].most)
		return phrase_refuse(p, from, "$0 is out of range: the number of %s is 1-%lld",
				     phrase_units[*unit].name, (long long)phrase_units[*unit].most);
	if (!half)
		return OK;
	*count = phrase_units[*unit].seconds / 2;
	if (*count == 0)
		return phrase_refuse(p, from, "'$0' can be used only with minutes, hours, days and weeks");
	*unit = U_SECOND;
	return OK;
}

static bool is_amount(const struct phrase_parser *p, unsigned ahead)
{
	enum word_kind k = word_ahead(p, ahead)->kind;
	enum unit unit;
	return k == W_AMOUNT || k == W_HALF ||
	       ((k == W_NUMBER || k == W_A) && is_unit(word_ahead(p, ahead + 1), &unit));
}

/* Reads "2 hours and 30 minutes": the amount of each unit */
static enum err read_amounts(struct phrase_parser *p, int64_t ret[UNITS])
{
	int64_t seconds = 0;
	unsigned from = p->i, words;
	bool more;
	do {
		int64_t count = 0;
		enum unit unit = U_NONE;
		enum err e = read_amount(p, &count, &unit);
		if (e)
			return e;
		ret[unit] += count;
		seconds += count * phrase_units[unit].seconds;
		at_separator(p, &words);
		more = is_amount(p, words);
		p->i += more ? words : 0;
	} while (more);
	if (seconds > DURATION_SECONDS_MAX || ret[U_MONTH] + 12 * ret[U_YEAR] > YEARS_MOST * 12)
		return phrase_refuse(p, from, "this is too long: at most %d days or %d years",
				     (int)(DURATION_SECONDS_MAX / DAY), YEARS_MOST);
	return OK;
}

static enum err claim_every(struct phrase_parser *p, unsigned from, int64_t count, enum unit unit)
{
	enum err e = phrase_set_part(p, PART_EVERY, from);
	if (e)
		return e;
	p->parts.count = count;
	p->parts.unit = unit;
	return OK;
}

/* every 90 minutes, every hour and 30 minutes */
static enum err every_amount(struct phrase_parser *p, unsigned from)
{
	int64_t amount[UNITS] = { 0 }, seconds = 0;
	unsigned kinds = 0;
	enum unit unit = U_NONE;
	enum err e = read_amounts(p, amount);
	if (e)
		return e;
	for (enum unit u = U_SECOND; u < UNITS; u++) {
		unit = amount[u] ? u : unit;
		kinds += amount[u] != 0;
		seconds += amount[u] * phrase_units[u].seconds;
	}
	if (kinds > 1 && unit >= U_MONTH)
		return phrase_refuse(
			p, from, "months and years have no fixed length and cannot be added to other units");
	return kinds > 1 ? claim_every(p, from, seconds, U_SECOND) : claim_every(p, from, amount[unit], unit);
}

/* every other week, every other monday */
static enum err every_other(struct phrase_parser *p, unsigned from)
{
	enum unit unit;
	p->i++;
	if (is_unit(this_word(p), &unit)) {
		p->i++;
		return claim_every(p, from, 2, unit);
	}
	if (!is_one_wday(this_word(p)))
		return phrase_expected(p, p->i, "a unit of time or a day of the week",
				       "\"every other week\" or \"every other monday\"");
	enum err e = claim_every(p, from, 2, U_WEEK);
	return e ? e : wdays_clause(p);
}

/* Is "second" the unit, as in "every second"? Not if something follows that can be counted. */
static bool is_plain_second(const struct phrase_parser *p)
{
	enum word_kind next = word_ahead(p, 1)->kind;
	return this_word(p)->kind == W_SECOND && next != W_WDAYS && next != W_UNIT && next != W_OF;
}

static enum err every_clause(struct phrase_parser *p)
{
	unsigned from = p->i++;
	const struct phrase_word *w = this_word(p);
	bool ordinal = is_ordinal(w) && !is_plain_second(p);
	enum unit unit;
	if (w->kind == W_OTHER)
		return every_other(p, from);
	/* "every 3rd day" is a step, unless "of the month" follows. */
	if (ordinal && is_unit(word_ahead(p, 1), &unit) && word_ahead(p, 2)->kind != W_OF) {
		if (w->value < 2 || w->value > 31)
			return phrase_refuse(
				p, p->i,
				"'$0' is not a step; write \"every 2 %s\", or \"of the month\" after a "
				"day",
				phrase_units[unit].name);
		p->i += 2;
		return claim_every(p, from, w->value, unit);
	}
	if (ordinal || w->kind == W_WDAYS || w->kind == W_THE || is_date(p)) {
		enum err e = claim_every(p, from, 1, U_NONE);
		return e ? e : day_clause(p);
	}
	if (w->kind == W_NUMBER || w->kind == W_AMOUNT || w->kind == W_A || w->kind == W_HALF ||
	    is_unit(w, &unit))
		return every_amount(p, from);
	return phrase_expected(
		p, p->i, "something that repeats",
		"\"every 10 minutes\", \"every day at 9\", \"every monday at 9\" or \"every month on "
		"the 1st\"");
}

static enum err adverb_clause(struct phrase_parser *p)
{
	const struct phrase_word *w = this_word(p);
	p->i++;
	return claim_every(p, p->i - 1, 1, (enum unit)w->value);
}

/* today, tomorrow, next friday */
static enum err relative_clause(struct phrase_parser *p)
{
	unsigned from = p->i;
	bool next = accept_word(p, W_NEXT);
	const struct phrase_word *w = this_word(p);
	if (next && !is_one_wday(w))
		return phrase_expected(p, p->i, "a day of the week", "\"next friday at 14:00\"");
	p->i++;
	enum err e = phrase_set_part(p, PART_RELATIVE, from);
	if (e)
		return e;
	p->parts.relative = next ? RELATIVE_NEXT : RELATIVE_DAY;
	p->parts.relative_day = w->value;
	return OK;
}

/* Does the word end the name of a place? "of" and months do not (Port of Spain, Jan Mayen). */
static bool ends_place(const struct phrase_word *w)
{
	static const bool ends[] = {
		[W_END] = true,     [W_EVERY] = true, [W_ADVERB] = true, [W_AT] = true,   [W_ON] = true,
		[W_IN] = true,      [W_UNTIL] = true, [W_TODAY] = true,  [W_NEXT] = true, [W_NOON] = true,
		[W_ORDINAL] = true, [W_WDAYS] = true, [W_CLOCK] = true,  [W_ZONE] = true, [W_ISO] = true,
	};
	return w->comma || ((size_t)w->kind < ARRAY_LEN(ends) && ends[w->kind]);
}

/* [in] a city or the name of a zone */
static enum err place_clause(struct phrase_parser *p)
{
	char name[ZONE_NAME_MAX];
	size_t n = 0;
	unsigned from = p->i, first = from + accept_word(p, W_IN);
	if (this_word(p)->kind != W_ZONE && ends_place(this_word(p)))
		return phrase_expected(p, first, "a place or an amount",
				       "\"in Berlin\" or \"in 20 minutes\"");
	do {
		struct str s = this_word(p)->s;
		if (phrase_hint(s))
			return phrase_refuse_unknown(p, p->i);
		if (n + 1 + s.n > sizeof name)
			return phrase_refuse(p, first, "the name of a place is at most %d characters long",
					     ZONE_NAME_MAX - 1);
		if (n)
			name[n++] = ' ';
		memcpy(name + n, s.p, s.n);
		n += s.n;
		p->i++;
	} while (!ends_place(this_word(p)));
	if (p->i == first + 1 && p->w[first].kind == W_MONTH)
		return phrase_refuse(
			p, first,
			"'$0' is not a place; write a single month in cron: 0 9 * %d 1 is each Monday in $0",
			(int)p->w[first].value);
	enum err e = phrase_set_part(p, PART_PLACE, from);
	if (e)
		return e;
	p->out.zone_at = p->w[first].at;
	e = zones_place(p->env->zones, (struct str){ name, n }, &p->out.zone, &p->out.zone_name, p->why);
	if (e && p->why)
		p->why->at = p->w[first].at;
	return e;
}

/* in 20 minutes; "in" with anything else is a place */
static enum err in_clause(struct phrase_parser *p)
{
	unsigned from = p->i;
	const struct phrase_word *w = word_ahead(p, 1);
	bool amount = w->kind == W_NUMBER || w->kind == W_AMOUNT || w->kind == W_A || w->kind == W_HALF;
	if (!amount && !(w->s.n && is_digit(w->s.p[0])))
		return place_clause(p);
	p->i++;
	if (!amount)
		return phrase_expected(p, p->i, "an amount of time", "20 minutes, 2 hours, 3 days or 1h30m");
	int64_t sum[UNITS] = { 0 };
	enum err e = read_amounts(p, sum);
	if (!e)
		e = phrase_set_part(p, PART_RELATIVE, from);
	if (e)
		return e;
	p->parts.relative = RELATIVE_IN;
	memcpy(p->parts.amount, sum, sizeof sum);
	return OK;
}

static enum err until_clause(struct phrase_parser *p)
{
	unsigned from = p->i++;
	struct date d;
	enum err e = read_date(p, &d);
	if (!e)
		e = phrase_set_part(p, PART_UNTIL, from);
	if (!e)
		p->parts.until = d;
	return e;
}

/* 24 december 2026, or 9 am */
static enum err number_clause(struct phrase_parser *p)
{
	const struct phrase_word *next = word_ahead(p, 1);
	if (is_date(p))
		return date_clause(p);
	if (next->kind == W_HALFDAY || next->kind == W_OCLOCK)
		return times_clause(p);
	if (phrase_hint(next->s))
		return phrase_refuse_unknown(p, p->i + 1);
	return phrase_refuse(p, p->i,
			     "'$0' alone could be anything; write \"at $0\" for a time, \"every\" or \"in\" "
			     "before an amount, or "
			     "the month after a day");
}

/* The clause that begins with each kind of word. */
static enum err (*const clauses[])(struct phrase_parser *) = {
	[W_EVERY] = every_clause, [W_ADVERB] = adverb_clause,  [W_AT] = times_clause,
	[W_ON] = day_clause,      [W_THE] = day_clause,        [W_IN] = in_clause,
	[W_UNTIL] = until_clause, [W_TODAY] = relative_clause, [W_NEXT] = relative_clause,
	[W_NOON] = times_clause,  [W_CLOCK] = times_clause,    [W_NUMBER] = number_clause,
	[W_ORDINAL] = day_clause, [W_SECOND] = day_clause,     [W_WDAYS] = wdays_clause,
	[W_MONTH] = date_clause,  [W_ISO] = date_clause,       [W_ZONE] = place_clause,
};

enum err phrase_read_clauses(struct phrase_parser *p)
{
	while (this_word(p)->kind != W_END) {
		unsigned from = p->i;
		enum word_kind k = this_word(p)->kind;
		if ((size_t)k >= ARRAY_LEN(clauses) || !clauses[k])
			return phrase_refuse_unknown(p, p->i);
		enum err e = clauses[k](p);
		if (e)
			return e;
		assert(p->i > from && p->i <= p->n);
	}
	return OK;
}
