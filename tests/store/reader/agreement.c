/* The same random requests, then the same random questions to the model and to SQLite: equal answers, page by
 * page. */
#include "dump.h"
#include "reader.h"
#include "request_stream.h"

enum { QUESTIONS = 6000, BYTES_MAX = 1 << 16 };

/* The random arguments of a question; most of them exist. */
struct question {
	uint64_t sid, run, number, before;
	uint32_t rev;
	struct wall at;
	char id_text[24]; /* the first five bytes are an id */
	struct str agent, from;
	unsigned limit;
	bool flag;
	struct read_filter filter;
	enum prune_what prune;
};

static struct str id_of(const struct question *q)
{
	return (struct str){ q->id_text, 5 };
}

/* Writes the answer as text, and returns how many items were found. */
typedef unsigned question_fn(struct scene *s, const struct question *q, struct buf *out);

/* --- rows as text --- */

static void add_numbers(struct buf *out, const int64_t *n, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		buf_addf(out, " %lld", (long long)n[i]);
}
#define NUMBERS(out, ...)                                                                                    \
	add_numbers(out, (const int64_t[]){ __VA_ARGS__ },                                                   \
		    sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

static void add_texts(struct buf *out, const struct str *text, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		dump_text(text[i], out);
}
#define TEXTS(out, ...)                                                                                      \
	add_texts(out, (const struct str[]){ __VA_ARGS__ },                                                  \
		  sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str))

static void add_range(struct buf *out, const struct range_row *g)
{
	NUMBERS(out, (int64_t)g->sid, g->first.us, g->last.us, g->state, g->reason);
}

static void add_sched(struct buf *out, const struct read_sched *x)
{
	dump_sched_row(&x->row, out);
	NUMBERS(out, x->put_at.us, x->dropped.us, x->source.line, x->open);
	TEXTS(out, x->id, x->document, x->source.from, x->note);
	if (x->open)
		add_range(out, &x->range);
	buf_addc(out, '\n');
}

static void add_run(struct buf *out, const struct run_row *x)
{
	dump_run_row(x, out);
	buf_addc(out, '\n');
}

static void add_agent(struct buf *out, const struct read_agent *x)
{
	NUMBERS(out, x->rev, x->at.us, x->source.line);
	TEXTS(out, x->name, x->text, x->source.from);
	buf_addc(out, '\n');
}

static void add_note(struct buf *out, const struct read_memory *x)
{
	NUMBERS(out, (int64_t)x->row.number, (int64_t)x->row.run, x->row.at.us);
	TEXTS(out, x->row.agent, x->row.text, x->row.tags, x->schedule);
	buf_addc(out, '\n');
}

static void add_problem(struct buf *out, const struct problem_row *x)
{
	NUMBERS(out, (int64_t)x->number, x->count, x->opened.us, x->last_reported.us, x->acked.us,
		x->closed.us);
	TEXTS(out, x->key, x->subject, x->text, x->by, x->note);
	buf_addc(out, '\n');
}

static void add_message(struct buf *out, const struct message_row *x)
{
	NUMBERS(out, (int64_t)x->number, x->kind, x->state, x->attempts, (int64_t)x->sid, (int64_t)x->run,
		(int64_t)x->problem, (int64_t)x->joined, (int64_t)x->receiver, x->at.us, x->tried_at.us,
		x->next.us);
	TEXTS(out, x->origin, x->target, x->body, x->result);
	buf_addc(out, '\n');
}

/* An error with its text; true: there is an answer. */
static bool answered(struct scene *s, enum err e, struct buf *out)
{
	if (e)
		buf_addf(out, "%s: %s\n", err_table[e].name, s->why.text);
	return !e;
}

/* --- questions --- */

static unsigned ask_sched(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_sched x;
	bool found = answered(s, read_sched(s->r, q->sid, &s->a, &x, &s->why), out);
	if (found)
		add_sched(out, &x);
	return found;
}

static unsigned ask_id(struct scene *s, const struct question *q, struct buf *out)
{
	struct str id;
	bool ok = answered(s, read_id(s->r, q->sid, &s->a, &id, &s->why), out);
	if (ok)
		TEXTS(out, id);
	return ok && id.n;
}

