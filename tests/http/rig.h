#pragma once
/* A server with a handler for tests, and clients that are as rude as they like.
 *
 *	/echo/…		what was asked, as text
 *	/big/N		N bytes
 *	/late/…		kept; rig_answer answers all that are
 *	/never		kept for good
 *	/events		a stream of events, /lines a plain one: kept in `seat`
 *	/problem	a problem document
 */
#include "http/server.h"
#include "test.h"
#include "wire/client.h"

#include <pthread.h>
#include <stdatomic.h>

enum { RIG_KEPT = 1024 };

struct seat {
	struct rig *rig;
	struct http_stream *stream;
};

struct rig {
	char dir[64], path[96];
	struct http *http;
	/* Only the HTTP thread writes these; `held` and `closed` are looked at from outside. */
	struct http_request *kept[RIG_KEPT];
	struct seat seat[RIG_KEPT];
	_Atomic unsigned held, streams, closed, gone;
	_Atomic int wrote; /* enum err of the last write */
};

/* Limits in which nothing takes long. */
struct http_limits rig_limits(void);
bool rig_open(struct rig *r, struct http_limits limits);
void rig_close(struct rig *r);

/* All these wait until it is done. */
void rig_run(struct rig *r, void (*fn)(void *arg), void *arg);
void rig_answer(struct rig *r);
void rig_write(struct rig *r, const char *text, unsigned times); /* to every stream */
void rig_end(struct rig *r);
/* Until *what is at least n; false if it takes more than 5 s. */
bool rig_await(_Atomic unsigned *what, unsigned n);
bool rig_await_connections(struct rig *r, unsigned n); /* exactly */

/* Raw clients. */
int dial(const char *path);
bool say(int fd, const char *text); /* false: it did not take it all */
bool say_n(int fd, const void *bytes, size_t n);
/* Reads until `until` has been read (NULL: to the end of the connection) or ms have passed; the text is valid
 * until the next call. */
const char *hear(int fd, const char *until, int ms);
/* Whether the other end has closed, within ms; what comes before that is thrown away. */
bool hung_up(int fd, int ms);
bool contains(const char *text, const char *part);
unsigned occurrences(const char *text, const char *part);
int64_t now_ms(void);
