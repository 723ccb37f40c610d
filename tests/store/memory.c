#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- memory ---- */

static void *must(void *p)
{
	if (!p) {
		fputs("memory store: out of memory\n", stderr);
		abort();
	}
	return p;
}

/* Makes room for one more item in an array of `*cap`. */
static void *room(void *array, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return array;
	*cap = *cap ? 2 * *cap : 4;
	return must(realloc(array, *cap * size));
}

static void *copy(const void *from, size_t n)
{
	void *to = must(malloc(n ? n : 1));
	if (n)
		memcpy(to, from, n);
	return to;
}

/* ---- an index: two numbers to the place of a row ---- */

struct slot {
	uint64_t a, b;
	size_t place; /* plus one; 0: free */
	bool gone;
};
struct index {
	struct slot *slot;
	size_t size, used; /* a power of two; gone ones count as used */
};

static size_t hash(uint64_t a, uint64_t b)
{
	uint64_t z = a * UINT64_C(0x9e3779b97f4a7c15) ^ (b + UINT64_C(0x7f4a7c15));
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (size_t)(z ^ z >> 31);
}

static struct slot *index_find(const struct index *x, uint64_t a, uint64_t b)
{
	if (!x->size)
		return NULL;
	for (size_t i = hash(a, b) & (x->size - 1);; i = (i + 1) & (x->size - 1)) {
		struct slot *s = &x->slot[i];
		if (!s->place)
			return NULL;
		if (!s->gone && s->a == a && s->b == b)
			return s;
	}
}

static void index_add(struct index *x, uint64_t a, uint64_t b, size_t place);

static void index_grow(struct index *x)
{
	struct index old = *x;
	x->size = old.size ? 2 * old.size : 64;
	x->used = 0;
	x->slot = must(calloc(x->size, sizeof *x->slot));
	for (size_t i = 0; i < old.size; i++)
		if (old.slot[i].place && !old.slot[i].gone)
			index_add(x, old.slot[i].a, old.slot[i].b, old.slot[i].place - 1);
	free(old.slot);
}

static void index_add(struct index *x, uint64_t a, uint64_t b, size_t place)
{
	if (2 * x->used >= x->size)
		index_grow(x);
	size_t i = hash(a, b) & (x->size - 1);
	while (x->slot[i].place)
		i = (i + 1) & (x->size - 1);
	x->slot[i] = (struct slot){ a, b, place + 1, false };
	x->used++;
}

static void index_remove(struct index *x, uint64_t a, uint64_t b)
{
	struct slot *s = index_find(x, a, b);
	if (s)
		s->gone = true;
}

/* ---- rows ---- */

struct sched {
	struct memory_sched is;
	struct range_row *range;
	size_t ranges, range_cap;
	size_t *run; /* places of its runs; of some, other runs or none by now */
	size_t runs, run_cap;
};

struct memory {
	struct sched *sched;
	size_t scheds, sched_cap;
	struct run_row *run; /* number 0: gone */
	size_t runs, run_cap;
	struct hold_row *hold; /* by key */
	size_t holds, hold_cap;
	struct index by_sid, by_run, by_nominal;
	uint64_t last_run, last_sid;
	struct st_ack *ack; /* from `acks_taken` on */
	size_t acks, acks_taken, ack_cap;
};

static struct sched *find_sched(const struct memory *m, uint64_t sid)
{
	const struct slot *s = index_find(&m->by_sid, sid, 0);
	return s ? &m->sched[s->place - 1] : NULL;
}

static struct run_row *find_run(const struct memory *m, uint64_t run)
{
	const struct slot *s = index_find(&m->by_run, run, 0);
	return s ? &m->run[s->place - 1] : NULL;
}

static struct run_row *find_occurrence(const struct memory *m, uint64_t sid, struct wall nominal)
{
	const struct slot *s = index_find(&m->by_nominal, sid, (uint64_t)nominal.us);
	return s ? &m->run[s->place - 1] : NULL;
}

