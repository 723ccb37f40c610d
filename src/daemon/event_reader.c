/* Words events. The ids of schedules and the texts of their documents are remembered, since events of few
 * schedules come in large numbers. */
#include "daemon/event_reader.h"

#include "base/json.h"
#include "daemon/notify/message.h"

#include <stdlib.h>

enum {
	IDS = 16384,
	DOCUMENTS = 2048,
	DATA_KEPT_MAX = 512 /* bytes of JSON; longer data is read again for each event */
};

/* What events need of the document that a schedule had at a rev. */
struct document_texts {
	uint64_t sid;
	uint32_t rev;
	char *text; /* owned: all of the following point into it */
	struct str expression, end_date, name, data;
};

struct event_reader {
	struct reader *reader;
	struct {
		uint64_t sid;
		char *id;
	} id[IDS];
	struct document_texts document[DOCUMENTS];
};

struct event_reader *event_reader_new(struct reader *reader)
{
	struct event_reader *r = calloc(1, sizeof *r);
	if (r)
		r->reader = reader;
	return r;
}

void event_reader_free(struct event_reader *r)
{
	for (unsigned i = 0; r && i < IDS; i++)
		free(r->id[i].id);
	for (unsigned i = 0; r && i < DOCUMENTS; i++)
		free(r->document[i].text);
	free(r);
}

/* --- texts --- */

/* The id of a schedule, which never changes; p NULL: it is not known any more. */
static struct str find_id(struct event_reader *r, uint64_t sid, struct arena *a)
{
	unsigned slot = sid % IDS;
	struct str id = { 0 };
	struct why why;
	if (!sid)
		return id;
	if (r->id[slot].sid == sid)
		return str_of(r->id[slot].id);
	if (read_id(r->reader, sid, a, &id, &why) || !id.n)
		return (struct str){ 0 };
	char *copy = strndup(id.p, id.n);
	if (copy) {
		free(r->id[slot].id);
		r->id[slot].sid = sid;
		r->id[slot].id = copy;
	}
	return id;
}

static struct str member_text(const struct val *map, const char *name)
{
	const struct val *v = map && map->kind == VAL_MAP ? val_get(map, str_of(name)) : NULL;
	return v && v->kind == VAL_STR ? v->str : (struct str){ 0 };
}

/* Keeps a copy of the texts, unless the data is long or there is no memory. */
static void keep_document(struct document_texts *slot, const struct document_texts *d)
{
	const struct str all[] = { d->expression, d->end_date, d->name, d->data };
	struct str *to[] = { &slot->expression, &slot->end_date, &slot->name, &slot->data };
	size_t n = 0;
	for (unsigned i = 0; i < ARRAY_LEN(all); i++)
		n += all[i].n + 1;
	char *text = n <= DATA_KEPT_MAX ? malloc(n) : NULL;
	if (!text)
		return;
	free(slot->text);
	*slot = (struct document_texts){ .sid = d->sid, .rev = d->rev, .text = text };
	for (unsigned i = 0; i < ARRAY_LEN(all); i++) {
		*to[i] = (struct str){ all[i].p ? text : NULL, all[i].n };
		if (all[i].n)
			memcpy(text, all[i].p, all[i].n);
		text += all[i].n + 1;
	}
}

/* The document as it was when the event was logged: documents are kept as long as their events. */
static struct document_texts find_document(struct event_reader *r, uint64_t sid, uint32_t rev,
					   struct arena *a)
{
	struct document_texts *slot = &r->document[(sid * 31 + rev) % DOCUMENTS];
	struct document_texts d = { .sid = sid, .rev = rev };
	struct str text;
	struct val v;
	struct why why;
	if (slot->text && slot->sid == sid && slot->rev == rev)
		return *slot;
	if (read_document_of(r->reader, sid, rev, a, &text, &why) || json_read(text, a, &v, &why))
		return d;
	const struct val *action = v.kind == VAL_MAP ? val_get(&v, STR("action")) : NULL;
	const struct val *data = action && action->kind == VAL_MAP ? val_get(action, STR("data")) : NULL;
	d.expression = member_text(&v, "expression");
	d.end_date = member_text(&v, "end_date");
	if (str_eq(member_text(action, "type"), STR("event"))) {
		d.name = member_text(action, "name");
		d.data = data ? json_source(text, data) : (struct str){ 0 };
	}
	keep_document(slot, &d);
	return d;
}

static void add_problem(struct event_reader *r, const struct event_row *e, struct arena *a,
			struct event_texts *t)
{
	struct problem_row p;
	struct why why;
	if (read_problem(r->reader, e->subject, a, &p, &why))
		return;
	t->subject = p.subject;
	t->by = p.by;
	t->note = p.note;
}

