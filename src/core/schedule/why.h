#pragma once
/* Why a schedule ran, did not run, or will or will not run at a time: the facts behind `rota why`. From what
 * the store has of that time, and, where it has nothing, from the rules. Pure. */
#include "core/schedule/rules.h"

/* What is known. */
struct why_facts {
	const struct rules *rules;
	struct rules_context with;
	const struct sched_row *row;
	const struct run_row *record;  /* of that nominal time; NULL: none */
	const struct range_row *range; /* the one in which it lies; NULL: none */
	bool enabled, paused, removed; /* as the schedule stands now */
	bool blocked;                  /* by what its document needs */
	enum reason held; /* its agent or account is held for this reason; REASON_NONE: it is not */
	struct wall held_until;
	struct wall now;
};

enum why_kind {
	WHY_RUN,      /* there is a run: `record` tells */
	WHY_REFUSED,  /* skipped or missed: state and reason */
	WHY_WILL_RUN, /* it lies ahead, and nothing stands in its way as things are */
	WHY_WILL_NOT, /* it lies ahead, and as things are it will be refused: state and reason */
	WHY_WAITS,    /* it was due, and is about to be taken up */
	WHY_BEFORE,   /* it lies at or before the instant the schedule was made, changed or resumed */
	WHY_PRUNED,   /* so old that its record is gone */
	WHY_NO_TIME,  /* the schedule has no such time: before and after are the nearest that it has */
	WHY_FOLLOWS,  /* it has no times of its own: it follows the ends of another */
	WHY_REMOVED,  /* there is no record of it, and the schedule is there no more */
	WHY_KINDS
};

struct why_answer {
	enum why_kind kind;
	enum run_state state;
	enum reason reason;
	struct wall nominal, due;
	struct wall before, after; /* the nearest times of the schedule; WALL_NEVER: none */
};

/* About time `t`; if it is a due time of a jittered schedule, about the nominal time it stands for. */
struct why_answer why_at(const struct why_facts *f, struct wall t);
/* The nominal time that `t` names for this schedule, itself or by its due time; false: none. A caller needs
 * it to look for the record. */
bool why_nominal(const struct rules *r, const struct zone *zone, struct wall t, struct wall *ret);
