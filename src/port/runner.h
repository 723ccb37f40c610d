#pragma once
/* Requests to the runner and its reports, as data. An attempt of a run is identified by (run, attempt)
 * everywhere.
 *
 * Promises:
 *  - RN_START executes an attempt at most once, ever, however often it is requested and by however many
 *    processes. It is answered by RN_STARTED; or, if the attempt was started before, by its present state; by
 *    RN_NOT_STARTED if it was prevented; or by RN_EXIT without an outcome if the machine could not start it
 *    until long after its window had closed.
 *  - RN_EXIT is reported when every process of the attempt's tree is proven dead, never before.
 *  - RN_PROBE is always answered: by RN_ALIVE, and RN_EXIT later; by RN_EXIT; by RN_LOST; or by
 *    RN_NOT_STARTED, after which the attempt can still be started.
 *  - After RN_PREVENT an attempt that was not started can never be started.
 *  - Reports about one attempt come in the order of the events; the receiver must tolerate repetitions. */
#include "base/time.h"

enum rn_op {
	RN_START,
	RN_KILL,    /* kill the attempt's tree and record `reason`; answered by RN_EXIT */
	RN_PROBE,   /* report the present state of an attempt that was requested by an earlier process */
	RN_PREVENT, /* make the attempt impossible to start; answered by RN_NOT_STARTED, or by its present
		       state if it was started before */
	RN_ASK,     /* evaluate precondition `ask`; answered by RN_ANSWER with the same number. The program of
		       a hook or of ASK_CHECK may be executed once per question, but never twice at the same
		       time */
};

/* Preconditions of a run. They are asked in this order; ASK_CHECK before every attempt, the others once. */
enum rn_ask {
	ASK_BUDGET,
	ASK_CONDITION,
	ASK_BLOCKED,     /* whether this version can execute the schedule */
	ASK_CONFIG_HOOK, /* the hook of the configuration */
	ASK_HOOK,        /* the hook of the schedule */
	ASK_CHECK,
	ASK_CREATE_HOOK, /* not of a run, and never asked by the engine: the hook before a run creates or
			    changes a schedule */
	RN_ASKS
};

enum rn_report_kind {
	RN_STARTED,     /* the attempt was started */
	RN_EXIT,        /* the attempt has ended */
	RN_ALIVE,       /* the attempt was started before, and is alive */
	RN_NOT_STARTED, /* the attempt was never started */
	RN_LOST,  /* the attempt was started, left no record of its end, and no process of it is alive */
	RN_ANSWER /* the answer of a precondition */
};

struct rn_req {
	uint8_t op, ask;
	uint16_t attempt;
	uint16_t reason; /* RN_KILL */
	uint32_t number; /* RN_ASK: number of the question; answers with another number are void */
	uint64_t run, sid;
	uint32_t rev;
	uint32_t agent; /* RN_START, RN_ASK: the agent of the rules, by its number in them; 0: none */
};

struct rn_report {
	uint8_t kind, ask;
	uint16_t attempt;
	uint32_t number; /* RN_ANSWER */
	uint64_t run;
	bool yes;        /* RN_ANSWER */
	uint8_t outcome; /* RN_EXIT: how it ended; OUTCOME_NONE: not executed, since its window had closed */
	uint16_t reason; /* RN_EXIT; RN_ANSWER if the answer is no */
	struct wall reset; /* RN_EXIT with rate_limited: when the provider's limit ends; 0: not known */
	struct wall ended; /* RN_EXIT: when it ended, by the shim's clock */
	int64_t cost;      /* RN_EXIT: micro-dollars; -1: not known */
	int64_t tokens_in, tokens_out;
	int32_t exit_code; /* RN_EXIT: of the program; 128 plus the number of the signal that ended it; -1:
			      not known */
};
