#pragma once
/* The processes of this machine, as /proc shows them at one moment. */
#include "base/attr.h"

#include <sys/types.h>

struct proc {
	pid_t pid, parent, session;
	uint64_t start; /* clock ticks since boot: with the pid, a name that is not given twice */
	char name[16];  /* what it calls itself */
	bool dead;      /* a zombie: nothing of it runs */
	bool marked;    /* free for the caller's use */
};

struct procs {
	struct proc *p;
	unsigned n, room;
};

/* 0 or an errno. */
int procs_list(struct procs *ret);
void procs_free(struct procs *ps);

/* One process; false: there is none. */
bool proc_read(pid_t pid, struct proc *ret);
/* Marks the descendants of those marked `ours`. */
void procs_mark_descendants(struct procs *ps);
/* Sends `sig` to exactly this process: its pid may have been given to another since. */
void proc_signal(const struct proc *p, int sig);
/* The environment the process was executed with has this entry. */
bool proc_has_env(pid_t pid, const char *entry);
/* Id of this boot, terminated. 0 or an errno. */
int boot_id_read(char ret[static 40]);
