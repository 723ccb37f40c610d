#pragma once
/* An HTTP/1.1 server on a Unix socket. It does not know the operations of rota: one handler gets all
 * requests.
 *
 * The server has one thread. The handler and tasks run on it, and the functions below may be called only from
 * it, except those marked "any thread".
 *
 * The handler gets a request when its body is complete, and must answer it exactly once, immediately or
 * later: by http_answer, http_answer_error or http_stream. Until then the request stays valid, even if its
 * client has left. A request that is not answered within limits.answer_ms gets 503.
 *
 * Clients cannot block the server: every phase of a connection has a deadline, every buffer a bound, and a
 * client that does not read is disconnected. The thread sleeps while it has nothing to do.
 *
 * TCP will get a second server of this kind, so that a flood of TCP clients cannot lock out the clients of
 * the socket. */
#include "base/err.h"
#include "base/time.h"
#include "wire/url.h"

#include <sys/types.h>

struct http;
struct http_stream;
struct http_bytes;

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_PUT, HTTP_PATCH, HTTP_DELETE, HTTP_METHODS };
extern const char *const http_method_words[HTTP_METHODS];

/* The headers that are passed to the handler. */
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

/* The client process, as the kernel reports it. */
struct http_peer {
	pid_t pid;
	uid_t uid;
	struct boot since; /* when the process connected; it had this pid at that time */
};

/* The party whose connections are counted together, so that none can take the room of the others. */
struct http_owner {
	uint64_t key;    /* not 0 */
	bool guest;      /* it may have HTTP_GUEST_CONNECTIONS, and all guests together three quarters of all
			    connections */
	bool restricted; /* for `admit`, which may refuse more of it; the server does not use it */
};

struct http_request {
	enum http_method method;
	struct url url;
	struct str header[HTTP_HEADERS]; /* p is NULL where it was not sent */
	struct str body;
	struct http_peer peer;
	struct http_owner owner;
	struct arena arena; /* freed with the request; the handler may use it */
	void *ctx;          /* the handler may use it */
	/* If set: called when the server is closed before the request was answered. */
	void (*dropped)(struct http_request *r);
};

/* Limits in bytes and milliseconds; base/limits.h explains each of them. */
struct http_limits {
	size_t body_bytes, bodies_bytes, header_bytes, stream_bytes;
	unsigned connections, fds_reserved;
	unsigned first_ms, idle_ms, read_ms, answer_ms, send_ms, stall_ms, heartbeat_ms, stop_ms, watch_ms;
};
extern const struct http_limits http_limits_default;

struct http_options {
	const char *path; /* path of the socket; see listener_open */
	struct http_limits limits;
	void (*handle)(void *ctx, struct http_request *r);
	/* If set: called for each new connection. */
	struct http_owner (*owner)(void *ctx, const struct http_peer *peer);
	/* If set: called when the headers of a request have been read, before its body: all of the request
	 * but the body is known. The result is the largest body that the request may have. An error refuses
	 * it.
	 */
	enum err (*admit)(void *ctx, const struct http_request *r, size_t *body_most, struct why *why);
	/* If set: called every limits.watch_ms while clients wait for the handler's answer. */
	void (*watch)(void *ctx, struct http *h);
	void *ctx;
};

/* The server listens when this returns. Any thread. */
must_check enum err http_open(const struct http_options *o, struct http **ret, struct why *why);
/* Begins to stop, and returns: no connections are accepted, new requests get 503, streams are ended, and
 * requests in progress may be answered until limits.stop_ms have passed. Any thread. */
void http_stop(struct http *h);
/* Stops, waits for the thread to end, and frees everything, including requests and streams that the caller
 * still has. Any thread but the server's own; no thread may use `h` afterwards. NULL is fine. */
void http_close(struct http *h);
DEFINE_CLEANUP(struct http *, http_close)

/* Adds a task: fn(arg) runs on the server's thread, in the order of the calls, exactly once if this returns
 * OK. E_BUSY: HTTP_TASKS_MAX tasks are waiting; E_GONE: the server has stopped. Any thread. */
must_check enum err http_add_task(struct http *h, void (*fn)(void *arg), void *arg);

/* The server of a request. Any thread. */
struct http *http_server(const struct http_request *r);

/* Counters since the start. Any thread. */
struct http_stats {
	uint64_t connections; /* open now */
	uint64_t requests;    /* handed to the handler */
	uint64_t late;        /* deadlines missed by clients and by the handler */
	uint64_t dropped;     /* streams whose client read too slowly */
	uint64_t turns;       /* turns of the thread's loop */
};
struct http_stats http_stats(const struct http *h);

/* Adds a header to the answer that will be sent; name and value are copied and must not contain line ends.
 * False: out of memory. For headers such as Allow and ETag, which no operation sends yet. */
bool http_header_add(struct http_request *r, const char *name, const char *value);
/* Answers; the body is copied; content_type may be NULL. The request must not be used afterwards. */
void http_answer(struct http_request *r, int status, const char *content_type, struct str body);
/* Answers with the problem document of an error; why->at is an offset into `source`. */
void http_answer_error(struct http_request *r, enum err e, const struct why *why, struct str source);
/* Refuses all requests that the handler has not answered, with 503 and the text of `why`. The handler still
 * has to answer them; its answers are discarded. */
void http_refuse_waiting(struct http *h, const struct why *why);
/* Whether the client has left: then the answer is discarded, whatever it is. */
bool http_gone(const struct http_request *r);

/* Answers 200 with a stream. It stays open until the caller ends it, or until the server calls `closed`:
 * because the client has left or reads too slowly, or because the server stops. Afterwards the stream must
 * not be used. `closed` is never called from within one of the functions in this header. A text/event-stream
 * gets heartbeats. NULL: the client has left, or there is no memory; the request counts as answered. */
struct http_stream *http_stream(struct http_request *r, const char *content_type, void (*closed)(void *ctx),
				void *ctx);
/* Appends bytes. E_LIMIT: more than limits.stream_bytes would be waiting, so the client is disconnected;
 * E_GONE: the client was disconnected before. After either error, `closed` will be called. */
must_check enum err http_stream_write(struct http_stream *s, struct str bytes);
/* The same for bytes that are kept once for all streams that wait for them. NULL: there was no memory. */
struct http_bytes *http_bytes_new(struct str bytes);
must_check enum err http_stream_share(struct http_stream *s, struct http_bytes *b);
void http_bytes_release(struct http_bytes *b);
/* The number of bytes that wait for the client. */
size_t http_stream_unsent(const struct http_stream *s);
/* Has drained(ctx), with the ctx of the stream, called whenever nothing waits for the client any more. It
 * must not write to the stream. */
void http_stream_watch(struct http_stream *s, void (*drained)(void *ctx));
/* Sets the bytes that a client gets that has read nothing for limits.stall_ms, before it is disconnected:
 * after the piece that it was reading, everything else that waits for it is dropped. `bytes` must outlive the
 * stream. Without them such a client is disconnected at once. */
void http_stream_set_last_words(struct http_stream *s, struct str bytes);
/* Ends the stream when the client has read what waits for it. `closed` is not called. */
void http_stream_end(struct http_stream *s);
