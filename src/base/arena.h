#pragma once
/* Memory that is freed as a whole: everything a parse, a request or a tick allocates lives until arena_free.
 * Allocations are zeroed and aligned for any object; they fail (NULL) only when memory runs out. */
#include "base/attr.h"
#include "base/str.h"

struct arena_chunk;
struct arena {
	struct arena_chunk *chunks;
};

void *arena_alloc(struct arena *a, size_t size);
/* A copy of s with a terminating NUL. */
char *arena_dup(struct arena *a, struct str s);
char *arena_printf(struct arena *a, const char *fmt, ...) printf_like(2, 3);
/* Makes room for one more item in an array of `n` items of `size` bytes each. Returns `items` itself, or a
 * copy of it with double the room; NULL: out of memory. */
void *arena_grow(struct arena *a, void *items, unsigned n, size_t size);
/* Frees all allocations, but keeps one chunk of the usual size for reuse. */
void arena_reset(struct arena *a);
void arena_free(struct arena *a);
