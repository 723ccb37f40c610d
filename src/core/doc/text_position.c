/* Finds the position of a string's byte by walking over the value and its source in parallel. */
#include "core/doc/text_position.h"

/* Whether the two-character escape at the front of `s` means `value`. */
static bool is_escape_of(struct str s, char value)
{
	static const char names[] = "\"\\/ntr", values[] = "\"\\/\n\t\r";
	const char *known = s.n > 1 && s.p[1] ? strchr(names, s.p[1]) : NULL;
	return known && values[known - names] == value;
}

/* A plain or quoted string: its source equals its value except for quotes and escapes. */
static bool find_in_line(struct str source, struct str value, size_t offset, size_t *at)
{
	bool escapes = *at < source.n && source.p[*at] == '"';
	size_t i = *at + (*at < source.n && (escapes || source.p[*at] == '\''));
	for (size_t done = 0; done < offset; done++) {
		if (i >= source.n)
			return false;
		if (escapes && source.p[i] == '\\') {
			if (!is_escape_of(str_from(source, i), value.p[done]))
				return false;
			i += 2;
		} else if (source.p[i++] != value.p[done]) {
			return false;
		}
	}
	*at = i;
	return i < source.n;
}

/* A literal block: line k of the value is in the k-th source line after the line with the '|', after its
 * indentation. */
static bool find_in_block(struct str source, struct str value, size_t offset, size_t *at)
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

size_t text_position(struct str source, const struct val *v, size_t offset)
{
	size_t at = v->at;
	if (v->kind != VAL_STR || at >= source.n || offset > v->str.n)
		return at;
	if (!find_in_block(source, v->str, offset, &at))
		(void)find_in_line(source, v->str, offset, &at);
	return at;
}
