/* Reads and writes the setting `notify`. */
#include "core/doc/config/notify.h"
#include "base/json.h"
#include "core/doc/target.h"
#include "core/model.h"

static const char *const event_words[NOTIFY_EVENTS + 1] = {
	[NOTIFY_SUCCESS] = "success",     [NOTIFY_FAILURE] = "failure", [NOTIFY_MISSED] = "missed",
	[NOTIFY_RECOVERED] = "recovered", [NOTIFY_PROBLEM] = "problem",
};

enum { ALL_EVENTS = (1 << NOTIFY_EVENTS) - 1 };

static enum err set_events(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config_notify *n = into;
	unsigned events = 0, event = 0;
	(void)k;
	for (unsigned i = 0; i < v->list.n; i++) {
		const struct val *word = &v->list.item[i];
		if (word->kind != VAL_STR)
			return keys_wrong_kind(r, "an item of events", KEY_KIND(VAL_STR), word);
		enum err e = word_find(event_words, word->str, "event", &event, r->why);
		if (e)
			return keys_error_in(r, word, e);
		events |= 1u << event;
	}
	n->events = events;
	return OK;
}

static void list_events(unsigned events, struct buf *out)
{
	const char *comma = "";
	buf_addc(out, '[');
	for (unsigned i = 0; i < NOTIFY_EVENTS; i++)
		if (events >> i & 1) {
			buf_addf(out, "%s\"%s\"", comma, event_words[i]);
			comma = ",";
		}
	buf_addc(out, ']');
}

static void write_events(const void *from, const struct key *k, struct buf *out)
{
	const struct config_notify *n = from;
	(void)k;
	if (n->events != ALL_EVENTS)
		list_events(n->events, out);
}

static enum err set_to(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config_notify *n = into;
	return target_read_list(r, k->name, v, &n->to, &n->targets);
}

static void write_to(const void *from, const struct key *k, struct buf *out)
{
	const struct config_notify *n = from;
	(void)k;
	target_write_list(n->to, n->targets, out);
}

static const struct key notify_keys[] = {
	{ "events", KEY_OTHER, .kinds = KEY_KIND(VAL_LIST), .set = set_events, .write = write_events },
	{ "to", KEY_OTHER, .kinds = KEY_KIND(VAL_LIST), .set = set_to, .write = write_to },
	{ 0 },
};

enum err notify_read(struct key_reader *r, const struct val *map, struct config_notify *ret)
{
	struct config_notify n = { .events = ALL_EVENTS };
	enum err e = keys_read(r, "notify", notify_keys, &n, map, NULL);
	if (!e)
		*ret = n;
	return e;
}

void notify_write(const struct config_notify *n, struct buf *out)
{
	buf_addc(out, '{');
	keys_write(notify_keys, n, true, out);
	buf_addc(out, '}');
}

void notify_show(const struct config_notify *n, struct buf *out)
{
	buf_add(out, STR("{\"events\":"));
	list_events(n->events, out);
	buf_add(out, STR(",\"to\":["));
	for (unsigned i = 0; i < n->targets; i++) {
		_cleanup_(buf_free) struct buf name = { 0 };
		target_write_name(&n->to[i], &name);
		buf_add(out, i ? STR(",") : STR(""));
		json_write_str(out, buf_str(&name));
		out->failed |= name.failed;
	}
	buf_add(out, STR("]}"));
}
