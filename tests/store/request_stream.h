#pragma once
/* An endless stream of random requests: every operation, repeats word for word, old revs, runs and schedules
 * that do not exist, followers and ends; few enough schedules and times that they meet. The same seed and the
 * same answers give the same stream. */
#include "port/store.h"

enum { STREAM_SCHEDS = 60, STREAM_MEMORY = 512 };

struct stream {
	uint64_t random, tag, run, ends, problems, notes;
	unsigned scheds; /* at most STREAM_SCHEDS */
	bool one_lane;   /* else each schedule has its own, so that the order within a schedule is kept */
	unsigned n, runs;
	struct st_req past[STREAM_MEMORY];
	struct run_row recent[STREAM_MEMORY]; /* run and sid only */
	uint32_t rev[STREAM_SCHEDS + 1];
	uint64_t seen[STREAM_SCHEDS + 1];
	uint32_t state_rev, agent_rev;
	int64_t now;
	char text[64];
};

void stream_init(struct stream *s, uint64_t seed, bool one_lane);
/* The texts of the request are good until the next call. */
struct st_req stream_next(struct stream *s);
/* Moves the texts of a request just made to `text`, which is as large as the stream's own. */
void stream_keep(const struct stream *s, struct st_req *r, char *text);
/* The model's answer, so that most requests are not stale. */
void stream_learn(struct stream *s, const struct st_ack *ack);
