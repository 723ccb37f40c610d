#pragma once
/* JSON Merge Patch (RFC 7396), on values. Pure. */
#include "base/val.h"

/* What `target` becomes by `patch`: its members replace, null removes, maps go deeper. Both stay as they are;
 * the new value shares with them what is the same. As deep as the shallower of the two. */
must_check enum err merge_patch(const struct val *target, const struct val *patch, struct arena *a,
				struct val *ret);
