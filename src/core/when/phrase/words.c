/* The words of a phrase: the vocabulary, splitting and classifying, and the error messages. */
#include "core/when/dur.h"
#include "core/when/phrase/parts.h"

#include <stdarg.h>
#include <stdio.h>

#define NUMBER_MOST (DURATION_SECONDS_MAX + 1) /* larger numbers are out of every range anyway */

const struct phrase_unit phrase_units[UNITS] = {
	[U_SECOND] = { "seconds", 's', 1, DURATION_SECONDS_MAX },
	[U_MINUTE] = { "minutes", 'm', 60, DURATION_SECONDS_MAX / 60 },
	[U_HOUR] = { "hours", 'h', 3600, DURATION_SECONDS_MAX / 3600 },
	[U_DAY] = { "days", 'd', DAY, DURATION_SECONDS_MAX / DAY },
	[U_WEEK] = { "weeks", 'w', 7 * DAY, DURATION_SECONDS_MAX / (7 * DAY) },
	[U_MONTH] = { "months", 'm', 0, YEARS_MOST * 12 },
	[U_YEAR] = { "years", 'y', 0, YEARS_MOST },
};

#define WORD(literal)                                                                                        \
	{                                                                                                    \
		literal, sizeof(literal) - 1                                                                 \
	}
