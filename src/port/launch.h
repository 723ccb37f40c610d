#pragma once
/* The protocol of the seqpacket socket between daemon and launcher. Both come from the same build: the
 * launcher ends with the daemon that started it, so there are no older versions to support. The formats that
 * outlive both are port/runfile.h and port/lease.h.
 *
 *	daemon → launcher	struct launch_packet with a memfd: struct launch_head, then items
 *	launcher → daemon	LAUNCH_PIDFD with the pidfd of the shim, or LAUNCH_REFUSED
 *	shim → daemon		LAUNCH_STARTED, LAUNCH_TAKEN or LAUNCH_REFUSED, once
 *
 * The replies of launcher and shim may arrive in either order. A shim that is killed early sends none. */
#include "base/attr.h"

#define LAUNCH_MAGIC   UINT32_C(0x6c746f72)
#define LAUNCH_VERSION 2

enum launch_op {
	LAUNCH_START,
	LAUNCH_SWEEP, /* the shim of this attempt is dead: kill its tree, then record CAUSE_LOST */
	LAUNCH_OPS
};

struct launch_packet {
	uint32_t magic;
	uint16_t version, op;
	uint64_t ticket; /* repeated in the replies */
};

enum launch_reply_kind {
	LAUNCH_PIDFD,
	LAUNCH_STARTED, /* the run file has been created */
	LAUNCH_TAKEN,   /* the run file existed already: nothing was executed */
	LAUNCH_REFUSED, /* nothing was executed, and no run file was left: `error` is the errno */
};

struct launch_reply {
	uint32_t magic;
	uint16_t kind; /* enum launch_reply_kind */
	int32_t error;
	uint64_t ticket;
};

enum {
	LAUNCH_FLUSH = 1,   /* fsync the run file before anything is executed */
	LAUNCH_SECRETS = 2, /* a sweep: the attempt had secrets, which only its shim could mask */
};

struct launch_head {
	uint32_t magic;
	uint16_t version, attempt;
	uint64_t run;
	uint32_t flags;
	uint32_t items;
	int64_t timeout, stall, grace; /* microseconds; 0: no timeout, no stall, no grace */
	int64_t start_by;              /* CLOCK_BOOTTIME: do not execute later than this; 0: no bound */
	uint64_t log_head, log_tail;   /* bytes kept of the beginning and of the end of the log */
	/* LAUNCH_SWEEP: the agent as its run file identifies it. FIELD_CGROUP is the run's cgroup, FIELD_ENV
	 * the mark in the environment of its processes. */
	int64_t agent;
	uint64_t agent_start;
};

/* Each item: this header, `bytes` bytes, a 0, and padding to a multiple of 8. */
struct launch_item {
	uint32_t field, bytes;
};

enum launch_field {
	FIELD_RUNS,   /* the runs directory, absolute */
	FIELD_CWD,    /* default: / */
	FIELD_CGROUP, /* a delegated cgroup v2 directory; absent: none */
	FIELD_LEASE,  /* path of the lease page; absent: no lease */
	FIELD_STDIN,
	FIELD_CONTEXT, /* the content of the .ctx file */
	FIELD_OUT,     /* present: copy standard output to an .out file */
	FIELD_ERR,     /* present: copy standard error to an .err file */
	FIELD_ARG,     /* this field and all below may be repeated */
	FIELD_ENV,
	FIELD_SECRET, /* a value to mask in the output */
	/* Expectations: conditions that must hold after the program has ended with 0. */
	FIELD_FILE,   /* a path that must exist */
	FIELD_SCRIPT, /* the first word of a program that must end with 0 */
	FIELD_WORD,   /* another word of that program; repeated */
	/* A secret that the shim fetches before it executes the program: the name of its variable. */
	FIELD_FETCH,
	FIELD_FETCH_FILE, /* the file that has the value */
	FIELD_FETCH_WORD, /* or one word of the program that prints the value; repeated */
	LAUNCH_FIELDS
};

static inline size_t launch_item_size(size_t bytes)
{
	return sizeof(struct launch_item) + ((bytes + 1 + 7) & ~(size_t)7);
}
