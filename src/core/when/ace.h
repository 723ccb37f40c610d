#pragma once
/* Agent Cron Expressions: an expression of any form with directives around it, one a line or all on one line.
 * Here the text is only taken apart; what each part means is `when`'s business. Pure. */
#include "base/err.h"

enum ace_key {
	ACE_TZ,
	ACE_IF,
	ACE_WINDOW,
	ACE_RETRY,
	ACE_FROM,
	ACE_UNTIL,
	ACE_JITTER,
	ACE_TIMEOUT,
	ACE_MISSED,
	ACE_OVERLAP,
	ACE_EXCEPT,
	ACE_GAP,
	ACE_FOLD,
	ACE_KEYS
};

struct ace {
	struct str form;            /* what is left when the directives are taken out */
	struct str value[ACE_KEYS]; /* slices of the text; p is NULL where a directive was not given */
};

must_check enum err ace_split(struct str text, struct ace *ret, struct why *why);

/* Refuses a form that has, from its word number `from` on, a word which can only be meant as a directive: in
 * capitals, or known but not in capitals. */
must_check enum err ace_no_strays(struct str form, unsigned from, struct why *why);
