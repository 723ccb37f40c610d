#pragma once
/* The state and functions that the source files of the server share. Other threads use only `tasks`,
 * `closed`, `stop_requested` and `stats` of struct http. */
#include "base/buf.h"
#include "base/map.h"
#include "http/listen.h"
#include "http/server.h"
#include "sys/mailbox.h"

#include <microhttpd.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#if MHD_VERSION < 0x00097500
#error "libmicrohttpd 0.9.75 is the oldest version this was tested with"
#endif

/* What a connection is doing. All connections in a phase have the same time limit, so the list of a phase,
 * which is in the order of entry, is also in the order of deadlines: the first connection has the earliest
 * deadline. */
enum connection_phase {
	PH_FIRST,       /* nothing received yet */
	PH_IDLE,        /* between two requests */
	PH_READ,        /* reading a request */
	PH_HANDLER,     /* waiting for the handler's answer */
	PH_SEND,        /* sending an answer */
	PH_IDLE_EVENTS, /* a stream of events with nothing to send: heartbeats */
	PH_IDLE_STREAM, /* any other stream with nothing to send */
	PH_STALL,       /* a stream whose client has not read all bytes that were sent */
	PH_CUT,         /* shut down; MHD will notice and close it */
	PHASES
};

struct conn {
	struct conn *prev, *next; /* neighbours in the list of the phase */
	int64_t deadline;         /* deadline of the present phase, in ms */
	enum connection_phase phase;
	struct http *http;
	struct MHD_Connection *mhd;
	int fd; /* owned by MHD */
	struct http_peer peer;
	struct http_owner owner;
	struct server_request *request; /* the current one, or NULL */
	bool suspended;
	bool hung_up; /* the client has closed both directions */
};

struct server_request {
	struct http_request pub; /* must be the first member, because callers have a pointer to it */
	struct server_request *prev, *next; /* neighbours in http->unanswered */
	struct http *http;
	struct conn *conn; /* NULL: the connection is closed */
	const char *target;
	struct buf body;
	size_t body_most;    /* the largest body that it may have */
	size_t body_counted; /* bytes of the body that http->bodies_held includes */
	enum err body_error; /* if set, the rest of the body is discarded and the request refused */
	bool head_checked;
	bool discards; /* refused at the headers; the answer is sent after the body, which is discarded */
	bool handed;   /* the handler has been called */
	bool answered; /* the handler has answered */
	bool queued;   /* MHD has an answer */
	struct answer_header {
		struct answer_header *next;
		const char *name, *value;
	} * headers;
	struct MHD_Response *response; /* ready to be queued */
	int status;
	struct http_stream *stream;
};

struct http_stream {
	struct http *http;
	struct server_request *request;
	struct piece {
		struct piece *next;
		struct http_bytes *bytes;
	} * first, *last; /* what is waiting */
	size_t sent;      /* bytes of the first piece that were passed to MHD */
	size_t unsent;    /* bytes of all pieces that were not */
	bool events, ended;
	bool owned; /* the caller has not ended the stream, so `closed` is still to be called */
	void (*closed)(void *ctx);
	void (*drained)(void *ctx); /* may be NULL */
	void *ctx;
	struct str last_words; /* of http_stream_set_last_words; empty: none */
};

struct http {
	struct http_options o;
	struct http_limits limits;
	unsigned connections_max;
	struct listener listener;
	int epoll;
	struct MHD_Daemon *mhd;
	pthread_t thread;
	sem_t started;
	enum err start_error;

	struct conn *first[PHASES], *last[PHASES];
	struct conn *adding;               /* the connection for which MHD_add_connection is running */
	struct server_request *unanswered; /* handed to the handler */
	unsigned conns;
	struct map owned;         /* open connections by http_owner.key */
	unsigned guests;          /* open connections of guests */
	size_t bodies_held;       /* bytes of all bodies in memory … */
	size_t guest_bodies_held; /* … and of those of guests */
	int64_t accept_at;        /* accept no connection before this time */
	bool listener_polled;
	bool full;
	bool resumed; /* a connection was resumed since MHD last ran */
	atomic_bool stop_requested;
	bool stopping;
	int64_t stop_at;
	int64_t watch_at; /* the next call of o.watch; 0: no client waits for the handler */

	struct mailbox *tasks;
	pthread_mutex_t lock; /* protects `closed` */
	bool closed;          /* no task is accepted any more */

	struct {
		_Atomic uint64_t connections, requests, late, dropped, turns;
	} stats;
};

int64_t http_now(void); /* in ms */

/* --- connection.c --- */

/* Moves the connection to the end of a phase's list, with a new deadline. */
void conn_enter(struct conn *c, enum connection_phase p);
/* Shuts the socket down; MHD closes the connection when it runs next. */
void conn_cut(struct conn *c);
void conn_suspend(struct conn *c);
void conn_resume(struct conn *c);
/* To be called when the client has closed both directions. */
void conn_hang_up(struct conn *c);
/* Answers that the query has too many values, and shuts the socket down. To be called before MHD parses it.
 */
void conn_refuse_query(struct conn *c);
void conn_accept(struct http *h);
/* Handles the deadlines that have passed and returns the next one, INT64_MAX if there is none. */
int64_t conn_deadlines(struct http *h, int64_t now);
/* MHD's callback for opened and closed connections. */
void conn_notify(void *cls, struct MHD_Connection *mhd, void **ctx, enum MHD_ConnectionNotificationCode code);

/* --- request.c: MHD's callbacks, in the order of their calls --- */

void *request_begin(void *cls, const char *target, struct MHD_Connection *mhd);
enum MHD_Result request_access(void *cls, struct MHD_Connection *mhd, const char *url, const char *method,
			       const char *version, const char *data, size_t *size, void **ctx);
void request_completed(void *cls, struct MHD_Connection *mhd, void **ctx,
		       enum MHD_RequestTerminationCode why);
/* Separates the request from its connection; frees it unless the handler still has it. */
void request_detach(struct server_request *r);
/* Answers with a problem document of the server's own; `status` is 0 for the status of `e`. */
void request_refuse(struct server_request *r, int status, enum err e, const char *fmt, ...) printf_like(4, 5);
void request_free(struct server_request *r);

/* --- answer.c --- */

/* Sends `response` as the answer. NULL: there was no memory for a response, so the connection is cut. */
void answer_set(struct server_request *r, int status, struct MHD_Response *response,
		const char *content_type);
/* To be called when the handler has answered. False: no client waits for the answer any more, and the request
 * may have been freed. */
bool request_mark_answered(struct server_request *r);

/* --- stream.c --- */

void stream_send_heartbeat(struct conn *c);
void stream_stalled(struct conn *c);
/* Calls `closed`, and ends the stream after the waiting bytes. */
void stream_stop(struct conn *c);
/* To be called when MHD no longer uses the stream: frees it, and calls `closed` unless the caller has ended
 * the stream. */
void stream_detach(struct http_stream *s);
