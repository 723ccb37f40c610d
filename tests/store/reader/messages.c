/* News and messages. */
#include "reader.h"

TEST_ON_EACH(news_and_messages)
{
	struct scene s;
	struct read_news news;
	struct read_messages got;
	struct message_row one;
	struct wall next;
	bool yes;
	scene_open(&s);
	struct st_req r = req_put(5, 0, 10);
	scene_ask(&s, r);
	for (uint64_t n = 1; n <= 3; n++) {
		r = req_occ(5, 1, n, 100 * (int64_t)n);
		r.news = (uint8_t)n;
		scene_ask(&s, r);
	}
	CHECK_INT(read_news(s.r, 2, &s.a, &news, &s.why), OK);
	CHECK(news.n == 2 && news.more && news.item[1].number == 2 && news.item[1].run == 2);
	CHECK(news.item[1].what == 2 && news.item[1].sid == 5);
#define MESSAGE(...)                                                                                         \
	{                                                                                                    \
		.origin = STR("o"), .target = STR("t"), .body = STR("b"), __VA_ARGS__                        \
	}
	const struct message_row all[] = {
		MESSAGE(.run = 7, .receiver = 1, .next = AT(30), .kind = 4, .sid = 5),
		MESSAGE(.run = 7, .receiver = 2, .next = AT(20), .kind = 4, .sid = 5),
		MESSAGE(.receiver = 1, .next = AT(10)), MESSAGE(.receiver = 3, .next = AT(40)),
		MESSAGE(.receiver = 4, .state = MESSAGE_GONE, .result = STR("410"))
	};
	r = (struct st_req){ .op = ST_MESSAGES, .lane = LANE_FINISH, .at = AT(1), .messages = { 3, all, 5 } };
	scene_ask(&s, r);
	CHECK_INT(read_news(s.r, 2, &s.a, &news, &s.why), OK);
	CHECK(!news.n && !news.more);
	CHECK_INT(read_messages_of(s.r, 7, 0, &s.a, &got, &s.why), OK);
	CHECK(got.n == 2 && got.item[0].number == 1 && got.item[1].receiver == 2 && !got.item[0].result.p);
	CHECK_INT(read_messages_of(s.r, 0, 0, &s.a, &got, &s.why), OK);
	CHECK_INT(got.n, 0); /* 0 is no run */
	const uint64_t busy[] = { 1, 2, 3 };
	CHECK_INT(read_messages_due(s.r, AT(30), (struct receiver_list){ 0 }, 0, &s.a, &got, &s.why), OK);
	CHECK(got.n == 3 && got.item[0].number == 3 && got.item[2].number == 1);
	CHECK_INT(read_messages_due(s.r, AT(30), (struct receiver_list){ busy, 1 }, 0, &s.a, &got, &s.why),
		  OK);
	CHECK(got.n == 1 && got.item[0].number == 2);
	CHECK_INT(read_message_next(s.r, (struct receiver_list){ busy, 2 }, &next, &s.why), OK);
	CHECK_INT(next.us, 40);
	CHECK_INT(read_message_next(s.r, (struct receiver_list){ busy, 3 }, &next, &s.why), OK);
	CHECK_INT(next.us, INT64_MAX);
	CHECK_INT(read_messages(s.r, 0, 2, &s.a, &got, &s.why), OK);
	CHECK(got.n == 2 && got.more && got.item[0].number == 5 && str_eq(got.item[0].result, STR("410")));
	CHECK_INT(read_message(s.r, 4, &s.a, &one, &s.why), OK);
	CHECK(one.receiver == 3 && str_eq(one.target, STR("t")));
	CHECK_INT(read_message(s.r, 6, &s.a, &one, &s.why), E_NOTFOUND);
	CHECK_INT(read_message_after(s.r, 5, 4, 1, &yes, &s.why), OK);
	CHECK(yes);
	CHECK_INT(read_message_after(s.r, 5, 4, 2, &yes, &s.why), OK);
	CHECK(!yes);
	CHECK_INT(read_receiver_gone(s.r, STR("o"), &yes, &s.why), OK);
	CHECK(yes);
	CHECK_INT(read_receiver_gone(s.r, STR("p"), &yes, &s.why), OK);
	CHECK(!yes);
	scene_close(&s);
}
