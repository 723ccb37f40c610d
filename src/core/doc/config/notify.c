#include "core/doc/config/notify.h"
#include "base/json.h"

#include <string.h>

const char *const notify_event_words[NOTIFY_EVENTS + 1] = {
	[NOTIFY_SUCCESS] = "success",     [NOTIFY_FAILURE] = "failure", [NOTIFY_MISSED] = "missed",
	[NOTIFY_RECOVERED] = "recovered", [NOTIFY_PROBLEM] = "problem",
};

enum { ALL = (1 << NOTIFY_EVENTS) - 1 };

static enum err read_event(struct key_reader *r, const struct val *v, unsigned *events)
{
	if (v->kind != VAL_STR)
		return keys_wrong(r, "an entry of events", KEY_KIND(VAL_STR), v);
	for (unsigned i = 0; i < NOTIFY_EVENTS; i++)
		if (str_eq(v->str, str_of(notify_event_words[i]))) {
			*events |= 1u << i;
			return OK;
		}
	return why_set(r->why, E_INPUT, v->at,
		       "'%.*s' is nothing to be told of: success, failure, missed, recovered or problem",
		       STR_SHORT(v->str));
}

static enum err set_events(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config_notify *n = into;
	unsigned events = 0;
	(void)k;
	for (unsigned i = 0; i < v->list.n; i++) {
		enum err e = read_event(r, &v->list.item[i], &events);
		if (e)
			return e;
	}
	n->events = events;
	return OK;
}

static void write_events(const void *from, struct buf *out)
{
	const struct config_notify *n = from;
	const char *comma = "[";
	if (n->events == ALL)
		return;
	for (unsigned i = 0; i < NOTIFY_EVENTS; i++)
		if (n->events >> i & 1) {
			buf_addf(out, "%s\"%s\"", comma, notify_event_words[i]);
			comma = ",";
		}
	buf_add(out, n->events ? STR("]") : STR("[]"));
}

static enum err set_to(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config_notify *n = into;
	(void)k;
	return notify_read_targets(r, v, &n->to, &n->targets);
}

static void write_to(const void *from, struct buf *out)
{
	const struct config_notify *n = from;
	notify_write_targets(n->to, n->targets, out);
}

static const struct key keys[] = {
	{ "events", KEY_OTHER, .kinds = KEY_KIND(VAL_LIST), .set = set_events, .write = write_events },
	{ "to", KEY_OTHER, .kinds = KEY_KIND(VAL_LIST), .set = set_to, .write = write_to },
	{ 0 },
};

enum err notify_read(struct key_reader *r, const struct val *map, struct config_notify *ret)
{
	struct config_notify n = { .events = ALL };
	enum err e = keys_read(r, "notify", keys, &n, map, NULL);
	if (!e)
		*ret = n;
	return e;
}

void notify_write(const struct config_notify *n, struct buf *out)
{
	buf_addc(out, '{');
	keys_write(keys, n, true, out);
	buf_addc(out, '}');
}

/* Of an address: up to its host. What follows is often all there is of a secret. */
struct str notify_host(struct str url)
{
	size_t n = 0, slashes = 0;
	while (n < url.n && (slashes += url.p[n] == '/') < 3 && url.p[n] != '?' && url.p[n] != '#')
		n++;
	struct str host = str_sub(url, 0, n);
	const char *at = memrchr(host.p, '@', host.n);
	return at ? str_from(host, (size_t)(at + 1 - host.p)) : host;
}

static void name_command(const struct doc_command *c, struct buf *out)
{
	struct str first = c->shell.n ? c->shell : c->argc ? c->argv[0] : (struct str){ 0 };
	size_t n = 0;
	while (n < first.n && first.p[n] != ' ')
		n++; /* arguments may be secrets */
	buf_addf(out, "command %.*s", STR_SHORT(str_sub(first, 0, n)));
}

void notify_name(const struct doc_target *t, struct buf *out)
{
	switch ((enum doc_target_kind)t->kind) {
	case DOC_TO_WEBHOOK:
		buf_addf(out, "webhook at %.*s", STR_SHORT(notify_host(t->url)));
		break;
	case DOC_TO_COMMAND:
		name_command(&t->command, out);
		break;
	case DOC_TO_DESKTOP:
		buf_addf(out, "desktop");
		break;
	case DOC_TO_EVENT:
		buf_addf(out, "event");
		break;
	}
}

void notify_show(const struct config_notify *n, struct buf *out)
{
	const char *comma = "";
	buf_add(out, STR("{\"events\":["));
	for (unsigned i = 0; i < NOTIFY_EVENTS; i++)
		if (n->events >> i & 1) {
			buf_addf(out, "%s\"%s\"", comma, notify_event_words[i]);
			comma = ",";
		}
	buf_add(out, STR("],\"to\":["));
	for (unsigned i = 0; i < n->targets; i++) {
		_cleanup_(buf_free) struct buf name = { 0 };
		notify_name(&n->to[i], &name);
		buf_add(out, i ? STR(",") : STR(""));
		json_write_str(out, buf_str(&name));
		out->failed |= name.failed;
	}
	buf_add(out, STR("]}"));
}
