#pragma once
/* An HTTP/1.1 response read from pieces of any size: status, headers, and a body by length, in chunks, or up
 * to the end of the connection. Pure. Interim responses (1xx) are passed over. */
#include "base/buf.h"
#include "base/err.h"

enum reply_state {
	REPLY_HEAD,
	REPLY_LENGTH,
	REPLY_CLOSE,
	REPLY_CHUNK,
	REPLY_DATA,
	REPLY_AFTER,
	REPLY_TRAILER,
	REPLY_DONE
};

struct reply {
	bool bodyless; /* set by the caller: it answers HEAD */
	enum reply_state state;
	int status;      /* 0 until the head is read */
	struct buf head; /* the status line and headers, then the line of a chunk */
	struct buf type; /* Content-Type */
	struct buf etag;
	uint64_t left; /* of the body or the chunk */
};

/* Takes some bytes off the front of *in; a piece of the body among them is *body, which points into it and
 * may be empty. Call it until *in is empty. E_INPUT: this is not HTTP; E_LIMIT: too large a head. */
must_check enum err reply_read(struct reply *r, struct str *in, struct str *body, struct why *why);
/* The connection has ended: whether the response had, too. */
bool reply_ended(const struct reply *r);
void reply_free(struct reply *r);
