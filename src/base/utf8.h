#pragma once
/* UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. */
#include "base/str.h"

/* The number of bytes of the character at the front of s; 0 if s is empty or the character is invalid. */
static inline unsigned utf8_length(struct str s)
{
	const unsigned char *u = (const unsigned char *)s.p;
	if (s.n == 0)
		return 0;
	if (u[0] < 0x80)
		return 1;
	unsigned n = u[0] >= 0xC2 && u[0] < 0xE0   ? 2
		     : (u[0] & 0xF0) == 0xE0       ? 3
		     : u[0] >= 0xF0 && u[0] < 0xF5 ? 4
						   : 0;
	if (n == 0 || s.n < n)
		return 0;
	for (unsigned i = 1; i < n; i++)
		if ((u[i] & 0xC0) != 0x80)
			return 0;
	bool overlong = (u[0] == 0xE0 && u[1] < 0xA0) || (u[0] == 0xF0 && u[1] < 0x90);
	bool surrogate = u[0] == 0xED && u[1] >= 0xA0;
	bool beyond = u[0] == 0xF4 && u[1] >= 0x90;
	return overlong || surrogate || beyond ? 0 : n;
}

/* Writes a code point; returns the number of bytes. */
static inline unsigned utf8_write(uint32_t c, char ret[4])
{
	if (c < 0x80) {
		ret[0] = (char)c;
		return 1;
	}
	unsigned n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (unsigned i = n - 1; i > 0; i--, c >>= 6)
		ret[i] = (char)(0x80 | (c & 0x3F));
	ret[0] = (char)((0xF00u >> n & 0xFF) | c);
	return n;
}
