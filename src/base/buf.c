/* The growing byte buffer. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buf_free(struct buf *b)
{
	free(b->p);
	*b = (struct buf){ 0 };
}

static bool reserve(struct buf *b, size_t more)
{
	if (b->failed)
		return false;
	if (b->n + more + 1 <= b->cap)
		return true;
	size_t cap = b->cap ? b->cap * 2 : 256;
	while (cap < b->n + more + 1)
		cap *= 2;
	char *p = realloc(b->p, cap);
	if (!p) {
		b->failed = true;
		return false;
	}
	b->p = p;
	b->cap = cap;
	return true;
}

void buf_add(struct buf *b, struct str s)
{
	if (!reserve(b, s.n))
		return;
	if (s.n)
		memcpy(b->p + b->n, s.p, s.n);
	b->n += s.n;
	b->p[b->n] = 0;
}

void buf_addc(struct buf *b, char c)
{
	buf_add(b, (struct str){ &c, 1 });
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	if (n >= 0 && reserve(b, (size_t)n)) {
		vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
		b->n += (size_t)n;
	}
	va_end(again);
	va_end(ap);
}
