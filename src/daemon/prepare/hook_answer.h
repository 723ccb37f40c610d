#pragma once
/* What the end of a hook's program means:
 *
 *	exit code 0			go on, unless standard output is a JSON object with "cancel": true
 *	any other exit code		cancel; standard error has the reason
 *	not found (126, 127), killed,	the hook has failed, which is a problem: cancel, or go on if its
 *	too slow, not executed		`on_error` is `proceed`
 *
 * The output comes from a program that may be hostile: it is bounded, and shown as printable text. */
#include "core/doc/doc.h"
#include "port/runfile.h"
#include "port/runner.h"

/* A hook whose program has ended. */
struct hook_end {
	const char *runs; /* the directory of its files */
	uint64_t run;
	enum run_hook hook;
	uint8_t on_error;                /* enum doc_hook_error */
	const struct rn_report *program; /* outcome, reason and exit code */
};

struct hook_answer {
	bool yes;
	bool failed;      /* the hook could not answer */
	struct str words; /* for people, in the arena: why the answer is no, or how the hook failed */
};
/* E_IO, E_NOMEM: the output cannot be read now. */
must_check enum err hook_answer(const struct hook_end *end, struct arena *a, struct hook_answer *ret,
				struct why *why);
/* "the hook of the configuration" */
const char *hook_name(enum run_hook hook);
