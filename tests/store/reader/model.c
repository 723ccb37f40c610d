/* Runs, schedules, problems, holds and agents, compared with the model. */
#include "reader.h"
#include "request_stream.h"

/* The runs that a query should find, in its order. */
struct expected_runs {
	const struct run_row **run;
	size_t n;
};

static bool matches(const struct read_filter *f, const struct run_row *x)
{
	bool failed = x->state == RUN_FINISHED && (x->outcome == 2 || x->outcome == 3);
	int64_t at = f->sid ? x->nominal.us : x->claimed.us;
	return (!f->sid || x->sid == f->sid) && (!f->states || f->states >> x->state & 1) &&
	       (!f->failed || failed) && (!f->since.us || at >= f->since.us) &&
	       (!f->until.us || at <= f->until.us);
}

static int by_number(const void *a, const void *b)
{
	const struct run_row *x = *(const struct run_row *const *)a, *y = *(const struct run_row *const *)b;
	return x->run < y->run ? 1 : -1;
}

static int by_time(const void *a, const void *b)
{
	const struct run_row *x = *(const struct run_row *const *)a, *y = *(const struct run_row *const *)b;
	if (x->nominal.us != y->nominal.us)
		return x->nominal.us < y->nominal.us ? 1 : -1;
	return by_number(a, b);
}

static struct expected_runs expected(const struct model *m, const struct read_filter *f)
{
	struct expected_runs w = { calloc(model_runs(m) + 1, sizeof *w.run), 0 };
	for (size_t i = 0; i < model_runs(m); i++) {
		const struct run_row *x = model_run_at(m, i);
		if (x && matches(f, x))
			w.run[w.n++] = x;
	}
	qsort(w.run, w.n, sizeof *w.run, f->sid ? by_time : by_number);
	return w;
}

static bool same_run(const struct run_row *a, const struct run_row *b)
{
	return a->run == b->run && a->sid == b->sid && a->nominal.us == b->nominal.us &&
	       a->state == b->state && a->outcome == b->outcome && a->reason == b->reason &&
	       a->kind == b->kind && a->ended.us == b->ended.us && a->exit_code == b->exit_code &&
	       a->attempt == b->attempt && a->started.us == b->started.us && a->tokens_out == b->tokens_out;
}

/* Reads all pages of a query, and returns whether it found a run. */
static unsigned check_pages(struct scene *s, const struct model *m, struct read_filter f)
{
	struct expected_runs w = expected(m, &f);
	struct read_runs page;
	size_t at = 0;
	unsigned limit = f.limit ? f.limit : READ_LIST_MAX;
	do {
		if (!CHECK_INT(read_runs(s->r, &f, &s->a, &page, &s->why), OK))
			break;
		if (!CHECK_INT(page.n, w.n - at < limit ? w.n - at : limit) ||
		    !CHECK_INT(page.more, w.n - at > limit))
			break;
		for (unsigned i = 0; i < page.n; i++)
			CHECK(same_run(&page.item[i], w.run[at + i]));
		at += page.n;
		if (page.n) {
			f.before.nominal = page.item[page.n - 1].nominal;
			f.before.run = page.item[page.n - 1].run;
		}
	} while (page.more);
	free(w.run);
	arena_reset(&s->a);
	return at > 0;
}

static struct read_filter random_filter(uint64_t *seed, int64_t now)
{
	struct read_filter f = { .limit = 1 + (unsigned)(test_random(seed) % 40) };
	static const unsigned sets[] = { 0,
					 1 << RUN_FINISHED,
					 1 << RUN_MISSED,
					 1 << RUN_SKIPPED | 1 << RUN_MISSED,
					 1 << RUN_PENDING | 1 << RUN_CLAIMED | 1 << RUN_RETRYING,
					 1 << RUN_CLAIMED,
					 1 << RUN_FINISHED | 1 << RUN_PENDING };
	if (test_random(seed) % 2)
		f.sid = 1 + test_random(seed) % STREAM_SCHEDS;
	f.states = sets[test_random(seed) % ARRAY_LEN(sets)];
	f.failed = test_random(seed) % 4 == 0;
	if (test_random(seed) % 2)
		f.since = AT(now - (int64_t)(test_random(seed) % 300));
	if (test_random(seed) % 2)
		f.until = AT(now - (int64_t)(test_random(seed) % 200));
	return f;
}

/* `want` is NULL if there is no such run. */
static void check_run(bool has, const struct run_row *got, const struct run_row *want)
{
	if (CHECK_INT(has, want != NULL) && want)
		CHECK(same_run(got, want));
}

