#pragma once
/* Reads YAML 1.2 into the same values as JSON, so that one validator serves both. libyaml parses the syntax;
 * scalars follow the core schema (`yes`, `on` and `12:30` are strings). Refuses aliases (a few bytes could
 * expand to gigabytes), tags, keys that are not text, duplicate keys, infinity and NaN, and U+0000. Size,
 * depth and number of keys are limited as for JSON. */
#include "base/val.h"

/* Reads all documents of a stream as one list; an empty document is null. Positions are offsets in `text`.
 * Strings point into `text` where they are unchanged there, else into `a`. */
must_check enum err yaml_read(struct str text, struct arena *a, struct val *ret, struct why *why);
