/* Answers without an end in sight. A stream with nothing to send is suspended, since MHD would spin on a
 * reader that has nothing; whatever is written resumes it. */
#include "http/internal.h"
#include "wire/sse.h"

#include <stdlib.h>

enum { BLOCK = 4096 };

static size_t left(const struct http_stream *s)
{
	return s->waiting.n - s->sent;
}

static void enter(struct http_stream *s)
{
	struct conn *c = s->request->conn;
	if (s->ended)
		return; /* it has one deadline for all the rest */
	conn_enter(c, left(s) ? PH_STALL : s->events ? PH_QUIET : PH_OPEN);
}

/* MHD has room for more. */
static ssize_t next_bytes(void *cls, uint64_t at, char *to, size_t room)
{
	struct http_stream *s = cls;
	struct conn *c = s->request->conn;
	(void)at;
	if (c->phase == PH_CUT)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	size_t n = left(s) < room ? left(s) : room;
	if (n) {
		memcpy(to, s->waiting.p + s->sent, n);
		s->sent += n;
		if (!left(s)) {
			buf_free(&s->waiting); /* a quiet stream holds no memory */
			s->sent = 0;
		}
		enter(s);
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
	struct request *r = (struct request *)pub;
	if (!request_give_back(r))
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
	answer_set(r, 200, MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, next_bytes, s, NULL),
		   content_type);
	if (!r->response) {
		r->stream = NULL;
		free(s);
		return NULL;
	}
	enter(s);
	return s;
}

/* Moves what is left to the front when it pays. */
static void compact(struct http_stream *s)
{
	if (s->sent < left(s))
		return;
	memmove(s->waiting.p, s->waiting.p + s->sent, left(s));
	s->waiting.n = left(s);
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
	bool quiet = !left(s);
	if (left(s) + bytes.n <= s->http->limits.stream_bytes) {
		if (s->sent)
			compact(s);
		buf_add(&s->waiting, bytes);
		if (!s->waiting.failed) {
			if (quiet)
				enter(s);
			conn_resume(c);
			return OK;
		}
	}
	s->http->stats.dropped++;
	conn_cut(c);
	return E_LIMIT;
}

static void finish(struct http_stream *s)
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
	finish(s);
}

void stream_beat(struct conn *c)
{
	if (http_stream_write(c->request->stream, STR(SSE_BEAT)) != OK)
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
	finish(s);
	if (closed)
		closed(ctx);
}

void stream_leave(struct http_stream *s)
{
	bool owned = s->owned;
	void (*closed)(void *ctx) = s->closed;
	void *ctx = s->ctx;
	buf_free(&s->waiting);
	free(s);
	if (owned && closed)
		closed(ctx);
}
