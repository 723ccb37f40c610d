#pragma once
/* The vocabulary of policies, outcomes and reasons: one enum and one table of words for each. Input that is
 * not in its table is refused with the list of allowed words. */
#include "base/err.h"

enum backoff { BACKOFF_EXPONENTIAL, BACKOFF_LINEAR, BACKOFF_FIXED, BACKOFF_COUNT };
enum missed { MISSED_EXECUTE_IMMEDIATELY, MISSED_SKIP, MISSED_EXECUTE_NEXT, MISSED_CATCH_UP, MISSED_COUNT };
enum overlap {
	OVERLAP_SKIP,
	OVERLAP_QUEUE_ONE,
	OVERLAP_QUEUE_ALL,
	OVERLAP_CANCEL_RUNNING,
	OVERLAP_ALLOW,
	OVERLAP_COUNT
};

/* Each table ends with NULL. */
extern const char *const backoff_words[BACKOFF_COUNT + 1];
extern const char *const missed_words[MISSED_COUNT + 1];
extern const char *const overlap_words[OVERLAP_COUNT + 1];

/* How a run ended. The numbers of outcomes and reasons are stored: append only. */
enum outcome { OUTCOME_NONE, OUTCOME_DONE, OUTCOME_FAILED, OUTCOME_KILLED, OUTCOME_NO_WORK, OUTCOME_COUNT };
extern const char *const outcome_words[OUTCOME_COUNT + 1];

/* Details of an outcome, or why an occurrence did not run. */
enum reason {
	REASON_NONE,
	/* skipped */
	REASON_PAUSED,
	REASON_BLOCKED,
	REASON_NOT_STARTED,
	REASON_EXPIRED,
	REASON_MAX_RUNS,
	REASON_EXCLUDED,
	REASON_ACTIVE_HOURS,
	REASON_OVERLAP,
	REASON_BUDGET,
	REASON_CONDITION,
	REASON_HOOK,
	REASON_GATED,
	REASON_DEPENDENCY,
	/* missed */
	REASON_DOWN,
	REASON_SUSPENDED,
	REASON_CLOCK,
	REASON_STORE,
	REASON_WINDOW_CLOSED,
	REASON_SUPERSEDED,
	REASON_LIMIT,
	REASON_EDITED,
	REASON_RATE_LIMITED, /* also the reason of a failed run */
	REASON_RESTORED,
	/* failed */
	REASON_EXIT,
	REASON_AUTH,
	REASON_BILLING,
	REASON_DENIED,
	REASON_EMPTY,
	REASON_EXPECTATION,
	REASON_CHECK,
	REASON_DEFINITION,
	REASON_TEMPLATE,
	REASON_LOST,
	REASON_REPORTED,
	/* killed */
	REASON_TIMEOUT,
	REASON_STALLED,
	REASON_CANCELLED,
	REASON_REPLACED, /* by cancel_running */
	REASON_FENCED,
	REASON_COUNT
};
extern const char *const reason_words[REASON_COUNT + 1];

/* The index of `text` in `words`; otherwise E_INPUT with the allowed words: "overlap 'x' is not known;
 * allowed are …". `what` names the kind of word. */
must_check enum err word_find(const char *const *words, struct str text, const char *what, unsigned *ret,
			      struct why *why);
