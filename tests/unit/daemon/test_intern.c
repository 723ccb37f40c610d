/* Numbers for names: the store decides, and the daemon follows. */
#include "daemon/intern.h"
#include "test.h"

#include <string.h>

static struct name_row unsaved[8]; /* the names that were passed to the store last */
static unsigned unsaveds;

static void keep_name(void *ctx, enum name_kind kind, uint32_t number, struct str text)
{
	(void)ctx;
	if (CHECK(unsaveds < ARRAY_LEN(unsaved)))
		unsaved[unsaveds++] = (struct name_row){ (uint8_t)kind, number, text };
}

static struct intern *intern_with_numbers(struct engine_config *tables)
{
	struct intern *n = NULL;
	CHECK_INT(intern_new(&n), OK);
	for (unsigned kind = 0; kind < NAME_KINDS; kind++)
		intern_add_numbers(n, (enum name_kind)kind, 1, 10);
	*tables = (struct engine_config){ .slots = 16, .catch_up_per_second = 50 };
	intern_tables(n, tables);
	return n;
}

static uint32_t number_key(struct intern *n, const char *key)
{
	struct doc_names names = intern_for_documents(n);
	uint32_t number = 0;
	CHECK_INT(names.name(names.self, DOC_CONCURRENCY_KEY, str_of(key), &number), OK);
	return number;
}

static void save_names(struct intern *n)
{
	unsaveds = 0;
	intern_unsaved(n, keep_name, NULL);
}

/* The store answers request `i` of those that were passed last. */
static bool answer(struct intern *n, unsigned i, enum st_res res, uint32_t number)
{
	struct st_ack ack = { .op = ST_NAME, .res = (uint8_t)res, .name = number };
	return intern_answered(n, &unsaved[i], &ack);
}

TEST(a_new_name_keeps_its_number_if_the_store_has_no_other)
{
	struct engine_config tables;
	struct intern *n = intern_with_numbers(&tables);
	CHECK_INT(number_key(n, "a"), 1);
	CHECK_INT(number_key(n, "b"), 2);
	save_names(n);
	CHECK_INT(unsaveds, 2);
	CHECK(unsaved[0].number == 1 && str_eq(unsaved[0].text, STR("key:a")));
	CHECK(!answer(n, 0, ST_OK, 1) && !answer(n, 1, ST_OK, 2));
	CHECK(number_key(n, "a") == 1 && number_key(n, "b") == 2);
	CHECK(tables.known_names[1] && tables.known_names[2] && !tables.known_names[3]);
	save_names(n);
	CHECK_INT(unsaveds, 0);
	intern_free(n);
}

TEST(the_number_of_the_store_replaces_the_own_one)
{
	struct engine_config tables;
	struct intern *n = intern_with_numbers(&tables);
	CHECK_INT(number_key(n, "a"), 1);
	save_names(n);
	CHECK(answer(n, 0, ST_LOST, 500));
	CHECK(!answer(n, 0, ST_LOST, 500)); /* names are stored in two lanes */
	CHECK_INT(number_key(n, "a"), 500);
	CHECK_INT(intern_known(n, DOC_CONCURRENCY_KEY, STR("a")), 500);
	CHECK(!tables.known_names[1] && tables.known_names[500]);
	CHECK(str_eq(intern_text(n, 500), STR("key:a")));
	CHECK_INT(number_key(n, "b"), 2); /* number 1 is not used again */
	save_names(n);
	CHECK(unsaveds == 1 && unsaved[0].number == 2); /* the store has the other one */
	intern_free(n);
}

TEST(a_number_that_collides_is_replaced_by_the_next)
{
	struct engine_config tables;
	struct intern *n = intern_with_numbers(&tables);
	CHECK_INT(number_key(n, "a"), 1);
	save_names(n);
	CHECK(answer(n, 0, ST_COLLISION, 0));
	CHECK(!tables.known_names[1]);
	CHECK_INT(number_key(n, "a"), 2);
	save_names(n);
	CHECK(unsaveds == 1 && unsaved[0].number == 2 && !answer(n, 0, ST_OK, 2));
	intern_free(n);
}

TEST(zones_and_days_take_the_number_of_the_store)
{
	struct engine_config tables;
	struct intern *n = intern_with_numbers(&tables);
	struct doc_names names = intern_for_documents(n);
	static const int32_t list[] = { 20518, 20600 };
	const struct days days = { list, ARRAY_LEN(list) };
	uint16_t zone = 0, calendar = 0;
	CHECK_INT(names.zone(names.self, STR("Asia/Tokyo"), NULL, &zone), OK);
	CHECK_INT(names.days(names.self, &days, &calendar), OK);
	CHECK(zone == 1 && calendar == 1);
	const struct zone *tokyo = tables.zones[1];
	save_names(n);
	CHECK(unsaveds == 2 && unsaved[0].kind == NAME_ZONE && unsaved[1].kind == NAME_DAYS);
	CHECK(answer(n, 0, ST_LOST, 80) && answer(n, 1, ST_LOST, 90));
	CHECK_INT(names.zone(names.self, STR("Asia/Tokyo"), NULL, &zone), OK);
	CHECK_INT(names.days(names.self, &days, &calendar), OK);
	CHECK(zone == 80 && tables.zones[80] == tokyo && tables.known_zones[80] && !tables.known_zones[1]);
	CHECK(calendar == 90 && tables.calendars[90].n == 2 && tables.calendars[90].day[1] == 20600);
	CHECK(tables.known_calendars[90] && !tables.known_calendars[1]);
	intern_free(n);
}

