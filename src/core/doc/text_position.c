#include "core/doc/text_position.h"

/* Bytes of the value that the escape at the front of `s` stands for; *length is its own. 0: not known. */
static unsigned escape(struct str s, char value, size_t *length)
{
	static const char names[] = "\"\\/ntr", values[] = "\"\\/\n\t\r";
	const char *known = s.n > 1 && s.p[1] ? strchr(names, s.p[1]) : NULL;
	*length = 2;
	return known && values[known - names] == value;
}

/* The same text but for quotes and escapes: walk over both. */
static bool walk(struct str source, struct str value, size_t offset, size_t *at)
{
	bool escapes = *at < source.n && source.p[*at] == '"';
	size_t i = *at + (*at < source.n && (escapes || source.p[*at] == '\''));
	for (size_t done = 0; done < offset; done++) {
		size_t length = 1;
		if (i >= source.n)
			return false;
		if (escapes && source.p[i] == '\\') {
			if (!escape(str_from(source, i), value.p[done], &length))
				return false;
		} else if (source.p[i] != value.p[done]) {
			return false;
		}
		i += length;
	}
	*at = i;
	return i < source.n;
}

/* A literal block: the k-th line of the value ends the k-th line after the one with the '|'. */
static bool block(struct str source, struct str value, size_t offset, size_t *at)
{
	struct str lines = str_from(source, *at), line, part;
	size_t done = 0;
	if (!str_starts(lines, STR("|")) || !str_line(&lines, &line))
		return false;
	while (str_line(&value, &part)) {
		if (!str_line(&lines, &line) || line.n < part.n ||
		    !str_eq(str_from(line, line.n - part.n), part))
			return false;
		if (offset <= done + part.n) {
			*at = (size_t)(line.p - source.p) + line.n - part.n + (offset - done);
			return true;
		}
		done += part.n + 1;
	}
	return false;
}

size_t inside(struct str source, const struct val *v, size_t offset)
{
	size_t at = v->at;
	if (v->kind != VAL_STR || at >= source.n || offset > v->str.n)
		return at;
	if (!block(source, v->str, offset, &at))
		(void)walk(source, v->str, offset, &at);
	return at;
}
