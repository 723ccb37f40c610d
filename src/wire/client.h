#pragma once
/* The HTTP client of the command line: each call opens a connection to the daemon's socket. No proxy,
 * environment variable or file influences it. Errors:
 *
 *	E_NODAEMON	no connection was made: there is no socket, no daemon listens, or connect failed
 *	E_DENIED	no permission to use the socket
 *	E_BUSY		the daemon listens but accepts no connections
 *	E_GONE		the connection ended before the answer; the request may have been carried out
 *	E_TIMEOUT	no answer in time; the request may have been carried out
 *	E_LIMIT		the answer is too large
 *	E_IO		the answer is not HTTP
 *
 * An answer of any status is OK here; problem_document_read finds the error in it. */
#include "base/buf.h"
#include "base/err.h"
#include "wire/sse.h"

struct client_request {
	const char *socket, *method, *target; /* target: percent-encoded path and query */
	struct str body;                      /* JSON; p NULL for none */
	const char *token;                    /* NULL: none */
	const char *const *headers; /* additional headers, "Name: value", ended by NULL; NULL: none */
	unsigned timeout_ms; /* limit for a whole call, or for the beginning of a stream; 0: CLIENT_MS */
	unsigned silence_ms; /* how long a stream may be silent; 0: without limit */
	size_t bytes_max;    /* largest size of the answer's body; 0: CLIENT_BYTES_MAX */
};

struct client_answer {
	int status;
	struct buf type, etag, body;
};
void client_answer_free(struct client_answer *a);

must_check enum err client_call(const struct client_request *request, struct client_answer *ret,
				struct why *why);

/* Calls fn for each event of a 2xx answer; the body of any other answer is collected in *ret. OK at the end
 * of the stream, or when fn has returned false. */
must_check enum err client_events(const struct client_request *request, sse_fn *fn, void *ctx,
				  struct client_answer *ret, struct why *why);
