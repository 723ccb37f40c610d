#include "fixture.h"
#include "test.h"

#include <dirent.h>
#include <poll.h>
#include <unistd.h>

/* --- directories --- */

void make_dir(char *ret, size_t size)
{
	const char *tmp = getenv("TMPDIR");
	snprintf(ret, size, "%s/rota-store-XXXXXX", tmp && strlen(tmp) < 32 ? tmp : "/tmp");
	if (!mkdtemp(ret)) {
		perror(ret);
		exit(1);
	}
}

void remove_dir(const char *dir)
{
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d));)
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(dir);
}

/* --- the rig --- */

const char *rig_name(enum rig_kind kind)
{
	static const char *const names[] = { [RIG_ROWS] = "rows", [RIG_SQLITE] = "sqlite" };
	return names[kind];
}

static void open_sqlite(struct rig *rig)
{
	struct why why = { 0 };
	struct store *s = NULL;
	if (store_sqlite_open(rig->path, &s, &why) != OK) {
		printf("%s\n", why.text);
		abort();
	}
	rig->store = s;
}

void rig_open(struct rig *rig, enum rig_kind kind)
{
	*rig = (struct rig){ .kind = kind };
	rig->ops = kind == RIG_ROWS ? &rows_store_ops : &store_sqlite_ops;
	if (kind == RIG_ROWS) {
		rig->store = rows_store_new(rows_new());
		return;
	}
	make_dir(rig->dir, sizeof rig->dir);
	snprintf(rig->path, sizeof rig->path, "%s/db", rig->dir);
	open_sqlite(rig);
}

void rig_reopen(struct rig *rig)
{
	if (rig->kind == RIG_ROWS) {
		struct rows_store *old = rig->store;
		rig->store = rows_store_new(rows_clone(old->rows));
		rows_store_free(old);
	} else {
		store_sqlite_close(rig->store);
		open_sqlite(rig);
	}
}

void rig_close(struct rig *rig)
{
	if (rig->kind == RIG_ROWS) {
		rows_store_free(rig->store);
		return;
	}
	store_sqlite_close(rig->store);
	remove_dir(rig->dir);
}

unsigned rig_collect(const struct store_ops *ops, void *store, struct st_ack *ret, unsigned n)
{
	unsigned got = 0;
	while (got < n) {
		struct pollfd p = { .fd = ops->fd(store), .events = POLLIN };
		if (p.fd >= 0 && poll(&p, 1, 10000) != 1)
			break;
		unsigned some = ops->collect(store, ret + got, n - got);
		if (!some && p.fd < 0)
			break;
		got += some;
	}
	return got;
}

struct st_ack rig_ask(struct rig *rig, const struct st_req *r)
{
	struct st_req req = *r;
	struct st_ack ack = { 0 };
	req.tag = ++rig->tags;
	if (!CHECK(rig->ops->submit(rig->store, &req) == OK) ||
	    !CHECK_INT(rig_collect(rig->ops, rig->store, &ack, 1), 1)) {
		printf("the store does not answer\n");
		abort();
	}
	CHECK_INT(ack.tag, req.tag);
	CHECK_INT(ack.op, req.op);
	return ack;
}

/* --- rows as text --- */

