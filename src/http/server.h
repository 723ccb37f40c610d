#pragma once
/* HTTP/1.1 on a Unix socket. The server has one thread; the handler, posted work and everything said below of
 * requests and streams happens there and nowhere else, except where it says "any thread".
 *
 * A request is handed over whole. It is answered exactly once, at once or later: by http_answer, or by
 * http_stream, which makes it a stream. Whoever keeps a request may rely on it until then, whether or not its
 * client is still there; what nobody answers within its time is answered 503.
 *
 * Clients cannot hold it up: every stage of a connection has its deadline, every buffer its bound, a reader
 * that does not read is cut off. With nothing to do the thread sleeps without waking.
 *
 * TCP will be a second server of this kind, so that a flood there cannot lock the socket's clients out. */
#include "base/err.h"
#include "base/time.h"
#include "wire/url.h"

#include <sys/types.h>

struct http;
struct http_stream;

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_PUT, HTTP_PATCH, HTTP_DELETE, HTTP_METHODS };
extern const char *const http_method_words[HTTP_METHODS];

/* The headers somebody may ask for. */
enum http_header {
	HTTP_ACCEPT,
	HTTP_AUTHORIZATION,
	HTTP_CONTENT_TYPE,
	HTTP_COOKIE,
	HTTP_HOST,
	HTTP_IDEMPOTENCY_KEY,
	HTTP_IF_MATCH,
	HTTP_IF_NONE_MATCH,
	HTTP_LAST_EVENT_ID,
	HTTP_MCP_METHOD,
	HTTP_MCP_NAME,
	HTTP_MCP_PROTOCOL_VERSION,
	HTTP_ORIGIN,
	HTTP_HEADERS
};

/* Who is at the other end, by the kernel's word. */
struct http_peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	struct boot since; /* it had this pid then */
};

struct http_request {
	enum http_method method;
	struct url url;
	struct str header[HTTP_HEADERS]; /* p is NULL where it was not sent */
	struct str body;
	struct http_peer peer;
	struct arena arena; /* lives as long as the request: for the handler's use, too */
	void *ctx;          /* the handler's own */
	void (*dropped)(
		struct http_request *r); /* may be set: called if it goes with the server, unanswered */
};

/* In bytes and milliseconds; base/limits.h says what each bounds. */
struct http_limits {
	size_t body_bytes, bodies_bytes, header_bytes, stream_bytes;
	unsigned connections, fds_reserved;
	unsigned first_ms, idle_ms, read_ms, answer_ms, send_ms, stall_ms, beat_ms, stop_ms;
};
extern const struct http_limits http_limits_default;

struct http_options {
	const char *path; /* of the socket; see listener_open */
	struct http_limits limits;
	void (*handle)(void *ctx, struct http_request *r);
	void *ctx;
};

/* Listens when it returns. Any thread. */
must_check enum err http_open(const struct http_options *o, struct http **ret, struct why *why);
/* Begins to stop, and returns: no new connections, new requests are answered 503, streams are ended, requests
 * under way may be answered until limits.stop_ms have passed. Any thread. */
void http_stop(struct http *h);
/* Stops, waits for the end, frees everything. Requests and streams that somebody still keeps are gone with
 * it. Any thread but its own; no other may use `h` any more. NULL is fine. */
void http_close(struct http *h);
DEFINE_CLEANUP(struct http *, http_close)

/* Runs fn(arg) on the HTTP thread, in order of posting, exactly once if the answer is OK. E_BUSY: there are
 * HTTP_POSTS_MAX already; E_GONE: it has stopped. Any thread. */
must_check enum err http_post(struct http *h, void (*fn)(void *arg), void *arg);

/* What it has seen so far. Any thread. */
struct http_stats {
	uint64_t connections; /* open now */
	uint64_t requests;    /* handed to the handler */
	uint64_t late;        /* closed for a deadline, or answered 503 for the handler's */
	uint64_t dropped;     /* streams whose reader was too slow */
	uint64_t turns;       /* of its loop */
};
struct http_stats http_stats(const struct http *h);

/* Adds a header to the answer to come; both are copied, neither has a line end. False: out of memory. */
bool http_header_add(struct http_request *r, const char *name, const char *value);
/* Answers; the bytes are copied; content_type may be NULL. The request is not to be touched afterwards. */
void http_answer(struct http_request *r, int status, const char *content_type, struct str body);
/* Answers with the problem document of an error; `source` is what why->at points into. */
void http_problem(struct http_request *r, enum err e, const struct why *why, struct str source);
/* Whether the client has left before its answer: then any answer will do. */
bool http_gone(const struct http_request *r);

/* Answers 200 with a stream, which stays open until one of two things happens: the caller ends it, or
 * `closed` tells that the client has left, was too slow, or the server stops. After either the stream is not
 * to be touched; `closed` comes only from the loop, never out of a call here. A text/event-stream gets
 * heartbeats. NULL: the client is gone, or no memory; the request has been answered then, too. */
struct http_stream *http_stream(struct http_request *r, const char *content_type, void (*closed)(void *ctx),
				void *ctx);
/* Appends bytes. E_LIMIT: more than limits.stream_bytes are waiting, so it is cut off; E_GONE: it has been.
 * After either, `closed` follows. */
must_check enum err http_stream_write(struct http_stream *s, struct str bytes);
void http_stream_end(struct http_stream *s);
