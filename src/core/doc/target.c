/* The types of targets and their keys. */
#include "core/doc/target.h"
#include "core/doc/command.h"
#include "core/doc/internal.h"

#include <string.h>

#define IN_TARGET(field) offsetof(struct doc_target, field)

/* Refuses a value that is neither a key nor a path: requests would be sent unsigned or with a wrong
 * signature. */
enum err target_set_secret(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	if (!str_starts(v->str, STR("whsec_")) && !str_starts(v->str, STR("/")))
		return why_set(r->why, E_INPUT, v->at,
			       "%s must be whsec_ followed by the key in base64, or the absolute path of a "
			       "file that contains it",
			       k->name);
	*KEY_FIELD(struct str, into, k) = v->str;
	return OK;
}

/* Refuses templates: some messages are about runs and some about problems, and these have no names in common
 * that a template could use. */
static enum err set_target_command(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	for (unsigned i = 0; v->kind == VAL_LIST && i < v->list.n; i++) {
		const struct val *word = &v->list.item[i];
		if (word->kind == VAL_STR && memmem(word->str.p, word->str.n, "{{", 2))
			return why_set(
				r->why, E_INPUT, word->at,
				"the command of a target cannot contain templates; it gets the message "
				"as JSON on its standard input, and in ROTA_… variables");
	}
	return command_set_field(r, into, k, v);
}

static const struct key webhook_keys[] = {
	KEY_OF_TYPE,
	{ "url", KEY_OTHER, .offset = IN_TARGET(url), .kinds = STRING, .set = set_url,
	  .write = keys_write_str },
	{ "secret", KEY_OTHER, .offset = IN_TARGET(secret), .kinds = STRING, .set = target_set_secret,
	  .write = keys_write_str },
	{ 0 },
};

static const struct key command_keys[] = {
	KEY_OF_TYPE,
	{ "command", KEY_OTHER, .offset = IN_TARGET(command), .kinds = COMMAND_KINDS,
	  .set = set_target_command, .write = command_write_field },
	{ 0 },
};

static const struct key desktop_keys[] = { KEY_OF_TYPE, { 0 } };

static const struct key event_keys[] = {
	KEY_OF_TYPE,
	{ "name", KEY_TEXT, .offset = IN_TARGET(name) },
	{ 0 },
};

static const struct key_variant targets[] = {
	[DOC_TO_WEBHOOK] = { "webhook", "a target of type webhook", webhook_keys, "url" },
	[DOC_TO_COMMAND] = { "command", "a target of type command", command_keys, "command" },
	[DOC_TO_DESKTOP] = { "desktop", "a target of type desktop", desktop_keys, NULL },
	[DOC_TO_EVENT] = { "event", "a target of type event", event_keys, NULL },
	{ 0 },
};

enum err target_read_list(struct key_reader *r, const char *name, const struct val *list,
			  struct doc_target **ret, unsigned *n)
{
	void *items = NULL;
	enum err e = keys_read_list(r, name, "a target", targets, list, sizeof **ret, &items, n);
	*ret = items;
	return e;
}

void target_write(const struct doc_target *t, struct buf *out)
{
	keys_write_variant(&targets[t->kind], t, out);
}

void target_write_list(const struct doc_target *to, unsigned n, struct buf *out)
{
	keys_write_list(targets, to, sizeof *to, n, out);
}

/* --- names --- */

/* The part after the host is left out, because it is often secret. */
struct str target_host(struct str url)
{
	size_t n = 0, slashes = 0;
	while (n < url.n && (slashes += url.p[n] == '/') < 3 && url.p[n] != '?' && url.p[n] != '#')
		n++;
	struct str host = str_sub(url, 0, n);
	const char *at = memrchr(host.p, '@', host.n);
	return at ? str_from(host, (size_t)(at + 1 - host.p)) : host;
}

/* Writes only the program, because arguments may be secrets. */
static void write_program(const struct doc_command *c, struct buf *out)
{
	struct str first = c->shell.n ? c->shell : c->argc ? c->argv[0] : (struct str){ 0 };
	size_t n = 0;
	while (n < first.n && first.p[n] != ' ')
		n++;
	buf_addf(out, "command %.*s", STR_SHORT(str_sub(first, 0, n)));
}

void target_write_name(const struct doc_target *t, struct buf *out)
{
	switch ((enum doc_target_kind)t->kind) {
	case DOC_TO_WEBHOOK:
		buf_addf(out, "webhook at %.*s", STR_SHORT(target_host(t->url)));
		break;
	case DOC_TO_COMMAND:
		write_program(&t->command, out);
		break;
	case DOC_TO_DESKTOP:
		buf_addf(out, "desktop");
		break;
	case DOC_TO_EVENT:
		buf_addf(out, "event");
		break;
	}
}
