/* The log of events: which requests log what, in which order, and that a request which changes nothing logs
 * nothing. `ask` sends each request twice and compares all rows, so a repetition that logs again fails. */
#include "conformance.h"
#include "port/read.h"

/* The events after a number as text: "NUMBER:TYPE", separated by spaces. */
static void expect_events_at(const char *file, int line, struct fixture *f, uint64_t after, const char *want)
{
	struct reader *r = NULL;
	struct arena a = { 0 };
	struct read_events x = { 0 };
	struct why why;
	struct buf got = { 0 };
	CHECK_INT(f->ops->reader(f->store, &r, &why), OK);
	CHECK_INT(read_events(r, &(struct event_filter){ .after = after }, &a, &x, &why), OK);
	for (unsigned i = 0; i < x.n; i++)
		buf_addf(&got, "%s%llu:%u", i ? " " : "", (unsigned long long)x.item[i].number,
			 x.item[i].type);
	check_str(file, line, buf_str(&got), str_of(want), "events");
	CHECK_INT(x.searched, x.last);
	reader_close(r);
	arena_free(&a);
	buf_free(&got);
}
#define EXPECT_EVENTS(f, after, want) expect_events_at(__FILE__, __LINE__, f, after, want)

/* The names in these tests are the numbers of enum event_type. */
static_assert(EVENT_SCHEDULE_CREATED == 0 && EVENT_SCHEDULE_TRIGGERED == 3 && EVENT_SCHEDULE_SKIPPED == 6 &&
		      EVENT_RUN_CLAIMED == 8 && EVENT_RUN_FINISHED == 11 && EVENT_PROBLEM_OPENED == 15 &&
		      EVENT_HOLD_SET == 18 && EVENT_MESSAGE_CREATED == 20 && EVENT_CUSTOM == 23,
	      "the numbers are stored");

ON_EACH(changes_of_a_schedule_are_events)
{
	struct st_ack ack = ask(f, req_put(5, 0, 10));
	CHECK_INT(ack.event, 1);
	CHECK_INT(ask(f, req_put(5, 1, 11)).event, 2);
	CHECK_INT(ask_unchanged(f, req_put(5, 7, 12)).event, 0); /* stale */
	CHECK_INT(ask(f, req_drop(5, 2, 13)).event, 3);
	EXPECT_EVENTS(f, 0, "1:0 2:1 3:2");
	EXPECT(f, "event",
	       "1 0 5 1 0 0 0 0 100 0 0 NULL|2 1 5 2 0 0 0 0 100 0 0 NULL|3 2 5 2 0 0 0 0 100 0 0 NULL");
}

ON_EACH(a_run_is_claimed_started_and_finished)
{
	ask(f, req_put(5, 0, 10));
	CHECK_INT(ask(f, req_occ(5, 1, 1, 100)).event, 3); /* two events by one request */
	CHECK_INT(ask(f, req_started(5, 1, 1, 103)).event, 4);
	CHECK_INT(ask_unchanged(f, req_started(5, 1, 1, 103)).event, 0);
	CHECK_INT(ask(f, req_finish(5, 1, 1, RUN_RETRYING, 104)).event, 5);
	CHECK_INT(ask(f, req_started(5, 1, 2, 105)).event, 6);
	CHECK_INT(ask(f, req_finish(5, 1, 2, RUN_FINISHED, 106)).event, 8);
	CHECK_INT(ask_unchanged(f, req_finish(5, 1, 2, RUN_FINISHED, 107)).event, 0); /* another end: lost */
	EXPECT_EVENTS(f, 1, "2:8 3:3 4:9 5:10 6:9 7:11 8:4");
	EXPECT(f, "event",
	       "1 0 5 1 0 0 0 0 100 0 0 NULL|2 8 5 1 1 0 0 0 100 101 0 NULL|3 3 5 1 1 0 0 0 100 101 0 NULL|"
	       "4 9 5 1 1 1 0 0 100 0 0 NULL|5 10 5 1 1 1 0 1 100 0 0 NULL|6 9 5 1 1 2 0 0 100 0 0 NULL|"
	       "7 11 5 1 1 2 0 1 100 0 0 NULL|8 4 5 1 1 2 0 1 100 0 0 NULL");
}

