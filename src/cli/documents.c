#include "cli/documents.h"

#include "base/hash.h"
#include "base/json.h"
#include "cli/errors.h"
#include "core/doc/agent/agent.h"
#include "core/org/agent.h"
#include "host/docfile.h"
#include "sys/clock.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* As the daemon will read them, as far as this side can know. */
struct docs_env {
	struct settings settings;
	struct calendars calendars;
	struct doc_env env;
};

static enum err env_of(struct cli_call *call, struct docs_env *ret)
{
	enum err e = cli_settings(call, &ret->settings);
	if (e)
		return e;
	struct config *c = &ret->settings.config;
	const struct zone_source *zones = zoneinfo_source(call->zones);
	struct str name = c->timezone.n ? c->timezone : zoneinfo_local(call->zones);
	ret->calendars = config_calendars(c);
	ret->env = (struct doc_env){ .when = { .now = clock_wall(),
					       .zones = zones,
					       .zone = zones->find(zones->self, name),
					       .zone_name = name,
					       .calendars = &ret->calendars } };
	config_defaults(c, &ret->env);
	return OK;
}

enum err docs_check_expression(struct cli_call *call, struct str text)
{
	struct docs_env with;
	struct when when;
	enum err e = env_of(call, &with);
	if (e)
		return e;
	call->source = text;
	return when_parse(text, &with.env.when, call->arena, &when, call->why);
}

void docs_more_warnings(void)
{
	fputs("rota: warning: there may be more, which are left out here\n", stderr);
}

static void tell_warnings(struct cli_call *call, const struct doc_list *list, bool placed)
{
	for (unsigned i = 0; i < list->warnings; i++) {
		struct why w;
		why_write(&w, placed ? list->warning[i].at : WHY_NOWHERE, "%s", list->warning[i].text);
		print_warning(stderr, &w, call->source, call->source_name);
	}
	if (list->warnings == DOC_WARNINGS_MAX)
		docs_more_warnings();
}

enum err docs_check_text(struct cli_call *call, struct str text)
{
	struct docs_env with;
	struct val value;
	struct doc_list list;
	struct val documents = { .kind = VAL_LIST, .list = { &value, 1 } };
	char *copy = arena_dup(call->arena, text);
	enum err e = copy ? env_of(call, &with) : E_NOMEM;
	if (e)
		return e;
	text.p = copy;
	with.env.fresh = true;
	e = json_read(text, call->arena, &value, call->why);
	if (!e)
		e = doc_read(text, &documents, &with.env, call->arena, &list, call->why);
	call->why->at = WHY_NOWHERE;
	if (!e)
		tell_warnings(call, &list, false);
	return e;
}

/* --- files --- */

static uint64_t hash_of(struct str id)
{
	return fnv1a(FNV_START, id) | 1;
}

/* Of two ids with one hash the later is not found: it is the daemon then that says so. */
static enum err check_twice(struct cli_call *call, const char *what, const struct docs_list *all,
			    struct str id, size_t at)
{
	uint32_t i = map_get(&all->by_id, hash_of(id));
	if (i == MAP_NONE || !str_eq(all->item[i].id, id))
		return OK;
	return why_set(call->why, E_INPUT, at, "%s '%.*s' is in %.100s, too, at line %u", what, STR_SHORT(id),
		       all->item[i].file, all->item[i].line);
}

/* Where a walk through a file's text is. */
struct walk {
	size_t at;
	unsigned line;
};

static unsigned line_of(struct walk *w, struct str text, size_t at)
{
	if (at < w->at)
		*w = (struct walk){ 0, 1 };
	for (; w->at < at && w->at < text.n; w->at++)
		w->line += text.p[w->at] == '\n';
	return w->line;
}

static enum err add(struct cli_call *call, struct docs_list *into, struct docs_item item,
		    const struct buf *text)
{
	if (into->n == into->room) {
		unsigned room = into->room ? 2 * into->room : 32;
		struct docs_item *more = arena_alloc(call->arena, room * sizeof *more);
		if (!more)
			return E_NOMEM;
		if (into->n)
			memcpy(more, into->item, into->n * sizeof *more);
		into->item = more;
		into->room = room;
	}
	item.text = (struct str){ text->failed ? NULL : arena_dup(call->arena, buf_str(text)), text->n };
	if (!item.text.p || !map_put(&into->by_id, hash_of(item.id), into->n))
		return E_NOMEM;
	into->item[into->n++] = item;
	return OK;
}