static void add_numbers(struct buf *out, const char *what, const int64_t *v, unsigned n)
{
	buf_add(out, str_of(what));
	for (unsigned i = 0; i < n; i++)
		buf_addf(out, " %lld", (long long)v[i]);
}
#define NUMBERS(out, what, ...)                                                                              \
	add_numbers(out, what, (const int64_t[]){ __VA_ARGS__ },                                             \
		    sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

static void add_hex(struct buf *out, const uint8_t *p, size_t n)
{
	buf_addc(out, ' ');
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%02x", p[i]);
}

static void add_text(struct buf *out, struct str s)
{
	if (s.p)
		buf_addf(out, " '%.*s'", STR_ARG(s));
	else
		buf_add(out, STR(" NULL"));
}

static void add_row(struct buf *out, const char *what, const struct sched_row *r)
{
	NUMBERS(out, what, r->sid, r->after, r->seen, r->rev, r->flags, r->left, r->failures, r->owed,
		r->owed_since.us, r->next.us, r->high.us, r->pruned_to.us, r->changed.us, r->paused_until.us,
		r->next_set_at.us);
	add_hex(out, r->rules, STORE_RULES);
}

static void add_run(struct buf *out, const char *what, const struct run_row *r)
{
	NUMBERS(out, what, r->run, r->sid, r->rev, r->attempt, r->reason, r->kind, r->state, r->outcome,
		r->replaced, r->missed, r->nominal.us, r->due.us, r->claimed.us, r->started.us, r->ended.us,
		r->retry_at.us, r->fence, r->cost, r->tokens_in, r->tokens_out, r->uncounted, r->end,
		r->exit_code);
}

static void add_hold(struct buf *out, const struct hold_row *h)
{
	NUMBERS(out, "hold", h->key, h->reason, h->until.us);
}

/* Those there are: a line of their own. */
static void add_note(struct buf *out, const char *of, uint64_t number, struct str note)
{
	if (!note.p)
		return;
	buf_addf(out, "note '%s' %llu", of, (unsigned long long)number);
	add_text(out, note);
	buf_addc(out, '\n');
}

static void add_problem(struct buf *out, const struct problem_row *p)
{
	NUMBERS(out, "problem", p->number, p->count, p->opened.us, p->last_reported.us, p->acked.us,
		p->closed.us);
	add_text(out, p->key);
	add_text(out, p->subject);
	add_text(out, p->text);
	add_text(out, p->by);
	add_text(out, p->note);
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_lines(struct buf *b, struct buf *out)
{
	size_t n = 0, i = 0;
	for (size_t k = 0; k < b->n; k++)
		n += b->p[k] == '\n';
	char **line = calloc(n + 1, sizeof *line);
	for (char *p = b->p, *end; p && (end = strchr(p, '\n')); p = end + 1) {
		*end = 0;
		line[i++] = p;
	}
	qsort(line, i, sizeof *line, by_bytes);
	for (size_t k = 0; k < i; k++)
		buf_addf(out, "%s\n", line[k]);
	free(line);
	buf_free(b);
}

void dump_rows(const struct rows *r, struct buf *out)
{
	struct buf lines = { 0 };
	for (size_t i = 0; i < rows_scheds(r); i++) {
		const struct rows_sched *s = rows_sched_at(r, i);
		add_row(&lines, "sched", &s->row);
		NUMBERS(&lines, "", s->put_at.us, s->dropped);
		add_text(&lines, s->id);
		add_text(&lines, s->document);
		add_text(&lines, s->source.from);
		if (s->source.from.p)
			NUMBERS(&lines, "", s->source.line);
		else
			add_text(&lines, s->source.from);
		buf_addc(&lines, '\n');
		add_note(&lines, "schedule", s->row.sid, s->note);
		for (unsigned k = 0; k < s->ranges; k++) {
			const struct range_row *g = &s->range[k];
			NUMBERS(&lines, "range", g->sid, g->first.us, g->last.us, g->state, g->reason);
			buf_addc(&lines, '\n');
		}
	}
	for (size_t i = 0; i < rows_runs(r); i++) {
		const struct run_row *run = rows_run_at(r, i);
		if (!run)
			continue;
		add_run(&lines, "run", run);
		buf_addc(&lines, '\n');
	}
	for (size_t i = 0; i < rows_holds(r); i++) {
		const struct hold_row *h = rows_hold_at(r, i);
		add_hold(&lines, h);
		buf_addc(&lines, '\n');
		add_note(&lines, "hold", h->key, rows_hold_note(r, h->key));
	}
	for (size_t i = 0; i < rows_problems(r); i++) {
		if (!rows_problem_at(r, i))
			continue;
		add_problem(&lines, rows_problem_at(r, i));
		buf_addc(&lines, '\n');
	}
	for (size_t i = 0; i < rows_said(r); i++) {
		const struct run_text_row *w = rows_words_at(r, i);
		NUMBERS(&lines, "words", w->run, w->kind);
		add_text(&lines, w->text);
		buf_addc(&lines, '\n');
	}
	for (size_t i = 0; i < rows_memories(r); i++) {
		const struct memory_row *m = rows_memory_at(r, i);
		NUMBERS(&lines, "memory", m->number, m->run, m->at.us);
		add_text(&lines, m->agent);
		add_text(&lines, m->text);
		add_text(&lines, m->tags);
		buf_addc(&lines, '\n');
	}
	for (size_t i = 0; i < rows_avoids(r); i++) {
		const struct avoided_row *x = rows_avoided_at(r, i);
		NUMBERS(&lines, "avoided", x->sid, x->since, x->n);
		buf_addc(&lines, '\n');
	}
	for (size_t i = 0; i < rows_states(r); i++) {
		const struct rows_state *s = rows_state_at(r, i);
		NUMBERS(&lines, "state", s->row.rev, s->at.us);
		add_text(&lines, s->row.key);
		add_text(&lines, s->row.text);
		buf_addc(&lines, '\n');
	}
	for (size_t i = 0; i < rows_agents(r); i++) {
		const struct rows_agent *a = rows_agent_at(r, i);
		NUMBERS(&lines, "agent", a->row.rev, a->at.us, a->source.line);
		add_text(&lines, a->row.name);
		add_text(&lines, a->row.text);
		add_text(&lines, a->source.from);
		buf_addc(&lines, '\n');
	}
	for (size_t i = 0; i < rows_newses(r); i++) {
		const struct news_row *n = rows_news_at(r, i);
		NUMBERS(&lines, "news", n->number, n->what, n->attempt, n->sid, n->run, n->problem,
			n->first.us, n->last.us);
		buf_addc(&lines, '\n');
	}
	for (size_t i = 0; i < rows_notices(r); i++) {
		const struct message_row *n = rows_notice_at(r, i);
		if (!n)
			continue;
		NUMBERS(&lines, "notice", n->number, n->kind, n->state, n->attempts, n->sid, n->run,
			n->problem, n->joined, n->receiver, n->at.us, n->tried_at.us, n->next.us);
		add_text(&lines, n->origin);
		add_text(&lines, n->target);
		add_text(&lines, n->body);
		add_text(&lines, n->result);
		buf_addc(&lines, '\n');
	}
	sort_lines(&lines, out);
}

void dump_column(sqlite3_stmt *s, int i, struct buf *out)
{
	if (sqlite3_column_type(s, i) == SQLITE_BLOB)
		add_hex(out, sqlite3_column_blob(s, i), (size_t)sqlite3_column_bytes(s, i));
	else if (sqlite3_column_type(s, i) == SQLITE_TEXT)
		buf_addf(out, " '%s'", (const char *)sqlite3_column_text(s, i));
	else if (sqlite3_column_type(s, i) == SQLITE_NULL)
		buf_add(out, STR(" NULL"));
	else
		buf_addf(out, " %lld", (long long)sqlite3_column_int64(s, i));
}

static sqlite3 *open_to_read(const char *path)
{
	sqlite3 *db = NULL;
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
		printf("%s: %s\n", path, sqlite3_errmsg(db));
		abort();
	}
	sqlite3_busy_timeout(db, 5000);
	return db;
}

void dump_sqlite(const char *path, struct buf *out)
{
	static const struct {
		const char *what, *sql;
	} part[] = {
		{ "sched",
		  "SELECT s.sid, after, seen, rev, flags, left, failures, owed, owed_since, next, high, "
		  "kept, changed,"
		  " paused_until, next_set_at, rules, put_at, s.dropped IS NOT NULL, id, body, source, line"
		  " FROM schedule s LEFT JOIN document d ON d.sid = s.sid" },
		{ "run", "SELECT run, sid, rev, attempt, reason, kind, state, outcome, was, missed, nominal, "
			 "due, claimed,"
			 " started, ended, retry_at, fence, cost, tokens_in, tokens_out, limited, \"end\", "
			 "exit_code FROM run" },
		{ "range", "SELECT sid, first, last, state, reason FROM range" },
		{ "hold", "SELECT key, reason, until FROM hold" },
		{ "note", "SELECT 'schedule', sid, note FROM document WHERE note IS NOT NULL"
			  " UNION ALL SELECT 'hold', key, note FROM hold WHERE note IS NOT NULL" },
		{ "problem", "SELECT number, count, opened, said, acked, closed, key, subject, text, by, note"
			     " FROM problem" },
		{ "words", "SELECT run, kind, text FROM words" },
		{ "memory", "SELECT number, run, at, agent, text, tags FROM memory" },
		{ "avoided", "SELECT sid, since, n FROM avoided" },
		{ "state", "SELECT rev, at, key, text FROM state" },
		{ "agent", "SELECT rev, at, line, name, text, source FROM agent" },
		{ "news", "SELECT number, what, attempt, sid, run, problem, first, last FROM news" },
		{ "notice",
		  "SELECT number, kind, state, attempts, sid, run, problem, joined, line, at, tried,"
		  " next, origin, target, body, said FROM message" },
	};
	struct buf lines = { 0 };
	sqlite3 *db = open_to_read(path);
	for (unsigned i = 0; i < ARRAY_LEN(part); i++) {
		sqlite3_stmt *s = NULL;
		CHECK_INT(sqlite3_prepare_v2(db, part[i].sql, -1, &s, NULL), SQLITE_OK);
		while (sqlite3_step(s) == SQLITE_ROW) {
			buf_add(&lines, str_of(part[i].what));
			for (int k = 0; k < sqlite3_column_count(s); k++)
				dump_column(s, k, &lines);
			buf_addc(&lines, '\n');
		}
		CHECK_INT(sqlite3_finalize(s), SQLITE_OK);
	}
	sqlite3_close(db);
	sort_lines(&lines, out);
}

void rig_dump(struct rig *rig, struct buf *out)
{
	if (rig->kind == RIG_ROWS)
		dump_rows(((struct rows_store *)rig->store)->rows, out);
	else
		dump_sqlite(rig->path, out);
}

static void add_item(void *ctx, const struct load_item *item)
{
	struct buf *out = ctx;
	switch ((enum load_kind)item->kind) {
	case LOAD_NAME:
		buf_addf(out, "name %u %u %.*s", item->name.kind, item->name.number, (int)item->name.text.n,
			 item->name.text.p);
		break;
	case LOAD_HOLD:
		add_hold(out, &item->hold);
		break;
	case LOAD_SCHED:
		add_row(out, "sched", &item->sched);
		buf_addf(out, "%s%s", item->open ? " open" : "", item->dropped ? " dropped" : "");
		break;
	case LOAD_RUN:
		add_run(out, "run", &item->run);
		break;
	case LOAD_END:
		buf_addf(out, "for %llu ", (unsigned long long)item->follower);
		add_run(out, "end", &item->run);
		break;
	case LOAD_PROBLEM:
		add_problem(out, &item->problem);
		break;
	case LOAD_DONE:
		NUMBERS(out, "done", item->done.last_run, item->done.last_sid, item->done.last_end);
		break;
	}
	buf_addc(out, '\n');
}

void dump_load(const struct store_ops *ops, void *store, struct buf *out)
{
	CHECK_INT(ops->load(store, add_item, out), OK);
}

void dump_ack(const struct st_ack *ack, struct buf *out)
{
	static const char *const words[ST_RESULTS] = { "OK", "LOST", "STALE", "FENCED", "REFUSED" };
	buf_addf(out, "op %u %s run %llu", ack->op, ack->res < ST_RESULTS ? words[ack->res] : "?",
		 (unsigned long long)ack->run);
	if (ack->end)
		buf_addf(out, " end %llu", (unsigned long long)ack->end);
	if (ack->problem)
		buf_addf(out, " problem %llu said %u", (unsigned long long)ack->problem, ack->count);
	if (ack->op == ST_STATE || ack->op == ST_AGENT)
		buf_addf(out, " rev %u", ack->count);
	if (ack->op == ST_MEMORY)
		buf_addf(out, " note %llu", (unsigned long long)ack->note);
	if (ack->has_row)
		add_row(out, " row", &ack->row);
	if (ack->op == ST_OCC && ack->res == ST_LOST)
		add_run(out, " was", &ack->existing);
}

bool same_text(const char *file, int line, struct str got, struct str want)
{
	struct str a = got, b = want, x = { "", 0 }, y = x;
	if (str_eq(got, want))
		return true;
	for (;;) {
		bool more = str_line(&a, &x), also = str_line(&b, &y);
		if (!more || !also || !str_eq(x, y))
			return check_str(file, line, more ? x : STR("(end)"), also ? y : STR("(end)"),
					 "a row");
	}
}

bool database_is_sound(const char *path)
{
	sqlite3 *db = open_to_read(path);
	sqlite3_stmt *s = NULL;
	bool ok = sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &s, NULL) == SQLITE_OK &&
		  sqlite3_step(s) == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(s, 0), "ok") == 0;
	/* The words of notes against their texts, which that does not do. */
	sqlite3_finalize(s);
	s = NULL;
	ok = ok &&
	     sqlite3_exec(db, "INSERT INTO memory_words (memory_words, rank) VALUES ('integrity-check', 1)",
			  NULL, NULL, NULL) == SQLITE_OK;
	if (!ok)
		printf("%s: %s\n", path,
		       s && sqlite3_column_text(s, 0) ? (const char *)sqlite3_column_text(s, 0)
						      : sqlite3_errmsg(db));
	sqlite3_finalize(s);
	sqlite3_close(db);
	return ok;
}