TEST(a_number_beyond_the_tables_is_not_used)
{
	struct engine_config tables;
	struct intern *n = intern_with_numbers(&tables);
	struct doc_names names = intern_for_documents(n);
	uint16_t zone = 0;
	CHECK_INT(names.zone(names.self, STR("Asia/Tokyo"), NULL, &zone), OK);
	save_names(n);
	CHECK(answer(n, 0, ST_LOST, ZONES_MAX));
	CHECK_INT(names.zone(names.self, STR("Asia/Tokyo"), NULL, &zone), OK);
	CHECK_INT(zone, 2); /* and the store is asked again */
	intern_free(n);
}

TEST(a_name_with_two_numbers_is_found_by_the_first)
{
	struct engine_config tables;
	struct intern *n = intern_with_numbers(&tables);
	CHECK_INT(intern_load(n, NAME_OTHER, 4, STR("key:a")), OK);
	CHECK_INT(intern_load(n, NAME_OTHER, 7, STR("key:a")), OK);
	CHECK_INT(number_key(n, "a"), 4);
	CHECK(tables.known_names[4] && tables.known_names[7]);
	CHECK(str_eq(intern_text(n, 7), STR("key:a")));
	intern_free(n);
}

TEST(a_name_that_the_store_would_refuse_gets_no_number)
{
	static char key[STORE_NAME_BYTES_MAX + 1];
	struct engine_config tables;
	struct intern *n = intern_with_numbers(&tables);
	struct doc_names names = intern_for_documents(n);
	uint32_t number = 0;
	memset(key, 'k', sizeof key - 1);
	CHECK_INT(names.name(names.self, DOC_CONCURRENCY_KEY, str_of(key), &number), E_LIMIT);
	save_names(n);
	CHECK_INT(unsaveds, 0);
	intern_free(n);
}

/* --- rules with a number that was withdrawn --- */

static void load_sched(struct engine *e, const struct engine_config *tables, uint64_t sid, struct policy p)
{
	struct load_item item = { .kind = LOAD_SCHED };
	struct rules rules = { .version = RULES_VERSION, .policy = p };
	rules.zone_print = zone_fingerprint(tables->zones[p.zone]);
	rules.when = (struct rule){ .kind = RULE_EVERY, .from = RULE_FROM_ALWAYS, .until = RULE_UNTIL_NEVER };
	rules.when.every.interval = 60;
	item.sched = (struct sched_row){ .sid = sid,
					 .rev = 1,
					 .flags = SCHED_ENABLED,
					 .left = UINT32_MAX,
					 .next = WALL_NEVER,
					 .paused_until = WALL_NEVER };
	memcpy(item.sched.rules, &rules, sizeof rules);
	engine_load(e, &item);
}

static void step(struct engine *e, enum event_kind kind)
{
	struct effects fx = { 0 };
	struct now now = { wall_of(1700000040), { 3600 * USEC } };
	engine_step(e, &(struct event){ .kind = kind }, now, &fx);
	effects_free(&fx);
}

/* The rules of each schedule have one number that is withdrawn, or that belongs to no name from the
 * beginning; those of the first have none. */
TEST(rules_with_a_number_of_no_name_are_outdated)
{
	struct engine_config tables;
	struct intern *n = intern_with_numbers(&tables);
	struct doc_names names = intern_for_documents(n);
	const struct days days = { (const int32_t[]){ 20518 }, 1 };
	uint16_t zone = 0, calendar = 0;
	struct engine *e = NULL;
	CHECK_INT(names.zone(names.self, STR("Asia/Tokyo"), NULL, &zone), OK);
	CHECK_INT(names.days(names.self, &days, &calendar), OK);
	CHECK_INT(number_key(n, "a"), 1);
	save_names(n);
	CHECK_INT(engine_new(&tables, &e), OK);
	const struct policy policies[] = { { 0 },        { .zone = zone },        { .calendar = calendar },
					   { .key = 1 }, { .account = 1 },        { .agent = 1 },
					   { .key = 9 }, { .account = NAMES_MAX } };
	for (unsigned i = 0; i < ARRAY_LEN(policies); i++)
		load_sched(e, &tables, i + 1, policies[i]);
	struct load_item part = { .kind = LOAD_PART, .part = { .node = 1 } };
	engine_load(e, &part);
	struct load_item done = { .kind = LOAD_DONE };
	engine_load(e, &done);
	step(e, EV_LOADED);
	for (unsigned i = 0; i < ARRAY_LEN(policies); i++) {
		test_case("schedule %u", i + 1);
		CHECK_INT(engine_is_outdated(e, i + 1), i >= 6);
	}
	for (unsigned i = 0; i < unsaveds; i++)
		CHECK(answer(n, i, ST_LOST, 100));
	step(e, EV_ZONES);
	for (unsigned i = 0; i < ARRAY_LEN(policies); i++) {
		test_case("schedule %u, later", i + 1);
		CHECK_INT(engine_is_outdated(e, i + 1), i > 0);
	}
	engine_free(e);
	intern_free(n);
}
