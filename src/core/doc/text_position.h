#pragma once
/* Where a byte of a string's value stands in the source the string was read from. Pure. */
#include "base/val.h"

/* For plain, quoted and literal block strings of YAML and for those of JSON; where it cannot be told (a
 * folded block, an unusual escape), the beginning of the string. */
size_t inside(struct str source, const struct val *v, size_t offset);
