#pragma once
/* Clients that follow the log of events, as Server-Sent Events.
 *
 * Followers are woken by commits, and everything that they get is read from the log: nothing is kept in
 * memory for them but what waits in their sockets. New events are read and written once for all followers. A
 * follower that asks for older events, or that reads more slowly than events come, gets pages of the log of
 * its own until it has reached the others: it loses nothing while the log keeps it. A follower that reads
 * nothing for HTTP_STALL_MS gets the event "dropped" as its last, and is disconnected; it can continue with
 * its Last-Event-ID.
 *
 * Called on the operations thread, which reads the log; the HTTP thread sends. events_logged may be called on
 * any thread. */
#include "daemon/event_reader.h"
#include "http/server.h"

struct events;
struct operations;
must_check enum err events_new(struct reader *reader, struct operations *operations, struct events **ret);
void events_free(struct events *e); /* after the HTTP server and the operations thread have ended */
/* Events up to this number are durable since `done`. Costs little without followers. */
void events_logged(struct events *e, uint64_t number, struct wall done);

/* False: EVENT_FOLLOWERS_MAX clients follow already. */
bool events_have_room(struct events *e);
/* Answers with a stream. It begins with the event "hello", whose id is the number after which the stream
 * begins: q->after, or the newest number if q->after is EVENTS_FROM_NOW. If events after q->after were
 * pruned, or no event has had that number yet, an event "pruned" or "unknown" says so, and the stream begins
 * with the oldest event that is kept, or with the next one. E_INPUT: the list of types is too long. */
#define EVENTS_FROM_NOW UINT64_MAX
must_check enum err events_follow(struct events *e, struct http_request *r, const struct event_query *q,
				  struct why *why);
/* Writes {"events":[…],"after":N,"oldest":N,"last":N,"next":N}: one page of the log, which begins after
 * `after` and continues after `next`. Without q->after (EVENTS_FROM_NOW): the newest q->limit among the last
 * READ_EVENTS_SEARCH events. */
must_check enum err events_write_list(struct events *e, const struct event_query *q, struct buf *out,
				      struct why *why);
