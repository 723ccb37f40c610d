#include "surface/op_apply.h"

#include "surface/docs.h"
#include "surface/order.h"
#include "surface/put.h"
#include "surface/remote.h"
#include "surface/table.h"
#include "surface/tell.h"

#include <stdlib.h>

/* --- the command line's side
 * ------------------------------------------------------------------------------------ */

/* Very many go to the daemon in pieces, one after the other: it holds no more than one of them, and has time
 * for others in between. */

static int item_by_id(const void *x, const void *y)
{
	const struct docs_item *a = *(const struct docs_item *const *)x,
			       *b = *(const struct docs_item *const *)y;
	return str_cmp(a->id, b->id);
}

/* For each the one of them that it follows. */
static enum err find_leaders(struct op_call *call, const struct docs *docs, int *leader)
{
	const struct docs_item **by_id = arena_alloc(call->arena, (docs->n + 1) * sizeof *by_id);
	if (!by_id)
		return E_NOMEM;
	for (unsigned i = 0; i < docs->n; i++)
		by_id[i] = &docs->item[i];
	qsort((void *)by_id, docs->n, sizeof *by_id, item_by_id);
	for (unsigned i = 0; i < docs->n; i++) {
		const struct docs_item key = { .id = docs->item[i].after }, *at = &key;
		const struct docs_item **found =
			key.id.n ? bsearch(&at, by_id, docs->n, sizeof *by_id, item_by_id) : NULL;
		leader[i] = found ? (int)(*found - docs->item) : NO_LEADER;
		docs->item[i].led = found;
	}
	return OK;
}

static enum err leaders_first(struct op_call *call, struct docs *docs)
{
	unsigned *order = arena_alloc(call->arena, (docs->n + 1) * sizeof *order), cycle = 0;
	int *leader = arena_alloc(call->arena, (docs->n + 1) * sizeof *leader);
	struct docs_item *item = arena_alloc(call->arena, (docs->n + 1) * sizeof *item);
	if (docs->n <= APPLY_PIECE_MAX)
		return OK; /* the daemon has them all before it, and sees to it */
	enum err e = order && leader && item ? find_leaders(call, docs, leader) : E_NOMEM;
	if (!e)
		e = order_leaders(leader, docs->n, call->arena, order, &cycle);
	if (e == E_INPUT)
		return why_set(call->why, e, WHY_NOWHERE, "'%.*s' follows itself, by way of '%.*s'",
			       STR_SHORT(docs->item[cycle].id), STR_SHORT(docs->item[cycle].after));
	for (unsigned i = 0; i < docs->n && !e; i++)
		item[i] = docs->item[order[i]];
	if (!e)
		docs->item = item;
	return e;
}

static enum err send_piece(struct op_call *call, const struct docs *docs, unsigned from, unsigned to,
			   bool dry, struct val *ret)
{
	_cleanup_(buf_free) struct buf body = { 0 };
	struct str text;
	buf_addf(&body, "{\"dry_run\":%s,\"coming\":[", dry ? "true" : "false");
	const char *comma = "";
	for (unsigned i = from; i < to && dry; i++) /* what it refers to and would be there by then */
		if (docs->item[i].led) {
			buf_add(&body, str_of(comma));
			json_write_str(&body, docs->item[i].after);
			comma = ",";
		}
	buf_add(&body, STR("],\"documents\":["));
	for (unsigned i = from; i < to; i++) {
		buf_add(&body, i > from ? STR(",") : STR(""));
		buf_add(&body, docs->item[i].text);
	}
	buf_add(&body, STR("]}"));
	return body.failed ? E_NOMEM : remote_ask(call, buf_str(&body), &text, ret);
}

