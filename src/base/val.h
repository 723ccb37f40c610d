#pragma once
/* A JSON-like value, read from JSON or YAML or built by hand, with its place in the source. Lives in an
 * arena. */
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
	uint32_t at; /* byte offset of the key in the source */
	struct val value;
};

/* "null", "boolean", "integer", … */
extern const char *const val_kind_words[];
/* The value of a key; NULL if there is none, or if `map` is not a map. */
const struct val *val_get(const struct val *map, struct str key);
/* Does the map have the member `name`, and is it true? */
bool val_is_true(const struct val *map, const char *name);
/* Removes the first key from a path such as "a.b". False at its end, and for "." and "", which mean the whole
 * map. */
bool val_path_next(struct str *path, struct str *key);

/* Zeroed room for one more item of a list, or one more pair of a map; NULL: out of memory. The caller fills
 * it and then increments `n`. The room doubles; the old rooms stay in the arena, and waste at most as much
 * memory as the last one has. */
struct val *val_list_room(struct val *list, struct arena *a);
struct val_pair *val_map_room(struct val *map, struct arena *a);

/* The indices of a map's pairs, sorted by the bytes of their keys; equal keys keep their order. */
void val_sort(const struct val *map, uint32_t *ret);

/* Parsers reject duplicate keys: while a map has at most VAL_FEW pairs they ask val_get for each new key; at
 * the end of a larger map they call this. *ret is a pair whose key occurred before; NULL: there is none. */
enum { VAL_FEW = 16 };
must_check enum err val_find_duplicate(const struct val *map, struct arena *a, const struct val_pair **ret);
