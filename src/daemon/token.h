#pragma once
/* What a run shows to say which run it is: r12.1.MAC, its number, its attempt, and a keyed hash of the two.
 * Nothing is stored but the key, so that there is nothing to clean up and a token outlives daemons. Whether
 * the attempt is still alive is not asked here. */
#include "base/err.h"

enum { TOKEN_KEY = 32, TOKEN_SIZE = 1 + 20 + 1 + 10 + 1 + 64 + 1 };

struct token_key {
	uint8_t bytes[TOKEN_KEY];
};

/* The key of a data directory, made if there is none: of this one, for who has a copy of a database elsewhere
 * has other runs. Where it cannot be kept it is good until the daemon ends. E_IO: there is no chance. */
must_check enum err token_key_open(const char *data, struct token_key *ret, struct why *why);

/* False: no memory. */
must_check bool token_write(const struct token_key *key, uint64_t run, unsigned attempt,
			    char ret[static TOKEN_SIZE]);
/* False: it is none of ours. Takes as long, whatever is wrong with the hash. */
must_check bool token_read(const struct token_key *key, struct str text, uint64_t *run, unsigned *attempt);
