#pragma once
/* A growing byte buffer. If memory runs out, `failed` is set and later additions are dropped, so that a
 * writer need check only once, at the end. Once anything was added, a NUL follows the bytes. */
#include "base/attr.h"
#include "base/str.h"

struct buf {
	char *p;
	size_t n, cap;
	bool failed;
};

void buf_free(struct buf *b);
void buf_add(struct buf *b, struct str s);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *fmt, ...) printf_like(2, 3);

static inline struct str buf_str(const struct buf *b)
{
	return (struct str){ b->p ? b->p : "", b->n };
}
