#pragma once
/* Makes room for one more element of a growable array; aborts if there is no memory. */
#include "base/array.h"

#define ADD_ROOM(items, room, n)                                                                             \
	do {                                                                                                 \
		if (!ARRAY_ADD_ROOM(items, room, n))                                                         \
			abort();                                                                             \
	} while (0)
