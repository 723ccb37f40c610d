#pragma once
/* The request of the daemon (port/launch.h): mapped, checked, with pointers to its parts. */
#include "base/limits.h"
#include "port/launch.h"
#include "runfile/mask_forms.h"

struct blob {
	const char *p; /* NULL: absent. A 0 follows the bytes */
	size_t n;
};

/* A secret to fetch: from a file, or from the output of a program. */
struct fetch {
	const char *name, *file; /* file NULL: argv is used */
	char *const *argv;       /* ends with NULL */
};

struct launch_request {
	const struct launch_head *head;
	struct blob one[LAUNCH_FIELDS];  /* fields that occur once */
	char *argv[LAUNCH_ARGS_MAX + 1]; /* ends with NULL */
	/* Ends with NULL; with room for the mark, fetched secrets and their names. */
	char *envp[LAUNCH_ENV_MAX + FETCHES_MAX + 3];
	struct blob secret[SECRETS_MAX];
	struct mask_forms masks; /* the forms of these secrets, and of those that are fetched */
	char *file[LAUNCH_FILES_MAX];
	char *word[LAUNCH_ARGS_MAX + 1]; /* scripts, one after the other, each ending with NULL */
	struct fetch fetch[FETCHES_MAX];
	char *fetch_word[FETCH_WORDS_MAX]; /* programs that print secrets, in the same form */
	unsigned argc, envc, secrets, files, words, fetches, fetch_words;
	size_t size; /* of the mapping, which begins at `head`; 0: unmapped */
};

/* Maps the memfd. `ret` must be all 0, and is unusable after an error. 0 or an errno. */
int request_read(int memfd, struct launch_request *ret);
/* Unmaps all but the head, because a prompt may be large and a run long. To be called after
 * the agent was forked, because the agent's process has its own copy of the mapping. */
void request_release(struct launch_request *r);
