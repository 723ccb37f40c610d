#include "api/apply/apply.h"
#include "base/json.h"

/* --- where it stands --- */

struct str applying_file(const struct val *list, int64_t i)
{
	bool there = list && i >= 0 && i < (int64_t)list->list.n;
	return there && list->list.item[i].kind == VAL_STR ? list->list.item[i].str : (struct str){ 0 };
}

/* Not said is the command line. */
static enum err find_source(struct api_call *call, const struct applying *a, unsigned i,
			    struct source_row *ret)
{
	const struct val *place = a->places && i < a->places->list.n ? &a->places->list.item[i] : NULL;
	*ret = (struct source_row){ .from = STR("") };
	if (!place)
		return OK;
	bool good = place->kind == VAL_LIST && place->list.n == 2 && place->list.item[0].kind == VAL_INT &&
		    place->list.item[1].kind == VAL_INT;
	if (good)
		*ret = (struct source_row){ applying_file(a->files, place->list.item[0].integer),
					    (uint32_t)place->list.item[1].integer };
	if (!good || !ret->from.n || ret->from.p[0] != '/')
		return why_set(call->why, E_INPUT, place->at, "a place is [the number of a file, a line]");
	return OK;
}

bool applying_came_from(struct str file, struct str place)
{
	bool below = place.n && place.p[place.n - 1] == '/';
	return below ? str_starts(file, place) && !memchr(file.p + place.n, '/', file.n - place.n)
		     : str_eq(file, place);
}

/* It may have moved from one of these files to another. */
static bool is_ours(const struct applying *a, struct str file)
{
	for (unsigned i = 0; a->files && i < a->files->list.n; i++)
		if (str_eq(applying_file(a->files, i), file))
			return true;
	for (unsigned i = 0; a->prune && i < a->prune->list.n; i++)
		if (applying_came_from(file, applying_file(a->prune, i)))
			return true;
	return false;
}

/* --- reading --- */

static void tell_changes(const struct put_change *change, unsigned n, struct buf *out)
{
	buf_addc(out, '[');
	for (unsigned i = 0; i < n; i++) {
		buf_addf(out, "%s{\"key\":", i ? "," : "");
		json_write_str(out, change[i].key);
		buf_add(out, STR(",\"from\":"));
		buf_add(out, change[i].from.n ? change[i].from : STR("null"));
		buf_add(out, STR(",\"to\":"));
		buf_add(out, change[i].to.n ? change[i].to : STR("null"));
		buf_addc(out, '}');
	}
	buf_addc(out, ']');
}

enum err applying_changes(struct api_call *call, struct api_call *scratch, struct str before,
			  struct str after, struct str *ret)
{
	struct put_change *change;
	unsigned n;
	_cleanup_(buf_free) struct buf text = { 0 };
	enum err e = put_changes(scratch, before, after, &change, &n);
	if (e)
		return e;
	tell_changes(change, n, &text);
	*ret = buf_str(&text);
	return !text.failed && applying_keep(call, ret) ? OK : E_NOMEM;
}

/* A leader that was removed and made anew has another number: the follower learns it. */
static enum err find_leader(struct api_call *call, const struct applying *a, const struct put *p,
			    struct item *item)
{
	struct put leader = { .doc.id = p->doc.after.schedule };
	if (!p->exists || item->changes.p || !leader.doc.id.n)
		return OK;
	enum err e = put_look(call, a->api, &leader);
	if (!e && (!leader.exists || leader.old.row.sid != p->old.row.after))
		item->changes = STR("[]");
	return e;
}

/* What the daemon has wrote down is canonical, and so is what our command line sends: then no more is to be
 * read. */
static bool is_known(struct api_call *call, const struct val *document, struct put *p)
{
	const struct val *id = document->kind == VAL_MAP ? val_get(document, STR("id")) : NULL;
	const struct val *after = id ? val_get(document, STR("after")) : NULL;
	struct str text = json_source(call->source, document);
	if (!id || id->kind != VAL_STR || after || !str_eq(text, p->old.document))
		return false;
	p->text = text;
	return true;
}

enum err applying_check_source(struct api_call *call, const struct applying *a, const struct item *item,
			       const struct source_row *old)
{
	if (str_eq(old->from, item->source.from) || is_ours(a, old->from))
		return OK;
	return put_check_source(call, item->agent ? "agent" : "schedule", item->id, old, item->source.from);
}

/* Who takes its turns, if it has any. One that stays as it is was not read. */
static void find_agent(const struct val *document, const struct put *p, struct item *item)
{
	const struct val *action = val_get(document, STR("action")), *of = val_get(document, STR("agent"));
	const struct val *type = action ? val_get(action, STR("type")) : NULL;
	item->turn = p->doc.action.message.n ||
		     (type && type->kind == VAL_STR && str_eq(type->str, STR("agent_turn")));
	item->of = p->doc.agent.n ? p->doc.agent : of && of->kind == VAL_STR ? of->str : STR("");
}

enum err applying_read(struct api_call *call, struct applying *a, unsigned i)
{
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	const struct val *document = &a->documents->list.item[i], *id;
	struct item *item = &a->item[i];
	struct put p = { 0 };
	enum err e = find_source(call, a, i, &item->source);
	if (e || applying_is_agent(document))
		return e ? e : applying_read_agent(call, a, i);
	scratch.arena = &arena;
	id = document->kind == VAL_MAP ? val_get(document, STR("id")) : NULL;
	if (id && id->kind == VAL_STR) {
		p.doc.id = id->str;
		e = put_look(&scratch, a->api, &p);
	}
	if (!e && !(p.exists && is_known(call, document, &p))) {
		e = put_read(&scratch, a->api, document, false, &p);
		if (!e)
			e = put_look(&scratch, a->api, &p);
	}
	item->id = p.doc.id;
	if (!e && p.exists)
		e = applying_check_source(call, a, item, &p.old.source);
	if (!e && !put_same(&p))
		e = applying_changes(call, &scratch, p.exists ? p.old.document : STR(""), p.text,
				     &item->changes);
	if (!e)
		e = find_leader(&scratch, a, &p, item);
	find_agent(document, &p, item);
	item->after = p.doc.after.schedule;
	item->sid = p.exists ? p.old.row.sid : 0;
	item->moved = !str_eq(p.old.source.from, item->source.from) || p.old.source.line != item->source.line;
	if (!e && (!applying_keep(call, &item->id) || !applying_keep(call, &item->after) ||
		   !applying_keep(call, &item->of)))
		e = E_NOMEM;
	arena_free(&arena);
	return e;
}

enum err applying_find_leader(struct api_call *call, const struct applying *a, struct item *i)
{
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	struct put leader = { .doc.id = i->after };
	unsigned steps = 0;
	scratch.arena = &arena;
	i->leader = i->after.n ? applying_find(a, false, i->after) : -1;
	if (!i->after.n || i->leader >= 0)
		return OK;
	enum err e = put_look(&scratch, a->api, &leader);
	if (!e && !leader.exists)
		e = why_set(call->why, E_INPUT, WHY_NOWHERE,
			    "'%.*s' is to follow '%.*s', but there is no such schedule", STR_SHORT(i->id),
			    STR_SHORT(i->after));
	for (struct read_sched at = leader.old; !e && i->leader < 0 && at.row.after;) {
		e = put_follow(&scratch, a->api, &at, &steps);
		int k = e ? -1 : applying_find(a, false, at.id);
		/* Another may have had its id before. */
		i->leader = k >= 0 && a->item[k].sid == at.row.sid ? k : -1;
	}
	arena_free(&arena);
	return e;
}
