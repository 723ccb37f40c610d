/* One sentence for each reason. */
#include "core/schedule/reason_text.h"

static const char *const texts[REASON_COUNT] = {
	[REASON_PAUSED] = "it is or was paused",
	[REASON_BLOCKED] = "its agent or account is blocked",
	[REASON_NOT_STARTED] = "that is before its start date",
	[REASON_EXPIRED] = "that is at or after its end date",
	[REASON_MAX_RUNS] = "it has reached its number of runs (max_runs)",
	[REASON_EXCLUDED] = "that day is excluded",
	[REASON_ACTIVE_HOURS] = "that is outside its agent's active hours",
	[REASON_OVERLAP] = "an earlier run was still running",
	[REASON_BUDGET] = "its budget was spent",
	[REASON_CONDITION] = "its condition did not come true in time",
	[REASON_HOOK] = "a hook refused it",
	[REASON_GATED] = "one of its runs had set a later time (next-check)",
	[REASON_DEPENDENCY] = "a schedule that it depends on did not succeed",
	[REASON_DOWN] = "rota was not running",
	[REASON_SUSPENDED] = "the machine was asleep",
	[REASON_CLOCK] = "the clock was set",
	[REASON_STORE] = "the store did not answer in time",
	[REASON_WINDOW_CLOSED] = "its window had closed before it could start",
	[REASON_SUPERSEDED] = "a later time ran instead",
	[REASON_LIMIT] = "more times were missed than its limit for catching up",
	[REASON_EDITED] = "the schedule was changed before this time was handled",
	[REASON_RATE_LIMITED] = "the provider's limit was reached",
	[REASON_RESTORED] = "it was due after the backup was made and before it was restored",
	[REASON_EXIT] = "its program ended with an error",
	[REASON_AUTH] = "the provider did not accept its credentials",
	[REASON_BILLING] = "the provider refused it because of billing",
	[REASON_DENIED] = "it was not allowed to do something",
	[REASON_EMPTY] = "it produced nothing",
	[REASON_EXPECTATION] = "an expectation of its schedule was not met",
	[REASON_CHECK] = "its check failed",
	[REASON_DEFINITION] = "its definition cannot be executed",
	[REASON_TEMPLATE] = "its template could not be filled in",
	[REASON_LOST] = "it was lost: there is no record of how it ended",
	[REASON_REPORTED] = "it reported its own failure",
	[REASON_TIMEOUT] = "it took longer than its timeout",
	[REASON_STALLED] = "it printed nothing for too long",
	[REASON_CANCELLED] = "it was stopped on request",
	[REASON_REPLACED] = "the next run replaced it",
	[REASON_FENCED] = "it lost its lease to another node",
};

const char *reason_text(const char *word)
{
	for (unsigned i = REASON_NONE + 1; word && i < REASON_COUNT; i++)
		if (!strcmp(reason_words[i], word))
			return texts[i];
	return NULL;
}
