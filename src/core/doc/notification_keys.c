/* Who is told of what became of a run. */
#include "base/json.h"
#include "core/doc/command.h"
#include "core/doc/config/notify.h"
#include "core/doc/internal.h"

#include <string.h>

enum err doc_check_url(struct key_reader *r, const char *name, const struct val *v)
{
	static const char *const schemes[] = { "https://", "http://" };
	struct str host = { 0 };
	for (unsigned i = 0; i < ARRAY_LEN(schemes); i++)
		if (str_starts(v->str, str_of(schemes[i])))
			host = str_from(v->str, strlen(schemes[i]));
	bool good = host.n && host.p[0] != '/' && host.p[0] != ':' && host.p[0] != '?';
	for (size_t i = 0; i < host.n; i++)
		good &= (unsigned char)host.p[i] > 32 && host.p[i] != 127;
	if (good)
		return OK;
	return why_set(r->why, E_INPUT, v->at, "%s must be an address such as https://example.org/path",
		       name);
}

/* --- targets --- */

#define IN_TARGET(field) offsetof(struct doc_target, field)

static enum err set_target_url(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	((struct doc_target *)into)->url = v->str;
	return doc_check_url(r, k->name, v);
}

static void write_target_url(const void *from, struct buf *out)
{
	json_write_str(out, ((const struct doc_target *)from)->url);
}

/* The key itself, or where it is: a word that is neither would be sent without a signature, or with a wrong
 * one. */
static enum err set_secret(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	if (!str_starts(v->str, STR("whsec_")) && !str_starts(v->str, STR("/")))
		return why_set(r->why, E_INPUT, v->at,
			       "%s must be whsec_ and base64, or the absolute path of a file that has it",
			       k->name);
	((struct doc_target *)into)->secret = v->str;
	return OK;
}

static void write_secret(const void *from, struct buf *out)
{
	const struct doc_target *t = from;
	if (t->secret.n)
		json_write_str(out, t->secret);
}

/* It is told by its standard input and its environment, of problems as of runs: there is no one scope for
 * templates. */
static enum err set_target_command(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	for (unsigned i = 0; v->kind == VAL_LIST && i < v->list.n; i++) {
		const struct val *word = &v->list.item[i];
		if (word->kind == VAL_STR && memmem(word->str.p, word->str.n, "{{", 2))
			return why_set(r->why, E_INPUT, word->at,
				       "no templates in what notifies: it reads what happened as JSON on its "
				       "standard input, and has it in ROTA_… variables");
	}
	return command_set(r, into, k, v);
}

static void write_target_command(const void *from, struct buf *out)
{
	command_write(&((const struct doc_target *)from)->command, out);
}

static const struct key to_webhook_keys[] = {
	KEY_OF_TYPE,
	{ "url", KEY_OTHER, .kinds = STRING, .set = set_target_url, .write = write_target_url },
	{ "secret", KEY_OTHER, .kinds = STRING, .set = set_secret, .write = write_secret },
	{ 0 },
};

static const struct key to_command_keys[] = {
	KEY_OF_TYPE,
	{ "command", KEY_OTHER, .to = IN_TARGET(command), .kinds = COMMAND_KINDS, .set = set_target_command,
	  .write = write_target_command },
	{ 0 },
};

static const struct key to_desktop_keys[] = { KEY_OF_TYPE, { 0 } };

static const struct key to_event_keys[] = {
	KEY_OF_TYPE,
	{ "name", KEY_TEXT, .to = IN_TARGET(name) },
	{ 0 },
};

static const struct key_variant targets[] = {
	[DOC_TO_WEBHOOK] = { "webhook", "target webhook", to_webhook_keys, "url" },
	[DOC_TO_COMMAND] = { "command", "target command", to_command_keys, "command" },
	[DOC_TO_DESKTOP] = { "desktop", "target desktop", to_desktop_keys, NULL },
	[DOC_TO_EVENT] = { "event", "target event", to_event_keys, NULL },
	{ 0 },
};

enum err notify_read_targets(struct key_reader *r, const struct val *list, struct doc_target **ret,
			     unsigned *n)
{
	void *items = NULL;
	enum err e = keys_read_list(r, "target", targets, list, sizeof **ret, &items, n);
	*ret = items;
	return e;
}

void notify_write_target(const struct doc_target *t, struct buf *out)
{
	keys_write_variant(&targets[t->kind], t, out);
}

void notify_write_targets(const struct doc_target *to, unsigned n, struct buf *out)
{
	keys_write_list(targets, to, sizeof *to, n, out);
}

static enum err set_to(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_notification *n = into;
	(void)k;
	return notify_read_targets(r, v, &n->to, &n->targets);
}

static void write_to(const void *from, struct buf *out)
{
	const struct doc_notification *n = from;
	notify_write_targets(n->to, n->targets, out);
}

/* --- of what --- */

#define IN_NOTIFICATION(field) offsetof(struct doc_notification, field)

static const struct key notification_keys[] = {
	{ "on_success", KEY_BOOL, .to = IN_NOTIFICATION(on_success), .usual = false },
	{ "on_failure", KEY_BOOL, .to = IN_NOTIFICATION(on_failure), .usual = true },
	{ "on_missed", KEY_BOOL, .to = IN_NOTIFICATION(on_missed), .usual = false },
	{ "on_recovered", KEY_BOOL, .to = IN_NOTIFICATION(on_recovered), .usual = false },
	{ "to", KEY_OTHER, .kinds = LIST, .set = set_to, .write = write_to },
	{ 0 },
};

enum err set_notification(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	return keys_read(r, k->name, notification_keys, &((struct schedule_doc *)into)->notification, v,
			 NULL);
}

enum err notify_read_document(struct str document, struct arena *a, struct doc_notification *ret,
			      struct str *ping, struct why *why)
{
	struct key_reader r = { document, a, why, NULL };
	struct val doc;
	struct doc_notification n = { .on_failure = true };
	enum err e = json_read(document, a, &doc, why);
	bool map = !e && doc.kind == VAL_MAP;
	const struct val *said = map ? val_get(&doc, STR("notification")) : NULL,
			 *url = map ? val_get(&doc, STR("ping")) : NULL;
	if (said)
		e = keys_read(&r, "notification", notification_keys, &n, said, NULL);
	if (e)
		return e;
	*ret = n;
	*ping = url && url->kind == VAL_STR ? url->str : (struct str){ 0 };
	return OK;
}

void write_notification(const void *from, struct buf *out)
{
	_cleanup_(buf_free) struct buf keys = { 0 };
	keys_write(notification_keys, &((const struct schedule_doc *)from)->notification, true, &keys);
	if (keys.n)
		buf_addf(out, "{%s}", keys.p);
	out->failed |= keys.failed;
}

enum err set_ping(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	((struct schedule_doc *)into)->ping = v->str;
	return doc_check_url(r, k->name, v);
}
