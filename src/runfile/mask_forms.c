/* Writes the forms of a value. */
#include "runfile/mask_forms.h"
#include "base/array.h"
#include "base/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PER_BYTE = 12 }; /* bytes of the longest form of one byte: JSON within JSON */

bool mask_forms_add_one(struct mask_forms *m, const char *p, size_t n)
{
	if (n < SECRET_BYTES_MIN)
		return true;
	if (m->n == MASK_FORMS_MAX || n > MASK_BYTES_MAX - m->bytes ||
	    !ARRAY_ADD_ROOM(m->item, m->room, m->n))
		return false;
	char *copy = malloc(n);
	if (!copy)
		return false;
	memcpy(copy, p, n);
	m->item[m->n++] = (struct str){ copy, n };
	m->bytes += n;
	return true; /* cppcheck-suppress memleak ; the list has it */
}

void mask_forms_free(struct mask_forms *m)
{
	for (unsigned i = 0; i < m->n; i++) {
		explicit_bzero((char *)(uintptr_t)m->item[i].p, m->item[i].n);
		free((char *)(uintptr_t)m->item[i].p);
	}
	free(m->item);
	*m = (struct mask_forms){ 0 };
}

/* Adds a form unless the same was added since `since`: most forms of most values are equal. */
static bool add_new(struct mask_forms *m, unsigned since, const char *p, size_t n)
{
	for (unsigned i = since; i < m->n; i++)
		if (m->item[i].n == n && memcmp(m->item[i].p, p, n) == 0)
			return true;
	return mask_forms_add_one(m, p, n);
}

/* --- JSON --- */

enum { JSON_SLASH = 1, JSON_ASCII = 2, JSON_UPPER = 4, JSON_HTML = 8 };

/* Reads one character of UTF-8; *size becomes its bytes. A byte that is not UTF-8 is a character of its own.
 */
static unsigned decode(struct str s, size_t *size)
{
	unsigned char c = (unsigned char)s.p[0];
	unsigned n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1, v = n == 1 ? c : c & (0x7fu >> n);
	bool good = n <= s.n && (c < 0x80 || c >= 0xc0);
	for (unsigned i = 1; i < n && good; i++) {
		good = ((unsigned char)s.p[i] & 0xc0) == 0x80;
		v = v << 6 | ((unsigned char)s.p[i] & 0x3f);
	}
	*size = good ? n : 1;
	return good ? v : c;
}

static char *add_unit(char *to, unsigned unit, unsigned how)
{
	return to + snprintf(to, 7, how & JSON_UPPER ? "\\u%04X" : "\\u%04x", unit);
}

