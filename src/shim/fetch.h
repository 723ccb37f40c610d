#pragma once
/* Fetches the secrets of the agent from files and from the output of programs. The values exist only in the
 * shim and in the environment of the agent: not in the daemon, not in a file, not in arguments. They are
 * masked in all output. The standard error of the programs is held back until the values to mask are
 * known. */
#include "shim/request.h"

struct fetcher {
	struct launch_request *rq;
	const char *cgroup; /* of the run; NULL: none */
	/* While a program runs, `go_on` is called when one of `wake` is readable; it returns false if the
	 * program must end. */
	int wake[2];
	bool (*go_on)(void *ctx);
	void *ctx;
	/* Results. */
	char *entry[FETCHES_MAX + 1]; /* NAME=value; the last is ROTA_SECRETS, the list of names */
	unsigned entries;
	bool cancelled;                     /* go_on returned false */
	char stderr_text[FETCH_STDERR_MAX]; /* of the programs; the rest is discarded */
	size_t stderr_n;
};

/* Fetches all of rq->fetch, and appends the values and their lines to rq->secret. False: `note` says which
 * secret could not be fetched, and why, but never its value. */
bool fetch_all(struct fetcher *f, char *note, size_t room);
