#pragma once
/* Lines of org files. A file whose line feeds all follow a carriage return has lines that end in both, as in
 * Emacs; in other files a carriage return is part of its line. A file without line feeds has lines that end
 * in carriage returns. */
#include "core/org/org.h"

/* The last byte of the end of a line. */
static inline char line_break(const struct org *o)
{
	return o->eol[0] == '\r' && o->eol[1] == '\0' ? '\r' : '\n';
}

/* The beginning of the line after the one at `at`; the end of the text after the last line. */
static inline size_t line_next(const struct org *o, size_t at)
{
	const char *end = at < o->text.n ? memchr(o->text.p + at, line_break(o), o->text.n - at) : NULL;
	return end ? (size_t)(end + 1 - o->text.p) : o->text.n;
}

/* The line at `at`, which ends before `next`, without its end. */
static inline struct str line_until(const struct org *o, size_t at, size_t next)
{
	const char *p = o->text.p;
	size_t end = next;
	if (end > at && p[end - 1] == line_break(o)) {
		end--;
		if (end > at && o->eol[0] == '\r' && o->eol[1] && p[end - 1] == '\r')
			end--;
	}
	return str_sub(o->text, at, end);
}

static inline struct str line_at(const struct org *o, size_t at)
{
	return line_until(o, at, line_next(o, at));
}

static inline size_t skip_blanks(struct str s, size_t at)
{
	while (at < s.n && is_blank(s.p[at]))
		at++;
	return at;
}

static inline struct str trim_blanks(struct str s)
{
	s = str_from(s, skip_blanks(s, 0));
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

/* Is it `word` with blanks around it, in any case? */
static inline bool line_is(struct str line, struct str word)
{
	return str_ieq(trim_blanks(line), word);
}

static inline bool starts_with_any_case(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_ieq(str_sub(s, 0, prefix.n), prefix);
}

static inline struct org_span span_of(const struct org *o, struct str s)
{
	uint32_t at = (uint32_t)(s.p - o->text.p);
	return (struct org_span){ at, at + (uint32_t)s.n };
}

/* How the lines of a text end. */
static inline const char *line_ends(struct str text)
{
	const char *lf = memchr(text.p, '\n', text.n);
	if (!lf)
		return text.n && memchr(text.p, '\r', text.n) ? "\r" : "\n";
	for (; lf; lf = memchr(lf + 1, '\n', (size_t)(text.p + text.n - lf - 1)))
		if (lf == text.p || lf[-1] != '\r')
			return "\n";
	return "\r\n";
}
