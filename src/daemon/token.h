#pragma once
/* Tokens by which runs identify themselves: r12.1.MAC, the run's number, its attempt, and a keyed hash of
 * both. Only the key is stored, so there are no tokens to clean up, and a token stays valid after a restart
 * of the daemon. These functions do not check whether the attempt is still alive. */
#include "base/err.h"

enum { TOKEN_KEY = 32, TOKEN_SIZE = 1 + 20 + 1 + 10 + 1 + 64 + 1 };

struct token_key {
	uint8_t bytes[TOKEN_KEY];
};

/* The key of a data directory, created if there is none. It is not stored in the database: if a copy of the
 * database is served elsewhere, other runs get the same numbers there. A key that cannot be stored is valid
 * until the daemon ends. E_IO: no random numbers. */
must_check enum err token_key_open(const char *data, struct token_key *ret, struct why *why);

/* False: no memory. */
must_check bool token_write(const struct token_key *key, uint64_t run, unsigned attempt,
			    char ret[static TOKEN_SIZE]);
/* False: the text is no token of this key. The comparison takes the same time wherever the hash differs. */
must_check bool token_read(const struct token_key *key, struct str text, uint64_t *run, unsigned *attempt);
