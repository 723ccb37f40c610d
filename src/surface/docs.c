#include "surface/docs.h"

#include "base/json.h"
#include "core/doc/doc.h"
#include "core/when/hash.h"
#include "host/clock.h"
#include "host/docfile.h"
#include "surface/op_config.h"
#include "surface/report.h"

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

static enum err env_of(struct op_call *call, struct docs_env *ret)
{
	enum err e = op_settings(call, &ret->settings);
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
					       .calendars = &ret->calendars },
				     .timeout = { [DOC_COMMAND] = c->timeout_command } };
	return OK;
}

enum err docs_check_expression(struct op_call *call, struct str text)
{
	struct docs_env with;
	struct when when;
	enum err e = env_of(call, &with);
	if (e)
		return e;
	call->source = text;
	return when_parse(text, &with.env.when, call->arena, &when, call->why);
}

enum err docs_check_text(struct op_call *call, struct str text)
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
	return e;
}

/* --- files
 * ------------------------------------------------------------------------------------------------------ */

/* Where in the map an id is, or would be: hashes that meet go on to the next. */
static uint64_t key_of(const struct docs *all, struct str id, const struct docs_item **ret)
{
	for (uint64_t key = fnv1a(FNV_START, id) | 1;; key += 2) {
		uint32_t i = map_get(all->seen, key);
		*ret = i == MAP_NONE ? NULL : &all->item[i];
		if (!*ret || str_eq((*ret)->id, id))
			return key;
	}
}

static enum err check_twice(struct op_call *call, const struct docs *all, const struct schedule_doc *d)
{
	const struct docs_item *there = NULL;
	if (all->seen)
		key_of(all, d->id, &there);
	return !there ? OK
		      : why_set(call->why, E_INPUT, d->at, "schedule '%.*s' is in %.100s, too, at line %u",
				STR_SHORT(d->id), there->file, place_of(there->source, there->at).line);
}

static enum err add(struct op_call *call, struct docs *into, const struct schedule_doc *d, const char *path)
{
	_cleanup_(buf_free) struct buf text = { 0 };
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
	doc_write(d, &text);
	struct docs_item item = {
		.id = d->id, .after = d->after.schedule, .file = path, .source = call->source, .at = d->at
	};
	const struct docs_item *there;
	item.text = (struct str){ text.failed ? NULL : arena_dup(call->arena, buf_str(&text)), text.n };
	if (!item.text.p || (into->seen && !map_put(into->seen, key_of(into, d->id, &there), into->n)))
		return E_NOMEM;
	into->item[into->n++] = item;
	return OK;
}

enum err docs_file(struct op_call *call, const char *path, struct docs *into)
{
	struct docs_env with;
	struct str text;
	struct val values;
	struct doc_list list = { 0 };
	enum err e = env_of(call, &with);
	if (!e)
		e = docfile_text(path, call->arena, &text, call->why);
	if (e)
		return e;
	call->source = text;
	call->source_name = path;
	e = docfile_parse(str_of(path), text, call->arena, &values, call->why);
	if (!e)
		e = doc_read(text, &values, &with.env, call->arena, &list, call->why);
	/* Within the file this has been looked at. */
	for (unsigned i = 0; i < list.n && !e; i++)
		e = check_twice(call, into, &list.doc[i]);
	for (unsigned i = 0; i < list.n && !e; i++)
		e = add(call, into, &list.doc[i], path);
	return e;
}

static int is_document(const struct dirent *d)
{
	const char *end = strrchr(d->d_name, '.');
	return d->d_name[0] != '.' && end &&
	       (!strcmp(end, ".yaml") || !strcmp(end, ".yml") || !strcmp(end, ".json"));
}

static enum err docs_directory(struct op_call *call, const char *path, struct docs *ret)
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
		enum err e = file ? docs_file(call, file, ret) : E_NOMEM;
		if (!e)
			continue;
		report_error(stderr, e, call->why, call->source, call->source_name);
		first = first ? first : e;
		refused++;
	}
	free(entry);
	if (refused)
		return why_set(call->why, first, WHY_NOWHERE, "nothing was applied: %u of %d files refused",
			       refused, n);
	if (!n)
		return why_set(call->why, E_NOTFOUND, WHY_NOWHERE,
			       "%.150s has no documents (*.yaml, *.yml, *.json)", path);
	return OK;
}

enum err docs_path(struct op_call *call, const char *path, struct docs *ret)
{
	struct stat st;
	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return docs_file(call, path, ret);
	struct map seen = { 0 };
	ret->seen = &seen;
	enum err e = docs_directory(call, path, ret);
	ret->seen = NULL;
	map_free(&seen);
	return e;
}