static void add_run(struct memory *m, struct sched *s, const struct run_row *run)
{
	m->run = room(m->run, m->runs, &m->run_cap, sizeof *m->run);
	s->run = room(s->run, s->runs, &s->run_cap, sizeof *s->run);
	index_add(&m->by_run, run->run, 0, m->runs);
	if (run->kind != KIND_MANUAL)
		index_add(&m->by_nominal, run->sid, (uint64_t)run->nominal.us, m->runs);
	s->run[s->runs++] = m->runs;
	m->run[m->runs++] = *run;
	if (run->run > m->last_run)
		m->last_run = run->run;
}

static void remove_run(struct memory *m, struct run_row *run)
{
	index_remove(&m->by_run, run->run, 0);
	if (run->kind != KIND_MANUAL)
		index_remove(&m->by_nominal, run->sid, (uint64_t)run->nominal.us);
	run->run = 0;
}

static void add_range(struct sched *s, struct range_row range)
{
	s->range = room(s->range, s->ranges, &s->range_cap, sizeof *s->range);
	s->range[s->ranges++] = range;
}

static void remove_range(struct sched *s, size_t i)
{
	s->ranges--;
	memmove(&s->range[i], &s->range[i + 1], (s->ranges - i) * sizeof *s->range);
}

static bool is_idle(unsigned state)
{
	return state == RUN_SKIPPED || state == RUN_MISSED;
}

static bool is_open(const struct range_row *g)
{
	return g->last.us == INT64_MAX;
}

/* ---- schedules ---- */

static bool is_number(uint64_t n)
{
	return n != 0 && n <= INT64_MAX;
}

static enum st_res judge(const struct sched *s, const struct st_req *r)
{
	if (!s || s->is.dropped)
		return ST_REFUSED;
	return s->is.row.rev != r->rev ? ST_STALE : ST_OK;
}

static void set_high(struct sched *s, struct wall high)
{
	s->is.row.high = high.us < s->is.row.kept.us ? s->is.row.kept : high;
}

static void set_text(struct str *to, struct str from)
{
	if (!from.p)
		return; /* not given: stays */
	free((char *)to->p);
	*to = (struct str){ copy(from.p, from.n), from.n };
}

static void close_range(struct sched *s, const struct st_req *r)
{
	for (size_t i = 0; r->close_range && i < s->ranges; i++) {
		if (!is_open(&s->range[i]))
			continue;
		if (s->range[i].first.us > r->at.us)
			remove_range(s, i);
		else
			s->range[i].last = r->at;
		return;
	}
}

static struct sched *new_sched(struct memory *m, const struct st_req *r)
{
	m->sched = room(m->sched, m->scheds, &m->sched_cap, sizeof *m->sched);
	struct sched *s = &m->sched[m->scheds];
	*s = (struct sched){ .is.row = r->row };
	index_add(&m->by_sid, r->sid, 0, m->scheds++);
	if (r->sid > m->last_sid)
		m->last_sid = r->sid;
	return s;
}

static enum st_res put(struct memory *m, const struct st_req *r)
{
	struct sched *s = find_sched(m, r->sid);
	if (!is_number(r->sid) || r->rev == UINT32_MAX)
		return ST_REFUSED;
	if (s && s->is.row.rev == r->rev + 1 && s->is.put_at.us == r->at.us)
		return ST_OK;
	if (!s && r->rev == 0)
		s = new_sched(m, r);
	else if (judge(s, r) != ST_OK)
		return judge(s, r);

	struct sched_row old = s->is.row, *row = &s->is.row;
	*row = r->row;
	row->sid = r->sid;
	row->rev = r->rev + 1;
	if (r->rev != 0)
		row->kept = old.kept;
	if (r->rev != 0 && r->keep_next) {
		row->next = old.next;
		row->high = old.high;
		row->left = old.left;
		row->failures = old.failures;
		row->owed = old.owed;
		row->owed_since = old.owed_since;
	}
	if (r->rev != 0)
		set_high(s, row->high);
	s->is.put_at = r->at;
	set_text(&s->is.id, r->id);
	set_text(&s->is.document, r->document);
	close_range(s, r);
	return ST_OK;
}

static enum st_res drop(struct memory *m, const struct st_req *r)
{
	struct sched *s = find_sched(m, r->sid);
	if (s && s->is.dropped)
		return ST_OK;
	if (judge(s, r) != ST_OK)
		return judge(s, r);
	s->is.dropped = true;
	close_range(s, r);
	return ST_OK;
}

