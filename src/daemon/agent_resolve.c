/* Reads agents from the store and resolves schedules with them. */
#include "daemon/agent_resolve.h"

#include "base/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The directory of the definition's file; for a definition from the command line, the daemon's home
 * directory. */
static struct str home_of(struct str file)
{
	const char *home = getenv("HOME"), *slash = file.n ? memrchr(file.p, '/', file.n) : NULL;
	if (slash)
		return str_sub(file, 0, slash > file.p ? (size_t)(slash - file.p) : 1);
	return str_of(home && home[0] == '/' ? home : "/");
}

/* The agent called `name`; an empty name stands for the only agent. False: it must be read from the store. */
static bool find_known(const struct read_attempt *known, struct str name, struct turn_agent *f,
		       struct read_agent *ret)
{
	bool is_only = !name.n && known->agents == 1 && known->agent.text.p;
	if (!name.n && known->agents != 1) {
		f->several = known->agents > 1;
		return true;
	}
	if (!is_only && !(name.n && str_eq(name, known->agent.name)))
		return false;
	*ret = known->agent;
	f->name = ret->name;
	return true;
}

static enum err find_only_agent(struct reader *r, struct arena *a, struct turn_agent *f,
				struct read_agent *ret, struct why *why)
{
	struct read_agents some;
	enum err e = read_agents(r, STR(""), 2, a, &some, why);
	if (e)
		return e;
	f->several = some.n > 1 || some.more;
	if (some.n && !f->several) {
		*ret = some.item[0];
		f->name = ret->name;
	}
	return OK;
}

/* Reads an agent's definition. It was valid when it was stored; if this version of rota cannot read it,
 * f->agent is NULL and f->fault says why. E_IO: the machine failed. */
static enum err read_definition(const struct doc_env *env, struct arena *a, struct turn_agent *f)
{
	struct agent_doc *agent = arena_alloc(a, sizeof *agent);
	struct why *why = arena_alloc(a, sizeof *why);
	struct val map;
	if (!agent || !why)
		return E_NOMEM;
	errno = 0;
	enum err e = json_read(f->text, a, &map, why);
	if (!e)
		e = agent_read(f->text, &map, env, a, agent, why);
	if (e == E_NOMEM)
		return e;
	if (e && is_machine_error(errno)) /* the zone file that the definition needs could not be read */
		return E_IO;
	f->agent = e ? NULL : agent;
	f->fault = why->text;
	return OK;
}

enum err agent_resolve_known(struct reader *r, const struct read_attempt *known, const struct doc_env *env,
			     struct arena *a, struct schedule_doc *d, struct why *why)
{
	struct turn_agent f = { .name = d->agent, .zone = env->when.zone_name };
	struct read_agent found = { 0 };
	enum err e = OK;
	if (!f.name.n && d->action.kind != DOC_AGENT_TURN)
		return OK;
	if (!f.name.n)
		f.name = env->default_agent;
	if (!known || !find_known(known, f.name, &f, &found))
		e = f.name.n ? read_agent(r, f.name, a, &found, why) : find_only_agent(r, a, &f, &found, why);
	f.text = found.text;
	f.home = home_of(found.source.from);
	if (!e && f.text.p)
		e = read_definition(env, a, &f);
	return e ? e : turn_resolve(&f, a, d);
}

enum err agent_resolve(struct reader *r, const struct doc_env *env, struct arena *a, struct schedule_doc *d,
		       struct why *why)
{
	return agent_resolve_known(r, NULL, env, a, d, why);
}

enum err agent_load_all(struct reader *r, struct intern *n, struct why *why)
{
	enum { PAGE = 32 };
	struct read_agents page = { .more = true };
	struct arena arena = { 0 };
	char after[DOC_ID_MAX + 1] = "";
	enum err e = OK;
	for (unsigned tries = 0; page.more && !e;) {
		e = read_agents(r, str_of(after), PAGE, &arena, &page, why);
		/* The reader gave up after a short time. A second try is faster, because the pages that were
		 * read are now in the page cache. */
		if (e == E_LIMIT && tries++ < AGENT_LOAD_TRIES_MAX) {
			e = OK;
			continue;
		}
		for (unsigned i = 0; i < page.n && !e; i++)
			e = intern_agent(n, page.item[i].name,
					 turn_fingerprint(page.item[i].name, page.item[i].text));
		if (page.n)
			snprintf(after, sizeof after, "%.*s", STR_ARG(page.item[page.n - 1].name));
		arena_reset(&arena);
	}
	arena_free(&arena);
	return e;
}
