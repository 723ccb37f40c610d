#pragma once
/* Tokens by which runs identify themselves: r12.1.MAC, the run's number, its attempt, and a keyed hash of
 * both. Only the key is stored, in the store, so there are no tokens to clean up, and a token stays valid
 * after a restart of the daemon. These functions do not check whether the attempt is still alive. */
#include "port/store.h"

enum { TOKEN_KEY = STORE_KEY_BYTES, TOKEN_SIZE = 1 + 20 + 1 + 10 + 1 + 64 + 1 };

struct token_key {
	uint8_t bytes[TOKEN_KEY];
};

/* A key for a store that has none: the one in the data directory, where earlier versions stored it, so that
 * their runs keep their tokens; else a new one. E_IO: no random numbers. */
must_check enum err token_key_new(const char *data, struct token_key *ret, struct why *why);
/* Removes the file of earlier versions, once the store has the key. */
void token_key_remove_file(const char *data);

/* False: no memory. */
must_check bool token_write(const struct token_key *key, uint64_t run, unsigned attempt,
			    char ret[static TOKEN_SIZE]);
/* False: the text is no token of this key. The comparison takes the same time wherever the hash differs. */
must_check bool token_read(const struct token_key *key, struct str text, uint64_t *run, unsigned *attempt);
