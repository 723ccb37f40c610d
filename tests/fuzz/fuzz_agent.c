/* Agents in org files. Whatever the bytes: what is read is written as one text, which is read as the same
 * agent; what is refused is refused at a place in the source; a file that can be read and has one of the
 * signs of an agent is taken for one. */
#include "base/buf.h"
#include "base/json.h"
#include "core/doc/agent/agent.h"
#include "core/org/agent.h"
#include "fuzz.h"
#include "host/docfile.h"
#include "zoneinfo.h"

static void check_again(const struct agent_doc *d, const struct doc_env *env, struct arena *a)
{
	struct buf first = { 0 }, second = { 0 };
	struct agent_doc again;
	struct doc_command command;
	struct why why = { 0 };
	struct val v;
	agent_write(d, &first);
	enum err e = json_read(buf_str(&first), a, &v, &why);
	assert(e == OK);
	e = agent_read(buf_str(&first), &v, env, a, &again, &why);
	assert(e == OK && again.unsupported == d->unsupported && again.prompt.n > 0);
	agent_write(&again, &second);
	assert(str_eq(buf_str(&first), buf_str(&second)));
	e = agent_command(d, a, &command);
	assert(e == OK);
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
	struct doc_env env = { .when = { .now = wall_of(1794751200),
					 .zones = test_zones(),
					 .zone = test_zone("UTC"),
					 .zone_name = STR("UTC") } };
	enum err e = docfile_parse(STR("a.org"), text, &a, &v, &why);
	if (!e)
		e = doc_read(text, &v, &env, &a, &list, &why);
	if (e)
		assert(why.text[0] && why.at <= size);
	for (unsigned i = 0; !e && i < list.warnings; i++)
		assert(list.warning[i].text[0] && list.warning[i].at <= size);
	if (!e) {
		assert(list.agents == 1 && list.n == 0);
		assert(!list.agent[0].model.n || org_is_agent(text));
		check_again(&list.agent[0], &env, &a);
	}
	(void)org_is_agent(text);
	arena_free(&a);
	return 0;
}
