#pragma once
/* A kind of store: what can be done with a store that is not open. `data` is the data directory. */
#include "store/open.h"

struct store_kind {
	/* Writes what the store is called in messages: a file, an address. */
	void (*name)(const char *data, char *ret, size_t room);
	must_check enum err (*open)(const char *data, struct store **ret, struct why *why);
	must_check enum err (*check)(const char *data, struct why *why);
	/* NULL: other programs make and restore its backups. */
	must_check enum err (*backup)(const char *data, const char *file, uint64_t *bytes, struct why *why);
	must_check enum err (*restore)(const char *data, const char *file, uint64_t last_run, struct wall now,
				       char *aside, size_t room, struct why *why);
};