static void add_message(struct event_reader *r, const struct event_row *e, struct arena *a,
			struct event_texts *t)
{
	_cleanup_(buf_free) struct buf to = { 0 };
	struct message_row m;
	struct doc_target target;
	struct val body;
	struct why why;
	if (read_message(r->reader, e->subject, a, &m, &why))
		return;
	message_receiver_name(&m, &to);
	t->about = str_of(message_kind_word(m.kind));
	t->to = (struct str){ arena_dup(a, buf_str(&to)), to.n };
	t->result = m.result;
	if (message_target(&m, a, &target, NULL) == OK && target.name.n)
		t->name = target.name;
	if (m.kind != NEWS_PING && json_read(m.body, a, &body, NULL) == OK && body.kind == VAL_MAP)
		t->text = member_text(&body, "text");
}

static struct event_texts find_texts(struct event_reader *r, const struct event_row *e, struct arena *a)
{
	struct event_texts t = { .schedule = find_id(r, e->sid, a) };
	if (event_needs_document(e->type)) {
		struct document_texts d = find_document(r, e->sid, e->rev, a);
		t.expression = d.expression;
		t.end_date = d.end_date;
		t.name = d.name;
		t.data = d.data;
	}
	if (event_needs_problem(e->type))
		add_problem(r, e, a, &t);
	if (event_needs_message(e->type))
		add_message(r, e, a, &t);
	return t;
}

/* --- pages --- */

/* The texts of a document are reused when another takes its place, so each event is written at once. */
static enum err add_item(struct event_reader *r, const struct event_query *q, const struct event_row *row,
			 struct arena *a, struct event_page *page, size_t *bytes)
{
	_cleanup_(arena_free) struct arena texts_arena = { 0 };
	_cleanup_(buf_free) struct buf type = { 0 }, json = { 0 };
	const struct event_texts texts = find_texts(r, row, &texts_arena);
	event_write_type(&type, row, &texts);
	if (!event_is_chosen(&q->choice, buf_str(&type)))
		return OK;
	event_write(&json, row, &texts);
	struct event_item *item = &page->item[page->n];
	*item = (struct event_item){ .row = *row,
				     .type = { arena_dup(a, buf_str(&type)), type.n },
				     .json = { arena_dup(a, buf_str(&json)), json.n } };
	if (type.failed || json.failed || !item->type.p || !item->json.p)
		return E_NOMEM;
	item->row.text = (struct str){ 0 };
	page->n++;
	*bytes += json.n;
	return OK;
}

enum err event_reader_page(struct event_reader *r, const struct event_query *q, struct arena *a,
			   struct event_page *ret, struct why *why)
{
	_cleanup_(arena_free) struct arena rows = { 0 };
	struct read_events found;
	size_t bytes = 0;
	enum err e = read_events(
		r->reader,
		&(struct event_filter){
			.after = q->after, .types = q->choice.types, .sid = q->sid, .limit = q->limit },
		&rows, &found, why);
	if (e)
		return e;
	struct event_page page = { .searched = found.searched, .oldest = found.oldest, .last = found.last };
	page.item = arena_alloc(a, (found.n + 1) * sizeof *page.item);
	e = page.item ? OK : E_NOMEM;
	for (unsigned i = 0; i < found.n && !e; i++) {
		e = add_item(r, q, &found.item[i], a, &page, &bytes);
		if (q->bytes_max && bytes >= q->bytes_max && i + 1 < found.n) {
			page.searched = found.item[i].number;
			break;
		}
	}
	if (e)
		return why_set(why, e, WHY_NOWHERE, "out of memory");
	*ret = page;
	return OK;
}

enum err event_reader_newest(struct event_reader *r, const struct event_query *q, uint64_t *after,
			     struct why *why)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct event_filter f = { .after = INT64_MAX, .types = q->choice.types, .sid = q->sid };
	struct read_events found;
	uint64_t newest[READ_LIST_MAX], n = 0;
	unsigned limit = q->limit && q->limit < READ_LIST_MAX ? q->limit : READ_LIST_MAX;
	enum err e = read_events(r->reader, &f, &a, &found, why);
	if (e)
		return e;
	uint64_t first = found.last > READ_EVENTS_SEARCH ? found.last - READ_EVENTS_SEARCH : 0;
	for (f.after = first; !e && f.after < found.last; f.after = found.searched) {
		arena_reset(&a);
		e = read_events(r->reader, &f, &a, &found, why);
		for (unsigned i = 0; !e && i < found.n; i++)
			newest[n++ % limit] = found.item[i].number;
		if (e)
			return e;
	}
	*after = n >= limit ? newest[n % limit] - 1 : first;
	return OK;
}