static unsigned ask_document(struct scene *s, const struct question *q, struct buf *out)
{
	struct str text;
	bool found = answered(s, read_document_of(s->r, q->sid, q->rev, &s->a, &text, &s->why), out);
	if (found)
		TEXTS(out, text);
	return found;
}

static unsigned ask_document_at(struct scene *s, const struct question *q, struct buf *out)
{
	struct str text;
	bool found = answered(s, read_document_at(s->r, q->sid, q->at, &s->a, &text, &s->why), out);
	if (found)
		TEXTS(out, text);
	return found;
}

static unsigned ask_removed(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_sched x;
	bool found = answered(s, read_sched_removed(s->r, id_of(q), &s->a, &x, &s->why), out);
	if (found)
		add_sched(out, &x);
	return found;
}

static unsigned ask_named(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_match m;
	struct str text = str_sub(id_of(q), 0, q->flag ? 5 : 4);
	if (!answered(s, read_sched_named(s->r, text, &s->a, &m, &s->why), out))
		return 0;
	NUMBERS(out, m.n, m.more);
	add_texts(out, m.id, m.n);
	if (m.n == 1)
		add_sched(out, &m.sched);
	return m.n;
}

static unsigned add_scheds(struct buf *out, const struct read_scheds *page)
{
	NUMBERS(out, page->n, page->more);
	for (unsigned i = 0; i < page->n; i++)
		add_sched(out, &page->item[i]);
	return page->n;
}

static unsigned ask_scheds(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_scheds page = { .more = true };
	struct str after = { 0 };
	unsigned n = 0;
	while (page.more && answered(s, read_scheds(s->r, after, q->limit, &s->a, &page, &s->why), out)) {
		n += add_scheds(out, &page);
		after = page.n ? page.item[page.n - 1].id : after;
	}
	return n;
}

static unsigned ask_noted(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_scheds page;
	bool ok = answered(s, read_scheds_noted(s->r, id_of(q), q->limit, &s->a, &page, &s->why), out);
	return ok ? add_scheds(out, &page) : 0;
}

static unsigned ask_from(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_scheds page = { .more = true };
	unsigned n = 0;
	while (page.more) {
		const struct read_sched *after = page.n ? &page.item[page.n - 1] : NULL;
		if (!answered(s, read_scheds_from(s->r, q->from, after, q->limit, &s->a, &page, &s->why),
			      out))
			break;
		n += add_scheds(out, &page);
	}
	return n;
}

static unsigned ask_agent(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_agent x;
	bool ok = answered(s, read_agent(s->r, q->agent, &s->a, &x, &s->why), out);
	if (ok)
		add_agent(out, &x);
	return ok && x.text.p;
}

static unsigned ask_agents(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_agents page;
	if (!answered(s, read_agents(s->r, q->flag ? q->agent : STR(""), q->limit, &s->a, &page, &s->why),
		      out))
		return 0;
	NUMBERS(out, page.n, page.more);
	for (unsigned i = 0; i < page.n; i++)
		add_agent(out, &page.item[i]);
	return page.n;
}

static unsigned ask_state(struct scene *s, const struct question *q, struct buf *out)
{
	struct state_row x;
	bool ok = answered(s, read_state(s->r, q->flag ? q->agent : STR(""), &s->a, &x, &s->why), out);
	if (ok) {
		NUMBERS(out, x.rev);
		TEXTS(out, x.key, x.text);
	}
	return ok && x.text.p;
}

static unsigned ask_memory(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_memory x;
	bool found = answered(s, read_memory(s->r, q->number, &s->a, &x, &s->why), out);
	if (found)
		add_note(out, &x);
	return found;
}

static unsigned add_notes(struct buf *out, const struct read_memories *page)
{
	NUMBERS(out, page->n, page->more);
	for (unsigned i = 0; i < page->n; i++)
		add_note(out, &page->item[i]);
	return page->n;
}

static unsigned ask_memories(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_memories page;
	uint64_t run = q->number % 3 ? 0 : q->number % 40;
	bool ok = answered(s,
			   read_memories(s->r, q->flag ? q->agent : STR(""), run, q->before, q->limit, &s->a,
					 &page, &s->why),
			   out);
	return ok ? add_notes(out, &page) : 0;
}

/* Each store has its own full-text engine: only words that have no other form are compared, without ranking.
 */
