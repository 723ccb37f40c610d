#pragma once
/* Server-Sent Events: written by the daemon, read by the command line. Pure. */
#include "base/buf.h"
#include "base/err.h"

#define SSE_TYPE      "text/event-stream"
#define SSE_HEARTBEAT ":\n\n" /* a comment, which readers pass over */

struct sse_event {
	struct str event, id, data; /* empty where it has none */
};

/* Appends one event; data of several lines stays so. Line ends in event and id are left out: they would forge
 * fields. */
void sse_write(struct buf *out, const struct sse_event *e);

/* Reads a stream given in pieces of any size. */
struct sse {
	struct buf line, event, id, data;
	bool has_data, after_cr;
};
typedef bool sse_fn(void *ctx, const struct sse_event *e); /* false: enough */
/* Calls fn for each event that `bytes` completes. E_GONE: fn had enough; E_LIMIT: an event over
 * SSE_EVENT_BYTES_MAX. */
must_check enum err sse_read(struct sse *s, struct str bytes, sse_fn *fn, void *ctx);
void sse_free(struct sse *s);