ON_EACH(a_pending_run_is_triggered_by_its_verdict)
{
	struct st_req r = req_occ(5, 1, 1, 100);
	ask(f, req_put(5, 0, 10));
	r.run.state = RUN_PENDING;
	ask(f, r);
	EXPECT_EVENTS(f, 1, "2:8");
	ask(f, req_verdict(5, 1, RUN_CLAIMED, 0));
	EXPECT_EVENTS(f, 2, "3:3");
	r = req_occ(5, 1, 2, 110);
	r.run.state = RUN_PENDING;
	ask(f, r);
	ask(f, req_verdict(5, 2, RUN_SKIPPED, 10));
	EXPECT_EVENTS(f, 3, "4:8 5:6");
	r = req_occ(5, 1, 3, 120);
	r.run.state = RUN_MISSED;
	ask(f, r);
	EXPECT_EVENTS(f, 5, "6:7");
	CHECK_INT(ask_unchanged(f, req_occ(5, 1, 9, 120)).event, 0); /* lost: the time has a record */
}

ON_EACH(a_published_event_is_between_trigger_and_end)
{
	struct st_req r = req_occ(5, 1, 1, 100);
	ask(f, req_put(5, 0, 10));
	r.run.state = RUN_FINISHED;
	r.publishes = true;
	CHECK_INT(ask(f, r).event, 6);
	EXPECT_EVENTS(f, 1, "2:8 3:3 4:23 5:11 6:4");
	EXPECT_EVENTS(f, 4, "5:11 6:4"); /* in the middle of a request's events */
	r = req_occ(5, 1, 2, 110);
	r.run.state = RUN_FINISHED;
	CHECK_INT(ask(f, r).event, 10);
	EXPECT_EVENTS(f, 6, "7:8 8:3 9:11 10:4");
	ask(f, req_occ(5, 1, 3, 120));
	r = req_finish(5, 3, 0, RUN_FINISHED, 121);
	r.publishes = true;
	ask(f, r);
	EXPECT_EVENTS(f, 12, "13:23 14:11 15:4");
}

ON_EACH(ranges_holds_and_problems_are_events)
{
	struct st_req r = req_range(5, 1, 100, 200);
	ask(f, req_put(5, 0, 10));
	ask(f, r);
	CHECK_INT(ask_unchanged(f, req_range(5, 1, 120, 150)).event, 0); /* it is covered */
	r = req_range(5, 1, 300, INT64_MAX);
	r.range.state = RUN_SKIPPED;
	r.expires = true;
	ask(f, r);
	EXPECT_EVENTS(f, 1, "2:7 3:5");
	ask(f, req_hold(3, 22, 500));
	ask(f, req_hold(3, 22, 600));
	ask(f, req_hold(3, 0, 0));
	CHECK_INT(ask_unchanged(f, req_hold(3, 0, 0)).event, 0);
	EXPECT_EVENTS(f, 3, "4:18 5:18 6:19");
	r = req_problem(PROBLEM_OPEN, 0, "cause", 20);
	r.problem.text = STR("it broke");
	ask(f, r);
	r.at = AT(21);
	r.problem.text = STR("it broke again"); /* counts, and replaces the text of the problem alone */
	CHECK_INT(ask(f, r).event, 0);
	ask(f, req_problem(PROBLEM_ACK, 1, NULL, 22));
	ask(f, req_problem(PROBLEM_CLOSE, 1, NULL, 23));
	CHECK_INT(ask_unchanged(f, req_problem(PROBLEM_CLOSE, 1, NULL, 24)).event, 0);
	EXPECT_EVENTS(f, 6, "7:15 8:16 9:17");
	EXPECT(f, "event",
	       "1 0 5 1 0 0 0 0 100 0 0 NULL|2 7 5 1 0 0 14 0 100 200 0 NULL|"
	       "3 5 5 1 0 0 14 0 300 " NEVER_S " 0 NULL|4 18 0 0 0 0 22 0 500 0 3 NULL|"
	       "5 18 0 0 0 0 22 0 600 0 3 NULL|6 19 0 0 0 0 0 0 0 0 3 NULL|7 15 0 0 0 0 0 0 0 0 1 'it broke'|"
	       "8 16 0 0 0 0 0 0 0 0 1 NULL|9 17 0 0 0 0 0 0 0 0 1 NULL");
}

ON_EACH(reports_are_events)
{
	struct st_req r = { .op = ST_REPORT, .lane = LANE_USER, .at = AT(150) };
	r.run = (struct run_row){ .run = 1, .attempt = 2 };
	r.report = (struct report_request){ EVENT_RUN_STEP, STR("ran the tests") };
	CHECK_UNCHANGED(f, r, ST_REFUSED); /* no such run */
	ask(f, req_put(5, 0, 10));
	ask(f, req_occ(5, 1, 1, 100));
	CHECK_INT(ask(f, r).event, 4);
	r.at = AT(151);
	r.report.type = EVENT_RUN_NOTE;
	CHECK_INT(ask(f, r).event, 5);
	r.report.type = EVENT_CUSTOM;
	CHECK_UNCHANGED(f, r, ST_REFUSED);
	r.report = (struct report_request){ EVENT_RUN_STEP, { 0 } };
	CHECK_UNCHANGED(f, r, ST_REFUSED);
	EXPECT_EVENTS(f, 3, "4:12 5:13");
}

