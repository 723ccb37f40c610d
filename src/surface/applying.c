/* Documents become schedules, on the daemon's side: reads all, settles the order, orders one after the other,
 * removes what came from the same place and is there no more, and tells what came of it. All of it is done in
 * turns of a few milliseconds each, so that others are answered in between. Of each document only what is
 * needed later is kept: a hundred thousand that stay as they are cost a look at each. */
#include "base/json.h"
#include "host/clock.h"
#include "surface/op_apply.h"
#include "surface/put.h"
#include "surface/tell.h"

#include <stdlib.h>

struct item {
	struct str id, after;
	struct source_row source;
	uint64_t sid;       /* of the schedule that has this id; 0: none */
	struct str changes; /* JSON, maybe of none; p NULL: it stays as it is */
	bool moved;         /* only its place is another */
	bool applied;
};

struct removal {
	struct str id;
	uint64_t sid;
	bool done;
};

struct applying {
	struct api *api;
	const struct val *documents, *files, *places; /* where each stands: [which file, line] */
	const struct val *prune;                      /* what came from there and is not here goes */
	const struct val *gone;                       /* likewise, if its file is there no more */
	struct item *item;
	const struct item **by_id;    /* sorted */
	unsigned *order;              /* leaders before their followers */
	unsigned read, checked, told; /* so far */
	unsigned n, asked, answered;  /* of the order; then of the removals */
	unsigned pruning;             /* which of these is being looked through … */
	struct read_sched last;       /* … after this one; id.p NULL: from the first on */
	struct removal *removal;
	unsigned removals, room;
	bool dry_run;
	enum err failed; /* the first, … */
	struct why why;  /* … and more about it. What was not asked for by then never is */
};

enum { TURN_US = 5000 };

/* Under way at a time: the store carries many out at once, and the engine's queue is not ours alone. */
enum { TOGETHER = 64 };

/* --- by id
 * ------------------------------------------------------------------------------------------------------ */

static int compare(struct str a, struct str b)
{
	int c = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
	return c ? c : (a.n > b.n) - (a.n < b.n);
}

static int by_id(const void *x, const void *y)
{
	const struct item *a = *(const struct item *const *)x, *b = *(const struct item *const *)y;
	int c = compare(a->id, b->id);
	return c ? c : (a > b) - (a < b);
}

