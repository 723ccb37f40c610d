#pragma once
/* An HTTP/1.1 response read from pieces of any size: status, headers, and a body by length, in chunks, or up
 * to the end of the connection. Pure. Interim responses (1xx) are passed over. */
#include "base/buf.h"
#include "base/err.h"

enum response_state {
	RESPONSE_HEAD,
	RESPONSE_LENGTH,
	RESPONSE_CLOSE,
	RESPONSE_CHUNK,
	RESPONSE_DATA,
	RESPONSE_AFTER,
	RESPONSE_TRAILER,
	RESPONSE_DONE
};

struct response {
	bool bodyless; /* set by the caller: it answers HEAD */
	enum response_state state;
	int status;      /* 0 until the head is read */
	struct buf head; /* the status line and headers, then the line of a chunk */
	struct buf type; /* Content-Type */
	struct buf etag;
	uint64_t left; /* of the body or the chunk */
};

/* Takes some bytes off the front of *in; a piece of the body among them is *body, which points into it and
 * may be empty. Call it until *in is empty. E_INPUT: this is not HTTP; E_LIMIT: too large a head. */
must_check enum err response_read(struct response *r, struct str *in, struct str *body, struct why *why);
/* The connection has ended: whether the response had, too. */
bool response_ended(const struct response *r);
void response_free(struct response *r);
