/* Reads schedules and agents from files, and checks them as the daemon will. */
#include "cli/documents.h"

#include "base/array.h"
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

/* The settings with which documents are read. They are made as the daemon makes its own, from the
 * configuration that this process finds. */
struct check_env {
	struct settings settings;
	struct calendars calendars;
	struct doc_env env;
};

static enum err load_env(struct cli_call *call, struct check_env *ret)
{
	enum err e = cli_settings(call, &ret->settings);
	if (e)
		return e;
	struct config *c = &ret->settings.config;
	ret->calendars = config_calendars(c);
	ret->env = (struct doc_env){ .when = { .now = clock_wall(),
					       .zones = zoneinfo_source(call->zones),
					       .calendars = &ret->calendars } };
	config_defaults(c, &ret->env);
	return OK;
}

enum err documents_check_expression(struct cli_call *call, struct str text, struct default_zone *zone,
				    struct when *ret)
{
	struct check_env with;
	enum err e = load_env(call, &with);
	if (e)
		return e;
	struct when_env *env = &with.env.when;
	*zone = cli_default_zone(call, &with.settings.config);
	env->zone_name = zone->name;
	env->zone = env->zones->find(env->zones->self, zone->name);
	call->source = text;
	return doc_read_expression(text, env, call->arena, ret, call->why);
}

void documents_warn_of_more(void)
{
	print(stderr, "rota: warning: there may be more warnings, which are not shown\n");
}

static void print_warnings(struct cli_call *call, const struct doc_list *list, bool placed)
{
	for (unsigned i = 0; i < list->warnings; i++) {
		struct why w;
		why_write(&w, placed ? list->warning[i].at : WHY_NOWHERE, "%s", list->warning[i].text);
		print_warning(stderr, &w, call->source, call->source_name);
	}
	if (list->warnings == DOC_WARNINGS_MAX)
		documents_warn_of_more();
}

enum err documents_check_text(struct cli_call *call, struct str text)
{
	struct check_env with;
	struct val value;
	struct doc_list list;
	struct val documents = { .kind = VAL_LIST, .list = { &value, 1 } };
	char *copy = arena_dup(call->arena, text);
	enum err e = copy ? load_env(call, &with) : E_NOMEM;
	if (e)
		return e;
	text.p = copy;
	with.env.fresh = true;
	e = json_read(text, call->arena, &value, call->why);
	if (!e)
		e = doc_read(text, &documents, &with.env, call->arena, &list, call->why);
	call->why->at = WHY_NOWHERE;
	if (!e)
		print_warnings(call, &list, false);
	return e;
}

/* --- files --- */

static uint64_t id_hash(struct str id)
{
	return fnv1a(FNV_START, id) | 1;
}

/* If two different ids have the same hash, only the second one is found here. A duplicate of the first one is
 * then reported by the daemon. */
static enum err check_unique(struct cli_call *call, const char *what, const struct document_list *all,
			     struct str id, size_t at)
{
	uint32_t i = map_get(&all->by_id, id_hash(id));
	if (i == MAP_NONE || !str_eq(all->item[i].id, id))
		return OK;
	return why_set(call->why, E_INPUT, at, "%s '%.*s' is already defined in line %u of %.100s", what,
		       STR_SHORT(id), all->item[i].line, all->item[i].file);
}

/* A position in the text of a file, and its line. */
struct line_cursor {
	size_t at;
	unsigned line;
};

static unsigned line_of(struct line_cursor *w, struct str text, size_t at)
{
	if (at < w->at)
		*w = (struct line_cursor){ 0, 1 };
	for (; w->at < at && w->at < text.n; w->at++)
		w->line += text.p[w->at] == '\n';
	return w->line;
}

static enum err add_item(struct cli_call *call, struct document_list *into, struct document item,
			 const struct buf *text)
{
	if (!ARRAY_ADD_ROOM(into->item, into->room, into->n))
		return E_NOMEM;
	item.text = (struct str){ text->failed ? NULL : arena_dup(call->arena, buf_str(text)), text->n };
	if (!item.text.p || !map_put(&into->by_id, id_hash(item.id), into->n))
		return E_NOMEM;
	into->item[into->n++] = item;
	return OK;
}