/* The vocabulary. Weekdays are sets of bits, Sunday the lowest. */
static const struct {
	enum word_kind kind;
	int value;
	struct str word;
} lexicon[] = {
	{ W_EVERY, 0, WORD("every") },
	{ W_EVERY, 0, WORD("each") },
	{ W_OTHER, 0, WORD("other") },
	{ W_ADVERB, U_HOUR, WORD("hourly") },
	{ W_ADVERB, U_DAY, WORD("daily") },
	{ W_ADVERB, U_WEEK, WORD("weekly") },
	{ W_ADVERB, U_MONTH, WORD("monthly") },
	{ W_ADVERB, U_YEAR, WORD("yearly") },
	{ W_ADVERB, U_YEAR, WORD("annually") },
	{ W_AT, 0, WORD("at") },
	{ W_ON, 0, WORD("on") },
	{ W_IN, 0, WORD("in") },
	{ W_UNTIL, 0, WORD("until") },
	{ W_OF, 0, WORD("of") },
	{ W_THE, 0, WORD("the") },
	{ W_AND, 0, WORD("and") },
	{ W_TO, 0, WORD("to") },
	{ W_TO, 0, WORD("through") },
	{ W_TO, 0, WORD("-") },
	{ W_TODAY, 0, WORD("today") },
	{ W_TODAY, 1, WORD("tomorrow") },
	{ W_NEXT, 0, WORD("next") },
	{ W_HALFDAY, 0, WORD("am") },
	{ W_HALFDAY, 0, WORD("a.m.") },
	{ W_HALFDAY, 12, WORD("pm") },
	{ W_HALFDAY, 12, WORD("p.m.") },
	{ W_OCLOCK, 0, WORD("o'clock") },
	{ W_OCLOCK, 0, WORD("o’clock") },
	{ W_OCLOCK, 0, WORD("oclock") },
	{ W_NOON, 0, WORD("midnight") },
	{ W_NOON, 12 * 60, WORD("noon") },
	{ W_NOON, 12 * 60, WORD("midday") },
	{ W_A, 1, WORD("a") },
	{ W_A, 1, WORD("an") },
	{ W_HALF, 0, WORD("half") },
	{ W_NUMBER, 1, WORD("one") },
	{ W_NUMBER, 2, WORD("two") },
	{ W_NUMBER, 3, WORD("three") },
	{ W_NUMBER, 4, WORD("four") },
	{ W_NUMBER, 5, WORD("five") },
	{ W_NUMBER, 6, WORD("six") },
	{ W_NUMBER, 7, WORD("seven") },
	{ W_NUMBER, 8, WORD("eight") },
	{ W_NUMBER, 9, WORD("nine") },
	{ W_NUMBER, 10, WORD("ten") },
	{ W_NUMBER, 11, WORD("eleven") },
	{ W_NUMBER, 12, WORD("twelve") },
	{ W_NUMBER, 13, WORD("thirteen") },
	{ W_NUMBER, 14, WORD("fourteen") },
	{ W_NUMBER, 15, WORD("fifteen") },
	{ W_NUMBER, 16, WORD("sixteen") },
	{ W_NUMBER, 17, WORD("seventeen") },
	{ W_NUMBER, 18, WORD("eighteen") },
	{ W_NUMBER, 19, WORD("nineteen") },
	{ W_NUMBER, 20, WORD("twenty") },
	{ W_NUMBER, 30, WORD("thirty") },
	{ W_NUMBER, 40, WORD("forty") },
	{ W_NUMBER, 45, WORD("forty-five") },
	{ W_NUMBER, 50, WORD("fifty") },
	{ W_NUMBER, 90, WORD("ninety") },
	{ W_ORDINAL, 1, WORD("first") },
	{ W_SECOND, 2, WORD("second") },
	{ W_ORDINAL, 3, WORD("third") },
	{ W_ORDINAL, 4, WORD("fourth") },
	{ W_ORDINAL, 5, WORD("fifth") },
	{ W_ORDINAL, ORDINAL_LAST, WORD("last") },
	{ W_UNIT, U_SECOND, WORD("seconds") },
	{ W_UNIT, U_SECOND, WORD("sec") },
	{ W_UNIT, U_SECOND, WORD("secs") },
	{ W_UNIT, U_MINUTE, WORD("minute") },
	{ W_UNIT, U_MINUTE, WORD("minutes") },
	{ W_UNIT, U_MINUTE, WORD("min") },
	{ W_UNIT, U_MINUTE, WORD("mins") },
	{ W_UNIT, U_HOUR, WORD("hour") },
	{ W_UNIT, U_HOUR, WORD("hours") },
	{ W_UNIT, U_HOUR, WORD("hr") },
	{ W_UNIT, U_HOUR, WORD("hrs") },
	{ W_UNIT, U_DAY, WORD("day") },
	{ W_UNIT, U_DAY, WORD("days") },
	{ W_UNIT, U_WEEK, WORD("week") },
	{ W_UNIT, U_WEEK, WORD("weeks") },
	{ W_UNIT, U_MONTH, WORD("month") },
	{ W_UNIT, U_MONTH, WORD("months") },
	{ W_UNIT, U_YEAR, WORD("year") },
	{ W_UNIT, U_YEAR, WORD("years") },
	{ W_WDAYS, 1 << 0, WORD("sunday") },
	{ W_WDAYS, 1 << 0, WORD("sun") },
	{ W_WDAYS, 1 << 1, WORD("monday") },
	{ W_WDAYS, 1 << 1, WORD("mon") },
	{ W_WDAYS, 1 << 2, WORD("tuesday") },
	{ W_WDAYS, 1 << 2, WORD("tue") },
	{ W_WDAYS, 1 << 2, WORD("tues") },
	{ W_WDAYS, 1 << 3, WORD("wednesday") },
	{ W_WDAYS, 1 << 3, WORD("wed") },
	{ W_WDAYS, 1 << 3, WORD("weds") },
	{ W_WDAYS, 1 << 4, WORD("thursday") },
	{ W_WDAYS, 1 << 4, WORD("thu") },
	{ W_WDAYS, 1 << 4, WORD("thur") },
	{ W_WDAYS, 1 << 4, WORD("thurs") },
	{ W_WDAYS, 1 << 5, WORD("friday") },
	{ W_WDAYS, 1 << 5, WORD("fri") },
	{ W_WDAYS, 1 << 6, WORD("saturday") },
	{ W_WDAYS, 1 << 6, WORD("sat") },
	{ W_WDAYS, WORKDAYS, WORD("weekday") },
	{ W_WDAYS, WEEKEND, WORD("weekend") },
	{ W_WDAYS, 1 << 0 | PLURAL, WORD("sundays") },
	{ W_WDAYS, 1 << 1 | PLURAL, WORD("mondays") },
	{ W_WDAYS, 1 << 2 | PLURAL, WORD("tuesdays") },
	{ W_WDAYS, 1 << 3 | PLURAL, WORD("wednesdays") },
	{ W_WDAYS, 1 << 4 | PLURAL, WORD("thursdays") },
	{ W_WDAYS, 1 << 5 | PLURAL, WORD("fridays") },
	{ W_WDAYS, 1 << 6 | PLURAL, WORD("saturdays") },
	{ W_WDAYS, WORKDAYS | PLURAL, WORD("weekdays") },
	{ W_WDAYS, WEEKEND | PLURAL, WORD("weekends") },
	{ W_MONTH, 1, WORD("january") },
	{ W_MONTH, 1, WORD("jan") },
	{ W_MONTH, 2, WORD("february") },
	{ W_MONTH, 2, WORD("feb") },
	{ W_MONTH, 3, WORD("march") },
	{ W_MONTH, 3, WORD("mar") },
	{ W_MONTH, 4, WORD("april") },
	{ W_MONTH, 4, WORD("apr") },
	{ W_MONTH, 5, WORD("may") },
	{ W_MONTH, 6, WORD("june") },
	{ W_MONTH, 6, WORD("jun") },
	{ W_MONTH, 7, WORD("july") },
	{ W_MONTH, 7, WORD("jul") },
	{ W_MONTH, 8, WORD("august") },
	{ W_MONTH, 8, WORD("aug") },
	{ W_MONTH, 9, WORD("september") },
	{ W_MONTH, 9, WORD("sep") },
	{ W_MONTH, 9, WORD("sept") },
	{ W_MONTH, 10, WORD("october") },
	{ W_MONTH, 10, WORD("oct") },
	{ W_MONTH, 11, WORD("november") },
	{ W_MONTH, 11, WORD("nov") },
	{ W_MONTH, 12, WORD("december") },
	{ W_MONTH, 12, WORD("dec") },
	{ W_ZONE, 0, WORD("utc") },
	{ W_ZONE, 0, WORD("gmt") },
};

