/* Streams: answers whose length is not known when they begin. A stream with nothing to send is suspended,
 * because MHD would otherwise call read_waiting in a busy loop. The next write resumes it. */
#include "http/internal.h"
#include "wire/sse.h"

#include <stdlib.h>

enum { BLOCK_BYTES = 4096 };

/* --- bytes that several streams share --- */

struct http_bytes {
	unsigned refs;
	size_t n;
	char p[];
};

struct http_bytes *http_bytes_new(struct str bytes)
{
	struct http_bytes *b = malloc(sizeof *b + bytes.n);
	if (!b)
		return NULL;
	*b = (struct http_bytes){ .refs = 1, .n = bytes.n };
	memcpy(b->p, bytes.p, bytes.n);
	return b;
}

void http_bytes_release(struct http_bytes *b)
{
	if (b && --b->refs == 0)
		free(b);
}

/* --- what is waiting --- */

static bool append(struct http_stream *s, struct http_bytes *b)
{
	struct piece *p = malloc(sizeof *p);
	if (!p)
		return false;
	*p = (struct piece){ NULL, b };
	b->refs++;
	*(s->last ? &s->last->next : &s->first) = p;
	s->last = p;
	s->unsent += b->n;
	return true;
}

static void drop_first(struct http_stream *s)
{
	struct piece *p = s->first;
	s->first = p->next;
	s->last = s->first ? s->last : NULL;
	s->sent = 0;
	http_bytes_release(p->bytes);
	free(p);
}

/* Copies up to `room` bytes of the first piece, and drops it when all of it was copied. */
static size_t take(struct http_stream *s, char *to, size_t room)
{
	const struct http_bytes *b = s->first->bytes;
	size_t n = b->n - s->sent < room ? b->n - s->sent : room;
	memcpy(to, b->p + s->sent, n);
	s->sent += n;
	s->unsent -= n;
	if (s->sent == b->n)
		drop_first(s);
	return n;
}

/* --- streams --- */

static void enter_phase(struct http_stream *s)
{
	struct conn *c = s->request->conn;
	if (s->ended)
		return; /* an ended stream stays in PH_SEND, which has one deadline for all remaining bytes */
	conn_enter(c, s->unsent ? PH_STALL : s->events ? PH_IDLE_EVENTS : PH_IDLE_STREAM);
}

/* MHD calls this function when it has room for more bytes. */
static ssize_t read_waiting(void *cls, uint64_t at, char *to, size_t room)
{
	struct http_stream *s = cls;
	struct conn *c = s->request->conn;
	(void)at;
	if (c->phase == PH_CUT)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (s->unsent) {
		size_t n = 0;
		while (s->unsent && n < room)
			n += take(s, to + n, room - n);
		enter_phase(s);
		if (!s->unsent && s->owned && s->drained)
			s->drained(s->ctx);
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

enum err http_stream_write(struct http_stream *s, struct str bytes)
{
	struct http_bytes *b = http_bytes_new(bytes);
	enum err e = http_stream_share(s, b);
	http_bytes_release(b);
	return e;
}

enum err http_stream_share(struct http_stream *s, struct http_bytes *b)
{
	struct conn *c = s->request->conn;
	if (c->phase == PH_CUT)
		return E_GONE;
	assert(!s->ended);
	if (b && !b->n)
		return OK;
	bool was_idle = !s->unsent;
	if (b && s->unsent + b->n <= s->http->limits.stream_bytes && append(s, b)) {
		if (was_idle)
			enter_phase(s);
		conn_resume(c);
		return OK;
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

size_t http_stream_unsent(const struct http_stream *s)
{
	return s->unsent;
}

void http_stream_watch(struct http_stream *s, void (*drained)(void *ctx))
{
	s->drained = drained;
}

void http_stream_set_last_words(struct http_stream *s, struct str bytes)
{
	s->last_words = bytes;
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

/* Ends the stream by the server's own decision. */
static void end_and_tell(struct http_stream *s)
{
	void (*closed)(void *ctx) = s->closed;
	void *ctx = s->ctx;
	end_stream(s);
	if (closed)
		closed(ctx);
}

/* Drops everything that waits after the first piece. The client may have got a part of that piece. */
static void drop_rest(struct http_stream *s)
{
	struct piece *p;
	while (s->first && (p = s->first->next)) {
		s->first->next = p->next;
		s->unsent -= p->bytes->n;
		http_bytes_release(p->bytes);
		free(p);
	}
	s->last = s->first;
}

void stream_stalled(struct conn *c)
{
	struct http_stream *s = c->request->stream;
	c->http->stats.dropped++;
	drop_rest(s);
	struct http_bytes *b = s->owned && s->last_words.n ? http_bytes_new(s->last_words) : NULL;
	bool told = b && append(s, b);
	http_bytes_release(b);
	if (told)
		end_and_tell(s);
	else
		conn_cut(c);
}

void stream_stop(struct conn *c)
{
	end_and_tell(c->request->stream);
}

void stream_detach(struct http_stream *s)
{
	bool owned = s->owned;
	void (*closed)(void *ctx) = s->closed;
	void *ctx = s->ctx;
	while (s->first)
		drop_first(s);
	free(s);
	if (owned && closed)
		closed(ctx);
}