/* ---- occurrences ---- */

static void move(struct sched *s, const struct st_req *r)
{
	if (!r->moves)
		return;
	s->is.row.next = r->move.next;
	s->is.row.left = r->move.left;
	s->is.row.owed = r->move.owed;
	s->is.row.owed_since = r->move.owed_since;
	set_high(s, r->move.high);
}

static enum st_res occ(struct memory *m, const struct st_req *r, struct st_ack *ack)
{
	struct sched *s = find_sched(m, r->sid);
	struct run_row run = r->run;
	if (!is_number(run.run) || run.sid != r->sid)
		return ST_REFUSED;
	if (find_run(m, run.run))
		return ST_OK;
	if (judge(s, r) != ST_OK)
		return judge(s, r);
	if (r->moves && run.nominal.us <= s->is.row.high.us)
		return ST_STALE;
	struct run_row *old = run.kind == KIND_MANUAL ? NULL : find_occurrence(m, run.sid, run.nominal);
	if (old && !(run.kind == KIND_BACKFILL && is_idle(old->state))) {
		ack->was = *old;
		return ST_LOST;
	}
	if (old) {
		run.was = (uint8_t)(old->state + 1);
		remove_run(m, old);
	}
	add_run(m, s, &run);
	move(s, r);
	return ST_OK;
}

static bool covers(const struct range_row *g, const struct range_row *want)
{
	return g->state == want->state && g->reason == want->reason && g->first.us <= want->first.us &&
	       g->last.us >= want->last.us;
}

/* The record that ends where the schedule stands; of several, the one that begins last. */
static struct range_row *ending_at(struct sched *s, const struct range_row *want, struct wall high)
{
	struct range_row *best = NULL;
	for (size_t i = 0; i < s->ranges; i++) {
		struct range_row *g = &s->range[i];
		if (g->state == want->state && g->reason == want->reason && g->last.us == high.us &&
		    !is_open(g) && (!best || g->first.us > best->first.us))
			best = g;
	}
	return best;
}

static enum st_res range(struct memory *m, const struct st_req *r)
{
	const struct range_row *want = &r->range;
	struct sched *s = find_sched(m, r->sid);
	if (want->sid != r->sid || !is_idle(want->state) || want->first.us > want->last.us)
		return ST_REFUSED;
	bool has_open = false;
	for (size_t i = 0; s && i < s->ranges; i++) {
		if (covers(&s->range[i], want))
			return ST_OK;
		has_open |= is_open(&s->range[i]);
	}
	if (judge(s, r) != ST_OK)
		return judge(s, r);
	if (r->moves && want->first.us <= s->is.row.high.us)
		return ST_STALE;
	if (is_open(want) && has_open)
		return ST_REFUSED;
	bool joins = !is_open(want) && want->first.us > s->is.row.high.us;
	struct range_row *before = joins ? ending_at(s, want, s->is.row.high) : NULL;
	if (before)
		before->last = want->last;
	else
		add_range(s, *want);
	move(s, r);
	return ST_OK;
}

static enum st_res withdraw(struct memory *m, const struct st_req *r)
{
	struct sched *s = find_sched(m, r->sid);
	if (judge(s, r) != ST_OK)
		return judge(s, r);
	for (size_t i = 0; i < s->runs; i++) {
		struct run_row *run = &m->run[s->run[i]];
		bool idle = is_idle(run->state) && run->kind != KIND_MANUAL;
		if (run->run && idle && run->nominal.us > r->at.us)
			remove_run(m, run);
	}
	for (size_t i = s->ranges; i-- > 0;) {
		if (s->range[i].first.us > r->at.us)
			remove_range(s, i);
		else if (s->range[i].last.us > r->at.us)
			s->range[i].last = r->at;
	}
	s->is.row.high = s->is.row.kept;
	s->is.row.next = r->move.next;
	return ST_OK;
}

/* ---- runs ---- */

