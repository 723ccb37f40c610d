#pragma once
/* The elements inside a section that matter here: keyword lines and source blocks. Lines inside blocks, and
 * blocks that do not end before the drawer or block around them, are found as org-element finds them. */
#include "core/org/org.h"

/* `#+KEY: value`. */
struct org_keyword_line {
	struct str key, value;
};

/* A source block. */
struct org_source {
	uint32_t at;           /* the beginning of its first line */
	struct str language;   /* empty: none is given */
	struct str parameters; /* the header arguments */
	struct org_span code;
};

struct org_elements {
	void (*keyword_line)(void *self, const struct org_keyword_line *k); /* may be NULL */
	void (*source)(void *self, const struct org_source *s);             /* may be NULL */
	/* A line that begins a drawer, also if the drawer has no end; may be NULL. */
	void (*drawer)(void *self, struct org_span line);
	/* The same for a drawer that has an end; may be NULL. */
	void (*closed_drawer)(void *self, struct org_span line);
	void (*text)(void *self, struct org_span line); /* any other line but comments; may be NULL */
	void *self;
};

/* Reports the elements of [from, to), the part of a section below its planning line and drawer, in order. */
must_check enum err org_elements(const struct org *o, size_t from, size_t to, const struct org_elements *each,
				 struct why *why);
