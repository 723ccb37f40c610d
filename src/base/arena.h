#pragma once
/* Memory with one end: everything a parse, a request or a tick allocates is given back at once by arena_free.
 * Zeroed, aligned for any object. NULL only when the machine is out of memory. */
#include "base/attr.h"
#include "base/str.h"

struct arena_chunk;
struct arena {
	struct arena_chunk *chunks;
};

void *arena_alloc(struct arena *a, size_t size);
/* A terminated copy. */
char *arena_dup(struct arena *a, struct str s);
char *arena_printf(struct arena *a, const char *fmt, ...) printf_like(2, 3);
/* Forgets everything; keeps a chunk of the ordinary size for the next round. */
void arena_reset(struct arena *a);
void arena_free(struct arena *a);
