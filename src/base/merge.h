#pragma once
/* JSON Merge Patch (RFC 7396) on values. Pure. */
#include "base/val.h"

/* Applies `patch` to `target`: a member of the patch replaces that of the target, null removes it, and maps
 * are merged. Both stay unchanged; the result shares their unchanged parts. Recurses as deep as the shallower
 * of the two. */
must_check enum err merge_patch(const struct val *target, const struct val *patch, struct arena *a,
				struct val *ret);
