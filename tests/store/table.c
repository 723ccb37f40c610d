#include "table.h"

#include <stdlib.h>
#include <string.h>

enum { NEVER = 0, GONE = 1, FIRST = 2 };

void *grow(void *p, size_t bytes)
{
	void *q = realloc(p, bytes ? bytes : 1);
	if (!q)
		abort();
	return q;
}

static size_t find(const struct table *m, uint64_t key, bool *there)
{
	size_t i = mix(key) & (m->room - 1), free_at = SIZE_MAX;
	for (;; i = (i + 1) & (m->room - 1)) {
		*there = m->value[i] >= FIRST && m->key[i] == key;
		if (*there)
			return i;
		if (m->value[i] == GONE && free_at == SIZE_MAX)
			free_at = i;
		if (m->value[i] == NEVER)
			return free_at == SIZE_MAX ? i : free_at;
	}
}

static void resize(struct table *m, size_t room)
{
	struct table old = *m;
	m->room = room;
	m->used = 0;
	m->key = grow(NULL, room * sizeof *m->key);
	m->value = grow(NULL, room * sizeof *m->value);
	memset(m->value, 0, room * sizeof *m->value);
	for (size_t i = 0; i < old.room; i++)
		if (old.value[i] >= FIRST)
			table_put(m, old.key[i], old.value[i] - FIRST);
	free(old.key);
	free(old.value);
}

void table_put(struct table *m, uint64_t key, uint32_t value)
{
	if (m->used * 2 >= m->room)
		resize(m, m->room ? m->room * 2 : 64);
	bool there;
	size_t i = find(m, key, &there);
	if (m->value[i] == NEVER)
		m->used++;
	m->key[i] = key;
	m->value[i] = value + FIRST;
}

bool table_get(const struct table *m, uint64_t key, uint32_t *ret)
{
	if (!m->room)
		return false;
	bool there;
	size_t i = find(m, key, &there);
	if (there)
		*ret = m->value[i] - FIRST;
	return there;
}

void table_del(struct table *m, uint64_t key)
{
	bool there = false;
	size_t i = m->room ? find(m, key, &there) : 0;
	if (there)
		m->value[i] = GONE;
}

void table_free(struct table *m)
{
	free(m->key);
	free(m->value);
	*m = (struct table){ 0 };
}

struct table table_clone(const struct table *m)
{
	struct table c = *m;
	if (m->room) {
		c.key = memcpy(grow(NULL, m->room * sizeof *m->key), m->key, m->room * sizeof *m->key);
		c.value =
			memcpy(grow(NULL, m->room * sizeof *m->value), m->value, m->room * sizeof *m->value);
	}
	return c;
}
