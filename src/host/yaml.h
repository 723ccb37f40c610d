#pragma once
/* YAML 1.2 into the same value that JSON is read into, so that one validator serves both. libyaml does the
 * syntax; here its events become values, by the core schema (`yes`, `on` and `12:30` are strings), and what
 * has no place in a value is refused: aliases (a few bytes could stand for gigabytes), tags, keys that are no
 * text, keys given twice, infinities, U+0000. Bounded in size, depth and keys as JSON is. */
#include "base/val.h"

/* All documents of a stream, as one list; an empty document is null. Offsets are those of `text`; strings
 * point into it where they stand there as they are, else into `a`. */
must_check enum err yaml_read(struct str text, struct arena *a, struct val *ret, struct why *why);