static enum st_res verdict(struct run_row *run, const struct run_row *want)
{
	if (want->state != RUN_CLAIMED && !is_idle(want->state))
		return ST_REFUSED;
	if (run->state == want->state && run->reason == want->reason)
		return ST_OK;
	bool undecided = run->state == RUN_PENDING || (run->state == RUN_CLAIMED && run->attempt == 0);
	if (!undecided)
		return ST_LOST;
	run->state = want->state;
	run->reason = want->reason;
	return ST_OK;
}

static bool is_over(const struct run_row *run)
{
	return run->state == RUN_FINISHED || is_idle(run->state);
}

static enum st_res started(struct run_row *run, const struct run_row *want)
{
	bool may_run = run->state == RUN_CLAIMED || run->state == RUN_RETRYING;
	if (may_run && run->attempt <= want->attempt) {
		run->state = RUN_CLAIMED;
		run->attempt = want->attempt;
		run->started = want->started;
	}
	return ST_OK;
}

static enum st_res finish(struct run_row *run, struct sched *s, const struct st_req *r)
{
	const struct run_row *end = &r->run;
	if (end->state != RUN_FINISHED && end->state != RUN_RETRYING)
		return ST_REFUSED;
	if (run->attempt == end->attempt && run->state == end->state && run->outcome == end->outcome &&
	    run->reason == end->reason && run->ended.us == end->ended.us &&
	    run->retry_at.us == end->retry_at.us && run->cost == end->cost &&
	    run->tokens_in == end->tokens_in && run->tokens_out == end->tokens_out)
		return ST_OK;
	if (is_over(run) || run->attempt > end->attempt)
		return ST_LOST;
	run->attempt = end->attempt;
	run->state = end->state;
	run->outcome = end->outcome;
	run->reason = end->reason;
	run->ended = end->ended;
	run->retry_at = end->retry_at;
	run->cost = end->cost;
	run->tokens_in = end->tokens_in;
	run->tokens_out = end->tokens_out;
	if (end->state == RUN_FINISHED)
		s->is.row.failures = r->failures;
	return ST_OK;
}

static enum st_res on_run(struct memory *m, const struct st_req *r)
{
	struct run_row *run = find_run(m, r->run.run);
	if (!run)
		return ST_REFUSED;
	if (r->op == ST_VERDICT)
		return verdict(run, &r->run);
	if (r->op == ST_STARTED)
		return started(run, &r->run);
	return finish(run, find_sched(m, run->sid), r);
}

/* ---- holds ---- */

static enum st_res hold(struct memory *m, const struct hold_row *h)
{
	size_t i = 0;
	while (i < m->holds && m->hold[i].key < h->key)
		i++;
	bool there = i < m->holds && m->hold[i].key == h->key;
	size_t rest = m->holds - i;
	if (!h->reason && there) {
		memmove(&m->hold[i], &m->hold[i + 1], (rest - 1) * sizeof *h);
		m->holds--;
	} else if (h->reason && !there) {
		m->hold = room(m->hold, m->holds, &m->hold_cap, sizeof *h);
		memmove(&m->hold[i + 1], &m->hold[i], rest * sizeof *h);
		m->holds++;
	}
	if (h->reason)
		m->hold[i] = *h;
	return ST_OK;
}

/* ---- the store ---- */

static enum st_res carry_out(struct memory *m, const struct st_req *r, struct st_ack *ack)
{
	switch ((enum st_op)r->op) {
	case ST_PUT:
		return put(m, r);
	case ST_DROP:
		return drop(m, r);
	case ST_OCC:
		return occ(m, r, ack);
	case ST_RANGE:
		return range(m, r);
	case ST_WITHDRAW:
		return withdraw(m, r);
	case ST_VERDICT:
	case ST_STARTED:
	case ST_FINISH:
		return on_run(m, r);
	case ST_HOLD:
		return hold(m, &r->hold);
	case ST_OPS:
		break;
	}
	abort();
}

