/* The keys for checks around a run: `check` before it, `expectations` after it. */
#include "base/json.h"
#include "core/doc/command.h"
#include "core/doc/internal.h"

/* --- check: COMMAND, or agenda FILE --- */

enum err set_check(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_check *c = KEY_FIELD(struct doc_check, into, k);
	struct str rest = v->kind == VAL_STR ? v->str : STR("");
	if (!str_eq(str_token(&rest), STR("agenda")))
		return command_read(r, k->name, v, &c->command);
	c->agenda = str_trim(rest);
	if (!c->agenda.n)
		return why_set(r->why, E_INPUT, v->at, "%s: agenda needs a file, as in agenda plan.org",
			       k->name);
	return OK;
}

void write_check(const void *from, const struct key *k, struct buf *out)
{
	const struct doc_check *c = KEY_CONST_FIELD(struct doc_check, from, k);
	_cleanup_(buf_free) struct buf text = { 0 };
	if (!c->agenda.n) {
		command_write(&c->command, out);
		return;
	}
	buf_addf(&text, "agenda %.*s", STR_ARG(c->agenda));
	json_write_str(out, buf_str(&text));
	out->failed |= text.failed;
}

/* --- expectations --- */

#define IN_EXPECTATION(field) offsetof(struct doc_expectation, field)

static enum err set_paths(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_expectation *x = into;
	if (!v->list.n)
		return why_set(r->why, E_INPUT, v->at, "%s is empty", k->name);
	if (v->list.n > DOC_ITEMS_MAX)
		return why_set(r->why, E_LIMIT, v->at, "%s can have at most %d items", k->name,
			       DOC_ITEMS_MAX);
	x->path = arena_alloc(r->arena, v->list.n * sizeof *x->path);
	if (!x->path)
		return E_NOMEM;
	for (; x->paths < v->list.n; x->paths++) {
		const struct val *path = &v->list.item[x->paths];
		if (path->kind != VAL_STR)
			return keys_wrong_kind(r, "a path", STRING, path);
		if (!path->str.n)
			return why_set(r->why, E_INPUT, path->at, "a path is empty");
		x->path[x->paths] = path->str;
	}
	return OK;
}

static void write_paths(const void *from, const struct key *k, struct buf *out)
{
	const struct doc_expectation *x = from;
	(void)k;
	keys_write_strs(x->path, x->paths, out);
}

static const struct key script_keys[] = {
	KEY_OF_TYPE,
	{ "command", KEY_OTHER, .offset = IN_EXPECTATION(command), .kinds = COMMAND_KINDS,
	  .set = command_set_field, .write = command_write_field },
	{ 0 },
};

static const struct key file_exists_keys[] = {
	KEY_OF_TYPE,
	{ "paths", KEY_OTHER, .kinds = LIST, .set = set_paths, .write = write_paths },
	{ 0 },
};

static const struct key_variant expectations[] = {
	[DOC_SCRIPT] = { "script", "an expectation of type script", script_keys, "command" },
	[DOC_FILE_EXISTS] = { "file_exists", "an expectation of type file_exists", file_exists_keys,
			      "paths" },
	{ 0 },
};

enum err set_expectations(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct schedule_doc *d = into;
	void *items = NULL;
	enum err e = keys_read_list(r, k->name, "an expectation", expectations, v, sizeof *d->expectation,
				    &items, &d->expectations);
	d->expectation = items;
	return e;
}

void write_expectations(const void *from, const struct key *k, struct buf *out)
{
	const struct schedule_doc *d = from;
	(void)k;
	keys_write_list(expectations, d->expectation, sizeof *d->expectation, d->expectations, out);
}
