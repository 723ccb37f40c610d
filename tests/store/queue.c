/* The request queue: limits, lanes, order. */
#include "requests.h"
#include "store/request_queue.h"
#include "test.h"

TEST(queue_limits_bytes_of_text)
{
	struct request_queue q;
	struct st_ack ack;
	struct queue_entry *taken[4];
	bool end;
	char text[60] = { 0 };
	CHECK_INT(queue_init(&q, 10, 100), OK);
	struct st_req r = req_put(1, 0, 10);
	r.document = (struct str){ text, sizeof text };
	CHECK_INT(queue_submit(&q, &r), OK);
	CHECK_INT(queue_submit(&q, &r), E_LIMIT);
	r.document.n = 40;
	CHECK_INT(queue_submit(&q, &r), OK);
	r.document.n = 1;
	CHECK_INT(queue_submit(&q, &r), E_LIMIT);
	r.document.n = 0;
	CHECK_INT(queue_submit(&q, &r), OK);
	CHECK_INT(queue_take(&q, taken, 4, -1, &end), 3);
	queue_answer(&q, taken, 3);
	while (queue_collect(&q, &ack, 1))
		;
	static char large[101];
	/* A request of any size is accepted if the queue is empty. */
	r.document = (struct str){ large, sizeof large };
	CHECK_INT(queue_submit(&q, &r), OK);
	queue_destroy(&q);
}

/* The next request waits until the whole group is written, so a group must not have many bulk requests. */
TEST(queue_takes_few_bulk_requests_at_a_time)
{
	struct request_queue q;
	struct queue_entry *taken[STORE_GROUP_MAX];
	bool end;
	CHECK_INT(queue_init(&q, 1000, 1000), OK);
	for (unsigned i = 0; i < 3 * STORE_BULK_MAX; i++) {
		struct st_req r = { .op = ST_HOLD, .lane = LANE_BULK, .tag = i };
		CHECK_INT(queue_submit(&q, &r), OK);
	}
	CHECK_INT(queue_submit(&q, &(struct st_req){ .op = ST_HOLD, .lane = LANE_CLAIM, .tag = 999 }), OK);
	for (unsigned group = 0, next = 0; group < 3; group++) {
		unsigned n = queue_take(&q, taken, STORE_GROUP_MAX, -1, &end), first = group == 0;
		CHECK_INT(n, STORE_BULK_MAX + first);
		CHECK(!first || taken[0]->req.tag == 999);
		for (unsigned i = 0; i < n; i++) {
			CHECK(i < first || taken[i]->req.tag == next++);
			free(taken[i]);
		}
	}
	queue_destroy(&q);
}

/* A group of 32 reserves two places for each lane with requests. */
TEST(queue_serves_higher_lanes_first_and_starves_none)
{
	enum { EACH = 100 };
	struct request_queue q;
	struct queue_entry *taken[32];
	unsigned want[LANES] = { 26, 2, 2, 2 }, next[LANES] = { 0 }, total = 0;
	bool end;
	CHECK_INT(queue_init(&q, 1000, 1000), OK);
	for (unsigned i = 0; i < EACH; i++)
		for (unsigned lane = LANES; lane-- > 0;) {
			struct st_req r = { .op = ST_HOLD, .lane = (uint8_t)lane, .tag = i };
			CHECK_INT(queue_submit(&q, &r), OK);
		}
	for (unsigned group = 0; total < LANES * EACH; group++) {
		unsigned n = queue_take(&q, taken, 32, -1, &end), got[LANES] = { 0 };
		CHECK(n > 0 && !end);
		for (unsigned i = 0; i < n; i++) {
			unsigned lane = taken[i]->req.lane;
			CHECK(i == 0 || taken[i - 1]->req.lane <= lane);
			/* Requests of a lane keep the order of submission. */
			CHECK_INT(taken[i]->req.tag, next[lane]++);
			got[lane]++;
		}
		for (unsigned i = 0; i < n; i++)
			free(taken[i]);
		for (unsigned lane = 0; lane < LANES && group < 3; lane++)
			CHECK_INT(got[lane], want[lane]);
		total += n;
	}
	CHECK_INT(queue_take(&q, taken, 32, 1, &end), 0);
	CHECK(!end);
	queue_close(&q);
	CHECK_INT(queue_take(&q, taken, 32, -1, &end), 0);
	CHECK(end);
	CHECK(!queue_pause(&q, 100000));
	queue_destroy(&q);
}