void memory_apply(struct memory *m, const struct st_req *r, struct st_ack *ret)
{
	*ret = (struct st_ack){ .tag = r->tag, .op = r->op, .run = r->run.run };
	ret->res = (uint8_t)carry_out(m, r, ret);
	if (r->op == ST_HOLD)
		return;
	bool on_a_run = r->op == ST_VERDICT || r->op == ST_STARTED || r->op == ST_FINISH;
	const struct run_row *run = on_a_run ? find_run(m, r->run.run) : NULL;
	const struct sched *s = find_sched(m, run ? run->sid : r->sid);
	ret->has_row = s && !s->is.dropped;
	if (ret->has_row)
		ret->row = s->is.row;
}

struct memory *memory_new(void)
{
	return must(calloc(1, sizeof(struct memory)));
}

void memory_free(struct memory *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->scheds; i++) {
		free(m->sched[i].range);
		free(m->sched[i].run);
		free((char *)m->sched[i].is.id.p);
		free((char *)m->sched[i].is.document.p);
	}
	free(m->sched);
	free(m->run);
	free(m->hold);
	free(m->by_sid.slot);
	free(m->by_run.slot);
	free(m->by_nominal.slot);
	free(m->ack);
	free(m);
}

static struct str copy_text(struct str s)
{
	return s.p ? (struct str){ copy(s.p, s.n), s.n } : s;
}

struct memory *memory_clone(const struct memory *m)
{
	struct memory *c = copy(m, sizeof *m);
	c->sched = copy(m->sched, m->sched_cap * sizeof *m->sched);
	c->run = copy(m->run, m->run_cap * sizeof *m->run);
	c->hold = copy(m->hold, m->hold_cap * sizeof *m->hold);
	c->by_sid.slot = copy(m->by_sid.slot, m->by_sid.size * sizeof(struct slot));
	c->by_run.slot = copy(m->by_run.slot, m->by_run.size * sizeof(struct slot));
	c->by_nominal.slot = copy(m->by_nominal.slot, m->by_nominal.size * sizeof(struct slot));
	c->ack = copy(m->ack, m->ack_cap * sizeof *m->ack);
	for (size_t i = 0; i < c->scheds; i++) {
		struct sched *s = &c->sched[i];
		s->range = copy(s->range, s->range_cap * sizeof *s->range);
		s->run = copy(s->run, s->run_cap * sizeof *s->run);
		s->is.id = copy_text(s->is.id);
		s->is.document = copy_text(s->is.document);
	}
	return c;
}

static enum err submit(void *store, const struct st_req *r)
{
	struct memory *m = store;
	m->ack = room(m->ack, m->acks, &m->ack_cap, sizeof *m->ack);
	memory_apply(m, r, &m->ack[m->acks++]);
	return OK;
}

static unsigned collect(void *store, struct st_ack *ret, unsigned max)
{
	struct memory *m = store;
	unsigned n = 0;
	while (n < max && m->acks_taken < m->acks)
		ret[n++] = m->ack[m->acks_taken++];
	if (m->acks_taken == m->acks)
		m->acks = m->acks_taken = 0;
	return n;
}

static int fd(void *store)
{
	(void)store;
	return -1;
}

/* ---- loading ---- */

static int by_sid(const void *a, const void *b)
{
	uint64_t x = (*(struct sched *const *)a)->is.row.sid, y = (*(struct sched *const *)b)->is.row.sid;
	return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = (*(struct run_row *const *)a)->run, y = (*(struct run_row *const *)b)->run;
	return (x > y) - (x < y);
}

static int by_end(const void *a, const void *b)
{
	int64_t x = (*(struct run_row *const *)a)->ended.us, y = (*(struct run_row *const *)b)->ended.us;
	return x != y ? (x > y) - (x < y) : by_number(a, b);
}

static bool has_open_run(const struct memory *m, const struct sched *s)
{
	for (size_t i = 0; i < s->runs; i++)
		if (m->run[s->run[i]].run && !is_over(&m->run[s->run[i]]))
			return true;
	return false;
}

static bool has_open_range(const struct sched *s)
{
	for (size_t i = 0; i < s->ranges; i++)
		if (is_open(&s->range[i]))
			return true;
	return false;
}

static void load_open_runs(struct memory *m, load_fn *fn, void *ctx)
{
	struct run_row **open = must(calloc(m->runs + 1, sizeof *open));
	size_t n = 0;
	for (size_t i = 0; i < m->runs; i++)
		if (m->run[i].run && !is_over(&m->run[i]))
			open[n++] = &m->run[i];
	qsort(open, n, sizeof *open, by_number);
	for (size_t i = 0; i < n; i++)
		fn(ctx, &(struct load_item){ .kind = LOAD_RUN, .run = *open[i] });
	free(open);
}