/* The answers to all pieces, as one. */
static enum err send_all(struct op_call *call, const struct docs *docs, bool dry, struct val *ret)
{
	struct val_pair *pair = arena_alloc(call->arena, 2 * sizeof *pair);
	struct val *all = arena_alloc(call->arena, (docs->n + 1) * sizeof *all);
	if (!pair || !all)
		return E_NOMEM;
	unsigned from = 0, n = 0;
	do {
		unsigned to = from;
		for (size_t bytes = 0; to < docs->n && to - from < APPLY_PIECE_MAX; to++)
			if ((bytes += docs->item[to].text.n) > APPLY_PIECE_BYTES && to > from)
				break;
		struct val answer;
		enum err e = send_piece(call, docs, from, to, dry, &answer);
		if (e && from && !dry) {
			struct why last = *call->why;
			why_write(call->why, WHY_NOWHERE, "after %u were applied: %s", from, last.text);
		}
		if (e)
			return e;
		const struct val *list = val_get(&answer, STR("schedules"));
		for (unsigned i = 0; list && i < list->list.n && n < docs->n; i++)
			all[n++] = list->list.item[i];
		from = to;
	} while (from < docs->n);
	pair[0] = (struct val_pair){ .key = STR("dry_run"), .value = { .kind = VAL_BOOL, .boolean = dry } };
	pair[1] = (struct val_pair){ .key = STR("schedules"),
				     .value = { .kind = VAL_LIST, .list = { all, n } } };
	*ret = (struct val){ .kind = VAL_MAP, .map = { pair, 2 } };
	return OK;
}

enum err op_apply(struct op_call *call)
{
	const struct arg *file = op_arg(call, "file");
	struct docs docs = { 0 };
	if (op_arg(call, "prune")->given)
		return why_set(
			call->why, E_INPUT, WHY_NOWHERE,
			"--prune is not possible in this version: rota does not record yet which file a "
			"schedule came from; `rota rm` removes one");
	if (!file->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "apply needs a file or a directory: %s",
			       call->op->example);
	enum err e = docs_path(call, file->text.p, &docs);
	if (!e)
		e = leaders_first(call, &docs);
	if (e)
		return e;
	bool dry = op_arg(call, "dry-run")->given;
	struct val answer;
	/* What the daemon refuses in one of many pieces must be known before the first is applied. */
	if (docs.n > APPLY_PIECE_MAX && !dry)
		e = send_all(call, &docs, true, &answer);
	if (!e)
		e = send_all(call, &docs, dry, &answer);
	struct buf text = { 0 };
	if (!e && call->json)
		json_write(&text, &answer);
	if (!e)
		remote_show(call, buf_str(&text), &answer);
	buf_free(&text);
	return e;
}

/* --- the daemon's side
 * ------------------------------------------------------------------------------------------ */

struct applying {
	struct api *api;
	struct put *put;
	const struct put **by_id;    /* sorted */
	unsigned *order;             /* leaders before their followers */
	unsigned n, asked, answered; /* of the order */
	unsigned done;
	bool dry_run;
	struct reply refused; /* the first; code 0: none was */
};

static int by_id(const void *x, const void *y)
{
	const struct put *a = *(const struct put *const *)x, *b = *(const struct put *const *)y;
	int c = str_cmp(a->doc.id, b->doc.id);
	return c ? c : (a > b) - (a < b);
}

