/* Splits an Agent Cron Expression into its form and its directives. */
#include "core/when/ace.h"
#include "base/utf8.h"
#include "core/model.h"
#include "core/when/dur.h"
#include "core/when/iso.h"

#include <stdio.h>

/* Does the next word belong to the directive's value, too? `full`: the form is complete, so the word cannot
 * be part of it; then any word may be taken, and the value's parser reports a wrong one. */
typedef bool more_words(struct str value, struct str next, bool full);

static bool no_more(struct str value, struct str next, bool full)
{
	(void)value;
	(void)next;
	(void)full;
	return false;
}

/* RETRY 3 exponential 60s */
static bool more_retry(struct str value, struct str next, bool full)
{
	int64_t seconds;
	unsigned word;
	struct str rest = value;
	str_token(&rest);
	bool counted = !rest.n, timed = !counted && is_digit(value.p[value.n - 2]);
	if (full)
		return true;
	if (is_digit(next.p[0]))
		return !timed && dur_parse(next, &seconds, NULL) == OK;
	return counted && (word_find(backoff_words, next, "backoff", &word, NULL) == OK);
}

/* FROM 2026-06-01 09:00; also UNTIL 30 June, so that the error is about both words */
static bool more_time(struct str value, struct str next, bool full)
{
	(void)full;
	if (iso_looks_like(value))
		return value.n == 10 && next.n >= 4 && is_digit(next.p[0]) &&
		       (next.p[1] == ':' || next.p[2] == ':');
	return value.n <= 2 && is_alpha(next.p[0]);
}

/* EXCEPT 2026-12-25, 2026-12-26 */
static bool more_list(struct str value, struct str next, bool full)
{
	return value.p[value.n - 1] == ',' || next.p[0] == ',' || (full && is_digit(next.p[0]));
}

/* The directives. `more` says whether one more word belongs to a value; TZ= has its value in its own word. */
static const struct {
	const char *name, *example;
	more_words *more;
} directives[ACE_KEYS] = {
	[ACE_TZ] = { "TZ=", "TZ=Europe/Berlin", no_more },
	[ACE_IF] = { "IF", "IF agent.ready == true", no_more }, /* its value is the rest of the line */
	[ACE_WINDOW] = { "WINDOW", "WINDOW 15m", no_more },
	[ACE_RETRY] = { "RETRY", "RETRY 3 exponential 60s", more_retry },
	[ACE_FROM] = { "FROM", "FROM 2026-06-01", more_time },
	[ACE_UNTIL] = { "UNTIL", "UNTIL 2026-12-31", more_time },
	[ACE_JITTER] = { "JITTER", "JITTER 5m", no_more },
	[ACE_TIMEOUT] = { "TIMEOUT", "TIMEOUT 10m", no_more },
	[ACE_MISSED] = { "MISSED", "MISSED skip", no_more },
	[ACE_OVERLAP] = { "OVERLAP", "OVERLAP queue_one", no_more },
	[ACE_EXCEPT] = { "EXCEPT", "EXCEPT 2026-12-25", more_list },
	[ACE_GAP] = { "GAP", "GAP skip", no_more },
	[ACE_FOLD] = { "FOLD", "FOLD both", no_more },
};
#define KNOWN_DIRECTIVES "TZ= IF WINDOW RETRY FROM UNTIL JITTER TIMEOUT MISSED OVERLAP EXCEPT GAP FOLD"

static enum ace_key key_of(struct str token)
{
	if (str_starts(token, STR("TZ=")))
		return ACE_TZ;
	for (unsigned k = ACE_TZ + 1; k < ACE_KEYS; k++)
		if (str_eq(token, str_of(directives[k].name)))
			return (enum ace_key)k;
	return ACE_KEYS;
}

/* tz=Berlin, or CRON_TZ=Berlin as in other crons */
static bool is_misspelt_zone(struct str t)
{
	const char *equals = memchr(t.p, '=', t.n);
	struct str name = str_sub(t, 0, equals ? (size_t)(equals - t.p) : 0);
	return (str_ieq(name, STR("tz")) && !str_eq(name, STR("TZ"))) || str_ieq(name, STR("cron_tz"));
}

/* From the beginning of slice a to the end of slice b of the same text. */
static struct str join_slices(struct str a, struct str b)
{
	return (struct str){ a.p, (size_t)(b.p + b.n - a.p) };
}

/* All in capitals, and not part of a cron field (LW, or a word that begins like MON or JAN)? */
static bool looks_like_directive(struct str t)
{
	static const char *const cron_words[] = { "LW",  "MON", "TUE", "WED", "THU", "FRI", "SAT",
						  "SUN", "JAN", "FEB", "MAR", "APR", "MAY", "JUN",
						  "JUL", "AUG", "SEP", "OCT", "NOV", "DEC" };
	for (size_t i = 0; i < t.n; i++)
		if (!is_upper(t.p[i]) && t.p[i] != '=')
			return false;
	for (size_t i = 0; i < ARRAY_LEN(cron_words); i++)
		if (str_starts(t, str_of(cron_words[i])))
			return false;
	return t.n > 1;
}

static enum err refuse_unknown(struct str text, struct str token, struct why *why)
{
	return why_set(why, E_INPUT, (size_t)(token.p - text.p),
		       "directive '%.*s' is not known; allowed are " KNOWN_DIRECTIVES, STR_SHORT(token));
}

