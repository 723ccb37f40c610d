/* Streams: answers whose length is not known when they begin. A stream with nothing to send is suspended,
 * because MHD would otherwise call read_waiting in a busy loop. The next write resumes it. */
#include "http/internal.h"
#include "wire/sse.h"

#include <stdlib.h>

enum { BLOCK_BYTES = 4096 };

static size_t unsent(const struct http_stream *s)
{
	return s->waiting.n - s->sent;
}

static void enter_phase(struct http_stream *s)
{
	struct conn *c = s->request->conn;
	if (s->ended)
		return; /* an ended stream stays in PH_SEND, which has one deadline for all remaining bytes */
	conn_enter(c, unsent(s) ? PH_STALL : s->events ? PH_IDLE_EVENTS : PH_IDLE_STREAM);
}

/* MHD calls this function when it has room for more bytes. */
static ssize_t read_waiting(void *cls, uint64_t at, char *to, size_t room)
{
	struct http_stream *s = cls;
	struct conn *c = s->request->conn;
	(void)at;
	if (c->phase == PH_CUT)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	size_t n = unsent(s) < room ? unsent(s) : room;
	if (n) {
		memcpy(to, s->waiting.p + s->sent, n);
		s->sent += n;
		if (!unsent(s)) {
			buf_free(&s->waiting); /* an idle stream holds no memory */
			s->sent = 0;
		}
		enter_phase(s);
		return (ssize_t)n;
	}
	if (s->ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	conn_suspend(c);
	return 0;
}

struct http_stream *http_stream(struct http_request *pub, const char *content_type, void (*closed)(void *ctx),
				void *ctx)
{
	struct server_request *r = (struct server_request *)pub;
	if (!request_mark_answered(r))
		return NULL;
	struct http_stream *s = calloc(1, sizeof *s);
	if (!s) {
		conn_cut(r->conn);
		return NULL;
	}
	*s = (struct http_stream){
		.http = r->http, .request = r, .owned = true, .closed = closed, .ctx = ctx
	};
	s->events = content_type && strcmp(content_type, SSE_TYPE) == 0;
	r->stream = s;
	answer_set(r, 200,
		   MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_waiting, s, NULL),
		   content_type);
	if (!r->response) {
		r->stream = NULL;
		free(s);
		return NULL;
	}
	enter_phase(s);
	return s;
}

/* Moves the unsent bytes to the front when at least half of the buffer has been sent. */
static void compact(struct http_stream *s)
{
	if (s->sent < unsent(s))
		return;
	memmove(s->waiting.p, s->waiting.p + s->sent, unsent(s));
	s->waiting.n = unsent(s);
	s->sent = 0;
}

enum err http_stream_write(struct http_stream *s, struct str bytes)
{
	struct conn *c = s->request->conn;
	if (c->phase == PH_CUT)
		return E_GONE;
	assert(!s->ended);
	if (!bytes.n)
		return OK;
	bool was_idle = !unsent(s);
	if (unsent(s) + bytes.n <= s->http->limits.stream_bytes) {
		if (s->sent)
			compact(s);
		buf_add(&s->waiting, bytes);
		if (!s->waiting.failed) {
			if (was_idle)
				enter_phase(s);
			conn_resume(c);
			return OK;
		}
	}
	s->http->stats.dropped++;
	conn_cut(c);
	return E_LIMIT;
}

static void end_stream(struct http_stream *s)
{
	struct conn *c = s->request->conn;
	s->owned = false;
	s->ended = true;
	conn_enter(c, PH_SEND);
	conn_resume(c);
}

void http_stream_end(struct http_stream *s)
{
	assert(s->owned);
	end_stream(s);
}

void stream_send_heartbeat(struct conn *c)
{
	if (http_stream_write(c->request->stream, STR(SSE_HEARTBEAT)) != OK)
		conn_cut(c);
}

void stream_stalled(struct conn *c)
{
	c->http->stats.dropped++;
	conn_cut(c);
}

void stream_stop(struct conn *c)
{
	struct http_stream *s = c->request->stream;
	void (*closed)(void *ctx) = s->closed;
	void *ctx = s->ctx;
	end_stream(s);
	if (closed)
		closed(ctx);
}

void stream_detach(struct http_stream *s)
{
	bool owned = s->owned;
	void (*closed)(void *ctx) = s->closed;
	void *ctx = s->ctx;
	buf_free(&s->waiting);
	free(s);
	if (owned && closed)
		closed(ctx);
}
