#pragma once
/* Borrowed strings: a pointer and a length, not owned, not terminated. Letters are ASCII letters; no locale.
 */
#include "base/attr.h"

#include <string.h>

struct str {
	const char *p;
	size_t n;
};

#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
/* For printf's "%.*s". */
#define STR_ARG(s) (int)(s).n, (s).p
/* The same, cut to 40 bytes: for input of any length that a message quotes. */
#define STR_SHORT(s) str_short_length(s, 40), (s).p
/* The same, cut to 160 bytes: for sentences. */
#define STR_LINE(s) str_short_length(s, 160), (s).p

/* The length of s, cut to at most `most` bytes of whole characters. */
static inline int str_short_length(struct str s, size_t most)
{
	size_t n = s.n > most ? most : s.n;
	while (n > 0 && n < s.n && ((unsigned char)s.p[n] & 0xC0) == 0x80)
		n--;
	return (int)n;
}

static inline struct str str_of(const char *z)
{
	return (struct str){ z, strlen(z) };
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Compares bytes; a prefix comes before the longer string. */
static inline int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;
	return c ? c : (a.n > b.n) - (a.n < b.n);
}

static inline struct str str_from(struct str s, size_t at)
{
	assert(at <= s.n);
	return (struct str){ s.p + at, s.n - at };
}

static inline struct str str_sub(struct str s, size_t at, size_t end)
{
	assert(at <= end && end <= s.n);
	return (struct str){ s.p + at, end - at };
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool is_alpha(char c)
{
	return is_upper(c) || (c >= 'a' && c <= 'z');
}

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline bool is_space(char c)
{
	return is_blank(c) || c == '\n' || c == '\r';
}

static inline char to_lower(char c)
{
	return is_upper(c) ? (char)(c + 32) : c;
}

static inline char to_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

/* The value of a hexadecimal digit; -1 if c is not one. */
static inline int hex_digit(char c)
{
	c = to_lower(c);
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Equal, ignoring ASCII case. */
static inline bool str_ieq(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (to_lower(a.p[i]) != to_lower(b.p[i]))
			return false;
	return true;
}

static inline bool str_starts(struct str s, struct str prefix)
{
	return s.n >= prefix.n && memcmp(s.p, prefix.p, prefix.n) == 0;
}
/* s without white space at both ends. */
struct str str_trim(struct str s);
/* Removes the next token of non-space bytes from the front of *rest and returns it; empty: none left. */
struct str str_token(struct str *rest);
/* Removes the next line from the front of *rest; *ret does not have its end (LF or CRLF). False: none left.
 */
bool str_line(struct str *rest, struct str *ret);
/* Splits *rest at the next `c`: *ret is the part before it, *rest the part after it. False: there is no `c`;
 * *ret is all of *rest. */
bool str_cut(struct str *rest, char c, struct str *ret);
/* Reads s as a decimal number of at most `max`; false if it is anything else. */
bool str_number(struct str s, uint64_t max, uint64_t *ret);
/* Edit distance ignoring ASCII case, for suggestions; `limit` + 1 if it is greater than `limit`. */
unsigned str_distance(struct str a, struct str b, unsigned limit);
