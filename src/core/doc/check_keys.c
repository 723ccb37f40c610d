/* What surrounds a run: is there anything to do, may it go ahead, did it do what it should? */
#include "base/json.h"
#include "core/doc/command.h"
#include "core/doc/internal.h"

/* --- check: COMMAND, or agenda FILE --- */

enum err set_check(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_check *c = (struct doc_check *)(void *)((char *)into + k->to);
	struct str rest = v->kind == VAL_STR ? v->str : STR("");
	if (!str_eq(str_token(&rest), STR("agenda")))
		return command_read(r, k->name, v, &c->command);
	doc_need(r, DOC_NEEDS_AGENDA, v->at);
	c->agenda = str_trim(rest);
	if (!c->agenda.n)
		return why_set(r->why, E_INPUT, v->at, "check: agenda needs a file");
	return OK;
}

void check_write(const struct doc_check *c, struct buf *out)
{
	if (!c->agenda.n) {
		command_write(&c->command, out);
		return;
	}
	struct buf text = { 0 };
	buf_addf(&text, "agenda %.*s", STR_ARG(c->agenda));
	json_write_str(out, buf_str(&text));
	out->failed |= text.failed;
	buf_free(&text);
}

void write_check(const void *from, struct buf *out)
{
	check_write(&((const struct schedule_doc *)from)->check, out);
}

/* --- expectations --- */

#define IN_EXPECTATION(field) offsetof(struct doc_expectation, field)

static enum err set_paths(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_expectation *x = into;
	if (!v->list.n)
		return why_set(r->why, E_INPUT, v->at, "%s is empty", k->name);
	if (v->list.n > DOC_ITEMS_MAX)
		return why_set(r->why, E_LIMIT, v->at, "%s has at most %d items", k->name, DOC_ITEMS_MAX);
	x->path = arena_alloc(r->arena, v->list.n * sizeof *x->path);
	if (!x->path)
		return E_NOMEM;
	for (; x->paths < v->list.n; x->paths++) {
		const struct val *path = &v->list.item[x->paths];
		if (path->kind != VAL_STR)
			return keys_wrong(r, "a path", STRING, path);
		if (!path->str.n)
			return why_set(r->why, E_INPUT, path->at, "a path is empty");
		x->path[x->paths] = path->str;
	}
	return OK;
}

static void write_paths(const void *from, struct buf *out)
{
	const struct doc_expectation *x = from;
	for (unsigned i = 0; i < x->paths; i++) {
		buf_addc(out, i ? ',' : '[');
		json_write_str(out, x->path[i]);
	}
	buf_addc(out, ']');
}

static void write_script(const void *from, struct buf *out)
{
	command_write(&((const struct doc_expectation *)from)->command, out);
}

static const struct key script_keys[] = {
	KEY_OF_TYPE,
	{ "command", KEY_OTHER, .to = IN_EXPECTATION(command), .kinds = COMMAND_KINDS, .set = command_set,
	  .write = write_script },
	{ 0 },
};

static const struct key file_exists_keys[] = {
	KEY_OF_TYPE,
	{ "paths", KEY_OTHER, .kinds = LIST, .set = set_paths, .write = write_paths },
	{ 0 },
};

static const struct key_variant expectations[] = {
	[DOC_SCRIPT] = { "script", "expectation script", script_keys, "command" },
	[DOC_FILE_EXISTS] = { "file_exists", "expectation file_exists", file_exists_keys, "paths" },
	{ 0 },
};

enum err set_expectations(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct schedule_doc *d = into;
	void *items = NULL;
	(void)k;
	enum err e = keys_read_list(r, "expectation", expectations, v, sizeof *d->expectation, &items,
				    &d->expectations);
	d->expectation = items;
	return e;
}

void write_expectations(const void *from, struct buf *out)
{
	const struct schedule_doc *d = from;
	keys_write_list(expectations, d->expectation, sizeof *d->expectation, d->expectations, out);
}

/* --- hooks --- */

#define IN_HOOK(field) offsetof(struct doc_hook, field)

static const char *const on_error_words[] = { "cancel", "proceed", NULL };

static void write_hook_command(const void *from, struct buf *out)
{
	command_write(&((const struct doc_hook *)from)->command, out);
}

static const struct key hook_keys[] = {
	{ "command", KEY_OTHER, .to = IN_HOOK(command), .kinds = COMMAND_KINDS, .set = command_set,
	  .write = write_hook_command },
	{ "timeout", KEY_DURATION, .to = IN_HOOK(timeout), .least = 1, .most = 3600,
	  .usual = DOC_HOOK_TIMEOUT },
	{ "on_error", KEY_WORD, .to = IN_HOOK(on_error), .words = on_error_words, .usual = 0 },
	{ 0 },
};

static enum err set_hook(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_hook *h = (struct doc_hook *)(void *)((char *)into + k->to);
	h->timeout = DOC_HOOK_TIMEOUT;
	doc_need(r, DOC_NEEDS_HOOK, v->at);
	enum err e = keys_read(r, "a hook", hook_keys, h, v, NULL);
	if (!e && !val_get(v, STR("command")))
		return why_set(r->why, E_INPUT, v->at, "a hook needs command");
	return e;
}

static const struct key hooks_keys[] = {
	{ "before:schedule:trigger", KEY_OTHER, .to = IN_DOC(hook[DOC_BEFORE_TRIGGER]), .kinds = MAP,
	  .set = set_hook },
	{ "before:schedule:create", KEY_OTHER, .to = IN_DOC(hook[DOC_BEFORE_CREATE]), .kinds = MAP,
	  .set = set_hook },
	{ 0 },
};

enum err set_hooks(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	return keys_read(r, k->name, hooks_keys, into, v, NULL);
}

void write_hooks(const void *from, struct buf *out)
{
	const struct schedule_doc *d = from;
	char before = '{';
	for (unsigned i = 0; i < DOC_HOOKS; i++) {
		const struct doc_hook *h = &d->hook[i];
		if (!h->command.shell.n && !h->command.argc)
			continue;
		buf_addf(out, "%c\"%s\":{", before, hooks_keys[i].name);
		keys_write(hook_keys, h, true, out);
		buf_addc(out, '}');
		before = ',';
	}
	if (before == ',')
		buf_addc(out, '}');
}