static enum err refuse_second(struct str text, const char *what, struct str first, struct str again,
			      struct why *why)
{
	struct place p = place_of(text, (size_t)(first.p - text.p));
	return why_set(why, E_INPUT, (size_t)(again.p - text.p),
		       "%s is given twice: '%.*s' here and '%.*s' at line %u, column %u", what,
		       STR_SHORT(again), STR_SHORT(first), p.line, p.column);
}

/* Two groups of words that are not directives: one of them may be meant as a directive. */
static enum err refuse_second_form(struct str text, struct str first, struct str again, struct why *why)
{
	struct str a = first, b = again, first_word = str_token(&a), again_word = str_token(&b);
	if (looks_like_directive(first_word))
		return refuse_unknown(text, first_word, why);
	if (looks_like_directive(again_word))
		return refuse_unknown(text, again_word, why);
	return refuse_second(text, "the expression", first, again, why);
}

/* Removes the value of directive `key` from the front of `rest`, the line after the directive's own `word`.
 */
static struct str cut_value(enum ace_key key, struct str word, struct str *rest, bool full)
{
	if (key == ACE_TZ)
		return str_from(word, 3);
	if (key == ACE_IF) {
		struct str all = str_trim(*rest);
		*rest = str_from(*rest, rest->n);
		return all;
	}
	struct str look = *rest, value = str_token(&look);
	if (value.n == 0 || key_of(value) != ACE_KEYS)
		return (struct str){ word.p + word.n, 0 };
	for (*rest = look;; *rest = look) {
		struct str next = str_token(&look);
		if (!next.n || key_of(next) != ACE_KEYS || !directives[key].more(value, next, full))
			return value;
		value = join_slices(value, next);
	}
}

/* Splits one line into directives and at most one group of other words, the form. */
static enum err split_line(struct str text, struct str line, struct ace *ace, struct why *why)
{
	struct str rest = line, *open = NULL; /* the form, while its words follow each other */
	for (struct str t = str_token(&rest); t.n; t = str_token(&rest)) {
		enum ace_key key = key_of(t);
		if (is_misspelt_zone(t))
			return why_set(why, E_INPUT, (size_t)(t.p - text.p),
				       "'%.*s' is not known; write TZ=Europe/Berlin", STR_SHORT(t));
		if (key == ACE_KEYS) {
			if (open) {
				*open = join_slices(*open, t);
			} else if (ace->form.p) {
				return refuse_second_form(text, ace->form,
							  join_slices(t, str_from(line, line.n)), why);
			} else {
				ace->form = t;
				open = &ace->form;
			}
			continue;
		}
		open = NULL;
		struct str value = cut_value(key, t, &rest, ace->form.p);
		if (ace->value[key].p)
			return refuse_second(text, directives[key].name, ace->value[key], value.n ? value : t,
					     why);
		if (!value.n)
			return why_set(why, E_INPUT, (size_t)(t.p - text.p) + t.n,
				       "%s needs a value, as in %s", directives[key].name,
				       directives[key].example);
		ace->value[key] = value;
	}
	return OK;
}

enum err ace_split(struct str text, struct ace *ret, struct why *why)
{
	struct ace ace = { 0 };
	struct str lines = text, line;
	if (text.n > WHEN_BYTES_MAX)
		return why_set(why, E_LIMIT, WHEN_BYTES_MAX,
			       "an expression has at most %d bytes, this has %zu", WHEN_BYTES_MAX, text.n);
	unsigned length;
	for (size_t i = 0; i < text.n; i += length) {
		length = utf8_length(str_from(text, i));
		if (!length)
			return why_set(why, E_INPUT, i, "byte 0x%02x is not UTF-8", (unsigned char)text.p[i]);
		bool c1 = length == 2 && text.p[i] == '\xC2' && (unsigned char)text.p[i + 1] < 0xA0;
		bool lone_cr = text.p[i] == '\r' && i + 1 < text.n && text.p[i + 1] != '\n';
		if (((unsigned char)text.p[i] < 32 && !is_space(text.p[i])) || text.p[i] == 127 || c1 ||
		    lone_cr)
			return why_set(why, E_INPUT, i,
				       "control character 0x%02x is not allowed in an expression",
				       (unsigned char)text.p[i]);
	}
	while (str_line(&lines, &line)) {
		enum err e = split_line(text, line, &ace, why);
		if (e)
			return e;
	}
	if (!ace.form.p)
		return why_set(why, E_INPUT, 0,
			       "no expression given; write for example '0 9 * * 1-5', '@every 10m' or 'every "
			       "day at 9'");
	*ret = ace;
	return OK;
}

enum err ace_refuse_strays(struct str form, unsigned from, struct why *why)
{
	struct str words = form;
	unsigned i = 0;
	for (struct str t = str_token(&words); t.n; t = str_token(&words)) {
		size_t at = (size_t)(t.p - form.p);
		if (i++ < from)
			continue;
		if (str_ieq(t, STR("in")))
			return why_set(why, E_INPUT, at,
				       "outside of phrases a zone is written TZ=Europe/Berlin");
		for (unsigned k = ACE_TZ + 1; k < ACE_KEYS; k++)
			if (str_ieq(t, str_of(directives[k].name)))
				return why_set(why, E_INPUT, at, "directives are in capitals: write %s",
					       directives[k].name);
		if (looks_like_directive(t))
			return refuse_unknown(form, t, why);
	}
	return OK;
}
