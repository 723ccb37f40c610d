/* Agents in org files. For any bytes: an agent that was read, written and read again is the same; every error
 * has a position in the source; org_is_agent accepts every file that can be read as an agent with a model. */
#include "agent.h"
#include "base/buf.h"
#include "core/org/agent.h"
#include "fuzz.h"
#include "host/docfile.h"
#include "zoneinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct arena a = { 0 };
	struct why why = { 0 };
	struct val v;
	struct doc_list list;
	struct doc_command command;
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
		assert(list.agent[0].prompt.n > 0);
		check_agent_again(&list.agent[0], &env, &a);
		assert(agent_command(&list.agent[0], &a, &command) == OK);
	}
	(void)org_is_agent(text);
	arena_free(&a);
	return 0;
}
