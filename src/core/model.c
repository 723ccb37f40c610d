/* The tables of words, and the search in them. */
#include "core/model.h"

#include "port/store.h"

#include <stdio.h>

static_assert((int)OUTCOME_COUNT == (int)STORE_OUTCOMES && (int)REASON_COUNT == (int)STORE_REASONS,
	      "the store refuses rows with other numbers");

const char *const backoff_words[] = {
	[BACKOFF_EXPONENTIAL] = "exponential",
	[BACKOFF_LINEAR] = "linear",
	[BACKOFF_FIXED] = "fixed",
	[BACKOFF_COUNT] = NULL,
};

const char *const missed_words[] = {
	[MISSED_EXECUTE_IMMEDIATELY] = "execute_immediately",
	[MISSED_SKIP] = "skip",
	[MISSED_EXECUTE_NEXT] = "execute_next",
	[MISSED_CATCH_UP] = "catch_up",
	[MISSED_COUNT] = NULL,
};

const char *const overlap_words[] = {
	[OVERLAP_SKIP] = "skip",           [OVERLAP_QUEUE_ONE] = "queue_one",
	[OVERLAP_QUEUE_ALL] = "queue_all", [OVERLAP_CANCEL_RUNNING] = "cancel_running",
	[OVERLAP_ALLOW] = "allow",         [OVERLAP_COUNT] = NULL,
};

const char *const outcome_words[] = {
	[OUTCOME_NONE] = "none",     [OUTCOME_DONE] = "done",       [OUTCOME_FAILED] = "failed",
	[OUTCOME_KILLED] = "killed", [OUTCOME_NO_WORK] = "no_work", [OUTCOME_COUNT] = NULL,
};

const char *const reason_words[] = {
	[REASON_NONE] = "none",
	[REASON_PAUSED] = "paused",
	[REASON_BLOCKED] = "blocked",
	[REASON_NOT_STARTED] = "not_started",
	[REASON_EXPIRED] = "expired",
	[REASON_MAX_RUNS] = "max_runs",
	[REASON_EXCLUDED] = "excluded",
	[REASON_ACTIVE_HOURS] = "active_hours",
	[REASON_OVERLAP] = "overlap",
	[REASON_BUDGET] = "budget",
	[REASON_CONDITION] = "condition",
	[REASON_HOOK] = "hook",
	[REASON_GATED] = "gated",
	[REASON_DEPENDENCY] = "dependency",
	[REASON_DOWN] = "down",
	[REASON_SUSPENDED] = "suspended",
	[REASON_CLOCK] = "clock",
	[REASON_STORE] = "store",
	[REASON_WINDOW_CLOSED] = "window_closed",
	[REASON_SUPERSEDED] = "superseded",
	[REASON_LIMIT] = "limit",
	[REASON_EDITED] = "edited",
	[REASON_RATE_LIMITED] = "rate_limited",
	[REASON_RESTORED] = "restored",
	[REASON_EXIT] = "exit",
	[REASON_AUTH] = "auth",
	[REASON_BILLING] = "billing",
	[REASON_DENIED] = "denied",
	[REASON_EMPTY] = "empty",
	[REASON_EXPECTATION] = "expectation",
	[REASON_CHECK] = "check",
	[REASON_DEFINITION] = "definition",
	[REASON_TEMPLATE] = "template",
	[REASON_LOST] = "lost",
	[REASON_REPORTED] = "reported",
	[REASON_TIMEOUT] = "timeout",
	[REASON_STALLED] = "stalled",
	[REASON_CANCELLED] = "cancelled",
	[REASON_REPLACED] = "replaced",
	[REASON_FENCED] = "fenced",
	[REASON_COUNT] = NULL,
};

enum err word_find(const char *const *words, struct str text, const char *what, unsigned *ret,
		   struct why *why)
{
	char list[128] = "";
	size_t n = 0;
	for (unsigned i = 0; words[i]; i++)
		if (str_eq(text, str_of(words[i]))) {
			*ret = i;
			return OK;
		}
	for (unsigned i = 0; words[i] && n < sizeof list; i++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", words[i]);
	return why_set(why, E_INPUT, 0, "%s '%.*s' is not known; allowed are %s", what, STR_SHORT(text),
		       list);
}
