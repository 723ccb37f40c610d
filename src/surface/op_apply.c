#include "surface/op_apply.h"

#include "host/clock.h"
#include "surface/docs.h"
#include "surface/put.h"
#include "surface/remote.h"
#include "surface/table.h"
#include "surface/tell.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The whole path: the daemon, and whoever looks later, are elsewhere. */
static enum err add_path(struct op_call *call, const char *path, struct buf *out)
{
	char *whole = realpath(path, NULL);
	struct stat st;
	if (!whole)
		return why_set(call->why, E_IO, WHY_NOWHERE, "cannot find %.150s: %s", path, strerror(errno));
	struct str s = str_of(whole);
	bool below = stat(whole, &st) == 0 && S_ISDIR(st.st_mode);
	const char *text = arena_printf(call->arena, "%.*s%s", STR_ARG(s), below ? "/" : "");
	free(whole);
	json_write_str(out, str_of(text ? text : ""));
	return text ? OK : E_NOMEM;
}

static enum err apply_body(struct op_call *call, const struct docs *docs, const char *path, struct buf *out)
{
	enum err e = OK;
	buf_addf(out, "{\"dry_run\":%s,\"files\":[", op_arg(call, "dry-run")->given ? "true" : "false");
	for (unsigned i = 0; i < docs->n && !e; i++) {
		if (i && docs->item[i].file == docs->item[i - 1].file)
			continue;
		buf_add(out, i ? STR(",") : STR(""));
		e = add_path(call, docs->item[i].file, out);
	}
	buf_add(out, STR("],\"places\":["));
	for (unsigned i = 0, file = 0; i < docs->n; i++) {
		file += i && docs->item[i].file != docs->item[i - 1].file;
		buf_addf(out, "%s[%u,%u]", i ? "," : "", file, docs->item[i].line);
	}
	if (op_arg(call, "prune")->given && !e) {
		buf_add(out, STR("],\"prune\":["));
		e = add_path(call, path, out);
	}
	buf_add(out, STR("],\"documents\":["));
	for (unsigned i = 0; i < docs->n; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		buf_add(out, docs->item[i].text);
	}
	buf_add(out, STR("]}"));
	return e ? e : out->failed ? E_NOMEM : OK;
}

enum err op_apply(struct op_call *call)
{
	const struct arg *file = op_arg(call, "file");
	_cleanup_(docs_free) struct docs docs = { 0 };
	struct buf body = { 0 };
	struct str text;
	struct val answer;
	if (!file->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "apply needs a file or a directory: %s",
			       call->op->example);
	enum err e = docs_path(call, file->text.p, &docs);
	if (!e)
		e = apply_body(call, &docs, file->text.p, &body);
	if (!e)
		e = remote_ask(call, buf_str(&body), &text, &answer);
	buf_free(&body);
	if (e)
		return e;
	remote_show(call, text, &answer);
	const struct val *error = val_get(&answer, STR("error"));
	const char *code = error ? val_text(call->arena, error, "code") : NULL;
	return code ? why_set(call->why, err_named(str_of(code)), WHY_NOWHERE, "not all were applied: %.200s",
			      val_text(call->arena, error, "detail"))
		    : OK;
}

/* --- the daemon's side
 * ------------------------------------------------------------------------------------------ */

/* Reads all, settles the order, orders one after the other, tells what came of it. All of it is done in turns
 * of a few milliseconds each, so that others are answered in between. */
struct applying {
	struct api *api;
	const struct val *documents;
	struct put *put;
	const struct put **by_id;         /* sorted */
	unsigned *order;                  /* leaders before their followers */
	bool *applied;                    /* by their place in `put` */
	unsigned read, checked, told;     /* so far */
	unsigned n, asked, answered;      /* of the order */
	const struct val *files, *places; /* where each stands: [which file, line] */
	const struct val *prune;          /* what came from there and is not here goes */
	unsigned pruning;                 /* which of them */
	struct read_scheds page;          /* of what came from there */
	struct removal {
		struct str id;
		uint64_t sid;
		bool done;
	} * removal;
	unsigned removals, room;
	bool dry_run;
	enum err failed; /* the first; call->why says more. What was not asked for by then never is */
};

