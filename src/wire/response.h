#pragma once
/* Reads an HTTP/1.1 response from pieces of any size: status, headers, and a body given by length, in chunks,
 * or up to the end of the connection. Interim responses (1xx) are skipped. Pure. */
#include "base/buf.h"
#include "base/err.h"

enum response_state {
	RESPONSE_HEAD,       /* status line and headers */
	RESPONSE_LENGTH,     /* a body with Content-Length */
	RESPONSE_CLOSE,      /* a body that ends with the connection */
	RESPONSE_CHUNK_SIZE, /* the line before a chunk */
	RESPONSE_CHUNK_DATA,
	RESPONSE_CHUNK_END, /* the line end after a chunk */
	RESPONSE_TRAILER,
	RESPONSE_DONE
};

struct response {
	bool bodyless; /* set by the caller: the request is HEAD */
	enum response_state state;
	int status;      /* 0 until the head is read */
	struct buf head; /* the part of the head that was read; later the current line */
	struct buf type; /* Content-Type */
	struct buf etag;
	uint64_t left; /* bytes that are missing from the body or the chunk */
};

/* Reads some bytes and removes them from *in. *body is the piece of the body among them; it points into the
 * same memory and may be empty. Call it until *in is empty. E_INPUT: not HTTP; E_LIMIT: the head is too
 * large. */
must_check enum err response_read(struct response *r, struct str *in, struct str *body, struct why *why);
/* Whether the response is complete if the connection ends now. */
bool response_complete(const struct response *r);
void response_free(struct response *r);
