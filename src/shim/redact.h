#pragma once
/* Takes secrets out of a stream that comes in pieces. What is masked: every value of a list, wherever pieces
 * begin and end, and words that have the shape of well-known keys. What might be the beginning of a secret is
 * held back until the next piece decides. */
#include "shim/request.h"

#define REDACT_MASK "[redacted]"

typedef void redact_sink(void *ctx, const char *p, size_t n);

struct redact {
	const struct blob *secret;
	unsigned secrets;
	size_t longest;  /* of secrets and shapes */
	bool first[256]; /* some secret or shape begins so */
	char *held;      /* undecided bytes, and room for a piece */
	size_t held_n;
	size_t masked; /* so many bytes of what comes next are masked already */
	bool word;     /* a key of known shape goes on until its word ends */
	char before;   /* the byte before the held ones */
};

enum { REDACT_PIECE = 65536 }; /* the largest piece */

/* 0 or ENOMEM. Keeps `secret`. */
int redact_init(struct redact *r, const struct blob *secret, unsigned secrets);
void redact(struct redact *r, const char *p, size_t n, redact_sink *sink, void *ctx);
/* The stream is over: nothing is held back any more. */
void redact_end(struct redact *r, redact_sink *sink, void *ctx);
