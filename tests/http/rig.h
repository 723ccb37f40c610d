#pragma once
/* A server with a handler for tests, and raw clients. The handler answers:
 *
 *	/echo/…		the request, as text
 *	/big/N		N bytes
 *	/late/…		nothing yet; rig_answer_kept answers all of them
 *	/never		nothing
 *	/events		a stream of events, /lines a plain stream; both in `slot`
 *	/problem	a problem document
 */
#include "http/server.h"
#include "test.h"
#include "wire/client.h"

#include <pthread.h>
#include <stdatomic.h>

enum { RIG_KEPT = 1024 };

struct stream_slot {
	struct rig *rig;
	struct http_stream *stream;
};

struct rig {
	char dir[64], path[96];
	struct http *http;
	/* Only the HTTP thread writes these members. The test's thread reads the atomic ones. */
	struct http_request *kept[RIG_KEPT];
	struct stream_slot slot[RIG_KEPT];
	_Atomic unsigned held, streams, closed, gone;
	_Atomic int wrote; /* enum err of the last write */
};

/* Limits with small sizes and a short time to stop. */
struct http_limits rig_limits(void);
bool rig_open(struct rig *r, struct http_limits limits);
void rig_close(struct rig *r);

/* These functions do their work on the HTTP thread, and return when it is done. */
void rig_run(struct rig *r, void (*fn)(void *arg), void *arg);
void rig_answer_kept(struct rig *r);
void rig_write_streams(struct rig *r, const char *text, unsigned times); /* writes to every stream */
void rig_end_streams(struct rig *r);
/* Waits until *what is at least n; false after 30 s. */
bool rig_await(_Atomic unsigned *what, unsigned n);
bool rig_await_connections(struct rig *r, unsigned n); /* waits for exactly n connections */

/* --- raw clients --- */

int connect_to(const char *path);
bool send_text(int fd, const char *text); /* false: the server did not read all of it */
bool send_bytes(int fd, const void *bytes, size_t n);
/* Reads until `until` has been read (NULL: to the end of the connection) or ms have passed; the text is valid
 * until the next call. */
const char *receive_until(int fd, const char *until, int ms);
/* Whether the server closes the connection within ms. Bytes that it sends before are discarded. */
bool is_closed(int fd, int ms);
bool contains(const char *text, const char *part);
unsigned occurrences(const char *text, const char *part);
int64_t now_ms(void);
