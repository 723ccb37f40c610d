/* Reads the setting `events`. */
#include "core/doc/config/events.h"

#include "base/json.h"
#include "core/doc/internal.h"
#include "core/doc/target.h"

#define IN_EVENTS(field) offsetof(struct config_event_target, field)

/* Joins the items to the list that event_choose reads; each is checked by itself, for its position. */
static enum err set_types(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config_event_target *t = into;
	struct event_choice one;
	_cleanup_(buf_free) struct buf all = { 0 };
	if (!v->list.n)
		return why_set(r->why, E_INPUT, v->at, "%s is empty; without it, all events are sent",
			       k->name);
	for (unsigned i = 0; i < v->list.n; i++) {
		const struct val *type = &v->list.item[i];
		if (type->kind != VAL_STR)
			return keys_wrong_kind(r, "an item of types", KEY_KIND(VAL_STR), type);
		enum err e = event_choose(type->str, &one, r->why);
		if (e)
			return keys_error_in(r, type, e);
		buf_addf(&all, "%s%.*s", i ? "," : "", STR_ARG(type->str));
	}
	const char *list = arena_dup(r->arena, buf_str(&all));
	return list && !all.failed ? event_choose((struct str){ list, all.n }, &t->choice, r->why) : E_NOMEM;
}

static const struct key event_target_keys[] = {
	{ "url", KEY_OTHER, .offset = IN_EVENTS(url), .kinds = STRING, .set = set_url },
	{ "secret", KEY_OTHER, .offset = IN_EVENTS(secret), .kinds = STRING, .set = target_set_secret },
	{ "types", KEY_OTHER, .kinds = LIST, .set = set_types },
	{ 0 },
};

static enum err read_target(struct key_reader *r, const struct val *v, struct config_event_target *ret)
{
	*ret = (struct config_event_target){ 0 };
	if (v->kind != VAL_MAP)
		return keys_wrong_kind(r, "a target of events", MAP, v);
	enum err e = keys_read(r, "a target of events", event_target_keys, ret, v, NULL);
	if (!e && !ret->url.n)
		e = why_set(r->why, E_INPUT, v->at, "a target of events needs the key 'url'");
	return e;
}

enum err events_read(struct key_reader *r, const struct val *list, struct config_events *ret)
{
	struct config_events all = { .target =
					     arena_alloc(r->arena, (list->list.n + 1) * sizeof *all.target) };
	enum err e = all.target ? OK : E_NOMEM;
	if (list->list.n > EVENT_TARGETS_MAX)
		return why_set(r->why, E_LIMIT, list->at, "events can have at most %d targets",
			       EVENT_TARGETS_MAX);
	for (; all.n < list->list.n && !e; all.n++) {
		const struct val *v = &list->list.item[all.n];
		e = read_target(r, v, &all.target[all.n]);
		for (unsigned i = 0; i < all.n && !e; i++)
			if (str_eq(all.target[i].url, all.target[all.n].url))
				e = why_set(r->why, E_INPUT, v->at,
					    "two targets of events have the same url: their positions in the "
					    "log could "
					    "not be told apart");
	}
	if (!e)
		*ret = all;
	return e;
}

void events_show(const struct config_events *e, struct buf *out)
{
	buf_addc(out, '[');
	for (unsigned i = 0; i < e->n; i++) {
		buf_addf(out, "%s{\"to\":", i ? "," : "");
		json_write_str(out, target_host(e->target[i].url));
		buf_add(out, STR(",\"types\":"));
		json_write_str(out, e->target[i].choice.list.n ? e->target[i].choice.list : STR("*"));
		buf_addc(out, '}');
	}
	buf_addc(out, ']');
}
