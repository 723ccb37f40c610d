/* The table of the causes of several events. */
#include "store/event_cause.h"

#include <string.h>

static const struct {
	unsigned n;
	uint8_t type[EVENTS_OF_CAUSE_MAX];
} several[EVENT_CAUSES - EVENT_CAUSE_SEVERAL] = {
	[CAUSE_CLAIMED - EVENT_CAUSE_SEVERAL] = { 2, { EVENT_RUN_CLAIMED, EVENT_SCHEDULE_TRIGGERED } },
	[CAUSE_DONE - EVENT_CAUSE_SEVERAL] = { 4,
					       { EVENT_RUN_CLAIMED, EVENT_SCHEDULE_TRIGGERED,
						 EVENT_RUN_FINISHED, EVENT_SCHEDULE_COMPLETED } },
	[CAUSE_DONE_PUBLISHED -
		EVENT_CAUSE_SEVERAL] = { 5,
					 { EVENT_RUN_CLAIMED, EVENT_SCHEDULE_TRIGGERED, EVENT_CUSTOM,
					   EVENT_RUN_FINISHED, EVENT_SCHEDULE_COMPLETED } },
	[CAUSE_FINISHED - EVENT_CAUSE_SEVERAL] = { 2, { EVENT_RUN_FINISHED, EVENT_SCHEDULE_COMPLETED } },
	[CAUSE_FINISHED_PUBLISHED -
		EVENT_CAUSE_SEVERAL] = { 3, { EVENT_CUSTOM, EVENT_RUN_FINISHED, EVENT_SCHEDULE_COMPLETED } },
};
static_assert((int)EVENT_TYPES <= (int)EVENT_CAUSE_SEVERAL,
	      "a cause of one event has the number of its type");

unsigned event_cause_types(unsigned cause, uint8_t ret[static EVENTS_OF_CAUSE_MAX])
{
	if (cause < EVENT_TYPES) {
		ret[0] = (uint8_t)cause;
		return 1;
	}
	if (cause < EVENT_CAUSE_SEVERAL || cause >= EVENT_CAUSES)
		return 0;
	memcpy(ret, several[cause - EVENT_CAUSE_SEVERAL].type, EVENTS_OF_CAUSE_MAX);
	return several[cause - EVENT_CAUSE_SEVERAL].n;
}

uint64_t event_causes_with(uint32_t types)
{
	uint64_t causes = 0;
	uint8_t type[EVENTS_OF_CAUSE_MAX];
	for (unsigned cause = 0; cause < EVENT_CAUSES; cause++)
		for (unsigned i = 0, n = event_cause_types(cause, type); i < n; i++)
			if (!types || types >> type[i] & 1)
				causes |= UINT64_C(1) << cause;
	return causes;
}
