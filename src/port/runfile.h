#pragma once
/* The run file: what a shim writes to disk about one attempt of one run. A later daemon needs nothing else to
 * adopt the run. The 4096 bytes of the file are reserved when it is created, so that a full disk cannot
 * prevent the exit section from being written.
 *
 *	start	at 0		version, boot id, pids, start times, session, cgroup, mark, number of secrets
 *	exit	at 2048		how the attempt ended; empty until then
 *
 * A section is text: one key and value per line, and a last line `sum` with the checksum of the bytes before
 * it. Unknown keys are ignored. Every version since 1 must stay readable: shims outlive daemons, and daemons
 * are upgraded.
 *
 * The promises:
 *  - A run file that is visible under its name is complete, and has been locked (F_OFD_SETLK, the whole file)
 * since before it was visible: it is linked into place when it is ready.
 *  - The shim holds the lock as long as it lives. The lock decides whether the shim is alive; the pids only
 * help to find processes.
 *  - The exit section is written once, when no process of the attempt's tree is alive.
 *
 * An attempt has started when its run file is visible. An attempt is prevented by creating its run file with
 * an exit section before a shim creates it; then the attempt can never start. */
#include "base/hash.h"

#include <stdio.h>

enum {
	RUNFILE_VERSION = 1,
	RUNFILE_BYTES = 4096,
	RUNFILE_SECTION = 2048,
	RUNFILE_START = 0,
	RUNFILE_EXIT = RUNFILE_SECTION,
	RUNFILE_NAME_MAX = 48,
	RUNFILE_BUCKET = 4096, /* runs per directory */
	RUN_MARK_BYTES = 33,   /* 128 bits in hex, and the terminating 0 */
	/* The check before an attempt has its own shim and its own file, 7.1-check.run. Its attempt number is
	 * that of the attempt with this bit set; the attempt numbers themselves are smaller than the bit. */
	RUN_CHECK = 0x8000,
	/* A hook of the run has its own shim and its own file as well, 7.hook-schedule.run. Its attempt
	 * number is this plus an enum run_hook; the numbers of attempts are smaller. */
	RUN_HOOK = 0x7ff0,
};

#define RUN_CHECK_WORD "-check"
#define RUN_HOOK_WORD  "hook-"

/* The hooks of a run, by the place that defines them. */
enum run_hook {
	HOOK_OF_CONFIG,   /* before:schedule:trigger of the configuration */
	HOOK_OF_SCHEDULE, /* before:schedule:trigger of the run's schedule */
	HOOK_OF_CREATE,   /* before:schedule:create: the run creates or changes a schedule */
	RUN_HOOKS
};

/* The words are part of file names: they must not change. */
static inline const char *run_hook_word(unsigned hook)
{
	static const char *const words[RUN_HOOKS] = {
		[HOOK_OF_CONFIG] = "config",
		[HOOK_OF_SCHEDULE] = "schedule",
		[HOOK_OF_CREATE] = "create",
	};
	return hook < RUN_HOOKS ? words[hook] : NULL;
}

static inline bool run_is_hook(unsigned attempt)
{
	return attempt >= RUN_HOOK && attempt < RUN_HOOK + RUN_HOOKS;
}

/* A variable in the environment of every process of an attempt. Its value is random, and recorded as `mark`.
 */
#define RUN_MARK_NAME "ROTA_RUN_MARK"
/* In the environment of a program that delivers a message: the number of the message. */
/* A variable in the environment of launchers: the device and inode of the data directory of the daemon that
 * started them. NAME=value is also the name of a memfd that launchers and shims have at this descriptor. It
 * tells the shims of this daemon, and of earlier ones with the same directory, from those of another. */
#define RUN_OWNER_NAME "ROTA_SHIM_OF"
enum { RUN_OWNER_FD = 98 };
/* The descriptor of a shim that holds the forms of its secrets (runfile/mask_forms.h), for the daemon: a
 * memfd of this name. Each form is its length in 4 bytes, in the byte order of the machine, and its bytes. It
 * is there before the agent is executed. */
#define RUN_MASKS_NAME "rota-masks"
enum { RUN_MASKS_FD = 99 };
#define RUN_DELIVERY_NAME "ROTA_DELIVERY"

enum run_cause {
	CAUSE_NONE,         /* there is no exit section */
	CAUSE_EXIT,         /* the agent ended by itself, with `status` or `signal` */
	CAUSE_TIMEOUT,      /* it ran longer than its timeout */
	CAUSE_STALLED,      /* it printed nothing for too long */
	CAUSE_FENCED,       /* its lease expired */
	CAUSE_STOPPED,      /* the shim got SIGTERM; a signal of the daemon carries `reason` */
	CAUSE_NOT_EXECUTED, /* the program could not be executed: `status` is the errno, `note` names the step
			     */
	CAUSE_LOST,         /* the shim died; a sweep has found and killed its tree */
	CAUSE_PREVENTED,    /* the attempt was prevented before it started */
	CAUSE_LATE,         /* not executed: it was later than `start_by` */
	CAUSE_EXPECTATION,  /* it ended with 0, but an expectation failed: `note` */
	CAUSE_SECRET,       /* not executed: a secret could not be fetched; `note` says which, and why */
	RUN_CAUSES
};