static unsigned ask_memories_with(struct scene *s, const struct question *q, struct buf *out)
{
	static const char *const words[] = { "late", "slow build", "nothing", "money" };
	struct read_memories page;
	bool ok = answered(s,
			   read_memories_with(s->r, q->flag ? q->agent : STR(""),
					      str_of(words[q->number % ARRAY_LEN(words)]), q->limit, &s->a,
					      &page, &s->why),
			   out);
	return ok ? add_notes(out, &page) : 0;
}

static unsigned ask_run(struct scene *s, const struct question *q, struct buf *out)
{
	struct run_row x;
	bool found = answered(s, read_run(s->r, q->run, &x, &s->why), out);
	if (found)
		add_run(out, &x);
	return found;
}

static unsigned ask_run_text(struct scene *s, const struct question *q, struct buf *out)
{
	struct str text;
	enum run_text_kind kind = q->flag ? RUN_TEXT_DETAIL : RUN_TEXT_PROVENANCE;
	bool ok = answered(s, read_run_text(s->r, q->run, kind, &s->a, &text, &s->why), out);
	if (ok)
		TEXTS(out, text);
	return ok && text.n;
}

static unsigned ask_runs(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_filter f = q->filter;
	struct read_runs page = { .more = true };
	unsigned n = 0;
	while (page.more && answered(s, read_runs(s->r, &f, &s->a, &page, &s->why), out)) {
		NUMBERS(out, page.n, page.more);
		for (unsigned i = 0; i < page.n; i++)
			add_run(out, &page.item[i]);
		n += page.n;
		if (page.n) {
			f.before.nominal = page.item[page.n - 1].nominal;
			f.before.run = page.item[page.n - 1].run;
		}
	}
	return n;
}

static unsigned ask_ranges(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_ranges page;
	struct wall since = q->flag ? q->at : (struct wall){ INT64_MIN };
	bool ok = answered(
		s, read_ranges(s->r, q->filter.sid, since, WALL_NEVER, q->limit, &s->a, &page, &s->why), out);
	if (!ok)
		return 0;
	NUMBERS(out, page.n, page.more);
	for (unsigned i = 0; i < page.n; i++)
		NUMBERS(out, (int64_t)page.item[i].sid, page.item[i].first.us, page.item[i].last.us,
			page.item[i].state, page.item[i].reason);
	return page.n;
}

static unsigned ask_avoided(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_avoided x;
	struct wall since = { avoided_since(q->at) * USEC };
	bool ok = answered(s, read_avoided(s->r, q->flag ? q->sid : 0, since, &x, &s->why), out);
	if (ok)
		NUMBERS(out, (int64_t)x.ever, (int64_t)x.lately);
	return ok && x.ever;
}

static unsigned ask_why(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_why w;
	if (!answered(s, read_why(s->r, q->sid, q->at, &w, &s->why), out))
		return 0;
	NUMBERS(out, w.has_run, w.has_range, w.has_before, w.has_after);
	if (w.has_run)
		add_run(out, &w.run);
	if (w.has_range) /* several may begin at the same time: any of them is right */
		NUMBERS(out, w.range.first.us);
	if (w.has_before)
		add_run(out, &w.before);
	if (w.has_after)
		add_run(out, &w.after);
	return w.has_run + w.has_range;
}

static unsigned ask_problem(struct scene *s, const struct question *q, struct buf *out)
{
	struct problem_row x;
	bool found = answered(s, read_problem(s->r, q->number, &s->a, &x, &s->why), out);
	if (found)
		add_problem(out, &x);
	return found;
}

static unsigned ask_problems(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_problems page;
	if (!answered(s, read_problems(s->r, q->flag, q->before, q->limit, &s->a, &page, &s->why), out))
		return 0;
	NUMBERS(out, page.n, page.more);
	for (unsigned i = 0; i < page.n; i++)
		add_problem(out, &page.item[i]);
	return page.n;
}

static unsigned ask_holds(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_holds list;
	(void)q;
	if (!answered(s, read_holds(s->r, &s->a, &list, &s->why), out))
		return 0;
	for (unsigned i = 0; i < list.n; i++) {
		NUMBERS(out, list.item[i].row.key, list.item[i].row.reason, list.item[i].row.until.us);
		TEXTS(out, list.item[i].note);
	}
	return list.n;
}

