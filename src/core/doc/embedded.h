#pragma once
/* Expressions inside of documents: conditions, and the {{ }} of templates. This is the one place where
 * documents meet their language; as long as that is not here, only their outside is looked at. `a` is for
 * what compiling them takes. Pure. */
#include "base/arena.h"
#include "base/err.h"

/* Is it a condition? why->at counts in `text`. */
must_check enum err embedded_condition(struct str text, struct arena *a, struct why *why);
/* Is it text with whole {{ }} in it? *any: has it one at all? why->at counts in `text`. */
must_check enum err embedded_template(struct str text, struct arena *a, bool *any, struct why *why);
/* The first {{ }} of a text that begins with a name in scope, braces included; empty: there is none. */
struct str embedded_in_scope(struct str text);
