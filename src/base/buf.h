#pragma once
/* A growing byte buffer. Running out of memory is remembered in `failed`, so that a writer may check once, at
 * the end; what was added after that is dropped. The bytes are always terminated once anything was added. */
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
