/* Prints the table of all events as docs/events.md has it. */
#include "core/event/event.h"

#include <stdio.h>

int main(void)
{
	for (unsigned type = 0; type < EVENT_TYPES; type++) {
		const struct event_form *k = &event_forms[type];
		printf("| `%s%s` | ", k->name, type == EVENT_CUSTOM ? "NAME" : "");
		for (unsigned i = 0; i < EVENT_MEMBERS_MAX && k->member[i].name; i++)
			printf("%s%s", i ? ", " : "", k->member[i].name);
		printf("%s | %s |\n", type == EVENT_CUSTOM ? "as the schedule gives it" : "", k->cause);
	}
	return 0;
}