/* Words that people may try, and what to write instead. */
static const struct {
	const char *words, *hint;
} hints[] = {
	{ "morning mornings afternoon afternoons evening evenings night nights nightly",
	  "is not an hour; write the time, such as \"every day at 8am\"" },
	{ "tonight", "is not an hour; write the time, such as \"today at 22:00\"" },
	{ "once twice thrice times",
	  "does not say when; write the times (\"every day at 8 and 20\") or a step (\"every 12 hours\")" },
	{ "business working workday workdays",
	  "is not known; write \"weekday\" for Monday to Friday, and leave out holidays with EXCEPT" },
	{ "except excluding but not",
	  "is not part of a phrase; name the days that are meant, or leave dates out with EXCEPT" },
	{ "between from", "is not part of a phrase; write \"monday to friday\" for days, and hours in cron: "
			  "*/15 9-16 * * *" },
	{ "starting beginning after", "is not part of a phrase; write FROM and the first day" },
	{ "biweekly", "could be \"every 2 weeks on monday\" or \"every monday and thursday\"; write which" },
	{ "bimonthly",
	  "could be \"every 2 months on the 1st\" or \"every month on the 1st and 15th\"; write which" },
	{ "fortnight fortnightly", "is written \"every 2 weeks on monday at 9\"" },
	{ "quarter quarterly", "is written \"every 3 months on the 1st at 9\" or \"every 15 minutes\"" },
	{ "this", "is not part of a phrase; write \"today at 14:00\" or \"next friday at 14:00\"" },
	{ "and", "joins days, times or amounts of one kind; the rest needs a schedule of its own" },
};

/* --- error messages --- */

/* The letters of parts in messages: $e is replaced by the words of PART_EVERY. */
static const char part_letters[PARTS] = {
	[PART_EVERY] = 'e',    [PART_WDAYS] = 'w', [PART_MONTHLY] = 'm', [PART_DATE] = 'd',
	[PART_RELATIVE] = 's', [PART_TIMES] = 't', [PART_PLACE] = 'p',   [PART_UNTIL] = 'u',
};

bool phrase_has(const struct phrase_parser *p, enum phrase_part part)
{
	return p->parts.words[part].to != 0;
}

/* The words of a part as they are written. For times that were not given: an example. */
static struct str part_text(const struct phrase_parser *p, enum phrase_part part)
{
	if (!phrase_has(p, part))
		return part == PART_TIMES ? STR("at 00:00") : STR("");
	const struct phrase_word *first = &p->w[p->parts.words[part].from],
				 *last = &p->w[p->parts.words[part].to - 1];
	return str_sub(p->text, first->at, last->at + last->s.n);
}

