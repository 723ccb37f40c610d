#include "daemon/guard.h"

#include "core/model.h"

struct guard_answer guard_ask(const struct schedule_doc *doc, enum rn_ask ask)
{
	/* `check` is asked for an attempt, by hand or not: its no is a failure, and not to be tried again. */
	if (ask == ASK_CHECK)
		return (struct guard_answer){ .reason = REASON_DEFINITION };
	/* A schedule that was blocked by another version has a hook in its rules, and perhaps none to ask. */
	if (ask == ASK_HOOK && !doc_blocked(doc, false))
		return (struct guard_answer){ .yes = true };
	return (struct guard_answer){ .reason = REASON_BLOCKED };
}
