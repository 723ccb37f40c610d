#pragma once
/* What the parts of the server share. Of all this only `posts` and `stats` are seen by other threads. */
#include "base/buf.h"
#include "http/listen.h"
#include "http/server.h"

#include <microhttpd.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#if MHD_VERSION < 0x00097500
#error "libmicrohttpd 0.9.75 is the oldest this was tried with"
#endif

/* Where a connection is. Each phase has one deadline, the same for all, so that a list in order of entry is
 * in order of time, and the earliest is its first. */
enum phase {
	PH_FIRST, /* nothing received yet */
	PH_IDLE,  /* between two requests */
	PH_READ,  /* in the middle of a request */
	PH_HELD,  /* the handler has it */
	PH_SEND,  /* in the middle of an answer */
	PH_QUIET, /* a stream of events with nothing to send: heartbeats */
	PH_OPEN,  /* any other stream with nothing to send */
	PH_STALL, /* a stream whose reader has not taken what there is */
	PH_CUT,   /* shut down; MHD will see that and close it */
	PHASES
};

struct conn {
	struct conn *prev, *next; /* of its phase */
	int64_t at;               /* its deadline there, in ms */
	enum phase phase;
	struct http *http;
	struct MHD_Connection *mhd;
	int fd; /* MHD's */
	struct http_peer peer;
	struct request *request; /* the one under way */
	bool suspended;
	bool hung_up; /* the client has closed both directions */
};

struct request {
	struct http_request pub;     /* first: callers have a pointer to it */
	struct request *prev, *next; /* of all that were handed over and not yet answered */
	struct http *http;
	struct conn *conn; /* NULL: gone */
	const char *target;
	struct buf body;
	size_t counted;   /* of the body, in http->bodies */
	enum err trouble; /* with the body: it is thrown away, then this is said */
	bool begun;       /* its headers were looked at */
	bool handed;      /* to the handler */
	bool answered;    /* by whoever had it */
	bool queued;      /* an answer is MHD's */
	struct header {
		struct header *next;
		const char *name, *value;
	} * headers;
	struct MHD_Response *response; /* ready to be queued */
	int status;
	struct http_stream *stream;
};

struct http_stream {
	struct http *http;
	struct request *request; /* NULL: MHD is through with it */
	struct buf waiting;
	size_t sent; /* of it */
	bool events, ended;
	bool owned; /* the caller still has it, and wants to be told */
	void (*closed)(void *ctx);
	void *ctx;
};

struct notifier {
	void (*fn)(void *arg);
	void *arg;
};

struct http {
	struct http_options o;
	struct http_limits limits;
	unsigned room; /* for connections */
	struct listener listener;
	int epoll, wake;
	struct MHD_Daemon *mhd;
	pthread_t thread;
	sem_t ready;
	enum err start;

	struct conn *first[PHASES], *last[PHASES];
	struct conn *adding;  /* on its way through MHD_add_connection */
	struct request *kept; /* requests in somebody's hands */
	unsigned conns;
	size_t bodies;
	int64_t accept_at; /* not before */
	bool polled;       /* the listener is */
	bool full;
	bool resumed;     /* a connection was, since MHD last ran */
	atomic_bool stop; /* asked for */
	bool stopping;
	int64_t stop_at;

	pthread_mutex_t lock; /* of the posts */
	struct notifier post[HTTP_POSTS_MAX];
	unsigned notifier_first, posts;
	bool notifier_closed;

	struct {
		_Atomic uint64_t connections, requests, late, dropped, turns;
	} stats;
};

int64_t http_now(void); /* in ms */

/* http_conn.c */
void conn_enter(struct conn *c, enum phase p);
/* Ends it as soon as MHD looks at it. */
void conn_cut(struct conn *c);
void conn_suspend(struct conn *c);
void conn_resume(struct conn *c);
void conn_hang_up(struct conn *c);
void conn_accept(struct http *h);
/* Does what is due, and says when the next is: INT64_MAX for never. */
int64_t conn_deadlines(struct http *h, int64_t now);
void conn_notify(void *cls, struct MHD_Connection *mhd, void **ctx, enum MHD_ConnectionNotificationCode code);

/* http_request.c: MHD's callbacks, in the order of their coming */
void *request_begin(void *cls, const char *target, struct MHD_Connection *mhd);
enum MHD_Result request_access(void *cls, struct MHD_Connection *mhd, const char *url, const char *method,
			       const char *version, const char *data, size_t *size, void **ctx);
void request_completed(void *cls, struct MHD_Connection *mhd, void **ctx,
		       enum MHD_RequestTerminationCode why);
/* Its connection is through with it. */
void request_leave(struct request *r);
/* The library's own answer, where the handler gives none. */
void request_refuse(struct request *r, int status, enum err e, const char *fmt, ...) printf_like(4, 5);
void request_free(struct request *r);

/* http_answer.c */
/* Makes `response` (NULL: there was no memory for it) the request's, and sends it on its way. */
void answer_set(struct request *r, int status, struct MHD_Response *response, const char *content_type);

/* The caller's part is done. False: nobody waits for an answer any more, and the request may be gone. */
bool request_give_back(struct request *r);

/* http_stream.c */
void stream_beat(struct conn *c);
void stream_stalled(struct conn *c);
/* Tells its owner, once, and lets what is waiting go out. */
void stream_stop(struct conn *c);
void stream_leave(struct http_stream *s);