static struct str expand_dollar(const struct phrase_parser *p, unsigned word, char letter)
{
	struct str s = p->w[word].s;
	for (enum phrase_part a = 0; a < PARTS; a++)
		if (letter == part_letters[a])
			s = part_text(p, a);
	return str_sub(s, 0, (size_t)str_short_length(s, 40));
}

enum err phrase_refuse(const struct phrase_parser *p, unsigned word, const char *fmt, ...)
{
	char plain[WHY_TEXT_MAX], text[WHY_TEXT_MAX + 48];
	size_t n = 0;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(plain, sizeof plain, fmt, ap);
	va_end(ap);
	for (const char *c = plain; *c && n < WHY_TEXT_MAX; c++) {
		if (*c != '$' || !c[1]) {
			text[n++] = *c;
			continue;
		}
		struct str s = expand_dollar(p, word, *++c);
		memcpy(text + n, s.p, s.n);
		n += s.n;
	}
	return why_set(p->why, E_INPUT, p->w[word].at, "%.*s", (int)n, text);
}

enum err phrase_refuse_part(const struct phrase_parser *p, enum phrase_part part, const char *message)
{
	return phrase_refuse(p, p->parts.words[part].from, "%s", message);
}

static bool is_among(struct str word, const char *words)
{
	struct str rest = str_of(words);
	for (struct str t = str_token(&rest); t.n; t = str_token(&rest))
		if (str_ieq(t, word))
			return true;
	return false;
}

const char *phrase_hint(struct str word)
{
	for (size_t i = 0; i < ARRAY_LEN(hints); i++)
		if (is_among(word, hints[i].words))
			return hints[i].hint;
	return NULL;
}

enum err phrase_expected(const struct phrase_parser *p, unsigned word, const char *what, const char *examples)
{
	const char *hint = phrase_hint(p->w[word].s);
	if (p->w[word].kind == W_END)
		return phrase_refuse(p, word, "%s is missing at the end; write %s", what, examples);
	if (hint)
		return phrase_refuse(p, word, "'$0' %s", hint);
	return phrase_refuse(p, word, "'$0' is not %s; write %s", what, examples);
}

enum err phrase_refuse_unknown(const struct phrase_parser *p, unsigned word)
{
	const char *hint = phrase_hint(p->w[word].s);
	if (hint)
		return phrase_refuse(p, word, "'$0' %s", hint);
	return phrase_refuse(p, word, "'$0' is not understood here; " LOOKS_LIKE);
}

enum err phrase_refuse_clash(const struct phrase_parser *p, enum phrase_part a, enum phrase_part b)
{
	unsigned i = p->parts.words[a].from, k = p->parts.words[b].from;
	return phrase_refuse(p, i < k ? k : i, "'$%c' and '$%c' do not go together in one schedule",
			     part_letters[a], part_letters[b]);
}

enum err phrase_set_part(struct phrase_parser *p, enum phrase_part part, unsigned from)
{
	if (phrase_has(p, part))
		return phrase_refuse(
			p, from, "'$0' comes after '$%c'; join a list with \"and\", or write two schedules",
			part_letters[part]);
	p->parts.words[part].from = (uint8_t)from;
	p->parts.words[part].to = (uint8_t)p->i;
	return OK;
}

/* --- words --- */

bool phrase_look_up(struct str s, struct phrase_word *w)
{
	for (size_t i = 0; i < ARRAY_LEN(lexicon); i++)
		if (str_ieq(s, lexicon[i].word)) {
			w->kind = lexicon[i].kind;
			w->value = lexicon[i].value;
			return true;
		}
	return false;
}

/* The unit written right after a number: 10m, 20min, 2h. As in durations, months have no letter. */
static enum unit unit_suffix(struct str s)
{
	struct phrase_word w;
	if (phrase_look_up(s, &w) && (w.kind == W_UNIT || w.kind == W_SECOND))
		return w.kind == W_SECOND ? U_SECOND : (enum unit)w.value;
	for (enum unit u = U_SECOND; u <= U_WEEK && s.n == 1; u++)
		if (to_lower(s.p[0]) == phrase_units[u].letter)
			return u;
	return U_NONE;
}