enum { TURN_US = 5000 };

/* Under way at a time: the store carries many out at once, and the engine's queue is not ours alone. */
enum { TOGETHER = 64 };

static int compare(struct str a, struct str b)
{
	int c = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
	return c ? c : (a.n > b.n) - (a.n < b.n);
}

static int by_id(const void *x, const void *y)
{
	const struct put *a = *(const struct put *const *)x, *b = *(const struct put *const *)y;
	int c = compare(a->doc.id, b->doc.id);
	return c ? c : (a > b) - (a < b);
}

static int find(const struct applying *a, struct str id)
{
	unsigned low = 0, high = a->n;
	while (low < high) {
		unsigned mid = low + (high - low) / 2;
		int c = compare(a->by_id[mid]->doc.id, id);
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

/* A follower needs its leader's number, so a leader that is new goes first: from each, up to the first that
 * is there or placed, and back. */
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
			struct str after = a->put[at].doc.after.schedule;
			if (seen[at] == i + 1)
				return why_set(call->why, E_INPUT, WHY_NOWHERE,
					       "'%.*s' follows itself, by way of '%.*s'",
					       STR_SHORT(a->put[at].doc.id), STR_SHORT(after));
			seen[at] = i + 1;
			line[length++] = (unsigned)at;
			at = after.n ? find(a, after) : -1;
			if (at >= 0 && a->put[at].exists)
				at = -1;
		}
		while (length) {
			placed[line[--length]] = true;
			a->order[n++] = line[length];
		}
	}
	return OK;
}

static enum err check_leader(struct op_call *call, const struct applying *a, const struct put *p)
{
	struct put leader = { .doc.id = p->doc.after.schedule };
	if (!leader.doc.id.n || find(a, leader.doc.id) >= 0)
		return OK;
	enum err e = put_look(call, a->api, &leader);
	return e || leader.exists ? e
				  : why_set(call->why, E_INPUT, WHY_NOWHERE,
					    "'%.*s' is to follow '%.*s', but there is no such schedule",
					    STR_SHORT(p->doc.id), STR_SHORT(leader.doc.id));
}

static struct str file_at(const struct val *list, int64_t i)
{
	bool there = list && i >= 0 && i < (int64_t)list->list.n;
	return there && list->list.item[i].kind == VAL_STR ? list->list.item[i].str : (struct str){ 0 };
}

/* Where the document stands; not said is the command line. */
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

/* It may have moved from one of these files to another. */
static bool is_ours(const struct applying *a, struct str file)
{
	for (unsigned i = 0; a->files && i < a->files->list.n; i++)
		if (str_eq(file_at(a->files, i), file))
			return true;
	for (unsigned i = 0; a->prune && i < a->prune->list.n; i++) {
		struct str from = file_at(a->prune, i);
		bool below = from.n && from.p[from.n - 1] == '/';
		if (below ? str_starts(file, from) : str_eq(file, from))
			return true;
	}
	return false;
}

static enum err read_one(struct op_call *call, struct applying *a, unsigned i)
{
	struct put *p = &a->put[i];
	enum err e = put_read(call, a->api, &a->documents->list.item[i], false, p);
	if (!e)
		e = find_source(call, a, i, &p->source);
	if (!e)
		e = put_look(call, a->api, p);
	if (!e && p->exists && !str_eq(p->old.source.from, p->source.from) && !is_ours(a, p->old.source.from))
		e = put_check_source(call, &p->old, p->source.from);
	return e;
}

static bool same_source(const struct put *p)
{
	return str_eq(p->old.source.from, p->source.from) && p->old.source.line == p->source.line;
}

static const char *result_of(const struct applying *a, const struct put *p)
{
	if (put_same(p))
		return "unchanged";
	if (!a->dry_run && !a->applied[p - a->put])
		return "not_applied";
	return p->exists ? "changed" : "added";
}

