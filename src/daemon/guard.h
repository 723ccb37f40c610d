#pragma once
/* What the engine asks before a run, answered from the schedule's document. */
#include "core/doc/doc.h"
#include "port/runner.h"

struct guard_answer {
	bool yes;
	uint16_t reason; /* of a no, where it is not the guard's own */
};
/* On the desk's thread. What this version cannot ask is no, and the reason says so. */
struct guard_answer guard_ask(const struct schedule_doc *doc, enum rn_ask ask);
