#pragma once
/* Processes as /proc shows them, and the id of this boot. Needs libc only: it is linked into the static
 * launcher as well as into the daemon, hence plain errno instead of `enum err`. */
#include "base/attr.h"

#include <sys/types.h>

struct proc {
	pid_t pid, parent, session;
	uint64_t start; /* clock ticks since boot; (pid, start) is never used twice in one boot */
	char name[16];  /* as the process has set it */
	bool dead;      /* a zombie: it executes nothing any more */
	bool marked;    /* for the caller, and for procs_mark_descendants */
};

struct procs {
	struct proc *p;
	unsigned n, room;
};

/* All processes. They are read one after the other, so the list is not a snapshot. 0 or an errno. */
int procs_list(struct procs *ret);
void procs_free(struct procs *ps);
/* Marks all descendants of marked processes. */
void procs_mark_descendants(struct procs *ps);

/* False: there is no such process, or its /proc file cannot be opened now; errno says which. */
bool proc_read(pid_t pid, struct proc *ret);
/* Sends `sig` to this process, but not to a later process with the same pid. */
void proc_signal(const struct proc *p, int sig);
/* Whether the environment with which the process was executed has this entry, NAME=value. */
bool proc_has_env(pid_t pid, const char *entry);

/* The id of this boot, terminated. 0 or an errno. */
int boot_id_read(char ret[static 40]);
