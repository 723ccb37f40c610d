#pragma once
/* One event, and how it is written as JSON. */
#include "daemon/pump.h"
#include "port/read.h"

enum {
	EVENT_TEXT_MAX = 60,    /* bytes of a report's text in an event; `rota show` has all of it */
	EVENT_BYTES_MAX = 1020, /* bytes of one event in a stream; bounded, because a schedule's id has at
				   most DOC_ID_MAX characters */
};

/* A fact that became durable, or a report of a run about itself. */
struct live_event {
	struct pump_fact fact;         /* a report has the op ST_OPS + enum report_kind */
	char text[EVENT_TEXT_MAX + 1]; /* the text of a report */
};

/* The ids of schedules that were looked up before. */
struct event_ids;
struct event_ids *event_ids_new(struct reader *reader); /* NULL: out of memory */
void event_ids_free(struct event_ids *ids);             /* NULL is fine */

/* The type of the event: "run.started"; NULL: clients get no event for this fact. */
const char *event_type(const struct pump_fact *f);
/* The fact must have an event type. */
void event_write(struct event_ids *ids, uint64_t number, const struct live_event *event, struct buf *out);
