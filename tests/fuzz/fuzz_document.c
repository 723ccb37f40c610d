/* Documents: YAML to values to schedules and agents. A document that was read, written and read again is the
 * same; every error has a place in the source. */
#include "agent.h"
#include "base/buf.h"
#include "fuzz.h"
#include "host/yaml.h"
#include "zoneinfo.h"

static void check_schedule_again(const struct schedule_doc *d, struct doc_env env, struct arena *a)
{
	struct buf first = { 0 }, second = { 0 };
	struct val v, list = { .kind = VAL_LIST, .list = { &v, 1 } };
	struct doc_list again;
	struct why why = { 0 };
	doc_write(d, &first);
	enum err e = json_read(buf_str(&first), a, &v, &why);
	assert(e == OK);
	/* The written form of a relative expression is absolute. */
	env.fresh = false;
	e = doc_read(buf_str(&first), &list, &env, a, &again, &why);
	assert(e == OK && again.n == 1 && again.doc[0].unsupported == d->unsupported);
	assert(d->after.schedule.n || rule_same(&again.doc[0].when.rule, &d->when.rule));
	doc_write(&again.doc[0], &second);
	assert(str_eq(buf_str(&first), buf_str(&second)));
	buf_free(&first);
	buf_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct arena a = { 0 };
	struct why why = { 0 };
	struct val v;
	struct doc_list list;
	struct doc_env env = { .when = { .now = wall_of(1794751200), /* 2026-11-15T14:00:00Z */
					 .zones = test_zones(),
					 .zone = test_zone("America/New_York"),
					 .zone_name = STR("America/New_York") },
			       .timeout = { [DOC_COMMAND] = 3600 },
			       .fresh = size % 2 };
	enum err e = yaml_read(text, &a, &v, &why);
	if (!e)
		e = doc_read(text, &v, &env, &a, &list, &why);
	if (e)
		assert(why.text[0] && why.at <= size);
	for (unsigned i = 0; !e && i < list.warnings; i++)
		assert(list.warning[i].text[0] && list.warning[i].at <= size);
	for (unsigned i = 0; !e && i < list.n; i++)
		check_schedule_again(&list.doc[i], env, &a);
	for (unsigned i = 0; !e && i < list.agents; i++)
		check_agent_again(&list.agent[i], &env, &a);
	arena_free(&a);
	return 0;
}