static unsigned ask_news(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_news page;
	if (!answered(s, read_news(s->r, q->limit, &s->a, &page, &s->why), out))
		return 0;
	NUMBERS(out, page.n, page.more);
	for (unsigned i = 0; i < page.n; i++) {
		const struct news_row *x = &page.item[i];
		NUMBERS(out, (int64_t)x->number, x->what, x->attempt, (int64_t)x->sid, (int64_t)x->run,
			(int64_t)x->problem, x->first.us, x->last.us);
	}
	return page.n;
}

static unsigned ask_message(struct scene *s, const struct question *q, struct buf *out)
{
	struct message_row x;
	bool found = answered(s, read_message(s->r, q->number, &s->a, &x, &s->why), out);
	if (found)
		add_message(out, &x);
	return found;
}

static unsigned add_messages(struct buf *out, const struct read_messages *page)
{
	NUMBERS(out, page->n, page->more);
	for (unsigned i = 0; i < page->n; i++)
		add_message(out, &page->item[i]);
	return page->n;
}

static unsigned ask_messages_of(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_messages page;
	uint64_t run = q->number % 12;
	bool ok = answered(s, read_messages_of(s->r, run, q->limit, &s->a, &page, &s->why), out);
	return ok ? add_messages(out, &page) : 0;
}

static unsigned ask_messages(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_messages page;
	bool ok = answered(s, read_messages(s->r, q->before, q->limit, &s->a, &page, &s->why), out);
	return ok ? add_messages(out, &page) : 0;
}

static const uint64_t receivers[] = { 7, 8 };

static unsigned ask_messages_due(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_messages page;
	struct receiver_list but = { receivers, (unsigned)(q->number % 3) };
	bool ok = answered(s, read_messages_due(s->r, q->at, but, q->limit, &s->a, &page, &s->why), out);
	return ok ? add_messages(out, &page) : 0;
}

static unsigned ask_message_next(struct scene *s, const struct question *q, struct buf *out)
{
	struct wall next;
	struct receiver_list but = { receivers, (unsigned)(q->number % 3) };
	bool ok = answered(s, read_message_next(s->r, but, &next, &s->why), out);
	if (ok)
		NUMBERS(out, next.us);
	return ok && next.us != INT64_MAX;
}

static unsigned ask_message_after(struct scene *s, const struct question *q, struct buf *out)
{
	bool yes;
	bool ok = answered(s, read_message_after(s->r, q->number % 4, 2, q->before, &yes, &s->why), out);
	if (ok)
		NUMBERS(out, yes);
	return ok && yes;
}

static void add_event(struct buf *out, const struct event_row *e)
{
	NUMBERS(out, (int64_t)e->number, e->type, (int64_t)e->sid, e->rev, (int64_t)e->run, e->attempt,
		e->reason, e->outcome, e->first.us, e->last.us, (int64_t)e->subject);
	TEXTS(out, e->text);
	buf_addc(out, '\n');
}

/* All pages from a number on. An answer may be short because the store searches a part of the log only. */
static unsigned ask_events(struct scene *s, const struct question *q, struct buf *out)
{
	struct event_filter f = {
		.after = q->run * 3,
		.types = q->filter.failed ? 1u << q->number % EVENT_TYPES | 1u << q->before % EVENT_TYPES : 0,
		.sid = q->filter.sid,
		.limit = q->filter.limit
	};
	struct read_events x;
	unsigned n = 0;
	do {
		if (!answered(s, read_events(s->r, &f, &s->a, &x, &s->why), out))
			return n;
		for (unsigned i = 0; i < x.n; i++)
			add_event(out, &x.item[i]);
		CHECK(x.n <= f.limit && x.searched <= x.last &&
		      (x.n || x.searched > f.after || f.after >= x.last));
		CHECK(!x.n || (x.item[0].number > f.after && x.item[x.n - 1].number <= x.searched));
		n += x.n;
		f.after = x.searched;
	} while (x.searched < x.last);
	NUMBERS(out, (int64_t)x.oldest, (int64_t)x.last);
	return n;
}

static unsigned ask_receiver_gone(struct scene *s, const struct question *q, struct buf *out)
{
	bool yes;
	bool ok = answered(s, read_receiver_gone(s->r, q->flag ? STR("o") : STR(""), &yes, &s->why), out);
	if (ok)
		NUMBERS(out, yes);
	return ok && yes;
}

