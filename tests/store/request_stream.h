#pragma once
/* An endless stream of random requests: every operation, repeated requests, old revs, runs and schedules that
 * do not exist, followers and ends, numbers that collide, owners whose epoch has ended. There are few
 * schedules and times, so that requests often concern the same rows. The same seed and the same answers give
 * the same stream. */
#include "port/store.h"

enum { STREAM_SCHEDS = 60, STREAM_HISTORY = 512, STREAM_PARTS = 3 };

struct request_stream {
	uint64_t random, tag, run, ends, problems, notes, events;
	unsigned scheds;  /* at most STREAM_SCHEDS */
	bool one_lane;    /* false: each schedule has a lane, so that its requests keep their order */
	unsigned n, runs; /* number of entries in past and recent so far */
	struct st_req past[STREAM_HISTORY];
	struct run_row recent[STREAM_HISTORY]; /* only the members run and sid are set */
	uint32_t rev[STREAM_SCHEDS + 1];
	uint64_t seen[STREAM_SCHEDS + 1];
	uint64_t epoch[STREAM_PARTS]; /* of the parts, as far as known; schedule n is in part n % STREAM_PARTS
				       */
	uint32_t state_rev, agent_rev;
	int64_t now;
	char text[64];
};

void stream_init(struct request_stream *s, uint64_t seed, bool one_lane);
/* The texts of the request are valid until the next call. */
struct st_req stream_next(struct request_stream *s);
/* Copies the texts of the last request to `text`, which must be as large as the stream's buffer. */
void stream_copy_texts(const struct request_stream *s, struct st_req *r, char *text);
/* Takes the model's answer into account, so that most requests are not stale. */
void stream_learn(struct request_stream *s, const struct st_ack *ack);
