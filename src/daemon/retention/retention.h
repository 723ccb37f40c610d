#pragma once
/* Removes old records and files. From time to time a thread finds records that ended long enough ago and asks
 * the store to prune them, a few at a time. It also removes files of runs that are too old, and then the
 * oldest until their total size fits. The store decides which records must stay (port/store.h, ST_PRUNE). */
#include "base/err.h"

struct daemon;
struct retention_options {
	struct daemon *daemon;
	int64_t runs_days;             /* records older than this are pruned */
	int64_t events_days;           /* the same for events, unless runs_days is less */
	int64_t logs_days, logs_bytes; /* files older than this, or beyond this total size, are removed */
	int64_t every;                 /* seconds between two passes */
};

struct retention;
must_check enum err retention_open(const struct retention_options *o, struct retention **ret,
				   struct why *why);
/* Ends a pass that is under way. The daemon's thread must have stopped, because it calls retention with
 * answers. */
void retention_close(struct retention *r);