static unsigned ask_attempt(struct scene *s, const struct question *q, struct buf *out)
{
	struct read_attempt x;
	struct attempt_request r = { .run = q->run,
				     .sid = q->sid,
				     .rev = q->rev,
				     .agent = q->flag ? q->agent : (struct str){ 0 },
				     .notes = q->limit % 4 };
	if (!answered(s, read_attempt(s->r, &r, &s->a, &x, &s->why), out))
		return 0;
	NUMBERS(out, x.has_previous, x.agents, x.has_notes, x.user.rev, x.state.rev);
	TEXTS(out, x.document, x.user.text, x.state.text, x.result);
	add_run(out, &x.run);
	if (x.has_previous)
		add_run(out, &x.previous);
	add_agent(out, &x.agent);
	add_notes(out, &x.notes);
	return x.has_previous;
}

static int compare_items(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct old_item));
}

/* The places of ranges and versions are the store's own: items are compared as a set. */
static unsigned ask_old(struct scene *s, const struct question *q, struct buf *out)
{
	static struct old_item part[64], all[BYTES_MAX];
	unsigned n, total = 0;
	uint64_t after = 0;
	bool own_places = q->prune == PRUNE_RANGES || q->prune == PRUNE_VERSION;
	do {
		if (!answered(s, read_old(s->r, q->prune, after, q->at, part, ARRAY_LEN(part), &n, &s->why),
			      out))
			return 0;
		after = n ? part[n - 1].at : after;
		for (unsigned i = 0; i < n && total < BYTES_MAX; i++) {
			struct old_item *x = memset(&all[total++], 0, sizeof *x);
			x->at = own_places ? 0 : part[i].at;
			x->sid = part[i].sid;
			x->rev = part[i].rev;
			x->old = part[i].old;
			x->young = part[i].young;
		}
	} while (n == ARRAY_LEN(part));
	qsort(all, total, sizeof *all, compare_items);
	for (unsigned i = 0; i < total; i++)
		NUMBERS(out, (int64_t)all[i].at, (int64_t)all[i].sid, all[i].rev, all[i].old, all[i].young);
	return total;
}

static unsigned ask_old_run(struct scene *s, const struct question *q, struct buf *out)
{
	struct old_run x;
	bool ok = answered(s, read_old_run(s->r, q->run, &x, &s->why), out);
	if (ok)
		NUMBERS(out, x.known, x.over, x.latest, x.at.us);
	return ok && x.latest;
}

static const struct {
	const char *name;
	question_fn *ask;
	unsigned weight;
} questions[] = {
	{ "sched", ask_sched, 10 },
	{ "id", ask_id, 5 },
	{ "document_of", ask_document, 10 },
	{ "document_at", ask_document_at, 10 },
	{ "sched_removed", ask_removed, 10 },
	{ "sched_named", ask_named, 10 },
	{ "scheds", ask_scheds, 2 },
	{ "scheds_noted", ask_noted, 5 },
	{ "scheds_from", ask_from, 3 },
	{ "agent", ask_agent, 10 },
	{ "agents", ask_agents, 5 },
	{ "state", ask_state, 10 },
	{ "memory", ask_memory, 10 },
	{ "memories", ask_memories, 10 },
	{ "memories_with", ask_memories_with, 10 },
	{ "run", ask_run, 10 },
	{ "run_text", ask_run_text, 40 },
	{ "runs", ask_runs, 40 },
	{ "ranges", ask_ranges, 40 },
	{ "avoided", ask_avoided, 5 },
	{ "why", ask_why, 60 },
	{ "problem", ask_problem, 20 },
	{ "problems", ask_problems, 5 },
	{ "holds", ask_holds, 2 },
	{ "news", ask_news, 5 },
	{ "message", ask_message, 30 },
	{ "messages_of", ask_messages_of, 5 },
	{ "messages", ask_messages, 5 },
	{ "messages_due", ask_messages_due, 10 },
	{ "message_next", ask_message_next, 5 },
	{ "message_after", ask_message_after, 5 },
	{ "receiver_gone", ask_receiver_gone, 5 },
	{ "events", ask_events, 40 },
	{ "attempt", ask_attempt, 20 },
	{ "old", ask_old, 4 },
	{ "old_run", ask_old_run, 20 },
};
static_assert(ARRAY_LEN(questions) + 2 == sizeof(struct read_ops) / sizeof(void (*)(void)),
	      "every operation is asked, except for close and the ranked search");