static enum err add_schedule(struct cli_call *call, struct docs *into, const struct schedule_doc *d,
			     const char *path, struct walk *w)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct docs_item item = { .id = d->id, .file = path, .line = line_of(w, call->source, d->at) };
	doc_write(d, &text);
	return add(call, &into->schedules, item, &text);
}

static enum err add_agent(struct cli_call *call, struct docs *into, const struct agent_doc *d,
			  const char *path, struct walk *w)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct docs_item item = { .id = d->name, .file = path, .line = line_of(w, call->source, d->at) };
	buf_add(&text, STR("{\"agent\":"));
	agent_write(d, &text);
	buf_addc(&text, '}');
	return add(call, &into->agents, item, &text);
}

static enum err look(struct cli_call *call, const char *path, bool found, struct doc_list *ret)
{
	struct docs_env with;
	struct str text;
	struct val values;
	call->source = (struct str){ 0 }; /* of the file before */
	call->source_name = NULL;
	enum err e = env_of(call, &with);
	if (!e)
		e = docfile_text(path, call->arena, &text, call->why);
	if (e)
		return e;
	call->source = text;
	call->source_name = path;
	if (found && docfile_is_org(str_of(path)) && !org_is_agent(text))
		return OK;
	e = docfile_parse(str_of(path), text, call->arena, &values, call->why);
	return e ? e : doc_read(text, &values, &with.env, call->arena, ret, call->why);
}

enum err docs_file(struct cli_call *call, const char *path, bool found, struct docs *into)
{
	struct doc_list list = { 0 };
	enum err e = look(call, path, found, &list);
	/* Within the file this has been looked at. */
	for (unsigned i = 0; i < list.n && !e; i++)
		e = check_twice(call, "schedule", &into->schedules, list.doc[i].id, list.doc[i].at);
	for (unsigned i = 0; i < list.agents && !e; i++)
		e = check_twice(call, "agent", &into->agents, list.agent[i].name, list.agent[i].at);
	struct walk w = { 0, 1 };
	for (unsigned i = 0; i < list.n && !e; i++)
		e = add_schedule(call, into, &list.doc[i], path, &w);
	for (unsigned i = 0; i < list.agents && !e; i++)
		e = add_agent(call, into, &list.agent[i], path, &w);
	if (!e)
		tell_warnings(call, &list, true);
	return e;
}

bool docs_is_document(const char *name)
{
	const char *end = strrchr(name, '.');
	return name[0] != '.' && end &&
	       (!strcmp(end, ".yaml") || !strcmp(end, ".yml") || !strcmp(end, ".json") ||
		!strcmp(end, ".org"));
}

static int is_document(const struct dirent *d)
{
	return docs_is_document(d->d_name);
}

static enum err docs_directory(struct cli_call *call, const char *path, struct docs *ret)
{
	struct dirent **entry;
	unsigned refused = 0;
	enum err first = OK;
	int n = scandir(path, &entry, is_document, alphasort);
	if (n < 0)
		return why_set(call->why, E_IO, WHY_NOWHERE, "cannot read %.150s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		const char *file = arena_printf(call->arena, "%s/%s", path, entry[i]->d_name);
		free(entry[i]);
		enum err e = file ? docs_file(call, file, true, ret) : E_NOMEM;
		if (!e)
			continue;
		print_error(stderr, e, call->why, call->source, call->source_name);
		first = first ? first : e;
		refused++;
	}
	free(entry);
	if (refused)
		return why_set(call->why, first, WHY_NOWHERE, "nothing was applied: %u of %d files refused",
			       refused, n);
	if (!n && !ret->may_be_empty)
		return why_set(call->why, E_NOTFOUND, WHY_NOWHERE,
			       "%.150s has no documents (*.yaml, *.yml, *.json, *.org)", path);
	return OK;
}

enum err docs_path(struct cli_call *call, const char *path, struct docs *ret)
{
	struct stat st;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return docs_directory(call, path, ret);
	return docs_file(call, path, false, ret);
}

void docs_free(struct docs *d)
{
	map_free(&d->schedules.by_id);
	map_free(&d->agents.by_id);
}
