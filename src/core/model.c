#include "core/model.h"

#include <stdio.h>

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

enum err word_find(const char *const *words, struct str text, const char *what, unsigned *ret,
		   struct why *why)
{
	char list[128] = "";
	size_t n = 0;
	for (unsigned i = 0; words[i]; i++) {
		if (str_eq(text, str_of(words[i]))) {
			*ret = i;
			return OK;
		}
		if (n < sizeof list)
			n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", words[i]);
	}
	return why_set(why, E_INPUT, 0, "%s '%.*s' is not known; allowed are %s", what, STR_SHORT(text),
		       list);
}
