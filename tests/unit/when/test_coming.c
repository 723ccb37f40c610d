/* engine_coming lists the next due times: compared with a sorted list of all. */
#include "core/engine/engine.h"
#include "test.h"

#include <string.h>

#define NOW wall_of(1000000)

static const struct now now = { { 1000000 * USEC }, { 5 * USEC } };

/* A schedule that runs once. */
static struct load_item one_shot(uint64_t sid, int64_t seconds, const struct zone *zone, uint32_t flags)
{
	struct rules rules;
	memset(&rules, 0, sizeof rules);
	rules.version = RULES_VERSION;
	rules.zone_print = zone_fingerprint(zone);
	rules.when = (struct rule){
		.kind = RULE_AT, .from = RULE_FROM_ALWAYS, .until = RULE_UNTIL_NEVER, .at = seconds
	};
	struct load_item item = { .kind = LOAD_SCHED,
				  .sched = { .sid = sid,
					     .rev = 1,
					     .flags = flags,
					     .left = UINT32_MAX,
					     .next = wall_of(seconds),
					     .high = NOW,
					     .changed = NOW,
					     .paused_until = wall_of(seconds) } };
	item.open = flags & SCHED_PAUSED;
	memcpy(item.sched.rules, &rules, sizeof rules);
	return item;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

TEST(the_soonest_come_first)
{
	enum { MANY = 3000 };
	static int64_t times[MANY];
	static struct engine_due got[ENGINE_COMING_MAX];
	struct zone *utc = NULL;
	struct days none = { 0 };
	uint64_t seed = 7;
	CHECK(zone_fixed(0, &utc) == OK);
	for (unsigned n = 0; n <= MANY; n = n ? n * 3 + 1 : 1) {
		const struct zone *zones[] = { utc };
		struct engine *e = NULL;
		struct effects fx = { 0 };
		unsigned awake = 0;
		test_case("%u schedules", n);
		CHECK(engine_new(&(struct engine_config){ .slots = 1,
							  .zones = zones,
							  .zone_count = 1,
							  .calendars = &none,
							  .calendar_count = 1 },
				 &e) == OK);
		for (unsigned i = 0; i < n; i++) {
			int64_t t = 1000001 + (int64_t)(test_random(&seed) % 100000);
			/* A paused schedule is in the same queue until its pause ends. */
			bool paused = i % 10 == 3;
			struct load_item item =
				one_shot(i + 1, t, utc, SCHED_ENABLED | (paused ? SCHED_PAUSED : 0));
			engine_load(e, &item);
			if (!paused)
				times[awake++] = t;
		}
		engine_load(e, &(struct load_item){ .kind = LOAD_DONE, .done = { .last_sid = n } });
		engine_step(e, &(struct event){ .kind = EV_LOADED }, now, &fx);
		qsort(times, awake, sizeof *times, by_time);
		unsigned wanted = awake < ENGINE_COMING_MAX ? awake : ENGINE_COMING_MAX;
		CHECK_INT(engine_coming(e, got, ENGINE_COMING_MAX), wanted);
		for (unsigned i = 0; i < wanted; i++)
			CHECK_INT(wall_seconds(got[i].due), times[i]);
		CHECK_INT(engine_coming(e, got, 0), 0);
		CHECK(!engine_clock_held(e));
		engine_free(e);
		effects_free(&fx);
	}
	test_case(NULL);
	zone_free(utc);
}