static int find(const struct applying *a, struct str id)
{
	unsigned low = 0, high = a->n;
	while (low < high) {
		unsigned mid = low + (high - low) / 2;
		int c = str_cmp(a->by_id[mid]->doc.id, id);
		if (c == 0)
			return (int)(a->by_id[mid] - a->put);
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}

static enum err sort_by_id(struct op_call *call, struct applying *a, const struct val *documents)
{
	a->by_id = arena_alloc(call->arena, (a->n + 1) * sizeof(struct put *));
	if (!a->by_id)
		return E_NOMEM;
	for (unsigned i = 0; i < a->n; i++)
		a->by_id[i] = &a->put[i];
	qsort((void *)a->by_id, a->n, sizeof(struct put *), by_id);
	for (unsigned i = 1; i < a->n; i++)
		if (str_eq(a->by_id[i]->doc.id, a->by_id[i - 1]->doc.id))
			return why_set(call->why, E_INPUT, documents->list.item[a->by_id[i] - a->put].at,
				       "schedule '%.*s' is there twice", STR_SHORT(a->by_id[i]->doc.id));
	return OK;
}

/* What is there already needs not wait for anything. */
static enum err put_in_order(struct op_call *call, struct applying *a)
{
	int *leader = arena_alloc(call->arena, (a->n + 1) * sizeof *leader);
	unsigned cycle = 0;
	a->order = arena_alloc(call->arena, (a->n + 1) * sizeof *a->order);
	if (!leader || !a->order)
		return E_NOMEM;
	for (unsigned i = 0; i < a->n; i++) {
		struct str after = a->put[i].doc.after.schedule;
		int at = after.n ? find(a, after) : NO_LEADER;
		leader[i] = at >= 0 && !a->put[at].exists ? at : NO_LEADER;
	}
	enum err e = order_leaders(leader, a->n, call->arena, a->order, &cycle);
	if (e == E_INPUT)
		return why_set(call->why, e, WHY_NOWHERE, "'%.*s' follows itself, by way of '%.*s'",
			       STR_SHORT(a->put[cycle].doc.id), STR_SHORT(a->put[cycle].doc.after.schedule));
	return e;
}

/* It is in a piece before this one, which has not been applied either. */
static bool is_coming(const struct op_call *call, struct str id)
{
	const struct val *coming = val_get(&call->body, STR("coming"));
	for (unsigned i = 0; coming && coming->kind == VAL_LIST && i < coming->list.n; i++)
		if (coming->list.item[i].kind == VAL_STR && str_eq(coming->list.item[i].str, id))
			return true;
	return false;
}

static enum err check_leaders(struct op_call *call, struct api *api, const struct applying *a)
{
	for (unsigned i = 0; i < a->n; i++) {
		struct put leader = { .doc.id = a->put[i].doc.after.schedule };
		if (!leader.doc.id.n || find(a, leader.doc.id) >= 0 || is_coming(call, leader.doc.id))
			continue;
		enum err e = put_look(call, api, &leader);
		if (e)
			return e;
		if (!leader.exists)
			return why_set(call->why, E_INPUT, WHY_NOWHERE,
				       "'%.*s' is to follow '%.*s', but there is no such schedule",
				       STR_SHORT(a->put[i].doc.id), STR_SHORT(leader.doc.id));
	}
	return OK;
}

static enum err tell_one(struct op_call *call, const struct put *p)
{
	struct buf *out = &call->answer;
	struct put_change *change;
	unsigned n;
	enum err e = put_changes(call, p, &change, &n);
	if (e)
		return e;
	buf_add(out, STR("{\"id\":"));
	json_write_str(out, p->doc.id);
	buf_addf(out, ",\"result\":\"%s\",\"changes\":[",
		 put_same(p) ? "unchanged"
		 : p->exists ? "changed"
			     : "added");
	for (unsigned i = 0; i < n && !put_same(p); i++) {
		buf_addf(out, "%s{\"key\":", i ? "," : "");
		json_write_str(out, change[i].key);
		buf_add(out, STR(",\"from\":"));
		buf_add(out, change[i].from.n ? change[i].from : STR("null"));
		buf_add(out, STR(",\"to\":"));
		buf_add(out, change[i].to.n ? change[i].to : STR("null"));
		buf_addc(out, '}');
	}
	buf_add(out, STR("]}"));
	return OK;
}

static void finish(struct op_call *call, const struct applying *a)
{
	enum err e = OK;
	buf_addf(&call->answer, "{\"dry_run\":%s,\"schedules\":[", a->dry_run ? "true" : "false");
	for (unsigned i = 0; i < a->n && !e; i++) {
		buf_add(&call->answer, i ? STR(",") : STR(""));
		e = tell_one(call, &a->put[i]);
	}
	buf_add(&call->answer, STR("]}"));
	api_finish(call, e);
}

static void applied(struct op_call *call, struct api *api, const struct reply *r);

/* A follower needs its leader's number: what is under way must be there before. */
static bool may_go(const struct applying *a, const struct put *p)
{
	bool follows = p->doc.after.schedule.n && find(a, p->doc.after.schedule) >= 0;
	return a->asked - a->answered < (follows ? 1 : APPLY_UNDER_WAY);
}

/* Asks for as many as may be asked for at a time; the last answer ends it. What was refused stops the rest.
 */
static void go_on(void *arg)
{
	struct op_call *call = arg;
	struct applying *a = call->ctx;
	enum err e = OK;
	while (!e && !a->refused.code && a->asked < a->n) {
		const struct put *p = &a->put[a->order[a->asked]];
		if (put_same(p) || a->dry_run) {
			a->asked++;
			a->answered++;
			continue;
		}
		if (!may_go(a, p))
			return;
		e = put_order(call, a->api, p, applied);
		a->asked += !e;
	}
	if (e)
		a->refused.code = e == E_BUSY ? REPLY_BUSY : REPLY_REFUSED;
	if (a->answered < a->asked)
		return;
	if (a->refused.code) {
		const char *what =
			arena_printf(call->arena, "not all were applied, only %u; apply again", a->done);
		api_finish(call, api_refusal(call, &a->refused, what ? what : "not all were applied"));
	} else {
		finish(call, a);
	}
}

static void applied(struct op_call *call, struct api *api, const struct reply *r)
{
	struct applying *a = call->ctx;
	(void)api;
	a->answered++;
	if (r->code == REPLY_OK)
		a->done++;
	else if (!a->refused.code)
		a->refused = *r;
	go_on(call);
}

enum err handle_apply(struct op_call *call, struct api *api)
{
	const struct val *documents = val_get(&call->body, STR("documents"));
	const struct val *dry = val_get(&call->body, STR("dry_run"));
	struct applying *a = arena_alloc(call->arena, sizeof *a);
	enum err e = OK;
	if (!documents || documents->kind != VAL_LIST)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "apply needs documents, a list");
	if (!a || !(a->put = arena_alloc(call->arena, (documents->list.n + 1) * sizeof *a->put)))
		return E_NOMEM;
	a->api = api;
	a->dry_run = dry && dry->kind == VAL_BOOL && dry->boolean;
	call->ctx = a;
	for (unsigned i = 0; i < documents->list.n && !e; i++) {
		struct put p;
		e = put_read(call, api, &documents->list.item[i], false, &p);
		if (!e)
			e = put_look(call, api, &p);
		p.bulk = true;
		a->put[a->n] = p;
		a->n += !e;
	}
	if (!e)
		e = sort_by_id(call, a, documents);
	if (!e)
		e = check_leaders(call, api, a);
	if (!e)
		e = put_in_order(call, a);
	if (e)
		return e;
	e = api_post(api, go_on, call);
	call->later = !e;
	return e;
}

