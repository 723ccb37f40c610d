#pragma once
/* Claims of tasks as changes of a plan's text. Pure: git is in cli/git. */
#include "core/plan/agenda.h"

/* Finds the task and appends the plan with it claimed: state DOING, :AGENT: and :CLAIMED:. `time` is the
 * timestamp with its brackets. *mine: the agent has claimed it already; nothing is appended.
 * E_BUSY: another agent has it, which the message names. E_CONFLICT: it is done, or is not a task. */
must_check enum err claim_take(const struct org *o, struct str task, struct str agent, struct str time,
			       struct arena *a, struct buf *out, bool *mine, struct why *why);
/* Finds the task and appends the plan with its claim removed, in the first state of its sequence. *free: it
 * is not claimed. E_BUSY: it is claimed by another agent than `agent`, unless that is empty. */
must_check enum err claim_release(const struct org *o, struct str task, struct str agent, struct arena *a,
				  struct buf *out, bool *free, struct why *why);
