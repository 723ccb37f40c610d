#pragma once
/* The log of events as stores keep it: a request that causes several events adds one row, so that a claim
 * costs one insertion. The row has the number of the first event; the others have the numbers after it.
 * Readers expand it again. */
#include "port/store.h"

/* A number below EVENT_CAUSE_SEVERAL is that of the only event (enum event_type). The numbers are stored:
 * append only. */
enum event_cause {
	EVENT_CAUSE_SEVERAL = 32,
	CAUSE_CLAIMED = EVENT_CAUSE_SEVERAL, /* OCC: claimed */
	CAUSE_DONE,                          /* OCC: finished */
	CAUSE_DONE_PUBLISHED,                /* the same, with `publishes` */
	CAUSE_FINISHED,                      /* FINISH: finished */
	CAUSE_FINISHED_PUBLISHED,            /* the same, with `publishes` */
	EVENT_CAUSES
};

enum { EVENTS_OF_CAUSE_MAX = 5 };
/* The types of the events, in order; 0: there is no such cause. */
unsigned event_cause_types(unsigned cause, uint8_t ret[static EVENTS_OF_CAUSE_MAX]);
/* The causes that have an event of one of these types, both as bits; no types: all causes. */
uint64_t event_causes_with(uint32_t types);
