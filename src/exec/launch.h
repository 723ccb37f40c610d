#pragma once
/* One run, ready to be executed: what the daemon renders, and its way into the memfd the launcher gets. */
#include "base/err.h"
#include "runfile/read.h"

/* Where a secret is to be had: in a file, or from a program. */
struct launch_fetch {
	const char *name;           /* of the variable it becomes */
	const char *file;           /* absolute; NULL: */
	const char *const *command; /* this prints it; ends with NULL */
};

/* Those of the configuration: core/doc/config/config.h, exec/secret.h. */
struct secret_list {
	const struct config_secret *item;
	unsigned n;
};

struct launch {
	const char *const *argv, *const *env; /* end with NULL; "NAME=value" */
	const char *cwd;                      /* NULL: / */
	struct str input;                     /* its standard input, a file that has an end */
	/* Expected after it has ended well, or it has failed: paths that are there, programs that end well.
	 * Both end with NULL, or are NULL. */
	const char *const *files, *const *const *scripts;
	struct str context;       /* goes into the .ctx file, named by ROTA_CONTEXT; p NULL: none */
	const struct str *secret; /* values to be masked in what is logged */
	unsigned secrets;
	const struct launch_fetch *fetch; /* secrets that its shim gets for it; no others ever know them */
	unsigned fetches;
	int64_t timeout, stall, grace; /* microseconds; 0: none */
	struct boot start_by;          /* later nothing is executed; 0: any time */
	uint64_t log_head, log_tail;   /* bytes kept of the beginning and the end; both 0: the defaults */
	bool out;                      /* standard output also into a file of its own, .out */
};

enum { LAUNCH_LOG_HEAD = 1 << 20, LAUNCH_LOG_TAIL = 4 << 20 };

/* What is the same for all runs of a daemon. */
struct launch_place {
	const char *runs;   /* absolute */
	const char *cgroup; /* delegated; NULL: none */
	const char *lease;  /* NULL: not used */
	bool flush;         /* births survive power cuts */
};

/* A sealed memfd. E_LIMIT: too large; E_INPUT: no program; E_IO, E_NOMEM: the machine has none to give now.
 */
must_check enum err launch_render(const struct launch_place *at, uint64_t run, unsigned attempt,
				  const struct launch *l, int *ret, struct why *why);
must_check enum err launch_render_sweep(const struct launch_place *at, const struct runfile *f, uint64_t run,
					unsigned attempt, int *ret, struct why *why);