/* How much of the output the log has. */
enum run_log {
	LOG_WHOLE,
	LOG_CAPPED, /* the beginning and the end */
	LOG_CUT,    /* it ends where writing failed */
	RUN_LOGS
};

/* The words are part of the file format: they must not change. */
static inline const char *run_cause_word(unsigned cause)
{
	static const char *const words[RUN_CAUSES] = {
		[CAUSE_NONE] = "none",
		[CAUSE_EXIT] = "exit",
		[CAUSE_TIMEOUT] = "timeout",
		[CAUSE_STALLED] = "stalled",
		[CAUSE_FENCED] = "fenced",
		[CAUSE_STOPPED] = "stopped",
		[CAUSE_NOT_EXECUTED] = "unborn",
		[CAUSE_LOST] = "lost",
		[CAUSE_PREVENTED] = "burnt",
		[CAUSE_LATE] = "late",
		[CAUSE_EXPECTATION] = "expectation",
		[CAUSE_SECRET] = "secret",
	};
	return cause < RUN_CAUSES ? words[cause] : NULL;
}

static inline const char *run_log_word(unsigned log)
{
	static const char *const words[RUN_LOGS] = {
		[LOG_WHOLE] = "whole",
		[LOG_CAPPED] = "capped",
		[LOG_CUT] = "cut",
	};
	return log < RUN_LOGS ? words[log] : NULL;
}

/* Detects torn writes and foreign files, not tampering. */
static inline uint64_t runfile_sum(const char *p, size_t n)
{
	return fnv1a(FNV_START, (struct str){ p, n });
}

/* Appends the `sum` line to the text of a section of RUNFILE_SECTION bytes; at least 32 must be unused. */
static inline void runfile_seal(char *section)
{
	size_t n = strlen(section);
	assert(n + 32 <= RUNFILE_SECTION);
	snprintf(section + n, 32, "sum %016llx\n", (unsigned long long)runfile_sum(section, n));
}

/* The length of a section's text without its `sum` line; 0: there is none, or the checksum is wrong. */
static inline size_t runfile_sealed_bytes(const char *section)
{
	char sum[32];
	const char *p = section;
	for (const char *end = section + RUNFILE_SECTION; p && end - p >= 21; p = p ? p + 1 : NULL) {
		if (memcmp(p, "sum ", 4) == 0) {
			snprintf(sum, sizeof sum, "sum %016llx\n",
				 (unsigned long long)runfile_sum(section, (size_t)(p - section)));
			return memcmp(p, sum, 21) == 0 ? (size_t)(p - section) : 0;
		}
		p = memchr(p, '\n', (size_t)(end - p));
	}
	return 0;
}

/* The subdirectory of the runs directory that has the files of `run`. It depends on the number alone, not on
 * the date: two shims that start the same attempt around midnight must collide on the same name. */
static inline void runfile_bucket(char ret[static RUNFILE_NAME_MAX], uint64_t run)
{
	snprintf(ret, RUNFILE_NAME_MAX, "%llu", (unsigned long long)(run / RUNFILE_BUCKET));
}

/* The process name of a shim: r12.1; r12.1c for a check; r12.h1 for a hook. It leads from a process to its
 * run (exec/lineage.h); then pid and start time of the process must be those in the run file. False: the name
 * does not fit; then only the mark identifies the processes of the run. */
enum { RUN_SHIM_NAME = 16 };
static inline bool runfile_shim_name(char ret[static RUN_SHIM_NAME], uint64_t run, unsigned attempt)
{
	if (run_is_hook(attempt))
		return snprintf(ret, RUN_SHIM_NAME, "r%llu.h%u", (unsigned long long)run,
				attempt - RUN_HOOK) < RUN_SHIM_NAME;
	return snprintf(ret, RUN_SHIM_NAME, "r%llu.%u%s", (unsigned long long)run,
			attempt & ~(unsigned)RUN_CHECK, attempt & RUN_CHECK ? "c" : "") < RUN_SHIM_NAME;
}

static inline void runfile_name(char ret[static RUNFILE_NAME_MAX], uint64_t run, unsigned attempt,
				const char *kind)
{
	if (run_is_hook(attempt))
		snprintf(ret, RUNFILE_NAME_MAX, "%llu." RUN_HOOK_WORD "%s.%s", (unsigned long long)run,
			 run_hook_word(attempt - RUN_HOOK), kind);
	else
		snprintf(ret, RUNFILE_NAME_MAX, "%llu.%u%s.%s", (unsigned long long)run,
			 attempt & ~(unsigned)RUN_CHECK, attempt & RUN_CHECK ? RUN_CHECK_WORD : "", kind);
}
