#pragma once
/* JSON (RFC 8259), strictly: one value, no trailing text, no duplicate keys, valid UTF-8, bounded depth.
 * Integers that fit 64 bits stay integers. Written by hand because no library of the field gives source
 * positions; see docs/decisions/0002. */
#include "base/buf.h"
#include "base/val.h"

/* Strings of `ret` point into `text` where they have no escapes, else into `a`. */
must_check enum err json_read(struct str text, struct arena *a, struct val *ret, struct why *why);

/* The text of a value that was read from `text`; its place is the one it was read at. */
struct str json_source(struct str text, const struct val *v);

/* Appends a string with its quotes. Bytes that are no UTF-8 become U+FFFD, so that the output is always JSON.
 */
void json_write_str(struct buf *out, struct str s);
/* Appends a value without white space, the keys of maps sorted by their bytes: equal values give equal text.
 */
void json_write(struct buf *out, const struct val *v);