static char *add_json_char(char *to, struct str rest, size_t *size, unsigned how)
{
	static const char escapes[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	unsigned c = decode(rest, size);
	const char *known = c && c < 128 ? strchr(escapes, (int)c) : NULL;
	if (known || (c == '/' && how & JSON_SLASH)) {
		*to++ = '\\';
		*to++ = known ? letters[known - escapes] : '/';
	} else if (c < 32 || (how & JSON_HTML && (c == '<' || c == '>' || c == '&'))) {
		to = add_unit(to, c, how);
	} else if (c >= 128 && *size > 1 && how & JSON_ASCII) {
		if (c >= 0x10000)
			to = add_unit(to, 0xd800 + ((c - 0x10000) >> 10), how);
		to = add_unit(to, c >= 0x10000 ? 0xdc00 + ((c - 0x10000) & 0x3ff) : c, how);
	} else {
		memcpy(to, rest.p, *size);
		to += *size;
	}
	return to;
}

static size_t write_json_form(struct str v, unsigned how, char *to)
{
	char *at = to;
	for (size_t i = 0, size; i < v.n; i += size)
		at = add_json_char(at, str_from(v, i), &size, how);
	return (size_t)(at - to);
}

static bool add_json_forms(struct mask_forms *m, unsigned since, struct str v, char *room)
{
	static const unsigned hows[] = { 0,
					 JSON_SLASH,
					 JSON_ASCII,
					 JSON_ASCII | JSON_SLASH,
					 JSON_ASCII | JSON_UPPER,
					 JSON_HTML,
					 JSON_HTML | JSON_ASCII };
	bool good = true;
	for (unsigned i = 0; i < ARRAY_LEN(hows) && good; i++)
		good = add_new(m, since, room, write_json_form(v, hows[i], room));
	if (!good)
		return false;
	/* JSON within JSON, as tools print it that report what other tools have printed. */
	for (unsigned i = 0; i < ARRAY_LEN(hows) && good; i++) {
		size_t n = write_json_form(v, hows[i], room);
		char *once = malloc(n + 1);
		if (!once)
			return false;
		memcpy(once, room, n);
		if (n <= v.n * (MOST_PER_BYTE / 2))
			good = add_new(m, since, room, write_json_form((struct str){ once, n }, 0, room));
		explicit_bzero(once, n);
		free(once);
	}
	return good;
}

/* --- URLs --- */

/* `kept`: the characters besides letters, digits and -_. that are not encoded. */
static size_t write_url_form(struct str v, const char *kept, bool plus, bool upper, char *to)
{
	char *at = to;
	for (size_t i = 0; i < v.n; i++) {
		char c = v.p[i];
		if (c == ' ' && plus)
			*at++ = '+';
		else if (is_alpha(c) || is_digit(c) || (c && (strchr("-_.", c) || strchr(kept, c))))
			*at++ = c;
		else
			at += snprintf(at, 4, upper ? "%%%02X" : "%%%02x", (unsigned char)c);
	}
	return (size_t)(at - to);
}

static bool add_url_forms(struct mask_forms *m, unsigned since, struct str v, char *room)
{
	/* RFC 3986; paths; JavaScript's encodeURIComponent and encodeURI; forms. */
	static const char *const kept[] = { "~", "~/", "~!'()*", "~!'()*;,/?:@&=+$#", "*" };
	bool good = true;
	for (unsigned i = 0; i < ARRAY_LEN(kept); i++)
		for (unsigned k = 0; k < 4 && good; k++)
			good = add_new(m, since, room, write_url_form(v, kept[i], k & 1, k & 2, room));
	return good;
}

/* --- base64, base32 and hexadecimal digits --- */

static const struct encoding {
	const char *digits;
	unsigned bits;    /* of one digit */
	unsigned offsets; /* bytes after which the pattern of digits repeats */
} encodings[] = {
	{ "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 6, 3 },
	{ "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 6, 3 },
	{ "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5, 5 },
	{ "abcdefghijklmnopqrstuvwxyz234567", 5, 5 },
	{ "0123456789abcdef", 4, 1 },
	{ "0123456789ABCDEF", 4, 1 },
};

/* The digits that are determined by the value alone if `offset` bytes stand before it. */
static size_t write_digits(struct str v, const struct encoding *e, size_t offset, char *to)
{
	size_t first = (8 * offset + e->bits - 1) / e->bits, end = 8 * (offset + v.n) / e->bits;
	for (size_t i = first; i < end; i++) {
		unsigned value = 0;
		for (size_t k = 0; k < e->bits; k++) {
			size_t bit = e->bits * i + k - 8 * offset;
			value = value << 1 | ((unsigned char)v.p[bit / 8] >> (7 - bit % 8) & 1);
		}
		to[i - first] = e->digits[value];
	}
	return end > first ? end - first : 0;
}

/* Programs break lines at these lengths: base64 and base32, PEM, xxd. */
static bool add_broken(struct mask_forms *m, unsigned since, const char *p, size_t n)
{
	static const size_t widths[] = { 76, 64, 60 };
	bool good = true;
	for (unsigned w = 0; w < ARRAY_LEN(widths); w++)
		for (size_t at = 0; n > widths[w] && at < n && good; at += widths[w]) {
			size_t k = n - at < widths[w] ? n - at : widths[w];
			good = k < SECRET_LINE_MIN || add_new(m, since, p + at, k);
		}
	return good;
}

static bool add_encoded_forms(struct mask_forms *m, unsigned since, struct str v, char *room)
{
	bool good = true;
	for (unsigned i = 0; i < ARRAY_LEN(encodings); i++)
		for (unsigned offset = 0; offset < encodings[i].offsets && good; offset++) {
			size_t n = write_digits(v, &encodings[i], offset, room);
			good = add_new(m, since, room, n) && (offset || add_broken(m, since, room, n));
		}
	return good;
}

/* --- the value --- */

static bool add_text(struct mask_forms *m, struct str v, char *room)
{
	unsigned since = m->n;
	return v.n < SECRET_BYTES_MIN ||
	       (mask_forms_add_one(m, v.p, v.n) && add_json_forms(m, since, v, room) &&
		add_url_forms(m, since, v, room) && add_encoded_forms(m, since, v, room));
}

static bool is_white(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

static struct str trimmed(struct str s)
{
	while (s.n && is_white(s.p[s.n - 1]))
		s.n--;
	while (s.n && is_white(s.p[0]))
		s = (struct str){ s.p + 1, s.n - 1 };
	return s;
}

/* Takes the next line, without white space at its ends, from *rest. */
static bool next_line(struct str *rest, struct str *line)
{
	if (!rest->n)
		return false;
	const char *end = memchr(rest->p, '\n', rest->n);
	size_t n = end ? (size_t)(end - rest->p) : rest->n;
	*line = trimmed((struct str){ rest->p, n });
	*rest = (struct str){ rest->p + n + (end != NULL), rest->n - n - (end != NULL) };
	return true;
}

static bool add_joined(struct mask_forms *m, struct str v, const char *between, char *joined, char *room)
{
	char *to = joined;
	for (struct str line; next_line(&v, &line);) {
		if (to > joined)
			to = stpcpy(to, between);
		memcpy(to, line.p, line.n);
		to += line.n;
	}
	return add_text(m, (struct str){ joined, (size_t)(to - joined) }, room);
}

bool mask_forms_add(struct mask_forms *m, const char *p, size_t n)
{
	static const char *const between[] = { "\n", "\r\n", "", " ", "\\n" };
	struct str v = trimmed((struct str){ p, n }), line;
	if (n < SECRET_BYTES_MIN || n > SECRET_BYTES_MAX)
		return true;
	if (v.n < SECRET_BYTES_MIN)
		v = (struct str){ p, n };
	size_t size = n * MOST_PER_BYTE + 64;
	char *room = malloc(size), *joined = malloc(3 * n + 1);
	bool good = room && joined && add_text(m, v, room), lines = memchr(v.p, '\n', v.n) != NULL;
	for (unsigned i = 0; i < ARRAY_LEN(between) && good && lines; i++)
		good = add_joined(m, v, between[i], joined, room);
	for (struct str rest = v; good && lines && next_line(&rest, &line);)
		good = line.n < SECRET_LINE_MIN || add_text(m, line, room);
	if (room)
		explicit_bzero(room, size);
	if (joined)
		explicit_bzero(joined, 3 * n + 1);
	free(room);
	free(joined);
	return good;
}
