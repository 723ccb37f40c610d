#pragma once
/* Expressions inside of documents: conditions, and the {{ }} of templates. This is the one place where
 * documents meet their language. Pure. */
#include "base/err.h"

/* Is it a condition? why->at counts in `text`. */
must_check enum err embedded_condition(struct str text, struct why *why);
/* Is it text with whole {{ }} in it? *any: has it one at all? why->at counts in `text`. */
must_check enum err embedded_template(struct str text, bool *any, struct why *why);
/* The first {{ }} of a text that begins with a name in scope, braces included; empty: there is none. */
struct str embedded_in_scope(struct str text);
