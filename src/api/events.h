#pragma once
/* Live events: the last ones in a ring, and the streams of clients that follow them. An event is sent when
 * its cause is durable (a report of a run: when it is in its file). Events can be lost; the records of runs
 * and schedules are complete.
 *
 * Called on the operations thread, which writes events as JSON and may have to read the store for that; the
 * HTTP thread sends them. events_add and events_add_report may be called on any thread. */
#include "daemon/pump.h"
#include "http/server.h"
#include "port/read.h"
#include "runfile/outbox.h"

struct events;
struct operations;
must_check enum err events_new(struct reader *reader, struct operations *operations, struct events **ret);
void events_free(struct events *e); /* after the HTTP server and the operations thread have ended */
/* Adds an event, unless clients get no event for this fact. Runs on the daemon's thread. If there are no
 * followers, it costs little more than a copy. A follower that falls behind the ring gets an event with the
 * number of events that were left out. */
void events_add(struct events *e, const struct pump_fact *f);
/* Adds an event for a report of a run about itself. Any thread. */
void events_add_report(struct events *e, const struct run_row *run, enum report_kind kind, struct str text);
/* False: EVENT_FOLLOWERS_MAX clients follow already. */
bool events_have_room(struct events *e);
/* Answers with a stream of new events, preceded by the events after number `after` that are still in the
 * ring; 0: by none. */
void events_follow(struct events *e, struct http_request *r, uint64_t after);
/* Writes the last events as a JSON list. */
void events_write_list(struct events *e, unsigned limit, struct buf *out);
