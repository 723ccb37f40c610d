#pragma once
/* Org text, as far as agents need it: headings, and the property drawer below one. Total and pure: whatever
 * the bytes, each of these ends, and what is refused has a place in them. */
#include "base/val.h"

struct org_heading {
	unsigned level;   /* stars */
	struct str title; /* without its tags; may be empty */
	size_t at;        /* where its line begins … */
	size_t text;      /* … and what comes after it */
};
/* The first heading whose line begins at `from` or later, which is the beginning of a line. */
bool org_heading_next(struct str text, size_t from, struct org_heading *ret);

/* The drawer at the beginning of what stands between `from` and `to`, behind blank lines and planning: a map
 * of strings with the names as they were written. None is an empty map. *end becomes what comes after it. A
 * drawer that does not end, a line that is no property, a name that is given twice: E_INPUT. */
must_check enum err org_drawer(struct str text, size_t from, size_t to, struct arena *a, struct val *ret,
			       size_t *end, struct why *why);
/* Has the drawer there a property of this name? Also if it is one that org_drawer refuses. */
bool org_has(struct str text, size_t from, size_t to, const char *name);
