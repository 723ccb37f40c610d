#pragma once
/* The program of one attempt with its settings, written into the memfd that the launcher receives
 * (port/launch.h). */
#include "base/err.h"
#include "runfile/read.h"

/* Where the shim finds a secret: in a file, or in the output of a program. */
struct launch_fetch {
	const char *name;           /* of the environment variable */
	const char *file;           /* absolute; NULL: use `command` */
	const char *const *command; /* argv; ends with NULL */
};

/* The secrets of the configuration (core/doc/config, exec/secret.h). */
struct secret_list {
	const struct config_secret *item;
	unsigned n;
};

struct launch {
	const char *const *argv, *const *env; /* both end with NULL; items of env are "NAME=value" */
	const char *cwd;                      /* NULL: / */
	struct str input;                     /* its standard input */
	/* Expectations: after the program has ended with 0 these paths must exist, and these programs must
	 * end with 0. Both lists end with NULL, or are NULL. */
	const char *const *files, *const *const *scripts;
	struct str context;       /* the .ctx file, named by ROTA_CONTEXT; p NULL: none */
	const struct str *secret; /* values to mask in the log */
	unsigned secrets;
	const struct launch_fetch *fetch; /* secrets that only its shim reads */
	unsigned fetches;
	int64_t timeout, stall, grace; /* microseconds; 0: none */
	struct boot start_by;          /* do not execute later than this; 0: no bound */
	uint64_t log_head,
		log_tail; /* bytes kept of the beginning and the end of the log; both 0: defaults */
	bool out, err;    /* copy standard output to the .out file, standard error to the .err file */
};

enum { LAUNCH_LOG_HEAD = 1 << 20, LAUNCH_LOG_TAIL = 4 << 20 };

/* Values that all runs of a daemon have in common. */
struct launch_place {
	const char *runs;   /* absolute */
	const char *cgroup; /* a delegated cgroup; NULL: none */
	const char *lease;  /* path of the lease page; NULL: no lease */
	bool flush;         /* fsync run files, so that starts survive power cuts */
};

/* Returns a sealed memfd. E_LIMIT: the request is too large; E_INPUT: there is no program; E_IO, E_NOMEM: no
 * memfd or memory now. */
must_check enum err launch_render(const struct launch_place *at, uint64_t run, unsigned attempt,
				  const struct launch *l, int *ret, struct why *why);
/* The same for a request to kill the tree of a dead shim. */
must_check enum err launch_render_sweep(const struct launch_place *at, const struct runfile *f, uint64_t run,
					unsigned attempt, int *ret, struct why *why);