/* --- the comparison --- */

static struct question random_question(uint64_t *seed, const struct request_stream *stream)
{
	static const char *const agents[] = { "desk", "triage", "night shift", "Nacht", "night", "nobody" };
	static const char *const sources[] = { "/", "/file", "/file 100", "/none/" };
	static const unsigned sets[] = { 0,
					 1 << RUN_FINISHED,
					 1 << RUN_MISSED,
					 1 << RUN_SKIPPED | 1 << RUN_MISSED,
					 1 << RUN_PENDING | 1 << RUN_CLAIMED | 1 << RUN_RETRYING,
					 1 << RUN_CLAIMED,
					 1 << RUN_FINISHED | 1 << RUN_PENDING };
	int64_t now = stream->now;
	struct question q = { .sid = 1 + test_random(seed) % (STREAM_SCHEDS + 2),
			      .run = 1 + test_random(seed) % (stream->run + 2),
			      .number = test_random(seed) % 300,
			      .before = test_random(seed) % 3 ? 0 : test_random(seed) % 300,
			      .rev = (uint32_t)(test_random(seed) % 12),
			      .at = AT(now - (int64_t)(test_random(seed) % 200)),
			      .agent = str_of(agents[test_random(seed) % ARRAY_LEN(agents)]),
			      .from = str_of(sources[test_random(seed) % ARRAY_LEN(sources)]),
			      .limit = (unsigned)(test_random(seed) % 30),
			      .flag = test_random(seed) % 2,
			      .prune = (enum prune_what)(test_random(seed) % PRUNES) };
	snprintf(q.id_text, sizeof q.id_text, "id-%llu ", (unsigned long long)q.sid);
	struct read_filter *f = &q.filter;
	f->limit = 1 + (unsigned)(test_random(seed) % 40);
	f->states = sets[test_random(seed) % ARRAY_LEN(sets)];
	f->failed = test_random(seed) % 4 == 0;
	if (test_random(seed) % 2)
		f->sid = q.sid;
	if (test_random(seed) % 2)
		f->since = AT(now - (int64_t)(test_random(seed) % 300));
	if (test_random(seed) % 2)
		f->until = AT(now - (int64_t)(test_random(seed) % 200));
	return q;
}

static unsigned random_kind(uint64_t *seed)
{
	unsigned sum = 0, kind = 0;
	for (unsigned i = 0; i < ARRAY_LEN(questions); i++)
		sum += questions[i].weight;
	for (uint64_t at = test_random(seed) % sum; at >= questions[kind].weight; kind++)
		at -= questions[kind].weight;
	return kind;
}

static void compare_answers(struct scene *s, unsigned kind, const struct question *q, unsigned *found)
{
	struct buf answer[FIXTURE_KINDS] = { 0 };
	unsigned n = 0;
	test_case("%s: sid %llu, run %llu, number %llu, at %lld", questions[kind].name,
		  (unsigned long long)q->sid, (unsigned long long)q->run, (unsigned long long)q->number,
		  (long long)q->at.us);
	for (unsigned i = 0; i < FIXTURE_KINDS; i++) {
		n = questions[kind].ask(&s[i], q, &answer[i]);
		arena_reset(&s[i].a);
	}
	CHECK_SAME(&answer[FIXTURE_SQLITE], &answer[FIXTURE_MODEL]);
	found[kind] += n > 0;
	for (unsigned i = 0; i < FIXTURE_KINDS; i++)
		buf_free(&answer[i]);
}

static void open_both(struct scene s[FIXTURE_KINDS])
{
	for (unsigned i = 0; i < FIXTURE_KINDS; i++) {
		s[i] = (struct scene){ 0 };
		fixture_open(&s[i].f, (enum fixture_kind)i);
		scene_open_reader(&s[i]);
	}
}

static void close_both(struct scene s[FIXTURE_KINDS])
{
	for (unsigned i = 0; i < FIXTURE_KINDS; i++)
		scene_close(&s[i]);
}

