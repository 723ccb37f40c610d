#pragma once
/* One JSON-like value, whatever it was read from, that knows where it stood in its source. Lives in an arena.
 */
#include "base/arena.h"
#include "base/err.h"

enum val_kind { VAL_NULL, VAL_BOOL, VAL_INT, VAL_FLOAT, VAL_STR, VAL_LIST, VAL_MAP };

struct val_pair;
struct val {
	enum val_kind kind;
	uint32_t at; /* byte offset in the source */
	union {
		bool boolean;
		int64_t integer;
		double real;
		struct str str;
		struct {
			struct val *item;
			unsigned n;
		} list;
		struct {
			struct val_pair *pair;
			unsigned n;
		} map;
	};
};

struct val_pair {
	struct str key;
	uint32_t at; /* of the key */
	struct val value;
};

/* "null", "boolean", "integer", … */
extern const char *const val_kind_words[];
/* The value of a key, or NULL. */
const struct val *val_get(const struct val *map, struct str key);

/* Room for one more at the end of a list or a map, zeroed; the caller counts it when it is filled. They grow
 * by doubling in the arena: what is left behind is at most as much again. NULL: out of memory. */
struct val *val_item(struct val *list, struct arena *a);
struct val_pair *val_pair(struct val *map, struct arena *a);

/* The places of a map's pairs in the order of their keys' bytes; equal keys stay in their order. */
void val_sort(const struct val *map, uint32_t *ret);

/* Readers look for keys that are given twice: in a map of few by val_get as they come, in others at its end.
 * *ret becomes a pair whose key was given before it; NULL: there is none. */
enum { VAL_FEW = 16 };
must_check enum err val_twice(const struct val *map, struct arena *a, const struct val_pair **ret);
