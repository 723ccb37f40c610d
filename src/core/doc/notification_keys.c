/* The key `notification` of a schedule: which results are reported, and to which targets. */
#include "base/json.h"
#include "core/doc/internal.h"
#include "core/doc/target.h"

#define IN_NOTIFICATION(field) offsetof(struct doc_notification, field)

static enum err set_to(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_notification *n = into;
	return target_read_list(r, k->name, v, &n->to, &n->targets);
}

static void write_to(const void *from, const struct key *k, struct buf *out)
{
	const struct doc_notification *n = from;
	(void)k;
	target_write_list(n->to, n->targets, out);
}

static const struct key notification_keys[] = {
	{ "on_success", KEY_BOOL, .offset = IN_NOTIFICATION(on_success), .default_value = false },
	{ "on_failure", KEY_BOOL, .offset = IN_NOTIFICATION(on_failure), .default_value = true },
	{ "on_missed", KEY_BOOL, .offset = IN_NOTIFICATION(on_missed), .default_value = false },
	{ "on_recovered", KEY_BOOL, .offset = IN_NOTIFICATION(on_recovered), .default_value = false },
	{ "to", KEY_OTHER, .kinds = LIST, .set = set_to, .write = write_to },
	{ 0 },
};

enum err set_notification(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	return keys_read(r, k->name, notification_keys, KEY_FIELD(struct doc_notification, into, k), v, NULL);
}

void write_notification(const void *from, const struct key *k, struct buf *out)
{
	keys_write_map(notification_keys, KEY_CONST_FIELD(struct doc_notification, from, k), out);
}

enum err doc_read_notification(struct str document, struct arena *a, struct doc_notification *ret,
			       struct str *ping, struct why *why)
{
	struct key_reader r = { document, a, why, NULL };
	struct val doc;
	struct doc_notification n = { 0 };
	keys_set_defaults(notification_keys, &n);
	enum err e = json_read(document, a, &doc, why);
	bool map = !e && doc.kind == VAL_MAP;
	const struct val *notification = map ? val_get(&doc, STR("notification")) : NULL,
			 *url = map ? val_get(&doc, STR("ping")) : NULL;
	if (notification)
		e = keys_read(&r, "notification", notification_keys, &n, notification, NULL);
	if (e)
		return e;
	*ret = n;
	*ping = url && url->kind == VAL_STR ? url->str : (struct str){ 0 };
	return OK;
}
