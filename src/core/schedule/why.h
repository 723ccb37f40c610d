#pragma once
/* Why a schedule ran or did not run at a time, or whether it will: the facts behind `rota why`. The answer
 * comes from the record of that time, or, if there is none, from the rules. Pure. */
#include "core/schedule/rules.h"

/* The facts, which the caller provides. */
struct why_facts {
	const struct rules *rules;
	struct rules_context context;
	const struct sched_row *row;
	const struct run_row *record;  /* of that nominal time; NULL: none */
	const struct range_row *range; /* that contains the time; NULL: none */
	bool enabled, paused, removed; /* the present state of the schedule */
	bool blocked;                  /* its document cannot be executed; see doc_blocked */
	bool condition_false;          /* its condition does not hold now */
	bool would_fail;               /* a run could not succeed now: a secret is missing */
	enum reason held;              /* why its agent or account is held; REASON_NONE: it is not */
	struct wall held_until;
	struct wall now;
};

enum why_kind {
	WHY_RUN,       /* there is a run: see `record` */
	WHY_REFUSED,   /* it was skipped or missed: see state and reason */
	WHY_WILL_RUN,  /* it is in the future, and in the present state it will run */
	WHY_IF,        /* the same, but only if its condition holds then; now it does not */
	WHY_WILL_FAIL, /* it is in the future, and in the present state its run will fail */
	WHY_WILL_NOT, /* it is in the future, and in the present state it will be refused: state and reason */
	WHY_WAITS,    /* it is due, but not recorded yet */
	WHY_BEFORE,   /* it is at or before the instant the schedule was created, changed or resumed */
	WHY_PRUNED,   /* it is so old that its record was pruned */
	WHY_NO_TIME,  /* the schedule has no such time: `before` and `after` are the nearest */
	WHY_FOLLOWS,  /* the schedule has no times: it follows the ends of another one */
	WHY_REMOVED,  /* the schedule was removed, and there is no record */
	WHY_KINDS
};

struct why_answer {
	enum why_kind kind;
	enum run_state state;
	enum reason reason;
	struct wall nominal, due;
	struct wall before, after; /* the nearest nominal times of the schedule; WALL_NEVER: none */
};

/* The answer about time `t`. If `t` is the due time of a schedule with jitter, the answer is about its
 * nominal time. */
struct why_answer why_at(const struct why_facts *f, struct wall t);
/* The nominal time that `t` means: `t` itself, or the one whose due time is `t`; false: none. Callers use it
 * to look up the record. */
bool why_nominal(const struct rules *r, const struct zone *zone, struct wall t, struct wall *ret);
