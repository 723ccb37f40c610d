/* The planning line: SCHEDULED:, DEADLINE: and CLOSED: with their timestamps. */
#include "core/org/headline.h"
#include "core/org/line.h"
#include "core/org/unicode.h"

static const struct {
	const char *word;
	size_t field; /* of struct org_head */
} keywords[] = {
	{ "SCHEDULED:", offsetof(struct org_head, scheduled) },
	{ "DEADLINE:", offsetof(struct org_head, deadline) },
	{ "CLOSED:", offsetof(struct org_head, closed) },
};

static bool may_begin_keyword(char c)
{
	c = to_lower(c);
	return c == 's' || c == 'd' || c == 'c';
}

/* The keyword at the front of s, in any case; NULL: none. */
static const char *keyword_at(struct str s)
{
	if (!s.n || !may_begin_keyword(s.p[0]))
		return NULL;
	for (unsigned i = 0; i < ARRAY_LEN(keywords); i++)
		if (starts_with_any_case(s, str_of(keywords[i].word)))
			return keywords[i].word;
	return NULL;
}

/* Is the character before `at` part of a word? Then no word begins at `at`. */
static bool in_word(struct str line, size_t at)
{
	size_t from = at;
	unsigned n;
	if (!at)
		return false;
	do
		from--;
	while (from && at - from < 4 && ((unsigned char)line.p[from] & 0xC0) == 0x80);
	uint32_t c = char_at(line, from, &n);
	return from + n == at && (char_is_alnum(c) || c == '$' || c == '%' || c == '\'');
}

/* The length of a bracket, at least one byte and a bracket; 0: there is none. The brackets need not be of the
 * same kind. */
static size_t bracket_length(struct str s)
{
	if (!s.n || (s.p[0] != '<' && s.p[0] != '['))
		return 0;
	size_t end = 1;
	while (end < s.n && s.p[end] != '>' && s.p[end] != ']')
		end++;
	return end > 1 && end < s.n ? end + 1 : 0;
}

/* A date at the front, and then nothing or a blank. */
static bool is_timestamp(struct str bracket)
{
	static const char shape[] = "0000-00-00";
	for (unsigned i = 0; shape[i]; i++) {
		char c = i + 2 < bracket.n ? bracket.p[i + 1] : 0;
		if (shape[i] == '0' ? !is_digit(c) : c != shape[i])
			return false;
	}
	return bracket.n == sizeof shape + 1 || bracket.p[sizeof shape] == ' ';
}

/* Only keywords in upper case name a field; in lower case they still make the line a planning line. The last
 * one of a kind counts, also if what follows it is not a timestamp. */
static void set_field(const struct org *o, struct org_head *h, struct str word, struct str bracket)
{
	size_t field = offsetof(struct org_head, closed);
	for (unsigned i = 0; i < ARRAY_LEN(keywords); i++)
		if (str_eq(word, str_of(keywords[i].word)))
			field = keywords[i].field;
	struct org_span *to = (struct org_span *)((char *)h + field);
	*to = is_timestamp(bracket) ? span_of(o, bracket) : (struct org_span){ 0 };
}

void planning_read(const struct org *o, struct org_head *h)
{
	size_t next = line_next(o, h->body);
	struct str line = line_until(o, h->body, next);
	size_t at = skip_blanks(line, 0);
	if (!keyword_at(str_from(line, at)))
		return;
	h->planning = (struct org_span){ h->body, (uint32_t)next };
	while (at < line.n) {
		if (!may_begin_keyword(line.p[at])) { /* most bytes: this loop takes most of the time */
			at++;
			continue;
		}
		const char *word = keyword_at(str_from(line, at));
		if (!word || in_word(line, at)) {
			at++;
			continue;
		}
		size_t after = at + strlen(word), stamp = after;
		while (stamp < line.n && line.p[stamp] == ' ')
			stamp++;
		size_t n = bracket_length(str_from(line, stamp));
		if (n)
			set_field(o, h, str_sub(line, at, after), str_sub(line, stamp, stamp + n));
		at = n ? stamp : at + 1;
	}
}