static enum err add_schedule(struct cli_call *call, struct documents *into, const struct schedule_doc *d,
			     const char *path, struct line_cursor *w)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct document item = { .id = d->id, .file = path, .line = line_of(w, call->source, d->at) };
	doc_write(d, &text);
	return add_item(call, &into->schedules, item, &text);
}

static enum err add_agent(struct cli_call *call, struct documents *into, const struct agent_doc *d,
			  const char *path, struct line_cursor *w)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct document item = { .id = d->name, .file = path, .line = line_of(w, call->source, d->at) };
	buf_add(&text, STR("{\"agent\":"));
	agent_write(d, &text);
	buf_addc(&text, '}');
	return add_item(call, &into->agents, item, &text);
}

static enum err parse_file(struct cli_call *call, const char *path, bool listed, struct doc_list *ret)
{
	struct check_env with;
	struct str text;
	struct val values;
	call->source = (struct str){ 0 }; /* the text of the previous file */
	call->source_name = NULL;
	enum err e = load_env(call, &with);
	if (!e)
		e = docfile_text(path, call->arena, &text, call->why);
	if (e)
		return e;
	call->source = text;
	call->source_name = path;
	if (listed && docfile_is_org(str_of(path)) && !org_is_agent(text))
		return OK;
	e = docfile_parse(str_of(path), text, call->arena, &values, call->why);
	return e ? e : doc_read(text, &values, &with.env, call->arena, ret, call->why);
}

enum err documents_read_file(struct cli_call *call, const char *path, bool listed, struct documents *into)
{
	struct doc_list list = { 0 };
	enum err e = parse_file(call, path, listed, &list);
	/* doc_read has checked for duplicates within the file. */
	for (unsigned i = 0; i < list.n && !e; i++)
		e = check_unique(call, "schedule", &into->schedules, list.doc[i].id, list.doc[i].at);
	for (unsigned i = 0; i < list.agents && !e; i++)
		e = check_unique(call, "agent", &into->agents, list.agent[i].name, list.agent[i].at);
	struct line_cursor w = { 0, 1 };
	for (unsigned i = 0; i < list.n && !e; i++)
		e = add_schedule(call, into, &list.doc[i], path, &w);
	for (unsigned i = 0; i < list.agents && !e; i++)
		e = add_agent(call, into, &list.agent[i], path, &w);
	if (!e)
		print_warnings(call, &list, true);
	return e;
}

bool documents_is_name(const char *name)
{
	const char *end = strrchr(name, '.');
	return name[0] != '.' && end &&
	       (!strcmp(end, ".yaml") || !strcmp(end, ".yml") || !strcmp(end, ".json") ||
		!strcmp(end, ".org"));
}

static int is_document(const struct dirent *d)
{
	return documents_is_name(d->d_name);
}

static enum err read_directory(struct cli_call *call, const char *path, struct documents *ret)
{
	struct dirent **entry;
	unsigned bad = 0;
	enum err first = OK;
	int n = scandir(path, &entry, is_document, alphasort);
	if (n < 0)
		return why_set(call->why, E_IO, WHY_NOWHERE, "cannot read %.150s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		const char *file = arena_printf(call->arena, "%s/%s", path, entry[i]->d_name);
		free(entry[i]);
		enum err e = file ? documents_read_file(call, file, true, ret) : E_NOMEM;
		if (!e)
			continue;
		print_error(stderr, e, call->why, call->source, call->source_name);
		first = first ? first : e;
		bad++;
	}
	free(entry);
	if (bad)
		return why_set(call->why, first, WHY_NOWHERE,
			       "nothing was applied: %u of %d files have errors", bad, n);
	if (!n && !ret->may_be_empty)
		return why_set(call->why, E_NOTFOUND, WHY_NOWHERE,
			       "%.150s has no documents (*.yaml, *.yml, *.json, *.org)", path);
	return OK;
}

enum err documents_read(struct cli_call *call, const char *path, struct documents *ret)
{
	struct stat st;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return read_directory(call, path, ret);
	return documents_read_file(call, path, false, ret);
}

void documents_free(struct documents *d)
{
	map_free(&d->schedules.by_id);
	map_free(&d->agents.by_id);
	free(d->schedules.item);
	free(d->agents.item);
}
