#pragma once
/* Property drawers of definitions, crews and lifecycles. Where org would ignore a drawer (wrong place, a line
 * that is not a property, no end), these files have an error with its place: configuration must not get lost.
 */
#include "base/val.h"
#include "core/org/org.h"

/* The properties of a headline as a map of strings, with the names as written. *end is where its text begins.
 * E_INPUT also for a property that is given twice. */
must_check enum err definition_drawer(const struct org *o, const struct org_head *h, struct arena *a,
				      struct val *ret, size_t *end, struct why *why);
/* Does the entry of the headline have a drawer with this property, in the right place or not? */
bool definition_has(const struct org *o, const struct org_head *h, const char *key);
/* E_INPUT: the text before the first headline has a drawer with properties other than :ID: and those that org
 * itself writes. `where` says where they belong. */
must_check enum err definition_check_top(const struct org *o, const char *where, struct why *why);
/* Is it a property that org and its tools write for themselves? */
bool definition_is_internal(struct str key);
