#pragma once
/* Setting the state of a task. A task with a repeater that becomes done is not done: its timestamps move on,
 * and it returns to the first state of its sequence, as in Emacs. Its completion is logged in LOGBOOK. */
#include "core/org/edit.h"
#include "core/org/stamp.h"

/* Appends the file with the headline in state `keyword` at the instant `now`; :AGENT: and :CLAIMED: are
 * removed. *repeated: it was done, and repeats. E_INPUT: a repeater in hours, and no time of day. */
must_check enum err org_advance(const struct org *o, const struct org_head *h, uint32_t keyword,
				const struct zone *z, int64_t now, struct arena *a, struct buf *out,
				bool *repeated, struct why *why);
