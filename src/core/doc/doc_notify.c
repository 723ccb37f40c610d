/* Who is told of what became of a run. */
#include "base/json.h"
#include "core/doc/command.h"
#include "core/doc/doc_inner.h"

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

/* --- targets ---------------------------------------------------------------------------------------------
 */

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

static void write_target_command(const void *from, struct buf *out)
{
	command_write(&((const struct doc_target *)from)->command, out);
}

static const struct key to_webhook_keys[] = {
	KEY_OF_TYPE,
	{ "url", KEY_OTHER, .kinds = STRING, .set = set_target_url, .write = write_target_url },
	{ "secret", KEY_TEXT, .to = IN_TARGET(secret) },
	{ 0 },
};

static const struct key to_command_keys[] = {
	KEY_OF_TYPE,
	{ "command", KEY_OTHER, .to = IN_TARGET(command), .kinds = COMMAND_KINDS, .set = command_set,
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

static enum err set_to(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_notification *n = &((struct schedule_doc *)into)->notification;
	void *items = NULL;
	(void)k;
	if (v->list.n)
		doc_need(r, DOC_NEEDS_TARGET, v->at);
	enum err e = keys_read_list(r, "target", targets, v, sizeof *n->to, &items, &n->targets);
	n->to = items;
	return e;
}

static void write_to(const void *from, struct buf *out)
{
	const struct doc_notification *n = &((const struct schedule_doc *)from)->notification;
	keys_write_list(targets, n->to, sizeof *n->to, n->targets, out);
}

/* --- of what ---------------------------------------------------------------------------------------------
 */

static const struct key notification_keys[] = {
	{ "on_success", KEY_BOOL, .to = IN_DOC(notification.on_success), .usual = false },
	{ "on_failure", KEY_BOOL, .to = IN_DOC(notification.on_failure), .usual = true },
	{ "on_missed", KEY_BOOL, .to = IN_DOC(notification.on_missed), .usual = false },
	{ "on_recovered", KEY_BOOL, .to = IN_DOC(notification.on_recovered), .usual = false },
	{ "to", KEY_OTHER, .kinds = LIST, .set = set_to, .write = write_to },
	{ 0 },
};

enum err set_notification(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	return keys_read(r, k->name, notification_keys, into, v, NULL);
}

void write_notification(const void *from, struct buf *out)
{
	_cleanup_(buf_free) struct buf keys = { 0 };
	keys_write(notification_keys, from, true, &keys);
	if (keys.n)
		buf_addf(out, "{%s}", keys.p);
	out->failed |= keys.failed;
}

enum err set_ping(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	((struct schedule_doc *)into)->ping = v->str;
	doc_need(r, DOC_NEEDS_PING, v->at);
	return doc_check_url(r, k->name, v);
}
