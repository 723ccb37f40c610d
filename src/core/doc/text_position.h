#pragma once
/* Maps a byte of a string's value to its position in the source that the string was read from. Pure. */
#include "base/val.h"

/* The offset in `source` of byte `offset` of the string `v`. Knows plain, quoted and literal block strings of
 * YAML and strings of JSON. Where the position cannot be determined (a folded block, an unusual escape), it
 * is the beginning of the string. */
size_t text_position(struct str source, const struct val *v, size_t offset);