ON_EACH(messages_are_events)
{
	const struct message_row rows[] = {
		{ .sid = 5, .run = 1, .origin = STR("o"), .target = STR("t"), .body = STR("b") },
		{ .silent = true, .origin = STR("o"), .target = STR("t"), .body = STR("b") },
	};
	struct st_req r = { .op = ST_MESSAGES, .lane = LANE_FINISH, .at = AT(50) };
	r.messages = (struct message_batch){ .message = rows, .n = 2 };
	CHECK_INT(ask(f, r).event, 1);
	for (uint64_t i = 1; i <= 2; i++) {
		struct st_req d = { .op = ST_DELIVERY, .lane = LANE_FINISH, .at = AT(60) };
		d.delivery = (struct message_row){ .number = i, .attempts = 1, .silent = rows[i - 1].silent };
		CHECK_INT(ask(f, d).event, 0); /* it is tried again */
		d.at = AT(61);
		d.delivery.attempts = 2;
		d.delivery.state = i == 1 ? MESSAGE_DELIVERED : MESSAGE_GIVEN_UP;
		CHECK(ask(f, d).event);
	}
	EXPECT(f, "event",
	       "1 20 5 0 1 0 0 0 0 0 1 NULL|2 21 5 0 1 0 0 0 0 0 1 NULL|3 22 0 0 0 0 0 0 0 0 2 NULL");
}

ON_EACH(pruned_events_are_gone_and_their_numbers_too)
{
	struct st_req prune = req_prune(PRUNE_EVENTS, 0, INT64_MAX - 1);
	ask(f, req_put(5, 0, 10));
	for (uint64_t i = 1; i <= 3; i++)
		ask(f, req_occ(5, 1, i, (int64_t)(100 * i))); /* 2 and 3, 4 and 5, 6 and 7 */
	prune.at = AT(0);
	CHECK_UNCHANGED(f, prune, ST_OK); /* all are younger */
	prune.at = AT(INT64_MAX - 1);
	prune.prune.last = 4; /* the events of one request are pruned together */
	CHECK_RES(f, prune, ST_OK);
	EXPECT_EVENTS(f, 0, "6:8 7:3");
	prune.prune.last = INT64_MAX;
	CHECK_RES(f, prune, ST_OK);
	EXPECT_EVENTS(f, 0, "");
	fixture_reopen(f);
	CHECK_INT(ask(f, req_put(6, 0, 10)).event, 8);
}

ON_EACH(events_are_filtered)
{
	struct reader *r = NULL;
	struct arena a = { 0 };
	struct read_events x = { 0 };
	struct why why;
	for (uint64_t sid = 5; sid <= 6; sid++) {
		ask(f, req_put(sid, 0, 10));
		ask(f, req_occ(sid, 1, sid, 100)); /* 1 to 3, and 4 to 6 */
	}
	CHECK_INT(f->ops->reader(f->store, &r, &why), OK);
	const struct {
		struct event_filter filter;
		uint64_t first, n, searched;
	} rows[] = {
		{ { .sid = 6 }, 4, 3, 6 },
		{ { .types = 1u << EVENT_SCHEDULE_TRIGGERED }, 3, 2, 6 },
		{ { .types = 1u << EVENT_SCHEDULE_TRIGGERED, .limit = 1 }, 3, 1, 3 },
		{ { .types = 1u << EVENT_SCHEDULE_TRIGGERED, .after = 3 }, 6, 1, 6 },
		{ { .types = 1u << EVENT_CUSTOM }, 0, 0, 6 },
		{ { .sid = 7 }, 0, 0, 6 },
		{ { .after = 6 }, 0, 0, 6 },
		{ { .after = 99 }, 0, 0, 6 },
		{ { .limit = 4 }, 1, 4, 4 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		CHECK_INT(read_events(r, &rows[i].filter, &a, &x, &why), OK);
		CHECK_INT(x.n, rows[i].n);
		CHECK(!x.n || x.item[0].number == rows[i].first);
		CHECK_INT(x.searched, rows[i].searched);
		CHECK_INT(x.oldest, 1);
		CHECK_INT(x.last, 6);
	}
	reader_close(r);
	arena_free(&a);
}
