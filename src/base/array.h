#pragma once
/* Growable arrays: a pointer, the number of elements in use, and the number there is room for. */
#include "base/attr.h"

#include <stdlib.h>

/* Makes room for `need` elements of `size` bytes each. The room at least doubles, so that adding elements one
 * by one takes linear time. False: out of memory, or the size would overflow; nothing changed. */
must_check static inline bool array_reserve(void *items, unsigned *room, unsigned need, size_t size)
{
	void **p = items; /* the address of the caller's pointer */
	size_t bigger = *room ? *room : 8;
	if (need <= *room)
		return true;
	while (bigger < need)
		bigger *= 2;
	if (bigger > UINT32_MAX || bigger > SIZE_MAX / size)
		return false;
	void *grown = realloc(*p, bigger * size);
	if (!grown)
		return false;
	*p = grown;
	*room = (unsigned)bigger;
	return true;
}

/* Makes room for one more element after `n`: if (!ARRAY_ADD_ROOM(l->item, l->room, l->n)) return E_NOMEM; */
#define ARRAY_ADD_ROOM(items, room, n) array_reserve(&(items), &(room), (n) + 1, sizeof *(items))
