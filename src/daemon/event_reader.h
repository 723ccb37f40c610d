#pragma once
/* Reads the log of events, and words them: finds the texts that an event's row refers to, and writes it as
 * JSON. For all who follow events: the API, and webhooks. One thread at a time. */
#include "base/buf.h"
#include "core/event/event.h"
#include "port/read.h"

struct event_reader;
/* Borrows the reader. NULL: out of memory. */
struct event_reader *event_reader_new(struct reader *reader);
void event_reader_free(struct event_reader *r); /* NULL is fine */

struct event_item {
	struct event_row row; /* its text is not valid any more */
	struct str type;      /* its whole name: "custom:deployed" */
	struct str json;      /* {"seq":…,"ts":…,"type":…,"data":…} */
};

struct event_page {
	unsigned n;
	struct event_item *item;         /* in the order of their numbers */
	uint64_t searched, oldest, last; /* as in struct read_events */
};

/* What to read: as struct event_filter, with a choice of types instead of bits. */
struct event_query {
	uint64_t after, sid;
	struct event_choice choice;
	unsigned limit;
	size_t bytes_max; /* a page ends after so many bytes of JSON; 0: no limit */
};
/* The number after which the newest q->limit events come, among the last READ_EVENTS_SEARCH events. Names of
 * custom events are not compared, so a page from there may have fewer. */
must_check enum err event_reader_newest(struct event_reader *r, const struct event_query *q, uint64_t *after,
					struct why *why);
/* The page is in the arena. Errors as read_events. */
must_check enum err event_reader_page(struct event_reader *r, const struct event_query *q, struct arena *a,
				      struct event_page *ret, struct why *why);
