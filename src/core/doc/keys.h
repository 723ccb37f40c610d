#pragma once
/* Maps with known keys. Each key has one row in a table: its type, its range, its default, and the field that
 * holds its value. The row is used to read the value and to write it. An unknown key, a wrong type or a bad
 * value is an error with its position in the source. Pure. */
#include "base/buf.h"
#include "base/val.h"
#include "core/when/ace.h"

enum key_type {
	KEY_TEXT,     /* struct str, not empty */
	KEY_BOOL,     /* bool */
	KEY_NUMBER,   /* int64_t, least to most */
	KEY_WORD,     /* uint8_t: an index into `words` */
	KEY_DURATION, /* int64_t seconds, least to most; a bare number is seconds */
	KEY_SIZE,     /* int64_t bytes, least to most; 5GiB, or a bare number */
	KEY_OTHER,    /* read by `set`, written by `write` */
	KEY_TYPES
};

struct key;
struct key_reader;
/* Reads `v`, whose kind has been checked, into the struct `into`. */
typedef enum err key_set(struct key_reader *r, void *into, const struct key *k, const struct val *v);
/* Appends the value in the struct `from` as JSON; appends nothing if it is the default. */
typedef void key_write(const void *from, const struct key *k, struct buf *out);

struct key {
	const char *name;
	enum key_type type;
	bool unsupported;         /* a key of the specification that this version refuses */
	size_t offset;            /* of the field that holds the value */
	int64_t least, most;      /* the range of a number */
	int64_t default_value;    /* the default value; left out when written */
	const char *const *words; /* KEY_WORD: the allowed words; ends with NULL */
	unsigned kinds;           /* KEY_OTHER: the allowed kinds, bits of enum val_kind */
	key_set *set;             /* KEY_OTHER */
	key_write *write;         /* KEY_OTHER; NULL: never written */
	enum ace_key directive;   /* in the table of schedules: the directive with the same meaning */
};

#define KEY_KIND(k) (1u << (k))
/* The field of a row, in the struct at `base`. */
#define KEY_FIELD(field, base, k)       ((field *)(void *)((char *)(base) + (k)->offset))
#define KEY_CONST_FIELD(field, base, k) ((const field *)(const void *)((const char *)(base) + (k)->offset))

struct key_reader {
	struct str source; /* positions are offsets in this text */
	struct arena *arena;
	struct why *why;
	void *self; /* for the setters of one table */
};

/* Fills `into`, which already has its defaults. `what` names the map in messages: "a schedule". If `given` is
 * not NULL, given[i] becomes the value that the map has for keys[i]. */
must_check enum err keys_read(struct key_reader *r, const char *what, const struct key *keys, void *into,
			      const struct val *map, const struct val **given);
/* Sets the defaults of all keys but those of type KEY_TEXT and KEY_OTHER. */
void keys_set_defaults(const struct key *keys, void *into);
/* Reads one value by its row. */
must_check enum err keys_set(struct key_reader *r, void *into, const struct key *k, const struct val *v);
/* Writes "name":value for every key whose value is not the default. `first`: no comma before the first. */
void keys_write(const struct key *keys, const void *from, bool first, struct buf *out);
/* Writes the same as a map; nothing if every value is the default. */
void keys_write_map(const struct key *keys, const void *from, struct buf *out);
/* Writes a value for people: 1h, 5GiB, skip. */
void keys_show(const struct key *k, const void *from, struct buf *out);
/* Writes a value as JSON. */
void keys_json(const struct key *k, const void *from, struct buf *out);

/* "a string", "an integer", … */
const char *keys_kind_name(enum val_kind kind);
/* The error for a value of the wrong kind; `name` names the value, `kinds` are the allowed kinds. */
enum err keys_wrong_kind(struct key_reader *r, const char *name, unsigned kinds, const struct val *v);
/* Moves the position of error `e` from the string `v` to the source: parsers of single values count from the
 * beginning of the string. Returns `e`. */
enum err keys_error_in(struct key_reader *r, const struct val *v, enum err e);

/* Setters and writers for rows of type KEY_OTHER. */
key_set keys_ignore;      /* reads nothing */
key_set keys_set_path;    /* struct str: an absolute path */
key_write keys_write_str; /* struct str; nothing if it is empty */
key_write keys_write_val; /* struct val; nothing if it is null or an empty map */

/* Reads a day such as 2026-12-25, in days since 1970-01-01. `what` names the value: "a date of except". */
must_check enum err keys_read_day(struct key_reader *r, const char *what, const struct val *v, int32_t *ret);
/* Writes a list of strings; nothing if it is empty. */
void keys_write_strs(const struct str *item, unsigned n, struct buf *out);

/* Maps whose key `type` decides which other keys they have. */
struct key_variant {
	const char *name;       /* the type; NULL ends the table */
	const char *what;       /* in messages: "an action of type command" */
	const struct key *keys; /* the first is KEY_OF_TYPE; NULL: not supported yet */
	const char *required;   /* a key that must be given; NULL: none */
};
#define KEY_OF_TYPE                                                                                          \
	{                                                                                                    \
		.name = "type", .type = KEY_OTHER, .kinds = KEY_KIND(VAL_STR), .set = keys_ignore            \
	}
/* *kind becomes the index in the table. `what` names any map of the table: "an action". */
must_check enum err keys_read_variant(struct key_reader *r, const char *what, const struct key_variant *table,
				      void *into, const struct val *v, uint8_t *kind);
void keys_write_variant(const struct key_variant *variant, const void *from, struct buf *out);
/* Reads a list of maps with `type`, the value of the key `name`. *items becomes an array of structs of this
 * size; the first byte of each becomes its kind. */
must_check enum err keys_read_list(struct key_reader *r, const char *name, const char *what,
				   const struct key_variant *table, const struct val *list, size_t size,
				   void **items, unsigned *n);
/* Writes nothing if the list is empty. */
void keys_write_list(const struct key_variant *table, const void *items, size_t size, unsigned n,
		     struct buf *out);
/* Checks that every value of a map is a string; `what` names one of them. */
must_check enum err keys_check_strings(struct key_reader *r, const char *what, const struct val *map);
