/* Events as JSON, and the choice of types. */
#include "base/json.h"
#include "core/event/event.h"
#include "core/model.h"
#include "test.h"

static const struct event_texts texts = { .schedule = STR("daily"),
					  .expression = STR("0 8 * * *"),
					  .end_date = STR("2026-12-01"),
					  .name = STR("deployed"),
					  .data = STR("{\"to\":\"prod\"}"),
					  .subject = STR("daily"),
					  .by = STR("ann"),
					  .about = STR("run.failed"),
					  .to = STR("webhook"),
					  .result = STR("200") };

static const struct event_row row = { .number = 17,
				      .at = { 1794816000123456 },
				      .sid = 5,
				      .rev = 1,
				      .run = 7,
				      .attempt = 2,
				      .outcome = OUTCOME_FAILED,
				      .reason = REASON_EXIT,
				      .first = { 1794816000000000 },
				      .last = { 1794816060000000 },
				      .subject = 3 };

TEST(envelope_and_data)
{
	static const struct {
		int line;
		enum event_type type;
		const char *want;
	} rows[] = {
		{ __LINE__, EVENT_SCHEDULE_CREATED,
		  "\"schedule:created\",\"data\":{\"scheduleId\":\"daily\",\"missionId\":null,"
		  "\"nextRunAt\":\"2026-11-16T08:00:00.000Z\"}}" },
		{ __LINE__, EVENT_SCHEDULE_TRIGGERED,
		  "\"schedule:triggered\",\"data\":{\"scheduleId\":\"daily\",\"missionId\":null,"
		  "\"expression\":\"0 8 * * *\"}}" },
		{ __LINE__, EVENT_SCHEDULE_EXPIRED,
		  "\"schedule:expired\",\"data\":{\"scheduleId\":\"daily\",\"missionId\":null,"
		  "\"endDate\":\"2026-12-01\"}}" },
		{ __LINE__, EVENT_SCHEDULE_SKIPPED,
		  "\"schedule:skipped\",\"data\":{\"scheduleId\":\"daily\",\"missionId\":null,\"reason\":"
		  "\"exit\","
		  "\"first\":\"2026-11-16T08:00:00.000Z\",\"last\":\"2026-11-16T08:00:00.000Z\",\"run\":"
		  "\"r7\"}}" },
		{ __LINE__, EVENT_RUN_CLAIMED,
		  "\"run:claimed\",\"data\":{\"run\":\"r7\",\"schedule\":\"daily\",\"attempt\":2,"
		  "\"nominal\":\"2026-11-16T08:00:00.000Z\",\"outcome\":null,\"reason\":null,"
		  "\"due\":\"2026-11-16T08:01:00.000Z\"}}" },
		{ __LINE__, EVENT_RUN_FINISHED,
		  "\"run:finished\",\"data\":{\"run\":\"r7\",\"schedule\":\"daily\",\"attempt\":2,"
		  "\"nominal\":\"2026-11-16T08:00:00.000Z\",\"outcome\":\"failed\",\"reason\":\"exit\"}}" },
		{ __LINE__, EVENT_PROBLEM_ACKNOWLEDGED,
		  "\"problem:acknowledged\",\"data\":{\"problem\":3,\"subject\":\"daily\",\"by\":\"ann\","
		  "\"note\":null}}" },
		{ __LINE__, EVENT_CUSTOM, "\"custom:deployed\",\"data\":{\"to\":\"prod\"}}" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct event_row e = row;
		struct buf got = { 0 }, want = { 0 };
		e.type = (uint8_t)rows[i].type;
		event_write(&got, &e, &texts);
		buf_addf(&want, "{\"seq\":17,\"ts\":\"2026-11-16T08:00:00.123Z\",\"type\":%s", rows[i].want);
		check_str(__FILE__, rows[i].line, buf_str(&got), buf_str(&want), "event");
		buf_free(&got);
		buf_free(&want);
	}
}

TEST(every_type_is_valid_json_with_and_without_texts)
{
	static const struct event_texts none;
	for (unsigned type = 0; type < EVENT_TYPES; type++) {
		const struct event_texts *each[] = { &texts, &none };
		for (unsigned i = 0; i < ARRAY_LEN(each); i++) {
			struct event_row e = i ? (struct event_row){ .number = 1 } : row;
			struct buf got = { 0 };
			struct arena a = { 0 };
			struct val v;
			e.type = (uint8_t)type;
			event_write(&got, &e, each[i]);
			test_case("%s", event_forms[type].name);
			CHECK_INT(json_read(buf_str(&got), &a, &v, NULL), OK);
			arena_free(&a);
			buf_free(&got);
		}
	}
	test_case(NULL);
}

TEST(data_is_camel_case_for_schedules_only)
{
	for (unsigned type = 0; type < EVENT_TYPES; type++) {
		const struct event_form *k = &event_forms[type];
		bool of_schedule = strncmp(k->name, "schedule:", 9) == 0;
		CHECK(strchr(k->name, ':'));
		CHECK(k->cause[0]);
		for (unsigned i = 0; i < EVENT_MEMBERS_MAX && k->member[i].name; i++)
			CHECK(!strchr(k->member[i].name, of_schedule ? '_' : 'I'));
	}
}

TEST(types_are_chosen_by_name_and_by_group)
{
	static const struct {
		int line;
		const char *list, *type;
		bool want;
	} rows[] = {
		{ __LINE__, "", "run:failed", true },
		{ __LINE__, "run:failed", "run:failed", true },
		{ __LINE__, "run:failed", "run:finished", false },
		{ __LINE__, "run:*", "run:finished", true },
		{ __LINE__, "run:*", "problem:opened", false },
		{ __LINE__, "problem:*, run:failed", "run:failed", true },
		{ __LINE__, "custom:deployed", "custom:deployed", true },
		{ __LINE__, "custom:deployed", "custom:other", false },
		{ __LINE__, "custom:*", "custom:other", true },
	};
	struct event_choice c;
	struct why why;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		test_case("line %d", rows[i].line);
		CHECK_INT(event_choose(str_of(rows[i].list), &c, &why), OK);
		CHECK(event_is_chosen(&c, str_of(rows[i].type)) == rows[i].want);
	}
	test_case(NULL);
	CHECK_INT(event_choose(STR("custom:x"), &c, &why), OK);
	CHECK_INT(c.types, 1u << EVENT_CUSTOM);
	CHECK_INT(event_choose(STR("run:done"), &c, &why), E_INPUT);
	CHECK_STR(why.text,
		  "there is no event type 'run:done'; allowed are run:claimed, run:started, run:failed, "
		  "run:finished, run:step, run:note, run:gave_up");
	const char *const bad[] = { "run", "run.failed", "custom:", "run:failed,,", "*", "*:*" };
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		test_case("%s", bad[i]);
		CHECK_INT(event_choose(str_of(bad[i]), &c, &why), E_INPUT);
	}
	test_case(NULL);
}
