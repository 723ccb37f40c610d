#pragma once
/* A rendered request as it arrives: mapped, checked, and pointed into. */
#include "base/limits.h"
#include "port/launch.h"

struct blob {
	const char *p; /* NULL: not given. A 0 follows the bytes */
	size_t n;
};

/* A secret to be had: in a file, or from a program. */
struct fetch {
	const char *name, *file; /* file NULL: argv */
	char *const *argv;       /* ends with NULL */
};

struct launch_request {
	const struct launch_head *head;
	struct blob one[LAUNCH_FIELDS]; /* fields that come once */
	char *argv[LAUNCH_ARGS_MAX + 1],
		*envp[LAUNCH_ENV_MAX + FETCHES_MAX + 3]; /* end with NULL; those that are fetched and two
							    more fit into envp */
	struct blob secret[SECRETS_MAX];
	char *file[LAUNCH_FILES_MAX];
	char *word[LAUNCH_ARGS_MAX + 1]; /* scripts one after the other, each ends with NULL */
	struct fetch fetch[FETCHES_MAX];
	char *fetch_word[FETCH_WORDS_MAX]; /* as above */
	unsigned argc, envc, secrets, files, words, fetches, fetch_words;
	size_t size; /* of the mapping, which begins at head; 0: there is none any more */
};

/* 0 or an errno. `ret` is all zeros before, and of no use after an error. Maps the memfd for good: a shim
 * handles one request in its life.
 */
int request_read(int memfd, struct launch_request *ret);
/* Gives back all but the head and the secrets: a prompt may be large, and a run long. Only once the agent has
 * its own copy. */
void request_release(struct launch_request *r);
