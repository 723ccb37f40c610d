#pragma once
/* What may be asked of the runner, and what it says, as data. A run's attempt is known by (run, attempt)
 * everywhere.
 *
 * The promises:
 *  - RN_START of one (run, attempt) executes at most once, ever, however often it is asked and by whomever.
 * It is answered by RN_STARTED, by what became of it if it was born before, by RN_NOT_STARTED if it was
 * burnt, or, if it could not be born before its window was long over, by RN_EXIT without an outcome.
 *  - RN_EXIT is said when the whole tree of the attempt is proven dead, and not before.
 *  - RN_PROBE is always answered: RN_ALIVE (and later RN_EXIT), RN_EXIT, RN_NOT_STARTED (it was never born),
 * RN_LOST (it was born, left no record, and nothing of it is alive). After RN_NOT_STARTED it can still be
 * started; after RN_PREVENT not. */
#include "base/time.h"

enum rn_op {
	RN_START,
	RN_KILL, /* with the reason to record; answered by RN_EXIT */
	RN_PROBE,
	RN_PREVENT, /* make this (run, attempt) unstartable; answered by RN_NOT_STARTED, or by what it is if
		    it was born */
	RN_ASK,     /* a guard: `ask` says which; answered by RN_ANSWER with the same number. ASK_CHECK may
		       execute its program again each time it is asked, but never two of them at a time */
};

enum rn_ask { ASK_BUDGET, ASK_CONDITION, ASK_HOOK, ASK_CHECK, RN_ASKS };

enum rn_report_kind { RN_STARTED, RN_EXIT, RN_ALIVE, RN_NOT_STARTED, RN_LOST, RN_ANSWER };

struct rn_req {
	uint8_t op, ask;
	uint16_t attempt;
	uint16_t reason; /* RN_KILL */
	uint32_t number; /* RN_ASK: of the question; a later one makes answers to earlier ones void */
	uint64_t run, sid;
	uint32_t rev;
};

struct rn_report {
	uint8_t kind, ask;
	uint16_t attempt;
	uint32_t number;
	uint64_t run;
	bool yes;          /* RN_ANSWER */
	uint8_t outcome;   /* RN_EXIT; OUTCOME_NONE: it was not executed, for it was too late */
	uint16_t reason;   /* RN_EXIT; RN_ANSWER that is a no */
	struct wall reset; /* RN_EXIT, rate_limited: when the provider takes up again; 0: not known */
	struct wall ended; /* RN_EXIT: by the shim's clock */
	int64_t cost, tokens_in, tokens_out;
	int32_t exit_code; /* RN_EXIT: the program's own; by a signal, 128 more than its number; -1: not known
			    */
};
