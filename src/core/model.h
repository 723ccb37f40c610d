#pragma once
/* The vocabulary: one table per set of words. A word not in its table is refused with the table as the
 * answer. */
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

extern const char *const backoff_words[BACKOFF_COUNT + 1]; /* all of them end with NULL */
extern const char *const missed_words[MISSED_COUNT + 1];
extern const char *const overlap_words[OVERLAP_COUNT + 1];

/* The index of `text` in `words`; E_INPUT with the allowed words otherwise ("overlap policy 'x' is not known;
 * …"). */
must_check enum err word_find(const char *const *words, struct str text, const char *what, unsigned *ret,
			      struct why *why);