/* A duration such as 1h30m in seconds, in upper or lower case; 0 if it is none. */
static int64_t stacked_seconds(struct str s)
{
	char lower[24];
	int64_t seconds;
	if (s.n > sizeof lower)
		return 0;
	for (size_t i = 0; i < s.n; i++)
		lower[i] = to_lower(s.p[i]);
	return dur_parse((struct str){ lower, s.n }, &seconds, NULL) ? 0 : seconds;
}

static void classify_number(struct phrase_word *w)
{
	size_t d = 0;
	for (; d < w->s.n && is_digit(w->s.p[d]); d++)
		w->value = w->value >= NUMBER_MOST ? NUMBER_MOST : w->value * 10 + (w->s.p[d] - '0');
	struct str rest = str_from(w->s, d);
	struct phrase_word suffix;
	if (rest.n == 0) {
		w->kind = W_NUMBER;
	} else if (is_among(rest, "st nd rd th")) {
		w->kind = W_ORDINAL;
	} else if (rest.p[0] == ':' || (phrase_look_up(rest, &suffix) && suffix.kind == W_HALFDAY)) {
		w->kind = W_CLOCK;
	} else if (unit_suffix(rest)) {
		w->kind = W_AMOUNT;
		w->unit = unit_suffix(rest);
	} else if (iso_looks_like(w->s)) {
		w->kind = W_ISO;
	} else if (stacked_seconds(w->s)) {
		w->kind = W_AMOUNT;
		w->unit = U_SECOND;
		w->value = stacked_seconds(w->s);
	}
}

int64_t phrase_wday_range(const struct phrase_word *a, const struct phrase_word *b)
{
	int64_t day = a->value & ALL_WDAYS, end = b->value & ALL_WDAYS, days = day | PLURAL;
	if (a->kind != W_WDAYS || b->kind != W_WDAYS || day & (day - 1) || end & (end - 1))
		return 0;
	while (day != end) {
		day = day == 1 << 6 ? 1 : day << 1;
		days |= day;
	}
	return days;
}

/* mon-fri */
static bool classify_range(struct phrase_word *w)
{
	struct phrase_word a, b;
	const char *dash = memchr(w->s.p, '-', w->s.n);
	size_t d = dash ? (size_t)(dash - w->s.p) : 0;
	if (!dash || !phrase_look_up(str_sub(w->s, 0, d), &a) || !phrase_look_up(str_from(w->s, d + 1), &b) ||
	    !phrase_wday_range(&a, &b))
		return false;
	w->kind = W_WDAYS;
	w->value = phrase_wday_range(&a, &b);
	return true;
}

static void classify(struct phrase_word *w)
{
	w->kind = W_UNKNOWN;
	if (phrase_look_up(w->s, w) || classify_range(w))
		return;
	if (is_digit(w->s.p[0]))
		classify_number(w);
	else if (is_alpha(w->s.p[0]) && memchr(w->s.p, '/', w->s.n))
		w->kind = W_ZONE;
}

enum err phrase_split(struct phrase_parser *p)
{
	bool comma = false;
	size_t i = 0, end = 0; /* the end of the last word */
	while (i < p->text.n) {
		size_t from = i;
		if (is_space(p->text.p[i]) || p->text.p[i] == ',') {
			comma |= p->text.p[i++] == ',';
			continue;
		}
		for (; i < p->text.n && !is_space(p->text.p[i]) && p->text.p[i] != ','; i++)
			if ((unsigned char)p->text.p[i] < ' ' || p->text.p[i] == 0x7F)
				return why_set(p->why, E_INPUT, i,
					       "a control character is not allowed in a phrase");
		if (p->n == PHRASE_WORDS_MAX)
			return why_set(p->why, E_INPUT, from, "too many words: a phrase has at most %d",
				       PHRASE_WORDS_MAX);
		struct phrase_word *w = &p->w[p->n++];
		*w = (struct phrase_word){ .s = str_sub(p->text, from, i), .at = from, .comma = comma };
		classify(w);
		comma = false;
		end = i;
	}
	p->w[p->n] = (struct phrase_word){ .kind = W_END, .s = STR(""), .at = end };
	return OK;
}
