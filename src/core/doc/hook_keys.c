/* The key `hooks` of a schedule, and the keys of one hook, which the configuration has, too. */
#include "core/doc/command.h"
#include "core/doc/internal.h"

#define IN_HOOK(field) offsetof(struct doc_hook, field)

enum { HOOK_SECONDS_MAX = 3600 };

static const char *const on_error_words[] = { [HOOK_CANCELS] = "cancel", [HOOK_PROCEEDS] = "proceed", NULL };

static const struct key hook_keys[] = {
	{ "command", KEY_OTHER, .offset = IN_HOOK(command), .kinds = COMMAND_KINDS, .set = command_set_field,
	  .write = command_write_field },
	{ "timeout", KEY_DURATION, .offset = IN_HOOK(timeout), .least = 1, .most = HOOK_SECONDS_MAX },
	{ "on_error", KEY_WORD, .offset = IN_HOOK(on_error), .words = on_error_words,
	  .default_value = HOOK_CANCELS },
	{ 0 },
};

enum err set_hook(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_hook *h = KEY_FIELD(struct doc_hook, into, k);
	keys_set_defaults(hook_keys, h);
	enum err e = keys_read(r, "a hook", hook_keys, h, v, NULL);
	if (!e && !val_get(v, STR("command")))
		return why_set(r->why, E_INPUT, v->at, "a hook needs the key 'command'");
	return e;
}

void write_hook(const void *from, const struct key *k, struct buf *out)
{
	const struct doc_hook *h = KEY_CONST_FIELD(struct doc_hook, from, k);
	if (!doc_has_command(&h->command))
		return;
	buf_addc(out, '{');
	keys_write(hook_keys, h, true, out);
	buf_addc(out, '}');
}

static enum err refuse_hook(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	(void)into;
	return why_set(r->why, E_INPUT, v->at,
		       "%s is asked before a schedule exists; it belongs into `hooks` of the configuration",
		       k->name);
}

static const struct key hooks_keys[] = {
	{ DOC_TRIGGER_HOOK, KEY_OTHER, .offset = IN_SCHEDULE(hook), .kinds = MAP, .set = set_hook,
	  .write = write_hook },
	{ DOC_CREATE_HOOK, KEY_OTHER, .kinds = MAP, .set = refuse_hook },
	{ 0 },
};

enum err set_hooks(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	return keys_read(r, k->name, hooks_keys, into, v, NULL);
}

void write_hooks(const void *from, const struct key *k, struct buf *out)
{
	(void)k;
	keys_write_map(hooks_keys, from, out);
}
