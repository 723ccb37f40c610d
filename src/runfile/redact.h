#pragma once
/* Masks secrets in a stream that arrives in pieces: all values of a list, even across pieces, and words that
 * look like well-known kinds of keys (base/keyshape.h). Bytes that may be the beginning of a secret are held
 * back until the next piece decides. */
#include "base/str.h"

#define REDACT_MASK "[redacted]"

typedef void redact_sink(void *ctx, const char *p, size_t n);

struct redact {
	const struct str *secret;
	unsigned secrets;
	size_t longest;  /* length of the longest secret or key shape */
	bool first[256]; /* first bytes of secrets and key shapes */
	/* Secrets by the hash of their first SECRET_BYTES_MIN bytes, and by their first byte. A list ends
	 * with 0, and its items are indices of secrets plus 1. */
	uint32_t *by_start, *next_by_start, *by_byte, *next_by_byte;
	unsigned hash_bits;
	char *held; /* undecided bytes, with room for a piece */
	size_t held_n;
	size_t masked; /* how many of the next bytes belong to a secret that was found already */
	bool word;     /* mask the rest of the word, because it began like a key */
	char before;   /* the byte before the held ones */
};

enum { REDACT_PIECE = 65536 }; /* bytes; the largest piece */

/* `secret` must stay valid. 0 or ENOMEM. */
int redact_init(struct redact *r, const struct str *secret, unsigned secrets);
void redact_free(struct redact *r); /* overwrites the bytes that it has held */
void redact(struct redact *r, const char *p, size_t n, redact_sink *sink, void *ctx);
/* At the end of the stream: passes on what was held back. */
void redact_end(struct redact *r, redact_sink *sink, void *ctx);
/* To begin with another text. */
void redact_reset(struct redact *r);
