/* Writes rows of the model and of SQLite as text in the same form. */
#include "dump.h"
#include "test.h"

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

static void add_sched(struct buf *out, const char *what, const struct sched_row *r)
{
	NUMBERS(out, what, r->sid, r->after, r->seen, r->rev, r->flags, r->left, r->failures, r->owed,
		r->owed_since.us, r->next.us, r->high.us, r->pruned_to.us, r->changed.us, r->paused_until.us,
		r->next_set_at.us, r->part);
	add_hex(out, r->rules, STORE_RULES);
}

static void add_run(struct buf *out, const char *what, const struct run_row *r)
{
	NUMBERS(out, what, r->run, r->sid, r->rev, r->attempt, r->reason, r->kind, r->state, r->outcome,
		r->replaced, r->missed, r->nominal.us, r->due.us, r->claimed.us, r->started.us, r->ended.us,
		r->retry_at.us, r->fence, r->cost, r->tokens_in, r->tokens_out, r->uncounted, r->end,
		r->exit_code, r->node, r->retry);
}

void dump_sched_row(const struct sched_row *r, struct buf *out)
{
	add_sched(out, "sched", r);
}

void dump_run_row(const struct run_row *r, struct buf *out)
{
	add_run(out, "run", r);
}

void dump_text(struct str text, struct buf *out)
{
	add_text(out, text);
}

static void add_hold(struct buf *out, const struct hold_row *h)
{
	NUMBERS(out, "hold", h->key, h->reason, h->until.us, h->set_back_from.us);
}

/* Adds the note as a separate line, if there is one. */
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

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends the sorted lines of `b` to `out`, and frees `b`. */
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
	qsort(line, i, sizeof *line, compare_lines);
	for (size_t k = 0; k < i; k++)
		buf_addf(out, "%s\n", line[k]);
	free(line);
	buf_free(b);
}

/* --- the model --- */

static void dump_sched(const struct model_sched *s, struct buf *out)
{
	add_sched(out, "sched", &s->row);
	NUMBERS(out, "", s->put_at.us, s->dropped);
	add_text(out, s->id);
	add_text(out, s->document);
	add_text(out, s->source.from);
	if (s->source.from.p)
		NUMBERS(out, "", s->source.line);
	else
		add_text(out, s->source.from);
	buf_addc(out, '\n');
	add_note(out, "schedule", s->row.sid, s->note);
	for (unsigned i = 0; i < s->ranges; i++) {
		const struct range_row *g = &s->range[i];
		NUMBERS(out, "range", g->sid, g->first.us, g->last.us, g->state, g->reason);
		buf_addc(out, '\n');
	}
}

static void dump_agents(const struct model *m, struct buf *out)
{
	for (unsigned i = 0; i < m->memories; i++) {
		const struct memory_row *row = &m->memory[i];
		NUMBERS(out, "memory", row->number, row->run, row->at.us);
		add_text(out, row->agent);
		add_text(out, row->text);
		add_text(out, row->tags);
		buf_addc(out, '\n');
	}
	for (unsigned i = 0; i < m->states; i++) {
		const struct model_state *s = &m->state[i];
		NUMBERS(out, "state", s->row.rev, s->at.us);
		add_text(out, s->row.key);
		add_text(out, s->row.text);
		buf_addc(out, '\n');
	}
	for (unsigned i = 0; i < m->agents; i++) {
		const struct model_agent *a = &m->agent[i];
		NUMBERS(out, "agent", a->row.rev, a->at.us, a->source.line);
		add_text(out, a->row.name);
		add_text(out, a->row.text);
		add_text(out, a->source.from);
		buf_addc(out, '\n');
	}
}

static void dump_messages(const struct model *m, struct buf *out)
{
	for (unsigned i = 0; i < m->news_n; i++) {
		const struct news_row *n = &m->news[i];
		NUMBERS(out, "news", n->number, n->what, n->attempt, n->sid, n->run, n->problem, n->first.us,
			n->last.us);
		buf_addc(out, '\n');
	}
	for (unsigned i = 0; i < m->messages; i++) {
		const struct message_row *row = &m->message[i];
		if (!row->number)
			continue;
		NUMBERS(out, "message", row->number, row->kind, row->state, row->attempts, row->sid, row->run,
			row->problem, row->joined, row->receiver, row->at.us, row->tried_at.us, row->next.us);
		add_text(out, row->origin);
		add_text(out, row->target);
		add_text(out, row->body);
		add_text(out, row->result);
		buf_addc(out, '\n');
	}
}

