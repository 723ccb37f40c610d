#pragma once
/* The process of one component: its standard output goes to a file of bounded size, the end of its standard
 * error is kept. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/time.h"

enum process_end {
	PROCESS_RUNS,
	PROCESS_EXITED,   /* with a code, or by a signal: 128 + N */
	PROCESS_TIMEOUT,  /* killed: its time was over */
	PROCESS_OVERFLOW, /* killed: it printed too much */
	PROCESS_STOPPED,  /* killed: by process_stop */
	PROCESS_UNKNOWN,  /* not executed: there is no such program, or no such directory */
};

struct process_start {
	const char *const *argv;
	const char *const *env; /* the whole environment */
	const char *dir;
	const char *output; /* path of the file for standard output */
	int64_t seconds;    /* at most */
};

struct process {
	int pid, pidfd;
	int out, error, file; /* -1: closed */
	struct boot started, until;
	uint64_t written; /* bytes of standard output */
	struct buf log;   /* the last bytes of standard error */
	enum process_end end;
	int code; /* PROCESS_EXITED: the exit code; PROCESS_UNKNOWN: an errno */
};

must_check enum err process_begin(const struct process_start *s, struct process *ret, struct why *why);
/* Waits until something happens to one of the processes that run, or `stop` is set, and deals with it. */
void process_wait(struct process **list, unsigned n);
/* Kills it and its group. */
void process_stop(struct process *p, enum process_end end);
void process_free(struct process *p);