/* Numbers are given out in the order of the clock. */
static void carry_out(struct scene s[FIXTURE_KINDS], struct request_stream *stream)
{
	struct st_req r = stream_next(stream);
	r.run.claimed = AT((int64_t)r.run.run / 10);
	struct st_ack want = fixture_ask(&s[FIXTURE_MODEL].f, r), got = fixture_ask(&s[FIXTURE_SQLITE].f, r);
	CHECK_INT(got.res, want.res);
	stream_learn(stream, &want);
}

static void ask_both(struct scene s[FIXTURE_KINDS], struct st_req r)
{
	for (unsigned i = 0; i < FIXTURE_KINDS; i++)
		scene_ask(&s[i], r);
}

/* Makes what the stream makes too rarely: removed schedules, and receivers that are gone. */
static void add_rare_rows(struct scene s[FIXTURE_KINDS], int64_t now)
{
	const struct model *m = ((struct model_store *)s[FIXTURE_MODEL].f.store)->model;
	for (unsigned i = 0; i < m->scheds; i += 4) {
		const struct sched_row *row = &m->sched[i].row;
		struct st_req r = req_drop(row->sid, row->rev, now);
		r.part = row->part;
		r.epoch = model_part(m, row->part)->epoch;
		if (!m->sched[i].dropped)
			ask_both(s, r);
	}
	for (unsigned i = 0; i < m->messages; i++) {
		struct st_req r = { .op = ST_DELIVERY, .lane = LANE_FINISH, .at = AT(now + i) };
		r.delivery = (struct message_row){ .number = m->message[i].number,
						   .attempts = m->message[i].attempts + 1,
						   .state = MESSAGE_GONE };
		if (m->message[i].number && m->message[i].state == MESSAGE_WAITING && i % 3 == 0)
			ask_both(s, r);
	}
}

TEST(the_same_questions_have_the_same_answers)
{
	struct scene s[FIXTURE_KINDS];
	struct request_stream stream;
	unsigned found[ARRAY_LEN(questions)] = { 0 };
	uint64_t seed = 5;
	open_both(s);
	stream_init(&stream, 11, true);
	for (unsigned i = 1; i <= 4500; i++) {
		carry_out(s, &stream);
		if (i == 4500)
			add_rare_rows(s, stream.now);
		for (unsigned k = 0; i % 1500 == 0 && k < QUESTIONS / 3; k++) {
			struct question q = random_question(&seed, &stream);
			compare_answers(s, random_kind(&seed), &q, found);
		}
	}
	for (unsigned i = 0; i < ARRAY_LEN(questions); i++) {
		test_case("%s: %u answers with something in them", questions[i].name, found[i]);
		CHECK(found[i] >= 3);
		if (getenv("SHOW"))
			printf("%s: %u\n", questions[i].name, found[i]);
	}
	test_case(NULL);
	close_both(s);
}

/* So many manual runs of one schedule at one nominal time that they fill pages. */
TEST(pages_of_one_nominal_time)
{
	struct scene s[FIXTURE_KINDS];
	unsigned found[ARRAY_LEN(questions)] = { 0 }, runs = 0;
	while (questions[runs].ask != ask_runs)
		runs++;
	open_both(s);
	for (unsigned k = 0; k < FIXTURE_KINDS; k++) {
		scene_ask(&s[k], req_put(5, 0, 10));
		for (uint64_t i = 1; i <= 100; i++) {
			struct st_req o = req_occ(5, 1, i, i % 10 ? 1000 : 980 + (int64_t)i / 10);
			o.run.kind = i % 10 && i > 1 ? KIND_MANUAL : KIND_TIMER;
			scene_ask(&s[k], o);
		}
	}
	for (unsigned limit = 1; limit < 40; limit += 6) {
		const struct read_filter filters[] = {
			{ .sid = 5, .limit = limit },
			{ .limit = limit },
			{ .sid = 5, .limit = limit, .since = AT(1000) },
			{ .sid = 5, .limit = limit, .until = AT(999) },
			{ .sid = 5, .limit = limit, .states = 1 << RUN_CLAIMED },
		};
		for (unsigned i = 0; i < ARRAY_LEN(filters); i++)
			compare_answers(s, runs, &(struct question){ .filter = filters[i] }, found);
	}
	CHECK(found[runs] > 30);
	test_case(NULL);
	close_both(s);
}
