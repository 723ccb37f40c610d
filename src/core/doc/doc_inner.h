#pragma once
/* Within core/doc: a schedule while it is being read, and the table of its keys. */
#include "core/doc/doc.h"
#include "core/doc/keys.h"

/* A schedule being read. */
struct doc_reader {
	struct key_reader keys;
	const struct doc_env *env;
	struct schedule_doc *d;
	struct ace by_key;               /* directives that were said as keys */
	const struct val *key[ACE_KEYS]; /* and by which values */
	const struct val *expression;
	struct ace by_expression;
	const struct val *retry; /* the whole key */
	bool max_delay_only;     /* `retry` says nothing that RETRY does */
};

enum { DOC_RETRY_DELAY = 60, DOC_RETRY_MOST = 3600 }; /* the defaults, in seconds */

extern const struct key doc_keys[];