static void load_ends(struct memory *m, const struct sched *follower, load_fn *fn, void *ctx)
{
	const struct sched *s = find_sched(m, follower->is.row.after);
	if (!s)
		return;
	struct run_row **end = must(calloc(s->runs + 1, sizeof *end));
	size_t n = 0;
	for (size_t i = 0; i < s->runs; i++) {
		struct run_row *run = &m->run[s->run[i]];
		if (run->run && run->state == RUN_FINISHED && run->ended.us > follower->is.row.high.us)
			end[n++] = run;
	}
	qsort(end, n, sizeof *end, by_end);
	for (size_t i = 0; i < n; i++)
		fn(ctx,
		   &(struct load_item){ .kind = LOAD_END, .follower = follower->is.row.sid, .run = *end[i] });
	free(end);
}

static enum err load(void *store, load_fn *fn, void *ctx)
{
	struct memory *m = store;
	struct sched **told = must(calloc(m->scheds + 1, sizeof *told));
	size_t n = 0;
	for (size_t i = 0; i < m->scheds; i++)
		if (!m->sched[i].is.dropped || has_open_run(m, &m->sched[i]))
			told[n++] = &m->sched[i];
	qsort(told, n, sizeof *told, by_sid);

	for (size_t i = 0; i < m->holds; i++)
		fn(ctx, &(struct load_item){ .kind = LOAD_HOLD, .hold = m->hold[i] });
	for (size_t i = 0; i < n; i++)
		fn(ctx, &(struct load_item){ .kind = LOAD_SCHED,
					     .open = has_open_range(told[i]),
					     .dropped = told[i]->is.dropped,
					     .sched = told[i]->is.row });
	load_open_runs(m, fn, ctx);
	for (size_t i = 0; i < n; i++)
		if (told[i]->is.row.after && !told[i]->is.dropped)
			load_ends(m, told[i], fn, ctx);
	fn(ctx, &(struct load_item){ .kind = LOAD_DONE,
				     .done = { .last_run = m->last_run, .last_sid = m->last_sid } });
	free(told);
	return OK;
}

const struct store_ops memory_ops = { .submit = submit, .collect = collect, .fd = fd, .load = load };

/* ---- for a checker ---- */

const struct memory_sched *memory_next_sched(const struct memory *m, struct memory_at *at)
{
	return at->i < m->scheds ? &m->sched[at->i++].is : NULL;
}

const struct run_row *memory_next_run(const struct memory *m, struct memory_at *at)
{
	while (at->i < m->runs && !m->run[at->i].run)
		at->i++;
	return at->i < m->runs ? &m->run[at->i++] : NULL;
}

const struct range_row *memory_next_range(const struct memory *m, struct memory_at *at)
{
	for (; at->i < m->scheds; at->i++, at->j = 0)
		if (at->j < m->sched[at->i].ranges)
			return &m->sched[at->i].range[at->j++];
	return NULL;
}

const struct hold_row *memory_next_hold(const struct memory *m, struct memory_at *at)
{
	return at->i < m->holds ? &m->hold[at->i++] : NULL;
}

const struct run_row *memory_run(const struct memory *m, uint64_t run)
{
	return find_run(m, run);
}

const struct memory_sched *memory_sched(const struct memory *m, uint64_t sid)
{
	const struct sched *s = find_sched(m, sid);
	return s ? &s->is : NULL;
}

const struct run_row *memory_occurrence(const struct memory *m, uint64_t sid, struct wall nominal)
{
	return find_occurrence(m, sid, nominal);
}

const struct range_row *memory_range_of(const struct memory *m, uint64_t sid, struct wall nominal)
{
	const struct sched *s = find_sched(m, sid);
	for (size_t i = 0; s && i < s->ranges; i++)
		if (s->range[i].first.us <= nominal.us && nominal.us <= s->range[i].last.us)
			return &s->range[i];
	return NULL;
}
