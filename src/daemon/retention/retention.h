#pragma once
/* Removes what is old. A thread looks from time to time for records that ended long enough ago and asks the
 * store to prune them, a few at a time; and it removes files of runs, by age and, the oldest first, until
 * their total size fits. It decides what is worth asking for; the store decides what must stay (port/store.h,
 * ST_PRUNE). */
#include "base/err.h"

struct daemon;
struct retention_options {
	struct daemon *daemon;
	int64_t runs_days;             /* records older than this are pruned */
	int64_t logs_days, logs_bytes; /* files older than this, or beyond this total size, are removed */
	int64_t every;                 /* seconds between two passes */
};

struct retention;
must_check enum err retention_open(const struct retention_options *o, struct retention **ret,
				   struct why *why);
/* Ends a pass that is under way. The daemon's thread must have stopped: it calls back with answers. */
void retention_close(struct retention *r);
