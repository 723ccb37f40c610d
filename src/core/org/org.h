#pragma once
/* Org text, as far as agents need it: headings, and the property drawer below a heading. Pure. Any bytes are
 * accepted as input, and every error has its place in them. */
#include "base/val.h"

struct org_heading {
	unsigned level;   /* the number of stars */
	struct str title; /* without tags; may be empty */
	size_t at;        /* the beginning of its line */
	size_t text;      /* the beginning of the next line */
};
/* The first heading at or after `from`, which must be the beginning of a line. */
bool org_heading_next(struct str text, size_t from, struct org_heading *ret);

/* Reads the drawer at the beginning of [from, to), after blank lines and planning lines, into a map of
 * strings with the names as written; without a drawer the map is empty. *end is after the drawer. E_INPUT:
 * the drawer does not end, a line is not a property, or a name is given twice. */
must_check enum err org_drawer(struct str text, size_t from, size_t to, struct arena *a, struct val *ret,
			       size_t *end, struct why *why);
/* Does the drawer there have a property of this name? Also works for a drawer that org_drawer refuses. */
bool org_has(struct str text, size_t from, size_t to, const char *name);
