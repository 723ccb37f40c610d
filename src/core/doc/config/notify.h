#pragma once
/* The setting `notify`: which events are reported, and to which targets, where a schedule names none. Pure.
 */
#include "core/doc/doc.h"
#include "core/doc/keys.h"

/* Events that targets of the configuration can be sent. */
enum notify_event {
	NOTIFY_SUCCESS,
	NOTIFY_FAILURE,
	NOTIFY_MISSED,
	NOTIFY_RECOVERED,
	NOTIFY_PROBLEM,
	NOTIFY_EVENTS
};

struct config_notify {
	unsigned events; /* bits, 1 << enum notify_event */
	struct doc_target *to;
	unsigned targets;
};

/* Reads {events: [failure, problem], to: [{type: webhook, url: …}, …]}; without `events`, all of them. */
must_check enum err notify_read(struct key_reader *r, const struct val *map, struct config_notify *ret);
/* Writes JSON that notify_read reads. */
void notify_write(const struct config_notify *n, struct buf *out);
/* Writes JSON for people: each target is only its name, without secrets. */
void notify_show(const struct config_notify *n, struct buf *out);
