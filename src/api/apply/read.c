/* Reads documents, and compares them with the store. */
#include "api/apply/apply.h"
#include "base/json.h"

/* --- sources --- */

struct str apply_file(const struct val *list, int64_t i)
{
	bool exists = list && i >= 0 && i < (int64_t)list->list.n;
	return exists && list->list.item[i].kind == VAL_STR ? list->list.item[i].str : (struct str){ 0 };
}

/* The file and line of document `i`. If the request gives no place for it, the file is empty: the document
 * comes from the command line. */
static enum err read_source(struct api_call *call, const struct apply_job *job, unsigned i,
			    struct source_row *ret)
{
	const struct val *place = job->places && i < job->places->list.n ? &job->places->list.item[i] : NULL;
	*ret = (struct source_row){ .from = STR("") };
	if (!place)
		return OK;
	bool valid = place->kind == VAL_LIST && place->list.n == 2 && place->list.item[0].kind == VAL_INT &&
		     place->list.item[1].kind == VAL_INT;
	if (valid)
		*ret = (struct source_row){ apply_file(job->files, place->list.item[0].integer),
					    (uint32_t)place->list.item[1].integer };
	if (!valid || !ret->from.n || ret->from.p[0] != '/')
		return why_set(call->why, E_INPUT, place->at,
			       "a place must be [index in files, line], and the file an absolute path");
	return OK;
}

bool apply_came_from(struct str file, struct str place)
{
	bool below = place.n && place.p[place.n - 1] == '/';
	return below ? str_starts(file, place) && !memchr(file.p + place.n, '/', file.n - place.n)
		     : str_eq(file, place);
}

/* Whether a file is part of this request: documents may move between such files. */
static bool is_part_of(const struct apply_job *job, struct str file)
{
	for (unsigned i = 0; job->files && i < job->files->list.n; i++)
		if (str_eq(apply_file(job->files, i), file))
			return true;
	for (unsigned i = 0; job->prune && i < job->prune->list.n; i++)
		if (apply_came_from(file, apply_file(job->prune, i)))
			return true;
	return false;
}

/* --- reading --- */

static void write_changes(const struct key_change *change, unsigned n, struct buf *out)
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

enum err apply_describe_changes(struct api_call *call, struct api_call *scratch, struct str before,
				struct str after, struct str *ret)
{
	struct key_change *change;
	unsigned n;
	_cleanup_(buf_free) struct buf text = { 0 };
	enum err e = document_diff(scratch, before, after, &change, &n);
	if (e)
		return e;
	write_changes(change, n, &text);
	*ret = buf_str(&text);
	return !text.failed && apply_keep(call, ret) ? OK : E_NOMEM;
}

/* A leader that was removed and added again has a new number: then its follower must be sent again, even if
 * its document is unchanged. */
static enum err check_leader_number(struct api_call *call, const struct apply_job *job,
				    const struct schedule_change *c, struct apply_item *item)
{
	struct schedule_change leader = { .doc.id = c->doc.after.schedule };
	if (!c->exists || item->changes.p || !leader.doc.id.n)
		return OK;
	enum err e = schedule_change_find(call, job->api, &leader);
	if (!e && (!leader.exists || leader.old.row.sid != c->old.row.after))
		item->changes = STR("[]");
	return e;
}

/* Whether the text is exactly that of the stored document. The command line sends canonical text, as the
 * store has it, so most unchanged documents need not be read. */
static bool is_stored_text(struct api_call *call, const struct val *document, struct schedule_change *c)
{
	const struct val *id = document->kind == VAL_MAP ? val_get(document, STR("id")) : NULL;
	const struct val *after = id ? val_get(document, STR("after")) : NULL;
	struct str text = json_source(call->source, document);
	if (!id || id->kind != VAL_STR || after || !str_eq(text, c->old.document))
		return false;
	c->text = text;
	return true;
}