/* Without the time, which is that of the store's clock. */
static void dump_events(const struct model *m, struct buf *out)
{
	for (unsigned i = 0; i < m->events; i++) {
		const struct event_row *e = &m->event[i].row;
		NUMBERS(out, "event", e->number, e->type, e->sid, e->rev, e->run, e->attempt, e->reason,
			e->outcome, e->first.us, e->last.us, e->subject);
		add_text(out, e->text);
		buf_addc(out, '\n');
	}
	for (unsigned i = 0; i < m->runs; i++) {
		if (m->run[i].removed || !m->run[i].reported.us)
			continue;
		NUMBERS(out, "reported", m->run[i].row.run, m->run[i].reported.us);
		buf_addc(out, '\n');
	}
}

static void dump_runs(const struct model *m, struct buf *out)
{
	for (unsigned i = 0; i < m->runs; i++) {
		if (m->run[i].removed)
			continue;
		add_run(out, "run", &m->run[i].row);
		buf_addc(out, '\n');
	}
	for (unsigned i = 0; i < m->run_texts; i++) {
		NUMBERS(out, "run_text", m->run_text[i].run, m->run_text[i].kind);
		add_text(out, m->run_text[i].text);
		buf_addc(out, '\n');
	}
	for (unsigned i = 0; i < m->avoided_n; i++) {
		NUMBERS(out, "avoided", m->avoided[i].sid, m->avoided[i].since, m->avoided[i].n);
		buf_addc(out, '\n');
	}
}

void dump_model(const struct model *m, struct buf *out)
{
	struct buf lines = { 0 };
	for (unsigned i = 0; i < m->scheds; i++)
		dump_sched(&m->sched[i], &lines);
	dump_runs(m, &lines);
	for (unsigned i = 0; i < m->holds; i++) {
		add_hold(&lines, &m->hold[i].row);
		buf_addc(&lines, '\n');
		add_note(&lines, "hold", m->hold[i].row.key, m->hold[i].note);
	}
	for (unsigned i = 0; i < m->problems; i++) {
		if (!m->problem[i].number)
			continue;
		add_problem(&lines, &m->problem[i]);
		buf_addc(&lines, '\n');
	}
	dump_agents(m, &lines);
	dump_messages(m, &lines);
	for (unsigned i = 0; i < m->names; i++) {
		NUMBERS(&lines, "name", m->name[i].kind, m->name[i].number);
		add_text(&lines, m->name[i].text);
		buf_addc(&lines, '\n');
	}
	NUMBERS(&lines, "last", m->last_run, m->last_sid, m->pruned_sid, m->last_memory, m->problems,
		m->last_news, m->messages);
	buf_addc(&lines, '\n');
	dump_events(m, &lines);
	for (unsigned i = 0; i < m->parts; i++) {
		NUMBERS(&lines, "part", m->part[i].part, m->part[i].epoch, m->part[i].node);
		buf_addc(&lines, '\n');
	}
	if (m->has_key) {
		buf_add(&lines, STR("key"));
		add_hex(&lines, m->key, sizeof m->key);
		buf_addc(&lines, '\n');
	}
	sort_lines(&lines, out);
}

/* --- SQLite --- */

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

