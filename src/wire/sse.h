#pragma once
/* Server-Sent Events: written by the daemon, read by the command line. Pure. */
#include "base/buf.h"
#include "base/err.h"

#define SSE_TYPE      "text/event-stream"
#define SSE_HEARTBEAT ":\n\n" /* a comment, which readers skip */

struct sse_event {
	struct str event, id, data; /* empty: absent */
};

/* Appends one event; data may have several lines. Line ends in event and id are removed, because the text
 * after a line end would be read as another field. */
void sse_write(struct buf *out, const struct sse_event *e);

/* The state of a reader that gets the stream in pieces of any size. */
struct sse {
	struct buf line, event, id, data;
	bool has_data, after_cr;
};
typedef bool sse_fn(void *ctx, const struct sse_event *e); /* returns false if it wants no more events */
/* Calls fn for each event that `bytes` completes. E_GONE: fn returned false; E_LIMIT: an event is larger than
 * SSE_EVENT_BYTES_MAX. */
must_check enum err sse_read(struct sse *s, struct str bytes, sse_fn *fn, void *ctx);
void sse_free(struct sse *s);
