#pragma once
/* Agent Cron Expressions: an expression of any form with directives around it, on one line or on several. The
 * text is only split here; `when` compiles the parts. Pure. */
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
	struct str form;            /* the text without its directives */
	struct str value[ACE_KEYS]; /* slices of the text; p is NULL for directives that were not given */
};

must_check enum err ace_split(struct str text, struct ace *ret, struct why *why);

/* Refuses a form that has a word which can only be meant as a directive, from word number `from` on: an
 * unknown word in capitals, or the name of a directive that is not in capitals. */
must_check enum err ace_refuse_strays(struct str form, unsigned from, struct why *why);
