#pragma once
/* The setting `events`: webhooks that get the events of the log. Pure. */
#include "core/doc/keys.h"
#include "core/event/event.h"

struct config_event_target {
	struct str url,
		secret; /* the secret, or the path of its file, as for notifications; empty: unsigned */
	struct event_choice choice;
};

struct config_events {
	struct config_event_target *target;
	unsigned n;
};

/* Reads [{url: …, secret: …, types: [run:finished, problem:*]}, …]. */
must_check enum err events_read(struct key_reader *r, const struct val *list, struct config_events *ret);
/* Writes JSON for people: each target is only the name of its host, without secrets. */
void events_show(const struct config_events *e, struct buf *out);
