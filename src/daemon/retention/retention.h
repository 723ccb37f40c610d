#pragma once
/* What is old goes: a thread of its own looks now and then for what was over long enough ago, and asks the
 * store to prune it, a little at a time; and it removes the files of runs, by age and, the oldest first, by
 * their size in all. It decides what is worth asking for; what must stay is the store's to know
 * (port/store.h, ST_PRUNE). */
#include "daemon/pump.h"

struct retention_options {
	const char *database, *runs;
	int64_t runs_days, logs_days, logs_bytes;
	int64_t first, every; /* seconds from the start to the first pass, and between two */
	void *ctx;
	/* Sends a request to the store, and calls retention_answered when it has answered. E_BUSY: not now.
	 */
	enum err (*send)(void *ctx, const struct st_req *r);
	/* Has retention_facts called with what the engine knows. E_BUSY: not now. */
	enum err (*ask)(void *ctx);
};

struct retention;
must_check enum err retention_open(const struct retention_options *o, struct retention **ret,
				   struct why *why);
void retention_close(
	struct retention *r); /* in the middle of a pass, if need be; nobody calls the two below any more */
/* From any thread. */
void retention_answered(struct retention *r);
/* `trusted`: the clock is believed; `acted_on`: no follower has to act on ends up to this one. */
void retention_facts(struct retention *r, bool trusted, uint64_t acted_on);
