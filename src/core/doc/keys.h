#pragma once
/* Maps with known keys: one row per key says its type, its bounds, its default and where its value goes. The
 * same row reads it, and writes it again. An unknown key, a wrong type or a bad value is an error with its
 * place in the source. Pure. */
#include "base/buf.h"
#include "base/val.h"
#include "core/when/ace.h"

enum key_type {
	KEY_TEXT,     /* struct str, not empty */
	KEY_BOOL,     /* bool */
	KEY_NUMBER,   /* int64_t, least to most */
	KEY_WORD,     /* uint8_t: an index of `words` */
	KEY_DURATION, /* int64_t seconds, least to most; a bare number is seconds */
	KEY_SIZE,     /* int64_t bytes, least to most; 5GiB, or a bare number */
	KEY_OTHER,    /* `set` and `write` know */
	KEY_TYPES
};

struct key;
struct key_reader;
typedef enum err key_set(struct key_reader *r, void *into, const struct key *k, const struct val *v);

struct key {
	const char *name;
	enum key_type type;
	bool later;               /* known to the specification, not to this version */
	size_t to;                /* offset of the value in what is filled */
	int64_t least, most;      /* of numbers */
	int64_t usual;            /* the default; left out when written */
	const char *const *words; /* of KEY_WORD */
	unsigned kinds;           /* KEY_OTHER: bits of enum val_kind it may have */
	key_set *set;             /* KEY_OTHER */
	void (*write)(const void *from,
		      struct buf *out); /* KEY_OTHER: the value, or nothing if it is the default */
	enum ace_key ace;               /* with `set`: the directive that means the same */
};

#define KEY_KIND(k) (1u << (k))

struct key_reader {
	struct str source; /* where positions count */
	struct arena *arena;
	struct why *why;
	void *self; /* of whoever reads */
};

/* Fills `into`, which has its defaults already. `what` is what the map is called: "a schedule". given[i], if
 * `given` is not NULL, becomes the value of keys[i] where there is one. */
must_check enum err keys_read(struct key_reader *r, const char *what, const struct key *keys, void *into,
			      const struct val *map, const struct val **given);
/* The default of a row that has one. */
void keys_default(const struct key *k, void *into);
/* One value, by its row. */
must_check enum err keys_set(struct key_reader *r, void *into, const struct key *k, const struct val *v);
/* "name":value for every key that has not its default, with commas between them; `first`: none before. */
void keys_write(const struct key *keys, const void *from, bool first, struct buf *out);
/* A value for people: 1h, 5GiB, skip. */
void keys_show(const struct key *k, const void *from, struct buf *out);
/* The same as a JSON value. */
void keys_json(const struct key *k, const void *from, struct buf *out);

/* The key called so; NULL: none. */
const struct key *keys_find(const struct key *keys, struct str name);
/* Says that `name` is not known, and which key is near. */
enum err keys_unknown(struct why *why, size_t at, const char *what, const struct key *keys, struct str name);
/* Says that a value is of the wrong kind. */
enum err keys_wrong(struct key_reader *r, const char *name, unsigned kinds, const struct val *v);

/* Maps whose `type` says which keys they have. */
struct key_variant {
	const char *name;       /* the type; NULL ends the table */
	const char *what;       /* "action command" */
	const struct key *keys; /* the first is KEY_OF_TYPE; NULL: not supported yet */
	const char *needs;      /* the key it cannot do without; NULL: it can */
};
#define KEY_OF_TYPE                                                                                          \
	{                                                                                                    \
		.name = "type", .type = KEY_OTHER, .kinds = KEY_KIND(VAL_STR), .set = keys_pass_over         \
	}
key_set keys_pass_over;
/* *kind becomes the place in the table; `what` is what all of them are called: "action". */
must_check enum err keys_read_variant(struct key_reader *r, const char *what, const struct key_variant *table,
				      void *into, const struct val *v, uint8_t *kind);
void keys_write_variant(const struct key_variant *of, const void *from, struct buf *out);
/* Lists of them. *items becomes an array of structs of this size, which begin with a uint8_t, their kind. */
must_check enum err keys_read_list(struct key_reader *r, const char *what, const struct key_variant *table,
				   const struct val *list, size_t size, void **items, unsigned *n);
/* Nothing if there are none. */
void keys_write_list(const struct key_variant *table, const void *items, size_t size, unsigned n,
		     struct buf *out);
/* A map of strings: `what` is one of them. */
must_check enum err keys_strings(struct key_reader *r, const char *what, const struct val *map);
