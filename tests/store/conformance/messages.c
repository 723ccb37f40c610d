/* News, ST_MESSAGES and ST_DELIVERY. */
#include "conformance.h"

/* Returns the request with news. */
static struct st_req with_news(struct st_req r, unsigned what)
{
	r.news = (uint8_t)what;
	return r;
}

ON_EACH(news_are_written_with_their_cause)
{
	ask(f, with_news(req_put(5, 0, 10), 255)); /* a put writes no news */
	ask(f, with_news(req_occ(5, 1, 7, 100), 1));
	ask(f, with_news(req_started(5, 7, 1, 110), 2));
	ask(f, with_news(req_started(5, 7, 1, 111), 2)); /* the attempt was seen before */
	ask(f, with_news(req_finish(5, 7, 1, RUN_RETRYING, 120), 0));
	ask(f, with_news(req_finish(5, 7, 2, RUN_FINISHED, 130), 4));
	ask(f, req_occ(5, 1, 8, 200));
	ask(f, with_news(req_verdict(5, 8, RUN_MISSED, 3), 8));
	ask(f, with_news(moving(req_range(5, 1, 300, 400), 500, 400), 16));
	ask(f, with_news(moving(req_range(5, 1, 410, 500), 600, 500), 16)); /* extends the range */
	ask(f, with_news(req_problem(PROBLEM_OPEN, 0, "cause", 20), 32));
	ask(f, with_news(req_problem(PROBLEM_OPEN, 0, "cause", 21), 32)); /* opened again */
	ask(f, with_news(req_problem(PROBLEM_CLOSE, 0, "cause", 22), 64));
	EXPECT(f, "news",
	       "1 1 0 5 7 0 0 0|2 2 1 5 7 0 0 0|3 4 2 5 7 0 0 0|4 8 0 5 8 0 0 0|5 16 0 5 0 0 300 400|"
	       "6 16 0 5 0 0 410 500|7 32 0 0 0 1 0 0|8 64 0 0 0 1 0 0");
}

ON_EACH(requests_without_effect_write_no_news)
{
	ask(f, req_put(5, 0, 10));
	ask(f, with_news(req_occ(5, 2, 7, 100), 1)); /* stale */
	ask(f, req_occ(5, 1, 7, 100));
	ask(f, with_news(req_occ(5, 1, 8, 100), 1));                 /* lost */
	ask(f, with_news(req_occ(6, 1, 9, 100), 1));                 /* refused */
	ask(f, with_news(req_started(5, 6, 1, 1), 1));               /* no such run */
	ask(f, with_news(req_finish(5, 7, 1, RUN_CLAIMED, 120), 1)); /* not an end */
	ask(f, req_finish(5, 7, 1, RUN_FINISHED, 120));
	ask(f, with_news(req_finish(5, 7, 1, RUN_FINISHED, 121), 1)); /* the run has another end */
	ask(f, with_news(req_verdict(5, 7, RUN_MISSED, 3), 1));       /* too late */
	ask(f, with_news(req_problem(PROBLEM_CLOSE, 0, "nothing", 22), 1));
	EXPECT(f, "news", "");
}

ON_EACH(a_replaced_record_is_news_again)
{
	ask(f, req_put(5, 0, 10));
	struct st_req missed = req_occ(5, 1, 7, 100), filled = req_occ(5, 1, 8, 100);
	missed.run.state = RUN_MISSED;
	filled.run.kind = KIND_BACKFILL;
	ask(f, with_news(missed, 4));
	ask(f, with_news(filled, 2));
	EXPECT(f, "news", "1 4 0 5 7 0 0 0|2 2 0 5 8 0 0 0");
}

static struct st_req req_messages(uint64_t upto, const struct message_row *message, unsigned n, int64_t at)
{
	return (struct st_req){
		.op = ST_MESSAGES, .lane = LANE_FINISH, .at = AT(at), .messages = { upto, message, n }
	};
}

static struct st_req req_delivery(uint64_t number, unsigned attempts, enum message_state state, int64_t next,
				  int64_t at)
{
	return (struct st_req){ .op = ST_DELIVERY,
				.lane = LANE_FINISH,
				.at = AT(at),
				.delivery = { .number = number,
					      .attempts = attempts,
					      .state = (uint8_t)state,
					      .next = AT(next),
					      .result = STR("so") } };
}

#define MESSAGE(...)                                                                                         \
	(struct message_row)                                                                                 \
	{                                                                                                    \
		.origin = STR("o"), .target = STR("t"), .body = STR("b"), __VA_ARGS__                        \
	}

static void three_news(struct fixture *f)
{
	ask(f, req_put(5, 0, 10));
	for (uint64_t n = 1; n <= 3; n++)
		ask(f, with_news(req_occ(5, 1, n, 100 * (int64_t)n), 1));
}

