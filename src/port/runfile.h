#pragma once
/* The run file: what a shim leaves on disk about one attempt of one run, and the only thing a daemon needs to
 * take the run up again. One block, reserved when it is born, so that a full disk cannot eat its end.
 *
 *	birth	at 0		who: version, boot, pids, start times, session, cgroup, mark
 *	exit	at 2048		how it ended; empty until then
 *
 * A section is text, a word and its value to a line, closed by `sum` and the checksum of the bytes before it.
 * Unknown words are passed over. A file of any version since 1 must be readable for ever: shims outlive
 * daemons, and daemons are upgraded.
 *
 * The promises:
 *  - A run file that can be seen under its name is whole and was locked (F_OFD_SETLK, all of it) from the
 * start: it is linked into place when it is ready.
 *  - The lock is held as long as the shim lives. It judges life; the pids only help to find.
 *  - The exit section is written when nothing of the tree is alive any more, and once. */
#include "base/hash.h"

#include <stdio.h>

enum {
	RUNFILE_VERSION = 1,
	RUNFILE_BYTES = 4096,
	RUNFILE_SECTION = 2048,
	RUNFILE_BIRTH = 0,
	RUNFILE_EXIT = RUNFILE_SECTION,
	RUNFILE_NAME_MAX = 48,
	RUNFILE_BUCKET = 4096, /* runs to a directory */
	RUN_MARK_BYTES = 33,   /* 128 bits in hex, and its end */
	/* The check before an attempt has a shim and a file of its own, 7.1-check.run: it is known as the
	 * attempt with this bit, which attempts do not reach. */
	RUN_CHECK = 0x8000,
};

#define RUN_CHECK_WORD "-check"

/* Every process of a run has this in its environment, whatever else it inherits; the value is in `mark`. */
#define RUN_MARK_NAME "ROTA_RUN_MARK"

enum run_cause {
	CAUSE_NONE,    /* no exit section */
	CAUSE_EXIT,    /* the agent ended by itself: `status`, or `signal` */
	CAUSE_TIMEOUT, /* the wall clock */
	CAUSE_STALLED,
	CAUSE_FENCED,  /* its lease ran out */
	CAUSE_STOPPED, /* the daemon said so, giving `reason` */
	CAUSE_UNBORN,  /* born, but the program could not be executed: `status` is the errno, `note` says what
			*/
	CAUSE_LOST,    /* the shim died, and its tree was found and ended by somebody else */
	CAUSE_BURNT,   /* never to be started */
	CAUSE_LATE,    /* it was not executed: the time to start was over */
	CAUSE_EXPECTATION, /* it ended well, and something that was expected of it does not hold: `note` */
	CAUSE_SECRET,      /* it was not executed: a secret could not be had; `note` says which, and why */
	RUN_CAUSES
};

/* How much of the output the log holds. */
enum run_log { LOG_WHOLE, LOG_CAPPED /* head and tail */, LOG_CUT /* the disk said no */, RUN_LOGS };

static inline const char *run_cause_word(unsigned cause)
{
	static const char *const words[RUN_CAUSES] = {
		[CAUSE_NONE] = "none",
		[CAUSE_EXIT] = "exit",
		[CAUSE_TIMEOUT] = "timeout",
		[CAUSE_STALLED] = "stalled",
		[CAUSE_FENCED] = "fenced",
		[CAUSE_STOPPED] = "stopped",
		[CAUSE_UNBORN] = "unborn",
		[CAUSE_LOST] = "lost",
		[CAUSE_BURNT] = "burnt",
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

/* The checksum of a section: it detects torn writes and foreign bytes, not forgery. */
static inline uint64_t runfile_sum(const char *p, size_t n)
{
	return fnv1a(FNV_START, (struct str){ p, n });
}

/* Closes the text of a section; `section` has RUNFILE_SECTION bytes, of which the caller leaves 32. */
static inline void runfile_seal(char *section)
{
	size_t n = strlen(section);
	assert(n + 32 <= RUNFILE_SECTION);
	snprintf(section + n, 32, "sum %016llx\n", (unsigned long long)runfile_sum(section, n));
}

/* The length of a section's text without its last line, if its checksum is right; else 0. */
static inline size_t runfile_sealed(const char *section)
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

/* Where (run, attempt) is, below the directory of runs. A function of the number alone, not of any clock: two
 * who start the same attempt on both sides of midnight must meet. */
static inline void runfile_bucket(char ret[static RUNFILE_NAME_MAX], uint64_t run)
{
	snprintf(ret, RUNFILE_NAME_MAX, "%llu", (unsigned long long)(run / RUNFILE_BUCKET));
}

/* What a shim calls itself, r12.1 (its check: r12.1c), so that a process can be followed up to its run: who
 * looks compares its pid and start with the run file. Too long for a name: none, and only the mark is left.
 */
enum { RUN_SHIM_NAME = 16 };
static inline bool runfile_shim_name(char ret[static RUN_SHIM_NAME], uint64_t run, unsigned attempt)
{
	return snprintf(ret, RUN_SHIM_NAME, "r%llu.%u%s", (unsigned long long)run,
			attempt & ~(unsigned)RUN_CHECK, attempt & RUN_CHECK ? "c" : "") < RUN_SHIM_NAME;
}

static inline void runfile_name(char ret[static RUNFILE_NAME_MAX], uint64_t run, unsigned attempt,
				const char *kind)
{
	snprintf(ret, RUNFILE_NAME_MAX, "%llu.%u%s.%s", (unsigned long long)run,
		 attempt & ~(unsigned)RUN_CHECK, attempt & RUN_CHECK ? RUN_CHECK_WORD : "", kind);
}