static unsigned check_why(struct scene *s, const struct model *m, uint64_t sid, struct wall t)
{
	const struct run_row *at = NULL, *before = NULL, *after = NULL;
	struct read_why w;
	for (size_t i = 0; i < model_runs(m); i++) {
		const struct run_row *x = model_run_at(m, i);
		if (!x || x->sid != sid || x->kind == KIND_MANUAL)
			continue;
		if (x->nominal.us == t.us)
			at = x;
		if (x->nominal.us < t.us && (!before || x->nominal.us > before->nominal.us))
			before = x;
		if (x->nominal.us > t.us && (!after || x->nominal.us < after->nominal.us))
			after = x;
	}
	CHECK_INT(read_why(s->r, sid, t, &w, &s->why), OK);
	check_run(w.has_run, &w.run, at);
	check_run(w.has_before, &w.before, before);
	check_run(w.has_after, &w.after, after);
	const struct model_sched *sched = model_sched(m, sid);
	bool covered = false, same = false;
	int64_t first = INT64_MIN;
	for (unsigned i = 0; sched && i < sched->ranges; i++) {
		const struct range_row *g = &sched->range[i];
		bool covers = g->first.us <= t.us && g->last.us >= t.us;
		covered |= covers;
		first = covers && g->first.us > first ? g->first.us : first;
		same |= covers && g->first.us == w.range.first.us && g->last.us == w.range.last.us &&
			g->state == w.range.state && g->reason == w.range.reason;
	}
	CHECK_INT(w.has_range, covered);
	CHECK(!covered || (same && w.range.first.us == first));
	return w.has_run + w.has_range;
}

static void check_schedules(struct scene *s, const struct model *m)
{
	struct read_sched got;
	for (size_t i = 0; i < model_scheds(m); i++) {
		const struct model_sched *want = model_sched_at(m, i);
		bool open = false;
		for (unsigned k = 0; k < want->ranges; k++)
			open |= want->range[k].last.us == INT64_MAX;
		if (!CHECK_INT(read_sched(s->r, want->row.sid, &s->a, &got, &s->why), OK))
			continue;
		CHECK(memcmp(&got.row, &want->row, sizeof got.row) == 0);
		CHECK(str_eq(got.id, want->id) && str_eq(got.document, want->document));
		CHECK(str_eq(got.note, want->note) && !got.note.p == !want->note.p);
		CHECK(got.put_at.us == want->put_at.us && got.open == open);
		CHECK_INT(got.dropped.us != INT64_MAX, want->dropped);
	}
	arena_reset(&s->a);
}

static void check_problems(struct scene *s, const struct model *m, bool all)
{
	struct read_problems page = { 0 };
	struct problem_row one;
	uint64_t before = 0;
	for (unsigned i = m->problems; i > 0; i--) {
		const struct problem_row *want = &m->problem[i - 1];
		if (!want->number || (!all && want->closed.us != INT64_MAX))
			continue;
		CHECK_INT(read_problems(s->r, all, before, 1, &s->a, &page, &s->why), OK);
		if (!CHECK_INT(page.n, 1))
			return;
		const struct problem_row *got = &page.item[0];
		CHECK(got->number == want->number && got->count == want->count &&
		      got->last_reported.us == want->last_reported.us && got->acked.us == want->acked.us &&
		      got->closed.us == want->closed.us && got->opened.us == want->opened.us);
		CHECK(str_eq(got->key, want->key) && str_eq(got->subject, want->subject) &&
		      str_eq(got->text, want->text) && str_eq(got->by, want->by) &&
		      str_eq(got->note, want->note));
		before = got->number;
		CHECK_INT(read_problem(s->r, before, &s->a, &one, &s->why), OK);
		CHECK(one.number == before && str_eq(one.key, want->key));
	}
	CHECK(!page.more);
	CHECK_INT(read_problem(s->r, m->problems + 1, &s->a, &one, &s->why), E_NOTFOUND);
	arena_reset(&s->a);
}

static void check_agents(struct scene *s, const struct model *m)
{
	unsigned there = 0;
	struct read_agents all;
	for (unsigned i = 0; i < m->agents; i++) {
		const struct model_agent *want = &m->agent[i];
		struct read_agent got;
		if (!CHECK_INT(read_agent(s->r, want->row.name, &s->a, &got, &s->why), OK))
			continue;
		CHECK(got.rev == want->row.rev && str_eq(got.text, want->row.text) &&
		      got.source.line == want->source.line);
		there += want->row.text.p != NULL;
	}
	CHECK_INT(read_agents(s->r, STR(""), 0, &s->a, &all, &s->why), OK);
	CHECK_INT(all.n, there);
}