ON_EACH(news_become_messages_in_one_request)
{
	three_news(f);
	const struct message_row two[] = { MESSAGE(.kind = 1, .run = 1, .sid = 5, .receiver = 9,
						   .next = AT(50)),
					   MESSAGE(.kind = 2, .problem = 4, .state = MESSAGE_DELIVERED) };
	CHECK_RES(f, req_messages(2, two, 2, 40), ST_OK);
	EXPECT(f, "news", "3 1 0 5 3 0 0 0");
	EXPECT(f, "message",
	       "1 1 0 0 5 1 0 0 9 40 0 50 'o' 't' 'b' NULL|2 2 1 0 0 0 4 0 0 40 0 0 'o' 't' 'b' NULL");
	/* The news are gone, so the request is a repetition. */
	CHECK_UNCHANGED(f, req_messages(2, two, 1, 41), ST_OK);
	CHECK_RES(f, req_messages(9, NULL, 0, 42), ST_OK); /* these news become no messages */
	EXPECT(f, "news", "");
	CHECK_RES(f, req_messages(0, two, 1, 43), ST_OK); /* messages without news */
	ask(f, with_news(req_occ(5, 1, 4, 400), 1));
	EXPECT(f, "news", "4 1 0 5 4 0 0 0"); /* numbers are not reused */
}

ON_EACH(messages_are_joined_by_number)
{
	three_news(f);
	const struct message_row four[] = { MESSAGE(.kind = 9),
					    MESSAGE(.run = 1, .joined = 1, .state = MESSAGE_JOINED),
					    MESSAGE(.kind = 8),
					    MESSAGE(.run = 2, .joined = 1, .state = MESSAGE_JOINED) };
	CHECK_RES(f, req_messages(3, four, 4, 40), ST_OK);
	EXPECT(f, "message",
	       "1 9 0 0 0 0 0 0 0 40 0 0 'o' 't' 'b' NULL|2 0 4 0 0 1 0 1 0 40 0 0 'o' 't' 'b' NULL|"
	       "3 8 0 0 0 0 0 0 0 40 0 0 'o' 't' 'b' NULL|4 0 4 0 0 2 0 3 0 40 0 0 'o' 't' 'b' NULL");
	CHECK_UNCHANGED(f, req_messages(0, four + 1, 1, 50), ST_REFUSED); /* there is no message to join */
}

ON_EACH(invalid_messages_are_refused)
{
	char text[STORE_MESSAGE_BYTES_MAX + 2];
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = 0;
	struct message_row n = MESSAGE(.kind = 1);
	static struct message_row many[STORE_MESSAGES_MAX + 1];
	for (unsigned i = 0; i < ARRAY_LEN(many); i++)
		many[i] = n;
	CHECK_UNCHANGED(f, req_messages(0, many, ARRAY_LEN(many), 9), ST_REFUSED);
	CHECK_UNCHANGED(f, req_messages(0, NULL, 0, 9), ST_REFUSED);
	n.body = str_of(text);
	CHECK_UNCHANGED(f, req_messages(0, &n, 1, 9), ST_REFUSED);
	n = MESSAGE(.state = MESSAGE_STATES);
	CHECK_UNCHANGED(f, req_messages(0, &n, 1, 9), ST_REFUSED);
	n = MESSAGE(.kind = 1);
	n.target = (struct str){ 0 };
	CHECK_UNCHANGED(f, req_messages(0, &n, 1, 9), ST_REFUSED);
}

ON_EACH(delivery_attempts_come_in_order)
{
	const struct message_row n = MESSAGE(.run = 7, .next = AT(10));
	CHECK_UNCHANGED(f, req_delivery(1, 1, MESSAGE_WAITING, 20, 11), ST_REFUSED);
	CHECK_RES(f, req_messages(0, &n, 1, 10), ST_OK);
	CHECK_UNCHANGED(f, req_delivery(1, 2, MESSAGE_WAITING, 20, 11), ST_LOST);
	CHECK_RES(f, req_delivery(1, 1, MESSAGE_WAITING, 20, 11), ST_OK);
	EXPECT(f, "message", "1 0 0 1 0 7 0 0 0 10 11 20 'o' 't' 'b' 'so'");
	CHECK_RES(f, req_delivery(1, 1, MESSAGE_WAITING, 30, 12), ST_OK); /* postponed without an attempt */
	CHECK_RES(f, req_delivery(1, 2, MESSAGE_DELIVERED, 0, 21), ST_OK);
	CHECK_UNCHANGED(f, req_delivery(1, 3, MESSAGE_GIVEN_UP, 0, 22), ST_LOST);
	EXPECT(f, "message", "1 0 1 2 0 7 0 0 0 10 21 0 'o' 't' 'b' 'so'");
}

ON_EACH(messages_are_pruned_with_their_run_or_when_finished)
{
	const struct message_row all[] = { MESSAGE(.run = 7), MESSAGE(.run = 9), MESSAGE(.kind = 1),
					   MESSAGE(.kind = 2), MESSAGE(.kind = 3) };
	CHECK_RES(f, req_messages(0, all, ARRAY_LEN(all), 10), ST_OK);
	ask(f, req_delivery(3, 1, MESSAGE_GIVEN_UP, 0, 20));
	ask(f, req_delivery(4, 1, MESSAGE_DELIVERED, 0, 40));
	CHECK_RES(f, prune_runs(1, 8, 30), ST_OK);
	EXPECT(f, "message",
	       "2 0 0 0 0 9 0 0 0 10 0 0 'o' 't' 'b' NULL|4 2 1 1 0 0 0 0 0 10 40 0 'o' 't' 'b' 'so'|"
	       "5 3 0 0 0 0 0 0 0 10 0 0 'o' 't' 'b' NULL");
}
