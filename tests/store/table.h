#pragma once
/* Numbers to numbers, for the model's tables and its checkers': open addressing, never smaller, aborts
 * without memory. */
#include "base/attr.h"

struct table {
	uint64_t *key;
	uint32_t *value; /* plus two; 0: never used, 1: used once */
	size_t room, used;
};

void table_put(struct table *m, uint64_t key, uint32_t value);
bool table_get(const struct table *m, uint64_t key, uint32_t *ret);
void table_del(struct table *m, uint64_t key);
void table_free(struct table *m);
struct table table_clone(const struct table *m);

/* A good hash of one or two numbers. */
static inline uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline uint64_t mix2(uint64_t a, uint64_t b)
{
	return mix(mix(a + UINT64_C(0x9e3779b97f4a7c15)) ^ b);
}

/* realloc that never returns NULL; a test program may end. */
void *grow(void *p, size_t bytes);