static void print_value(struct op_call *call, const struct val *v)
{
	struct buf text = { 0 };
	json_write(&text, v);
	print_safe(call->out, buf_str(&text));
	buf_free(&text);
}

void show_applied(struct op_call *call, const struct val *v)
{
	static const struct {
		const char *result, *sign;
	} signs[] = { { "added", "+" }, { "changed", "~" }, { "unchanged", "=" } };
	const struct val *list = val_get(v, STR("schedules"));
	unsigned count[ARRAY_LEN(signs)] = { 0 };
	for (unsigned i = 0; list && i < list->list.n; i++) {
		const struct val *s = &list->list.item[i], *changes = val_get(s, STR("changes"));
		const char *result = val_text(call->arena, s, "result");
		unsigned k = 0;
		while (k + 1 < ARRAY_LEN(signs) && strcmp(signs[k].result, result) != 0)
			k++;
		count[k]++;
		fprintf(call->out, "%s %s: %s\n", signs[k].sign, val_text(call->arena, s, "id"), result);
		for (unsigned c = 0; changes && c < changes->list.n; c++) {
			const struct val *one = &changes->list.item[c];
			const struct val *from = val_get(one, STR("from")), *to = val_get(one, STR("to"));
			if (!strcmp(val_text(call->arena, one, "key"), "id"))
				continue;
			fprintf(call->out, "    %s: ", val_text(call->arena, one, "key"));
			if (from->kind != VAL_NULL)
				print_value(call, from);
			fputs(from->kind != VAL_NULL ? " -> " : "", call->out);
			if (to->kind != VAL_NULL)
				print_value(call, to);
			else
				fputs("(removed)", call->out);
			fputc('\n', call->out);
		}
	}
	const struct val *dry = val_get(v, STR("dry_run"));
	fprintf(call->out, "%u added, %u changed, %u unchanged%s\n", count[0], count[1], count[2],
		dry && dry->boolean ? "; nothing was applied (--dry-run)" : "");
}
