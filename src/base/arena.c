/* Arenas: a list of chunks, filled from the front; the newest chunk is the first one. The unused part of a
 * chunk is zero, so that the pages of a large allocation are not touched before they are used. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHUNK = 16384, ALIGN = 16 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	_Alignas(ALIGN) char bytes[];
};

void *arena_alloc(struct arena *a, size_t size)
{
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	struct arena_chunk *c = a->chunks;
	if (!c || c->size - c->used < size) {
		size_t room = size > CHUNK ? size : CHUNK;
		c = calloc(1, sizeof *c + room);
		if (!c)
			return NULL;
		c->next = a->chunks;
		c->size = room;
		a->chunks = c;
	}
	void *p = c->bytes + c->used;
	c->used += size;
	return p;
}

char *arena_dup(struct arena *a, struct str s)
{
	char *p = arena_alloc(a, s.n + 1);
	if (p && s.n)
		memcpy(p, s.p, s.n);
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	char *p = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
	if (p)
		vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(ap);
	return p;
}

void *arena_grow(struct arena *a, void *items, unsigned n, size_t size)
{
	if (n & (n - 1) || (n && n < 4))
		return items; /* there is room: the array grows only when n is 0, 4, 8, 16, … */
	void *more = arena_alloc(a, (n ? n * 2u : 4u) * size);
	if (more && n)
		memcpy(more, items, n * size);
	return more;
}

void arena_reset(struct arena *a)
{
	while (a->chunks && (a->chunks->next || a->chunks->size > CHUNK)) {
		struct arena_chunk *next = a->chunks->next;
		free(a->chunks);
		a->chunks = next;
	}
	if (a->chunks) {
		memset(a->chunks->bytes, 0, a->chunks->used);
		a->chunks->used = 0;
	}
}

void arena_free(struct arena *a)
{
	for (struct arena_chunk *c = a->chunks, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	a->chunks = NULL;
}