sqlite3 *open_database(const char *path)
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
	} table[] = {
		{ "sched",
		  "SELECT s.sid, after, seen, rev, flags, left, failures, owed, owed_since, next, high, "
		  "pruned_to, changed,"
		  " paused_until, next_set_at, part, rules, put_at, s.dropped IS NOT NULL, id, body, source, "
		  "line"
		  " FROM schedule s LEFT JOIN document d ON d.sid = s.sid" },
		{ "run",
		  "SELECT run, sid, rev, attempt, reason, kind, state, outcome, replaced, missed, nominal, "
		  "due, claimed,"
		  " started, ended, retry_at, fence, cost, tokens_in, tokens_out, uncounted, \"end\", "
		  "exit_code, node, retry FROM run" },
		{ "range", "SELECT sid, first, last, state, reason FROM range" },
		{ "hold", "SELECT key, reason, until, set_back_from FROM hold" },
		{ "note", "SELECT 'schedule', sid, note FROM document WHERE note IS NOT NULL"
			  " UNION ALL SELECT 'hold', key, note FROM hold WHERE note IS NOT NULL" },
		{ "problem",
		  "SELECT number, count, opened, last_reported, acked, closed, key, subject, text, by, note"
		  " FROM problem" },
		{ "run_text", "SELECT run, kind, text FROM run_text" },
		{ "memory", "SELECT number, run, at, agent, text, tags FROM memory" },
		{ "avoided", "SELECT sid, since, n FROM avoided" },
		{ "state", "SELECT rev, at, key, text FROM state" },
		{ "agent", "SELECT rev, at, line, name, text, source FROM agent" },
		{ "news", "SELECT number, what, attempt, sid, run, problem, first, last FROM news" },
		{ "name", "SELECT kind, number, text FROM name" },
		/* The last numbers that were used; the rows that had them may be gone. */
		{ "last", "SELECT max(value, (SELECT ifnull(max(run), 0) FROM run)),"
			  " (SELECT max(value, (SELECT ifnull(max(sid), 0) FROM schedule)) FROM meta"
			  " WHERE key = 'last_sid'),"
			  " (SELECT value FROM meta WHERE key = 'last_sid'),"
			  " (SELECT value FROM meta WHERE key = 'last_memory'),"
			  " (SELECT value FROM meta WHERE key = 'last_problem'),"
			  " ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'news'), 0),"
			  " ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'message'), 0)"
			  " FROM meta WHERE key = 'last_run'" },
		{ "part", "SELECT part, epoch, node FROM part" },
		{ "key", "SELECT value FROM secret" },
		{ "message",
		  "SELECT number, kind, state, attempts, sid, run, problem, joined, receiver, at, tried_at,"
		  " next, origin, target, body, result FROM message" },
		/* A row of several events, and the types of these: written here once more, by hand. */
		{ "event",
		  "WITH several (cause, k, type) AS (VALUES (32, 0, 8), (32, 1, 3),"
		  " (33, 0, 8), (33, 1, 3), (33, 2, 11), (33, 3, 4),"
		  " (34, 0, 8), (34, 1, 3), (34, 2, 23), (34, 3, 11), (34, 4, 4),"
		  " (35, 0, 11), (35, 1, 4), (36, 0, 23), (36, 1, 11), (36, 2, 4))"
		  " SELECT number + ifnull(k, 0), ifnull(type, e.cause), sid, rev, run, attempt, reason,"
		  " outcome, first, last, subject, text"
		  " FROM event e LEFT JOIN several s ON s.cause = e.cause" },
		{ "reported", "SELECT run, reported FROM run WHERE reported <> 0" },
	};
	struct buf lines = { 0 };
	sqlite3 *db = open_database(path);
	for (unsigned i = 0; i < ARRAY_LEN(table); i++) {
		sqlite3_stmt *s = NULL;
		CHECK_INT(sqlite3_prepare_v2(db, table[i].sql, -1, &s, NULL), SQLITE_OK);
		while (sqlite3_step(s) == SQLITE_ROW) {
			buf_add(&lines, str_of(table[i].what));
			for (int k = 0; k < sqlite3_column_count(s); k++)
				dump_column(s, k, &lines);
			buf_addc(&lines, '\n');
		}
		CHECK_INT(sqlite3_finalize(s), SQLITE_OK);
	}
	sqlite3_close(db);
	sort_lines(&lines, out);
}

/* --- load and answers --- */

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
		add_sched(out, "sched", &item->sched);
		if (item->open)
			buf_addf(out, " open %u", item->open);
		buf_addf(out, "%s", item->dropped ? " dropped" : "");
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
		NUMBERS(out, "done", item->done.last_run, item->done.last_sid);
		break;
	case LOAD_KEY:
		buf_add(out, STR("key"));
		add_hex(out, item->key, sizeof item->key);
		break;
	case LOAD_PART:
		NUMBERS(out, "part", item->part.part, item->part.epoch, item->part.node);
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
	static const char *const words[ST_RESULTS] = {
		"OK", "LOST", "STALE", "FENCED", "REFUSED", "COLLISION"
	};
	buf_addf(out, "op %u %s run %llu", ack->op, ack->res < ST_RESULTS ? words[ack->res] : "?",
		 (unsigned long long)ack->run);
	if (ack->end)
		buf_addf(out, " end %llu", (unsigned long long)ack->end);
	if (ack->problem)
		buf_addf(out, " problem %llu said %u", (unsigned long long)ack->problem, ack->count);
	if (ack->op == ST_STATE || ack->op == ST_AGENT)
		buf_addf(out, " rev %u", ack->count);
	if (ack->op == ST_TAKE)
		NUMBERS(out, " part", ack->part.part, ack->part.epoch, ack->part.node);
	if (ack->first)
		buf_addf(out, " numbers from %llu", (unsigned long long)ack->first);
	if (ack->op == ST_NAME)
		buf_addf(out, " number %u", ack->name);
	if (ack->op == ST_MEMORY)
		buf_addf(out, " note %llu", (unsigned long long)ack->note);
	if (ack->has_row)
		add_sched(out, " row", &ack->row);
	if (ack->op == ST_OCC && ack->res == ST_LOST)
		add_run(out, " was", &ack->existing);
}

bool is_same_dump(const char *file, int line, struct str got, struct str want)
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