enum err apply_check_source(struct api_call *call, const struct apply_job *job, const struct apply_item *item,
			    const struct source_row *old)
{
	if (str_eq(old->from, item->source.from) || is_part_of(job, old->from))
		return OK;
	return source_check(call, item->agent ? "agent" : "schedule", item->id, old, item->source.from);
}

/* Sets `turn` and `by`: whether the schedule runs agent turns, and by which agent. Looks into the raw
 * document, because an unchanged document was not read. */
static void set_agent(const struct val *document, const struct schedule_change *c, struct apply_item *item)
{
	const struct val *action = val_get(document, STR("action")), *agent = val_get(document, STR("agent"));
	const struct val *type = action ? val_get(action, STR("type")) : NULL;
	item->turn = c->doc.action.message.n ||
		     (type && type->kind == VAL_STR && str_eq(type->str, STR("agent_turn")));
	item->by = c->doc.agent.n ? c->doc.agent : agent && agent->kind == VAL_STR ? agent->str : STR("");
}

enum err apply_read_document(struct api_call *call, struct apply_job *job, unsigned i)
{
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	const struct val *document = &job->documents->list.item[i], *id;
	struct apply_item *item = &job->item[i];
	struct schedule_change c = { 0 };
	enum err e = read_source(call, job, i, &item->source);
	if (e || apply_is_agent(document))
		return e ? e : apply_read_agent(call, job, i);
	scratch.arena = &arena;
	id = document->kind == VAL_MAP ? val_get(document, STR("id")) : NULL;
	if (id && id->kind == VAL_STR) {
		c.doc.id = id->str;
		e = schedule_change_find(&scratch, job->api, &c);
	}
	if (!e && !(c.exists && is_stored_text(call, document, &c))) {
		e = schedule_change_read(&scratch, job->api, document, false, &c);
		if (!e)
			e = schedule_change_find(&scratch, job->api, &c);
	}
	item->id = c.doc.id;
	if (!e && c.exists)
		e = apply_check_source(call, job, item, &c.old.source);
	if (!e && !schedule_change_is_none(&c))
		e = apply_describe_changes(call, &scratch, c.exists ? c.old.document : STR(""), c.text,
					   &item->changes);
	if (!e)
		e = check_leader_number(&scratch, job, &c, item);
	set_agent(document, &c, item);
	item->after = c.doc.after.schedule;
	item->sid = c.exists ? c.old.row.sid : 0;
	item->moved = !str_eq(c.old.source.from, item->source.from) || c.old.source.line != item->source.line;
	if (!e &&
	    (!apply_keep(call, &item->id) || !apply_keep(call, &item->after) || !apply_keep(call, &item->by)))
		e = E_NOMEM;
	arena_free(&arena);
	return e;
}

enum err apply_find_leader(struct api_call *call, const struct apply_job *job, struct apply_item *item)
{
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	struct schedule_change leader = { .doc.id = item->after };
	unsigned steps = 0;
	scratch.arena = &arena;
	item->leader = item->after.n ? apply_find(job, false, item->after) : -1;
	if (!item->after.n || item->leader >= 0)
		return OK;
	enum err e = schedule_change_find(&scratch, job->api, &leader);
	if (!e && !leader.exists)
		e = why_set(call->why, E_INPUT, WHY_NOWHERE,
			    "'%.*s' follows '%.*s', but there is no schedule '%.*s'", STR_SHORT(item->id),
			    STR_SHORT(item->after), STR_SHORT(item->after));
	for (struct read_sched at = leader.old; !e && item->leader < 0 && at.row.after;) {
		e = schedule_find_leader(&scratch, job->api, &at, &steps);
		int k = e ? -1 : apply_find(job, false, at.id);
		/* An item with this id may be another schedule: the id may have been used again. */
		item->leader = k >= 0 && job->item[k].sid == at.row.sid ? k : -1;
	}
	arena_free(&arena);
	return e;
}
