#pragma once
/* A position in a text, for parsers that read it byte by byte. */
#include "base/str.h"

struct cursor {
	struct str text;
	size_t at;
};

/* The next byte; 0 at the end. */
static inline char cursor_peek(const struct cursor *c)
{
	return c->at < c->text.n ? c->text.p[c->at] : 0;
}

/* Moves past the next byte if it is `want`. */
static inline bool cursor_accept(struct cursor *c, char want)
{
	if (c->at >= c->text.n || c->text.p[c->at] != want)
		return false;
	c->at++;
	return true;
}
