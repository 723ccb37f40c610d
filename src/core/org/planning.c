/* The planning line: SCHEDULED:, DEADLINE: and CLOSED: with their timestamps. */
#include "core/org/headline.h"
#include "core/org/line.h"
#include "core/org/unicode.h"

static const struct keyword {
	const char *word;
	size_t length;
	size_t field; /* of struct org_head */
} keywords[] = {
	{ "SCHEDULED:", 10, offsetof(struct org_head, scheduled) },
	{ "DEADLINE:", 9, offsetof(struct org_head, deadline) },
	{ "CLOSED:", 7, offsetof(struct org_head, closed) },
};

static bool may_begin_keyword(char c)
{
	return is_alpha(c) || is_blank(c);
}

/* The next colon at or after `at`; line.n: none. */
static size_t find_colon(struct str line, size_t at)
{
	const char *colon = at < line.n ? memchr(line.p + at, ':', line.n - at) : NULL;
	return colon ? (size_t)(colon - line.p) : line.n;
}

/* The keyword that ends with this colon, in any case, and where it begins; NULL: none. */
static const struct keyword *keyword_before(struct str line, size_t colon, size_t *from)
{
	if (!colon || !is_alpha(line.p[colon - 1]))
		return NULL; /* 09:00 */
	for (const struct keyword *k = keywords; k < keywords + ARRAY_LEN(keywords); k++) {
		size_t end = colon + 1;
		if (end < k->length ||
		    !str_ieq(str_sub(line, end - k->length, end), (struct str){ k->word, k->length }))
			continue;
		*from = end - k->length;
		return k;
	}
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
static void set_field(const struct org *o, struct org_head *h, const struct keyword *k, struct str word,
		      struct str bracket)
{
	bool upper = memcmp(word.p, k->word, k->length) == 0;
	size_t field = upper ? k->field : offsetof(struct org_head, closed);
	struct org_span *to = (struct org_span *)((char *)h + field);
	*to = is_timestamp(bracket) ? span_of(o, bracket) : (struct org_span){ 0 };
}

void planning_read(const struct org *o, struct org_head *h)
{
	if (h->body == o->text.n || !may_begin_keyword(o->text.p[h->body]))
		return;
	size_t next = line_next(o, h->body), from;
	struct str line = line_until(o, h->body, next);
	for (size_t colon = find_colon(line, 0); colon < line.n; colon = find_colon(line, colon + 1)) {
		const struct keyword *k = keyword_before(line, colon, &from);
		if (!h->planning.end) { /* the line must begin with a keyword */
			if (!k || from != skip_blanks(line, 0))
				return;
			h->planning = (struct org_span){ h->body, (uint32_t)next };
		}
		if (!k || in_word(line, from))
			continue;
		size_t stamp = colon + 1;
		while (stamp < line.n && line.p[stamp] == ' ')
			stamp++;
		size_t n = bracket_length(str_from(line, stamp));
		if (n)
			set_field(o, h, k, str_from(line, from), str_sub(line, stamp, stamp + n));
	}
}
