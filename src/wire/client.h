#pragma once
/* The command line's end of the daemon's socket: one call, one connection. No proxy, no environment variable,
 * no file has a say in it. What can go wrong is told apart:
 *
 *	E_NODAEMON	no socket there, or nobody listens
 *	E_DENIED	the socket is not ours to use
 *	E_BUSY		it listens and takes no more connections
 *	E_GONE		it went away in the middle: whether it did what was asked is not known
 *	E_TIMEOUT	no answer in time; not known either
 *	E_LIMIT		the answer is too large
 *	E_IO		what answers there does not speak HTTP
 *
 * An answer of any status is OK; problem_document_read makes an error of it. */
#include "base/buf.h"
#include "base/err.h"
#include "wire/sse.h"

struct client_request {
	const char *socket, *method, *target; /* the target encoded, with its query */
	struct str body;                      /* JSON; p NULL for none */
	const char *token;                    /* NULL: none */
	const char *const *headers;           /* further ones, "Name: value", up to a NULL; or NULL */
	unsigned timeout_ms; /* 0: CLIENT_MS. For all of a call; of a stream, for its beginning */
	unsigned silence_ms; /* a stream may say nothing for so long; 0: for ever */
	size_t bytes_max;    /* of an answer; 0: CLIENT_BYTES_MAX */
};

struct client_answer {
	int status;
	struct buf type, etag, body;
};
void client_answer_free(struct client_answer *a);

must_check enum err client_call(const struct client_request *ask, struct client_answer *ret, struct why *why);

typedef bool client_fn(void *ctx, struct str bytes); /* false: enough */
/* Gives the body of a 2xx answer to fn as it comes, and collects any other in *ret. OK at its end, or when fn
 * had enough. */
must_check enum err client_stream(const struct client_request *ask, client_fn *fn, void *ctx,
				  struct client_answer *ret, struct why *why);
/* The same for a stream of events. */
must_check enum err client_events(const struct client_request *ask, sse_fn *fn, void *ctx,
				  struct client_answer *ret, struct why *why);
