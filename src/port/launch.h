#pragma once
/* What goes between daemon and launcher over their seqpacket socket. Both come from one build: the launcher
 * ends with the daemon that started it, so there is no older one to talk to; what outlives both is
 * port/runfile.h and port/lease.h.
 *
 *	daemon → launcher	struct launch_packet with a memfd: struct launch_head, then items
 *	launcher → daemon	LAUNCH_PIDFD with the pidfd of the shim, or LAUNCH_REFUSED
 *	shim → daemon		LAUNCH_BORN, LAUNCH_TAKEN or LAUNCH_REFUSED, once
 *
 * The two answers may come in either order. A shim that dies before it has spoken says nothing. */
#include "base/attr.h"

#define LAUNCH_MAGIC   UINT32_C(0x6c746f72)
#define LAUNCH_VERSION 1

enum launch_op {
	LAUNCH_START,
	LAUNCH_SWEEP, /* the shim of this attempt is dead: end its tree, then record it lost */
	LAUNCH_OPS
};

struct launch_packet {
	uint32_t magic;
	uint16_t version, op;
	uint64_t ticket; /* comes back with the answers */
};

enum launch_say {
	LAUNCH_PIDFD,
	LAUNCH_BORN,    /* the run file is in place */
	LAUNCH_TAKEN,   /* it was there already: nothing was executed */
	LAUNCH_REFUSED, /* nothing was executed, and nothing left behind: `error` is the errno */
};

struct launch_reply {
	uint32_t magic;
	uint16_t say;
	int32_t error;
	uint64_t ticket;
};

enum { LAUNCH_FLUSH = 1 }; /* the run file must survive a power cut before anything is executed */

struct launch_head {
	uint32_t magic;
	uint16_t version, attempt;
	uint64_t run;
	uint32_t flags;
	uint32_t items;
	int64_t timeout, stall, grace; /* microseconds; 0: no timeout, no stall, no grace */
	int64_t start_by;              /* CLOCK_BOOTTIME: later nothing is executed; 0: any time */
	uint64_t log_head, log_tail;   /* bytes kept of the beginning and of the end */
	/* LAUNCH_SWEEP: whom to look for, as the run file names them. Its cgroup is in FIELD_CGROUP, the
	 * entry in the environment that marks its processes in FIELD_ENV. */
	int64_t agent;
	uint64_t agent_start;
};

/* Each item: this, `bytes` bytes, a 0, and padding to a multiple of 8. */
struct launch_item {
	uint32_t field, bytes;
};

enum launch_field {
	FIELD_RUNS,   /* the directory of runs, absolute */
	FIELD_CWD,    /* default: / */
	FIELD_CGROUP, /* a delegated directory of cgroup v2; left out: none */
	FIELD_LEASE,  /* path of the page; left out: not used */
	FIELD_STDIN,
	FIELD_CONTEXT, /* goes into the .ctx file */
	FIELD_OUT,     /* there at all: standard output goes into an .out file, too */
	FIELD_ARG,     /* these and all below may be repeated */
	FIELD_ENV,
	FIELD_SECRET,
	/* What must hold after the program has ended well, for the attempt to be done. */
	FIELD_FILE,   /* a path that must be there */
	FIELD_SCRIPT, /* the first word of a program that must end well, … */
	FIELD_WORD,   /* … and each of its others */
	/* A secret that the shim gets for the program, before it is executed: the name of its variable, … */
	FIELD_FETCH,
	FIELD_FETCH_FILE, /* … and the file it is in, … */
	FIELD_FETCH_WORD, /* … or a word of the program that prints it, as often as there are words */
	LAUNCH_FIELDS
};

static inline size_t launch_item_size(size_t bytes)
{
	return sizeof(struct launch_item) + ((bytes + 1 + 7) & ~(size_t)7);
}