static enum err tell_one(struct op_call *call, const struct applying *a, const struct put *p)
{
	struct buf *out = &call->answer;
	struct put_change *change;
	unsigned n;
	enum err e = put_changes(call, p, &change, &n);
	if (e)
		return e;
	buf_add(out, STR("{\"id\":"));
	json_write_str(out, p->doc.id);
	buf_addf(out, ",\"result\":\"%s\",\"changes\":[", result_of(a, p));
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

/* --- in turns
 * --------------------------------------------------------------------------------------------------- */

static void tell(void *arg)
{
	struct op_call *call = arg;
	struct applying *a = call->ctx;
	int64_t until = clock_boot().us + TURN_US;
	enum err e = OK;
	if (!a->told)
		buf_addf(&call->answer, "{\"dry_run\":%s,\"complete\":%s,\"schedules\":[",
			 a->dry_run ? "true" : "false", a->failed ? "false" : "true");
	while (!e && a->told < a->n) {
		/* No room for another turn: then all of it now, for what was done must be told. */
		if (clock_boot().us > until && api_post(a->api, tell, call) == OK)
			return;
		buf_add(&call->answer, a->told ? STR(",") : STR(""));
		e = tell_one(call, a, &a->put[a->told++]);
	}
	for (unsigned i = 0; !e && i < a->removals; i++) {
		buf_addf(&call->answer, "%s{\"id\":", a->n || i ? "," : "");
		json_write_str(&call->answer, a->removal[i].id);
		buf_addf(&call->answer, ",\"result\":\"%s\"}",
			 a->dry_run || a->removal[i].done ? "removed" : "not_removed");
	}
	buf_addc(&call->answer, ']');
	if (a->failed) {
		_cleanup_(buf_free) struct buf text = { 0 };
		err_describe(a->failed, call->why, STR(""), &text);
		buf_addf(&call->answer, ",\"error\":{\"code\":\"%s\"", err_table[a->failed].name);
		tell_str(&call->answer, "detail", buf_str(&text));
		buf_addc(&call->answer, '}');
		call->status = 207; /* some of it is done */
	}
	buf_addc(&call->answer, '}');
	api_finish(call, e);
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
		a->failed = api_order(call, a->api, &c, removed);
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
		a->failed = api_refusal(call, r, what ? what : "one was not removed");
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
	a->removal[a->removals++] = (struct removal){ .id = s->id, .sid = s->row.sid };
	return OK;
}

/* A page at a turn. */
static void look_for_more(void *arg)
{
	struct op_call *call = arg;
	struct applying *a = call->ctx;
	enum err e = OK;
	if (a->prune && a->pruning < a->prune->list.n) {
		const struct read_sched *last = a->page.n ? &a->page.item[a->page.n - 1] : NULL;
		e = read_scheds_from(api_reader(a->api), file_at(a->prune, a->pruning), last, 0, call->arena,
				     &a->page, call->why);
		for (unsigned i = 0; !e && i < a->page.n; i++)
			if (find(a, a->page.item[i].id) < 0)
				e = add_removal(call, a, &a->page.item[i]);
		if (!e && !a->page.more) {
			a->pruning++;
			a->page = (struct read_scheds){ 0 };
		}
		if (!e)
			e = api_post(a->api, look_for_more, call);
		if (!e)
			return;
	}
	a->failed = e;
	a->asked = a->answered = 0;
	remove_on(call);
}

/* --- what is there
 * ---------------------------------------------------------------------------------------------- */

static void applied(struct op_call *call, struct api *api, const struct reply *r);
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

static enum err keep_source(struct op_call *call, const struct applying *a, const struct put *p)
{
	struct st_req r = { .op = ST_SOURCE, .lane = LANE_BULK, .sid = p->old.row.sid, .source = p->source };
	return daemon_send(api_daemon(a->api), &r, source_kept, call);
}

/* A follower needs its leader's number: what is under way must be there before. */
static bool may_go(const struct applying *a, const struct put *p)
{
	bool follows = p->doc.after.schedule.n && find(a, p->doc.after.schedule) >= 0;
	return a->asked - a->answered < (follows ? 1 : TOGETHER);
}

/* Asks for as many as may be asked for at a time; the last answer ends it. What was refused stops the rest.
 */
static void go_on(void *arg)
{
	struct op_call *call = arg;
	struct applying *a = call->ctx;
	while (!a->failed && a->asked < a->n) {
		const struct put *p = &a->put[a->order[a->asked]];
		if (a->dry_run || (put_same(p) && same_source(p))) {
			a->asked++;
			a->answered++;
			continue;
		}
		if (!may_go(a, p))
			return;
		call->about = p;
		a->failed = put_same(p) ? keep_source(call, a, p) : put_order(call, a->api, p, applied);
		a->asked += !a->failed;
	}
	if (a->answered < a->asked)
		return;
	if (a->failed)
		tell(call);
	else
		look_for_more(call);
}

static void applied(struct op_call *call, struct api *api, const struct reply *r)
{
	struct applying *a = call->ctx;
	const struct put *p = call->about;
	(void)api;
	a->answered++;
	a->applied[p - a->put] = r->code == REPLY_OK;
	if (r->code != REPLY_OK && !a->failed) {
		const char *what = arena_printf(call->arena, "'%.*s' was refused", STR_SHORT(p->doc.id));
		a->failed = api_refusal(call, r, what ? what : "one was refused");
	}
	go_on(call);
}

/* Sorting and ordering are quick; what asks the store takes its time. */
static void look(void *arg)
{
	struct op_call *call = arg;
	struct applying *a = call->ctx;
	int64_t until = clock_boot().us + TURN_US;
	enum err e = OK;
	while (!e && a->checked < a->n && clock_boot().us < until) {
		if (a->read < a->n) {
			e = read_one(call, a, a->read);
			if (!e && ++a->read == a->n)
				e = sort_by_id(call, a, a->documents);
		} else {
			e = check_leader(call, a, &a->put[a->checked++]);
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

static const struct val *list_of(const struct val *body, const char *name)
{
	const struct val *v = val_get(body, str_of(name));
	return v && v->kind == VAL_LIST ? v : NULL;
}

enum err handle_apply(struct op_call *call, struct api *api)
{
	const struct val *documents = val_get(&call->body, STR("documents"));
	const struct val *dry = val_get(&call->body, STR("dry_run"));
	struct applying *a = arena_alloc(call->arena, sizeof *a);
	if (!documents || documents->kind != VAL_LIST)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "apply needs documents, a list");
	if (!a || !(a->put = arena_alloc(call->arena, (documents->list.n + 1) * sizeof *a->put)))
		return E_NOMEM;
	a->api = api;
	a->documents = documents;
	a->n = documents->list.n;
	a->files = list_of(&call->body, "files");
	a->places = list_of(&call->body, "places");
	a->prune = list_of(&call->body, "prune");
	a->applied = arena_alloc(call->arena, a->n + 1);
	a->dry_run = dry && dry->kind == VAL_BOOL && dry->boolean;
	call->ctx = a;
	enum err e = a->applied ? api_post(api, look, call) : E_NOMEM;
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
		const char *result, *sign, *words;
	} signs[] = { { "added", "+", "added" },
		      { "changed", "~", "changed" },
		      { "removed", "-", "removed" },
		      { "not_applied", "!", "not applied" },
		      { "not_removed", "!", "not removed" },
		      { "unchanged", "=", "unchanged" } };
	enum { REMOVED = 2, LEFT, LEFT_THERE, UNCHANGED };
	const struct val *list = val_get(v, STR("schedules"));
	unsigned count[ARRAY_LEN(signs)] = { 0 };
	for (unsigned i = 0; list && i < list->list.n; i++) {
		const struct val *s = &list->list.item[i], *changes = val_get(s, STR("changes"));
		const char *result = val_text(call->arena, s, "result");
		unsigned k = 0;
		while (k + 1 < ARRAY_LEN(signs) && strcmp(signs[k].result, result) != 0)
			k++;
		/* A diff: of what stays as it is only the number is told. */
		count[k]++;
		if (k != UNCHANGED || list->list.n <= 20)
			fprintf(call->out, "%s %s: %s\n", signs[k].sign, val_text(call->arena, s, "id"),
				signs[k].words);
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
	fprintf(call->out, "%u added, %u changed, %u unchanged", count[0], count[1], count[UNCHANGED]);
	for (unsigned k = REMOVED; k < UNCHANGED; k++)
		if (count[k])
			fprintf(call->out, ", %u %s", count[k], signs[k].words);
	fputs(dry && dry->boolean ? "; nothing was applied (--dry-run)\n" : "\n", call->out);
}
