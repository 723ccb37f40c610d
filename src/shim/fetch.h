#pragma once
/* Secrets for the agent, out of files and out of what programs print. They are read here, in the shim that
 * executes the agent, go into its environment and among what is masked, and are nowhere else: not in the
 * daemon, not in a file, not in arguments. What these programs say to standard error is kept back until it
 * is known what must be masked in it. */
#include "shim/request.h"

struct fetcher {
	struct launch_request *rq;
	const char *cgroup; /* of the run; NULL: none */
	/* While a program runs: readable when there is something for `go_on`, which is false when it is to
	 * end. */
	int wake[2];
	bool (*go_on)(void *ctx);
	void *ctx;
	/* What came of it. */
	char *entry[FETCHES_MAX + 1]; /* NAME=value, and ROTA_SECRETS, which names them */
	unsigned entries;
	bool cancelled;            /* it was to end before all of them were had */
	char said[FETCH_SAID_MAX]; /* by programs, to standard error; the rest of it was left out */
	size_t said_n;
};

/* All that rq->fetch asks for; the values, and their lines, come after what rq->secret has. False: `note`
 * says which of them could not be had, and why, and never what it is. */
bool fetch_all(struct fetcher *f, char *note, size_t room);