static int find(const struct applying *a, struct str id)
{
	unsigned low = 0, high = a->n;
	while (low < high) {
		unsigned mid = low + (high - low) / 2;
		int c = compare(a->by_id[mid]->id, id);
		if (c == 0)
			return (int)(a->by_id[mid] - a->item);
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}

static enum err sort_by_id(struct op_call *call, struct applying *a)
{
	a->by_id = arena_alloc(call->arena, (a->n + 1) * sizeof(struct item *));
	if (!a->by_id)
		return E_NOMEM;
	for (unsigned i = 0; i < a->n; i++)
		a->by_id[i] = &a->item[i];
	qsort((void *)a->by_id, a->n, sizeof(struct item *), by_id);
	for (unsigned i = 1; i < a->n; i++)
		if (str_eq(a->by_id[i]->id, a->by_id[i - 1]->id))
			return why_set(call->why, E_INPUT, a->documents->list.item[a->by_id[i] - a->item].at,
				       "schedule '%.*s' is there twice", STR_SHORT(a->by_id[i]->id));
	return OK;
}

/* A follower needs its leader's number, so a leader goes first: from each, up to the first that is placed,
 * and back. */
static enum err put_in_order(struct op_call *call, struct applying *a)
{
	bool *placed = arena_alloc(call->arena, a->n + 1);
	unsigned *seen = arena_alloc(call->arena, (a->n + 1) * sizeof *seen); /* from which, and one */
	unsigned *line = arena_alloc(call->arena, (a->n + 1) * sizeof *line), n = 0;
	a->order = arena_alloc(call->arena, (a->n + 1) * sizeof *a->order);
	if (!placed || !seen || !line || !a->order)
		return E_NOMEM;
	for (unsigned i = 0; i < a->n; i++) {
		unsigned length = 0;
		for (int at = (int)i; at >= 0 && !placed[at];) {
			struct str after = a->item[at].after;
			if (seen[at] == i + 1)
				return why_set(call->why, E_INPUT, WHY_NOWHERE,
					       "'%.*s' follows itself, by way of '%.*s'",
					       STR_SHORT(a->item[at].id), STR_SHORT(after));
			seen[at] = i + 1;
			line[length++] = (unsigned)at;
			at = after.n ? find(a, after) : -1;
		}
		while (length) {
			placed[line[--length]] = true;
			a->order[n++] = line[length];
		}
	}
	return OK;
}

/* --- where it stands
 * -------------------------------------------------------------------------------------------- */

static struct str file_at(const struct val *list, int64_t i)
{
	bool there = list && i >= 0 && i < (int64_t)list->list.n;
	return there && list->list.item[i].kind == VAL_STR ? list->list.item[i].str : (struct str){ 0 };
}

/* Not said is the command line. */
static enum err find_source(struct op_call *call, const struct applying *a, unsigned i,
			    struct source_row *ret)
{
	const struct val *place = a->places && i < a->places->list.n ? &a->places->list.item[i] : NULL;
	*ret = (struct source_row){ .from = STR("") };
	if (!place)
		return OK;
	bool good = place->kind == VAL_LIST && place->list.n == 2 && place->list.item[0].kind == VAL_INT &&
		    place->list.item[1].kind == VAL_INT;
	if (good)
		*ret = (struct source_row){ file_at(a->files, place->list.item[0].integer),
					    (uint32_t)place->list.item[1].integer };
	if (!good || !ret->from.n || ret->from.p[0] != '/')
		return why_set(call->why, E_INPUT, place->at, "a place is [the number of a file, a line]");
	return OK;
}

/* Was it in this file, or in a file of this directory? Those of directories in it are not read with it. */
static bool came_from(struct str file, struct str place)
{
	bool below = place.n && place.p[place.n - 1] == '/';
	return below ? str_starts(file, place) && !memchr(file.p + place.n, '/', file.n - place.n)
		     : str_eq(file, place);
}

/* It may have moved from one of these files to another. */
static bool is_ours(const struct applying *a, struct str file)
{
	for (unsigned i = 0; a->files && i < a->files->list.n; i++)
		if (str_eq(file_at(a->files, i), file))
			return true;
	for (unsigned i = 0; a->prune && i < a->prune->list.n; i++)
		if (came_from(file, file_at(a->prune, i)))
			return true;
	return false;
}

/* --- reading
 * ---------------------------------------------------------------------------------------------------- */

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

static bool keep(struct op_call *call, struct str *s)
{
	s->p = s->n ? arena_dup(call->arena, *s) : "";
	return s->p != NULL;
}

/* What differs, in words; none, if nothing does. */
static enum err find_changes(struct op_call *call, struct op_call *scratch, const struct put *p,
			     struct str *ret)
{
	struct put_change *change;
	unsigned n;
	_cleanup_(buf_free) struct buf text = { 0 };
	if (put_same(p))
		return OK;
	enum err e = put_changes(scratch, p, &change, &n);
	if (e)
		return e;
	tell_changes(change, n, &text);
	*ret = buf_str(&text);
	return !text.failed && keep(call, ret) ? OK : E_NOMEM;
}

/* A leader that was removed and made anew has another number: the follower learns it. */
static enum err find_leader(struct op_call *call, const struct applying *a, const struct put *p,
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
static bool is_known(struct op_call *call, const struct val *document, struct put *p)
{
	const struct val *id = document->kind == VAL_MAP ? val_get(document, STR("id")) : NULL;
	const struct val *after = id ? val_get(document, STR("after")) : NULL;
	struct str text = json_source(call->source, document);
	if (!id || id->kind != VAL_STR || after || !str_eq(text, p->old.document))
		return false;
	p->text = text;
	return true;
}

static enum err read_one(struct op_call *call, struct applying *a, unsigned i)
{
	struct arena arena = { 0 };
	struct op_call scratch = *call;
	const struct val *document = &a->documents->list.item[i], *id;
	struct item *item = &a->item[i];
	struct put p = { 0 };
	scratch.arena = &arena;
	enum err e = find_source(call, a, i, &item->source);
	id = document->kind == VAL_MAP ? val_get(document, STR("id")) : NULL;
	if (!e && id && id->kind == VAL_STR) {
		p.doc.id = id->str;
		e = put_look(&scratch, a->api, &p);
	}
	if (!e && !(p.exists && is_known(call, document, &p))) {
		e = put_read(&scratch, a->api, document, false, &p);
		if (!e)
			e = put_look(&scratch, a->api, &p);
	}
	if (!e && p.exists && !str_eq(p.old.source.from, item->source.from) && !is_ours(a, p.old.source.from))
		e = put_check_source(call, &p.old, item->source.from);
	if (!e)
		e = find_changes(call, &scratch, &p, &item->changes);
	if (!e)
		e = find_leader(&scratch, a, &p, item);
	item->id = p.doc.id;
	item->after = p.doc.after.schedule;
	item->sid = p.exists ? p.old.row.sid : 0;
	item->moved = !str_eq(p.old.source.from, item->source.from) || p.old.source.line != item->source.line;
	if (!e && (!keep(call, &item->id) || !keep(call, &item->after)))
		e = E_NOMEM;
	arena_free(&arena);
	return e;
}

static enum err check_leader(struct op_call *call, const struct applying *a, const struct item *i)
{
	struct put leader = { .doc.id = i->after };
	if (!leader.doc.id.n || find(a, leader.doc.id) >= 0)
		return OK;
	enum err e = put_look(call, a->api, &leader);
	return e || leader.exists ? e
				  : why_set(call->why, E_INPUT, WHY_NOWHERE,
					    "'%.*s' is to follow '%.*s', but there is no such schedule",
					    STR_SHORT(i->id), STR_SHORT(leader.doc.id));
}

/* --- telling
 * ---------------------------------------------------------------------------------------------------- */

static void tell_one(struct op_call *call, const struct applying *a, const struct item *i)
{
	const char *result = !i->changes.p                ? "unchanged"
			     : !a->dry_run && !i->applied ? "not_applied"
			     : i->sid                     ? "changed"
							  : "added";
	buf_add(&call->answer, STR("{\"id\":"));
	json_write_str(&call->answer, i->id);
	buf_addf(&call->answer, ",\"result\":\"%s\",\"changes\":", result);
	buf_add(&call->answer, i->changes.p ? i->changes : STR("[]"));
	buf_addc(&call->answer, '}');
}

static void tell(void *arg)
{
	struct op_call *call = arg;
	struct applying *a = call->ctx;
	int64_t until = clock_boot().us + TURN_US;
	if (!a->told)
		buf_addf(&call->answer, "{\"dry_run\":%s,\"complete\":%s,\"schedules\":[",
			 a->dry_run ? "true" : "false", a->failed ? "false" : "true");
	while (a->told < a->n) {
		/* No room for another turn: then all of it now, for what was done must be told. */
		if (clock_boot().us > until && api_post(a->api, tell, call) == OK)
			return;
		buf_add(&call->answer, a->told ? STR(",") : STR(""));
		tell_one(call, a, &a->item[a->told++]);
	}
	for (unsigned i = 0; i < a->removals; i++) {
		buf_addf(&call->answer, "%s{\"id\":", a->n || i ? "," : "");
		json_write_str(&call->answer, a->removal[i].id);
		buf_addf(&call->answer, ",\"result\":\"%s\"}",
			 a->dry_run || a->removal[i].done ? "removed" : "not_removed");
	}
	buf_addc(&call->answer, ']');
	if (a->failed) {
		_cleanup_(buf_free) struct buf text = { 0 };
		err_describe(a->failed, &a->why, STR(""), &text);
		buf_addf(&call->answer, ",\"error\":{\"code\":\"%s\"", err_table[a->failed].name);
		tell_str(&call->answer, "detail", buf_str(&text));
		buf_addc(&call->answer, '}');
		call->status = 207; /* some of it is done */
	}
	buf_addc(&call->answer, '}');
	api_finish(call, OK);
}

/* The first counts; call->why is also that of answers still to come. */
static void fail(struct op_call *call, struct applying *a, enum err e)
{
	if (!e || a->failed)
		return;
	a->failed = e;
	a->why = *call->why;
}

/* --- what is there no more
 * -------------------------------------------------------------------------------------- */

static void removed(struct op_call *call, struct api *api, const struct reply *r);

static void remove_on(struct op_call *call)
{
	struct applying *a = call->ctx;
	while (!a->failed && !a->dry_run && a->asked < a->removals && a->asked - a->answered < TOGETHER) {
		call->about = &a->removal[a->asked];
		struct command c = { .kind = CMD_DROP, .sid = a->removal[a->asked].sid };
		fail(call, a, api_order(call, a->api, &c, removed));
		a->asked += !a->failed;
	}
	if (a->answered == a->asked && (a->failed || a->dry_run || a->asked == a->removals))
		tell(call);
}

static void removed(struct op_call *call, struct api *api, const struct reply *r)
{
	struct applying *a = call->ctx;
	struct removal *m = &a->removal[(const struct removal *)call->about - a->removal];
	(void)api;
	a->answered++;
	m->done = r->code == REPLY_OK || r->code == REPLY_NOT_FOUND;
	if (!m->done && !a->failed) {
		const char *what = arena_printf(call->arena, "'%.*s' was not removed", STR_SHORT(m->id));
		fail(call, a, api_refusal(call, r, what ? what : "one was not removed"));
	}
	remove_on(call);
}

static enum err add_removal(struct op_call *call, struct applying *a, const struct read_sched *s)
{
	if (a->removals == a->room) {
		unsigned room = a->room ? 2 * a->room : 64;
		struct removal *more = arena_alloc(call->arena, room * sizeof *more);
		if (!more)
			return E_NOMEM;
		if (a->removals)
			memcpy(more, a->removal, a->removals * sizeof *more);
		a->removal = more;
		a->room = room;
	}
	struct removal m = { .id = s->id, .sid = s->row.sid };
	if (!keep(call, &m.id))
		return E_NOMEM;
	a->removal[a->removals++] = m;
	return OK;
}

static unsigned length(const struct val *list)
{
	return list ? list->list.n : 0;
}

static enum err look_at_page(struct op_call *call, struct applying *a)
{
	struct arena arena = { 0 };
	struct read_scheds page = { 0 };
	unsigned n = length(a->prune);
	bool all = a->pruning < n;
	struct str from = all ? file_at(a->prune, a->pruning) : file_at(a->gone, a->pruning - n);
	enum err e = read_scheds_from(api_reader(a->api), from, a->last.id.p ? &a->last : NULL, 0, &arena,
				      &page, call->why);
	for (unsigned i = 0; !e && i < page.n; i++) {
		struct str file = page.item[i].source.from;
		if (find(a, page.item[i].id) < 0 && came_from(file, from) &&
		    (all || !put_file_is_there(file)))
			e = add_removal(call, a, &page.item[i]);
	}
	if (!e && page.more) {
		a->last = page.item[page.n - 1];
		if (!keep(call, &a->last.id) || !keep(call, &a->last.source.from))
			e = E_NOMEM;
	} else {
		a->last = (struct read_sched){ 0 };
		a->pruning++;
	}
	arena_free(&arena);
	return e;
}

/* A page at a turn. */
static void look_for_more(void *arg)
{
	struct op_call *call = arg;
	struct applying *a = call->ctx;
	enum err e = OK;
	if (a->pruning < length(a->prune) + length(a->gone)) {
		e = look_at_page(call, a);
		if (!e)
			e = api_post(a->api, look_for_more, call);
		if (!e)
			return;
	}
	fail(call, a, e);
	a->asked = a->answered = 0;
	remove_on(call);
}

/* --- what is there
 * ---------------------------------------------------------------------------------------------- */

static void go_on(void *arg);

static void source_told(void *arg)
{
	struct op_call *call = arg;
	((struct applying *)call->ctx)->answered++;
	go_on(call);
}

/* On the daemon's thread. That it stands elsewhere now is worth no failure. */
static void source_kept(void *ctx, const struct st_ack *ack)
{
	struct op_call *call = ctx;
	(void)ack;
	api_answer(((struct applying *)call->ctx)->api, source_told, call);
}

static enum err keep_source(struct op_call *call, const struct applying *a, const struct item *i)
{
	struct st_req r = { .op = ST_SOURCE, .lane = LANE_BULK, .sid = i->sid, .source = i->source };
	return daemon_send(api_daemon(a->api), &r, source_kept, call);
}

static void applied(struct op_call *call, struct api *api, const struct reply *r)
{
	struct applying *a = call->ctx;
	struct item *i = &a->item[(const struct item *)call->about - a->item];
	(void)api;
	a->answered++;
	i->applied = r->code == REPLY_OK;
	if (!i->applied && !a->failed) {
		const char *what = arena_printf(call->arena, "'%.*s' was refused", STR_SHORT(i->id));
		fail(call, a, api_refusal(call, r, what ? what : "one was refused"));
	}
	go_on(call);
}

/* Read once more: keeping all of every document would be too much. */
static enum err order_one(struct op_call *call, struct applying *a, const struct item *i)
{
	struct arena arena = { 0 };
	struct op_call scratch = *call;
	struct put p = { 0 };
	scratch.arena = &arena;
	enum err e = put_read(&scratch, a->api, &a->documents->list.item[i - a->item], false, &p);
	if (!e)
		e = put_look(&scratch, a->api, &p);
	p.source = i->source;
	p.bulk = a->n > APPLY_BULK;
	call->about = i;
	if (!e)
		e = put_order(call, a->api, &p, applied);
	arena_free(&arena);
	return e;
}

/* A follower needs its leader's number: what is under way must be there before. */
static bool may_go(const struct applying *a, const struct item *i)
{
	bool follows = i->after.n && find(a, i->after) >= 0;
	return a->asked - a->answered < (follows ? 1 : TOGETHER);
}

/* Asks for as many as may be asked for at a time; the last answer ends it. What was refused stops the rest.
 */
static void go_on(void *arg)
{
	struct op_call *call = arg;
	struct applying *a = call->ctx;
	while (!a->failed && a->asked < a->n) {
		const struct item *i = &a->item[a->order[a->asked]];
		if (a->dry_run || (!i->changes.p && !i->moved)) {
			a->asked++;
			a->answered++;
			continue;
		}
		if (!may_go(a, i))
			return;
		fail(call, a, i->changes.p ? order_one(call, a, i) : keep_source(call, a, i));
		a->asked += !a->failed;
	}
	if (a->answered < a->asked)
		return;
	if (a->failed)
		tell(call);
	else
		look_for_more(call);
}

/* Sorting and ordering are quick; what asks the store takes its time. */
static void look(void *arg)
{
	struct op_call *call = arg;
	struct applying *a = call->ctx;
	int64_t until = clock_boot().us + TURN_US;
	enum err e = OK;
	if (!a->n)
		e = sort_by_id(call, a);
	while (!e && a->checked < a->n && clock_boot().us < until) {
		if (a->read < a->n) {
			e = read_one(call, a, a->read);
			if (!e && ++a->read == a->n)
				e = sort_by_id(call, a);
		} else {
			e = check_leader(call, a, &a->item[a->checked++]);
		}
	}
	bool over = a->checked == a->n;
	if (!e && over)
		e = put_in_order(call, a);
	if (!e && !over)
		e = api_post(a->api, look, call);
	if (e)
		api_finish(call, e);
	else if (over)
		go_on(call);
}

/* What is there and is something else must not be passed over: it would be another request. */
static enum err take(struct op_call *call, const char *name, enum val_kind kind, const struct val **ret)
{
	*ret = val_get(&call->body, str_of(name));
	if (!*ret || (*ret)->kind == kind)
		return OK;
	return why_set(call->why, E_INPUT, (*ret)->at, "%s must be %s", name,
		       kind == VAL_LIST ? "a list" : "true or false");
}

enum err handle_apply(struct op_call *call, struct api *api)
{
	const struct val *dry = NULL;
	struct applying *a = arena_alloc(call->arena, sizeof *a);
	if (!a)
		return E_NOMEM;
	*a = (struct applying){ .api = api };
	const struct {
		const char *name;
		enum val_kind kind;
		const struct val **to;
	} keys[] = { { "documents", VAL_LIST, &a->documents }, { "files", VAL_LIST, &a->files },
		     { "places", VAL_LIST, &a->places },       { "prune", VAL_LIST, &a->prune },
		     { "gone", VAL_LIST, &a->gone },           { "dry_run", VAL_BOOL, &dry } };
	for (unsigned i = 0; i < ARRAY_LEN(keys); i++) {
		enum err wrong = take(call, keys[i].name, keys[i].kind, keys[i].to);
		if (wrong)
			return wrong;
	}
	a->dry_run = dry && dry->boolean;
	if (!a->documents)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "apply needs documents, a list");
	a->n = a->documents->list.n;
	a->item = arena_alloc(call->arena, (a->n + 1) * sizeof *a->item);
	call->ctx = a;
	enum err e = a->item ? api_post(api, look, call) : E_NOMEM;
	call->later = !e;
	return e;
}
