#pragma once
/* JSON (RFC 8259), strict: one value, no trailing text, no duplicate keys, valid UTF-8, bounded depth.
 * Integers that fit into 64 bits stay integers. Written by hand because the usual libraries do not give
 * source positions; see docs/decisions/0002. */
#include "base/buf.h"
#include "base/val.h"

/* Strings of `ret` point into `text` if they have no escapes, else into `a`. */
must_check enum err json_read(struct str text, struct arena *a, struct val *ret, struct why *why);

/* The part of `text` that the value `v` was read from. */
struct str json_source(struct str text, const struct val *v);

/* Appends a string with its quotes. Invalid UTF-8 and U+0000 become U+FFFD, so that the output is
 * always valid JSON that json_read accepts. */
void json_write_str(struct buf *out, struct str s);
/* The same, but keeps U+0000, which json_read refuses: for values that other programs read. */
void json_write_exact(struct buf *out, struct str s);
/* Appends ,"name":"…"; null if s.p is NULL. */
void json_add_str(struct buf *out, const char *name, struct str s);
/* Appends ,"name":["a","b"] for "a, b". */
void json_add_words(struct buf *out, const char *name, struct str list);
/* Appends a value without white space. Keys of maps are sorted by their bytes: equal values give equal text.
 */
void json_write(struct buf *out, const struct val *v);
