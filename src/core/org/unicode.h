#pragma once
/* Classes of characters as Emacs's regular expressions have them: [[:alnum:]], and white space (\s-). ASCII
 * is decided inline: nearly all characters are. */
#include "base/str.h"

/* The character at `at`, and its length in *n. A byte that is not valid UTF-8 is a character by itself, which
 * belongs to no class: CHAR_INVALID. */
#define CHAR_INVALID UINT32_MAX
uint32_t char_decode(struct str s, size_t at, unsigned *n);
static inline uint32_t char_at(struct str s, size_t at, unsigned *n)
{
	*n = 1;
	return (unsigned char)s.p[at] < 0x80 ? (unsigned char)s.p[at] : char_decode(s, at, n);
}

bool char_is_alnum_beyond_ascii(uint32_t c);
static inline bool char_is_alnum(uint32_t c)
{
	return c < 0x80 ? is_alpha((char)c) || is_digit((char)c) : char_is_alnum_beyond_ascii(c);
}

bool char_is_space_beyond_ascii(uint32_t c);
static inline bool char_is_space(uint32_t c)
{
	return c < 0x80 ? c == ' ' || (c >= '\t' && c <= '\r' && c != '\v') : char_is_space_beyond_ascii(c);
}

/* The length of the run of characters at `at` that are not white space. */
size_t word_length(struct str s, size_t at);
