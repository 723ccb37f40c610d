#pragma once
/* Which characters may be shown to a person. Excluded are characters that change what a terminal shows
 * elsewhere, that reorder the text around them, or that begin a new line: C0 and C1 controls, DEL, line and
 * paragraph separators, bidirectional controls (Unicode annex 9), tag characters. Bytes that are not UTF-8
 * are excluded, too. */
#include "base/utf8.h"

/* The number of bytes of the character at the front of s; 0 if it may not be shown, or if s is empty. */
static inline unsigned printable_length(struct str s)
{
	const unsigned char *u = (const unsigned char *)s.p;
	unsigned n = utf8_length(s);
	bool hidden =
		n == 1   ? u[0] < 0x20 || u[0] == 0x7F
		: n == 2 ? (u[0] == 0xC2 && u[1] < 0xA0) || (u[0] == 0xD8 && u[1] == 0x9C)
		: n == 3 ? u[0] == 0xE2 && ((u[1] == 0x80 && (u[2] == 0x8E || u[2] == 0x8F || /* marks */
							      (u[2] >= 0xA8 && u[2] <= 0xAE))) ||
					    (u[1] == 0x81 && u[2] >= 0xA6 && u[2] <= 0xA9)) /* isolates */
			 : n == 4 && u[0] == 0xF3 && u[1] == 0xA0 && u[2] < 0x82;           /* tags */
	return hidden ? 0 : n;
}
