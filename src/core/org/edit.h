#pragma once
/* Changes of one headline: its state, properties, timestamps and log. Bytes that a change does not concern
 * stay as they are. New text is written as Emacs would write it, without its alignment of tags. */
#include "base/buf.h"
#include "core/org/org.h"

/* Replaces a part of the text. */
struct org_patch {
	struct org_span span;
	struct str text;
};

/* Sets a property, or removes all lines of it. */
struct org_set {
	const char *key;
	struct str value;
	bool remove;
};

struct org_change {
	struct str state; /* the new keyword; empty: unchanged */
	const struct org_set *set;
	unsigned sets;
	const struct org_patch *patch; /* further changes, which do not overlap with those above */
	unsigned patches;
	bool ended;     /* the patches add the missing line end of the last line */
	struct str log; /* a line for the drawer LOGBOOK, without its line end; empty: none */
};

/* Appends the text of the whole file with the change. A drawer that loses its last property is removed, too.
 */
must_check enum err org_change(const struct org *o, const struct org_head *h, const struct org_change *c,
			       struct arena *a, struct buf *out, struct why *why);