static const struct model_hold *find_hold(const struct model *m, uint32_t key)
{
	for (unsigned i = 0; i < m->holds; i++)
		if (m->hold[i].row.key == key)
			return &m->hold[i];
	return NULL;
}

static void check_holds(struct scene *s, const struct model *m)
{
	struct read_holds list;
	CHECK_INT(read_holds(s->r, &s->a, &list, &s->why), OK);
	CHECK_INT(list.n, model_holds(m));
	for (unsigned i = 0; i < list.n; i++) {
		const struct read_hold *got = &list.item[i];
		const struct model_hold *want = find_hold(m, got->row.key);
		if (!CHECK(want != NULL))
			continue;
		CHECK(want->row.reason == got->row.reason && want->row.until.us == got->row.until.us);
		CHECK(str_eq(got->note, want->note) && !got->note.p == !want->note.p);
	}
}

static void check_everything(struct scene *s, const struct model *m, int64_t now, uint64_t *seed)
{
	unsigned found = 0, covered = 0;
	for (unsigned i = 0; i < 400; i++)
		found += check_pages(s, m, random_filter(seed, now));
	CHECK(found > 100);
	for (unsigned i = 0; i < 800; i++)
		covered += check_why(s, m, 1 + test_random(seed) % STREAM_SCHEDS,
				     AT(now - (int64_t)(test_random(seed) % 200)));
	CHECK(covered > 40);
	for (unsigned i = 0; i < 20; i++)
		check_schedules(s, m);
	check_problems(s, m, true);
	check_problems(s, m, false);
	check_holds(s, m);
	check_agents(s, m);
	for (size_t i = 0; i < model_runs(m); i += 50) {
		const struct run_row *want = model_run_at(m, i);
		struct run_row got;
		if (want && CHECK_INT(read_run(s->r, want->run, &got, &s->why), OK))
			CHECK(same_run(&got, want));
	}
}

TEST(answers_agree_with_the_model)
{
	struct scene s;
	struct request_stream stream;
	struct model *m = model_new();
	uint64_t seed = 5;
	scene_open(&s);
	stream_init(&stream, 11, true);
	for (unsigned i = 1; i <= 4500; i++) {
		struct st_req r = stream_next(&stream);
		r.run.claimed =
			AT((int64_t)r.run.run / 10); /* numbers are given out in the order of the clock */
		struct st_ack want, ack = fixture_ask(&s.f, r);
		model_apply(m, &r, &want);
		CHECK_INT(ack.res, want.res);
		stream_learn(&stream, &want);
		if (i % 1500 == 0)
			check_everything(&s, m, stream.now, &seed);
	}
	struct run_row none;
	CHECK_INT(read_run(s.r, UINT64_MAX, &none, &s.why), E_NOTFOUND);
	CHECK_INT(read_run(s.r, 0, &none, &s.why), E_NOTFOUND);
	CHECK_STR(s.why.text, "there is no run r0");
	model_free(m);
	scene_close(&s);
}

/* One schedule has so many manual runs at one nominal time that they fill several pages. */
TEST(pages_of_one_nominal_time)
{
	struct scene s;
	scene_open(&s);
	struct model *m = model_new();
	struct st_req p = req_put(5, 0, 10);
	struct st_ack ack;
	scene_ask(&s, p);
	model_apply(m, &p, &ack);
	for (uint64_t i = 1; i <= 100; i++) {
		struct st_req o = req_occ(5, 1, i, i % 10 ? 1000 : 980 + (int64_t)i / 10);
		o.run.kind = i % 10 && i > 1 ? KIND_MANUAL : KIND_TIMER;
		scene_ask(&s, o);
		model_apply(m, &o, &ack);
	}
	for (unsigned limit = 1; limit < 40; limit += 6) {
		check_pages(&s, m, (struct read_filter){ .sid = 5, .limit = limit });
		check_pages(&s, m, (struct read_filter){ .limit = limit });
	}
	check_pages(&s, m, (struct read_filter){ .sid = 5, .limit = 7, .since = AT(1000) });
	check_pages(&s, m, (struct read_filter){ .sid = 5, .limit = 7, .until = AT(999) });
	check_pages(&s, m, (struct read_filter){ .sid = 5, .limit = 7, .states = 1 << RUN_CLAIMED });
	model_free(m);
	scene_close(&s);
}
