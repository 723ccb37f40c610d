/* The opinion's memory: follows what the store has and what the daemon was told, and calls the judges. */
#include "opinion/facts.h"

#include <stdlib.h>

#define NOTHING_KEPT UINT32_MAX - 1 /* in run_of: the run was seen, and nothing about it matters any more */

static void read_clock(struct opinion *o)
{
	ADD_ROOM(o->reading, o->reading_room, o->readings);
	o->reading[o->readings++] = (struct clock_reading){ o->w->t, world_wall(o->w).us };
}

struct opinion *opinion_new(struct world *w)
{
	struct opinion *o = must_realloc(NULL, sizeof *o);
	const struct port_timing *f = &w->timing;
	*o = (struct opinion){ .w = w, .last_back = INT64_MIN };
	o->slack = SECONDS(1) + 8 * (f->commit.hi + f->answer.hi) + f->wake.hi;
	read_clock(o);
	return o;
}

static void free_scheds(struct opinion *o)
{
	for (unsigned i = 0; i < o->scheds; i++) {
		struct opinion_sched *s = &o->sched[i];
		struct spans *all[] = { &s->paused, &s->no_runs, &s->gated, &s->changing, &s->line };
		for (unsigned k = 0; k < ARRAY_LEN(all); k++)
			free(all[k]->at);
		free(s->range);
		free(s->run);
		free(s->end);
	}
	free(o->sched);
	map_free(&o->sched_of);
}

void opinion_free(struct opinion *o)
{
	if (!o)
		return;
	struct spans *all[] = { &o->down,    &o->outage,    &o->suspended,
				&o->stepped, &o->untrusted, &o->all_paused };
	for (unsigned k = 0; k < ARRAY_LEN(all); k++)
		free(all[k]->at);
	free_scheds(o);
	free(o->run);
	free(o->open);
	free(o->held);
	free(o->reading);
	free(o->asked);
	map_free(&o->run_of);
	map_free(&o->last_seen);
	map_free(&o->stopped);
	free(o);
}

/* --- schedules --- */

static struct opinion_sched *add_sched(struct opinion *o, uint64_t sid)
{
	ADD_ROOM(o->sched, o->sched_room, o->scheds);
	struct opinion_sched *s = &o->sched[o->scheds];
	*s = (struct opinion_sched){ .sid = sid, .changed = o->w->t };
	number_map_put(&o->sched_of, sid, o->scheds++);
	return s;
}

static void set_span(struct spans *s, bool on, int64_t t)
{
	if (on)
		spans_begin(s, t);
	else
		spans_end(s, t);
}

static void copy_row(struct opinion *o, struct opinion_sched *s, const struct sched_row *row)
{
	bool changed = row->rev != s->row.rev;
	s->row = *row;
	if (changed) {
		memcpy(&s->rules, row->rules, sizeof s->rules);
		s->versions++;
		s->changed = o->w->t;
		note_open_agent(s, false);
	}
	set_span(&s->paused, row->flags & SCHED_PAUSED, o->w->t);
	set_span(&s->no_runs, row->left == 0, o->w->t);
	set_span(&s->gated, row->next_set_at.us != 0, o->w->t);
	if (row->next_set_at.us && row->next.us > s->gated_to.us)
		s->gated_to = row->next;
}

static bool same_range(const struct range_row *a, const struct range_row *b)
{
	return a->first.us == b->first.us && a->state == b->state && a->reason == b->reason;
}

static void copy_ranges(struct opinion_sched *s, const struct model_sched *m)
{
	while (s->range_room < m->ranges)
		ADD_ROOM(s->range, s->range_room, s->range_room);
	if (m->ranges)
		memcpy(s->range, m->range, m->ranges * sizeof *m->range);
	s->ranges = m->ranges;
}

/* Compares the ranges with those before, and judges what is new. */
static void follow_ranges(struct opinion *o, struct opinion_sched *s, const struct model_sched *m,
			  int64_t decided)
{
	if (m->ranges == s->ranges &&
	    (!m->ranges || memcmp(m->range, s->range, m->ranges * sizeof *m->range) == 0))
		return;
	for (unsigned i = 0; i < m->ranges; i++) {
		const struct range_row *g = &m->range[i], *old = NULL;
		if (i < s->ranges && memcmp(g, &s->range[i], sizeof *g) == 0)
			continue;
		for (unsigned k = 0; k < s->ranges; k++)
			if (same_range(&s->range[k], g) ||
			    (g->last.us == INT64_MAX && s->range[k].last.us == INT64_MAX))
				old = &s->range[k];
		if (!old)
			judge_range(o, s, g, (struct wall){ g->first.us - 1 }, decided);
		else if (old->last.us == INT64_MAX && g->last.us != INT64_MAX)
			judge_closed_range(o, s, old, g->last);
		else if (g->last.us > old->last.us)
			judge_range(o, s, g, old->last, decided);
	}
	copy_ranges(s, m);
}

/* --- runs --- */

static void open_run(struct opinion *o, struct opinion_run *r)
{
	r->known = true;
	r->gone = false;
	ADD_ROOM(o->open, o->open_room, o->opens);
	o->open[o->opens++] = (uint32_t)(r - o->run);
}

static void close_run(struct opinion *o, struct opinion_run *r)
{
	r->gone = true;
	r->holds_slot = r->launching = false;
	r->ready = 0;
	for (unsigned i = 0; i < o->opens; i++)
		if (o->open[i] == (uint32_t)(r - o->run)) {
			o->open[i] = o->open[--o->opens];
			break;
		}
	struct opinion_sched *s = &o->sched[r->sched];
	bool line = false;
	for (unsigned i = 0; i < o->opens; i++)
		line |= o->run[o->open[i]].sched == r->sched && o->run[o->open[i]].row.kind == KIND_CATCH_UP;
	if (!line)
		spans_end(&s->line, o->w->t);
}

static struct opinion_run *add_run(struct opinion *o, struct opinion_sched *s, const struct run_row *row,
				   int64_t decided)
{
	if (!run_is_open(row)) {
		number_map_put(&o->run_of, row->run, NOTHING_KEPT);
		return NULL;
	}
	ADD_ROOM(o->run, o->run_room, o->runs);
	struct opinion_run *r = &o->run[o->runs];
	*r = (struct opinion_run){ .row = *row,
				   .rules = s->rules,
				   .sched = (uint32_t)(s - o->sched),
				   .asked = decided,
				   .versions = s->versions,
				   .must_end = INT64_MAX,
				   .killed = INT64_MAX };
	uint32_t ignored;
	r->may_be_killed = number_map_get(&o->stopped, row->run, &ignored);
	number_map_put(&o->run_of, row->run, o->runs);
	ADD_ROOM(s->run, s->run_room, s->runs);
	s->run[s->runs++] = o->runs++;
	if (row->kind == KIND_CATCH_UP)
		spans_begin(&s->line, decided);
	return r;
}

static bool was_seen(const struct opinion *o, uint64_t run)
{
	uint32_t i;
	return number_map_get(&o->run_of, run, &i);
}

/* --- writes --- */

static bool changes_row(const struct st_req *q)
{
	return q->op != ST_VERDICT && q->op != ST_STARTED && q->op != ST_FINISH;
}

void opinion_asked(struct opinion *o, const struct st_req *q)
{
	while (o->askeds <= q->tag) {
		ADD_ROOM(o->asked, o->asked_room, o->askeds);
		o->asked[o->askeds++] = (struct knowledge){ 0 };
	}
	o->asked[q->tag] = knowledge_of(o, q);
	struct opinion_run *r = find_opinion_run(o, q->run.run);
	if (r && q->op == ST_FINISH) {
		r->ending = true;
		if (r->row.state != RUN_RETRYING)
			r->dropped = false; /* from now on, only later events may drop the retry */
		else
			r->must_end = INT64_MAX; /* its retry is being given up */
	}
	if (r && (q->op == ST_FINISH || q->op == ST_VERDICT))
		r->ready = 0;
	if (q->op == ST_HOLD)
		judge_holds(o, q);
	struct opinion_sched *s = find_opinion_sched(o, q->sid);
	if (s && changes_row(q) && s->busy++ == 0)
		spans_begin(&s->changing, o->w->t);
}

void opinion_written(struct opinion *o, const struct st_req *q, const struct st_ack *a)
{
	judge_news(o, q);
	if (a->res != ST_OK)
		return;
	o->then = knowledge_of(o, q);
	int64_t decided = o->then.t;
	const struct model_sched *m = model_sched(o->w->rows, q->sid);
	struct opinion_sched *s = find_opinion_sched(o, q->sid);
	if (!m)
		return;
	bool is_new = !s;
	if (!s) {
		s = add_sched(o, q->sid);
		copy_row(o, s, &m->row);
		s->known_flags = m->row.flags;
	}
	const struct run_row *row = q->run.run ? model_run(o->w->rows, q->run.run) : NULL;
	bool fresh = row && !was_seen(o, row->run);
	struct opinion_run *r = row ? find_opinion_run(o, row->run) : NULL;
	s->missed_now = s->taken_now = 0;
	if (fresh)
		judge_claim(o, s, row, decided);
	follow_ranges(o, s, m, decided);
	if (r)
		judge_run_change(o, r, row, decided);
	bool ends = row && row->state == RUN_FINISHED && (fresh || (r && run_is_open(&r->row)));
	judge_row(o, s, &m->row, row, fresh, decided);
	bool changed = s->row.rev != m->row.rev || is_new;
	copy_row(o, s, &m->row);
	s->dropped = m->dropped;
	/* A repeated ST_STARTED sets the row back to claimed for a moment, until the end is repeated, too. */
	if (r &&
	    !(row->state == RUN_CLAIMED && r->row.state == RUN_RETRYING && row->attempt == r->row.attempt))
		r->row = *row;
	if (fresh)
		add_run(o, s, row, decided);
	if (changed && s->row.after)
		await_earlier_ends(o, s);
	if (ends)
		await_end(o, row);
}

/* The run is claimed, and waits for nothing but a slot: no check, no other run of its schedule. */
static void note_ready(struct opinion *o, struct opinion_run *r)
{
	const struct opinion_sched *s = &o->sched[r->sched];
	unsigned others = 0;
	for (unsigned i = 0; i < o->opens; i++)
		others += o->run[o->open[i]].sched == r->sched && &o->run[o->open[i]] != r;
	bool simple = !others && s->versions == r->versions && !known_paused(o, s) && !s->removing &&
		      !r->loaded && !r->may_be_killed && r->rules.policy.action != ACTION_EVENT &&
		      !maybe_held(o, &r->rules.policy, o->w->t, o->w->t, false);
	r->ready = simple ? o->w->t : 0;
}

static bool is_regular(const struct run_row *r)
{
	return r->kind == KIND_TIMER || r->kind == KIND_CATCH_UP || r->kind == KIND_AFTER;
}

/* The daemon learns what the store has done. */
static void told_of_run(struct opinion *o, const struct st_req *q, bool ok, struct opinion_run *r)
{
	struct opinion_sched *s = &o->sched[r->sched];
	bool check = r->rules.policy.preconditions & 1u << ASK_CHECK;
	/* It is claimed now: recorded without preconditions, or they have all said yes. */
	bool claimed = (q->op == ST_OCC || q->op == ST_VERDICT) && ok && r->row.state == RUN_CLAIMED &&
		       !r->row.attempt;
	if (q->op == ST_OCC && ok && !r->known) {
		open_run(o, r);
		if (claimed && !check)
			note_ready(o, r);
	}
	if (claimed && is_regular(&r->row))
		judge_dropped_retries(o, s, r);
	if (q->op == ST_VERDICT && r->row.state == RUN_CLAIMED && !r->row.attempt && !check)
		note_ready(o, r);
	if (q->op == ST_FINISH || q->op == ST_VERDICT) {
		r->ending = false;
		r->preventing = false;
		if (!run_is_open(&r->row))
			close_run(o, r);
	}
	/* A run with overlap cancel_running was claimed: older runs must be killed. Catch-up runs go one
	 * after another. */
	bool cancels = claimed && s->rules.policy.overlap == OVERLAP_CANCEL_RUNNING &&
		       r->row.kind != KIND_BACKFILL && r->row.kind != KIND_CATCH_UP &&
		       s->versions == r->versions && r->known && !r->may_be_killed;
	for (unsigned i = 0; i < o->opens; i++) {
		struct opinion_run *x = &o->run[o->open[i]];
		if (x->sched != r->sched || x->row.run >= r->row.run || !claimed)
			continue;
		x->may_be_killed |= s->rules.policy.overlap == OVERLAP_CANCEL_RUNNING ||
				    r->rules.policy.overlap == OVERLAP_CANCEL_RUNNING;
		if (cancels && x->started && x->reported && !x->ending && x->killed == INT64_MAX &&
		    s->rules.policy.action != ACTION_EVENT && !x->orphan)
			x->killed = o->w->t;
	}
}

void opinion_told(struct opinion *o, const struct st_req *q, const struct st_ack *a)
{
	struct opinion_run *r = find_opinion_run(o, q->run.run);
	struct opinion_sched *s = find_opinion_sched(o, q->sid);
	if (s) {
		if (changes_row(q) && s->busy && --s->busy == 0)
			spans_end(&s->changing, o->w->t);
		if (a->has_row && !q->run.run)
			s->known_flags = a->row.flags;
		if (a->has_row)
			s->known_failures = a->row.failures;
	}
	if (s && q->op == ST_PUT)
		s->change_told = o->w->t;
	if (s && q->op == ST_DROP && a->res == ST_OK)
		s->known_dropped = true;
	if (r)
		told_of_run(o, q, a->res == ST_OK, r);
	if (q->op == ST_HOLD && a->res == ST_OK) {
		if (!q->hold.key) {
			set_span(&o->all_paused, q->hold.reason != 0, o->w->t);
			o->all_until = q->hold.until;
			for (unsigned i = 0; i < o->opens; i++)
				o->run[o->open[i]].ready = 0;
		} else if (!q->hold.reason) {
			holds_released(o, q->hold.key, true);
		}
	}
	/* A pause drops retries. */
	bool all = q->op == ST_HOLD && !q->hold.key && q->hold.reason;
	bool own = s && q->op == ST_PUT && a->res == ST_OK && a->row.flags & SCHED_PAUSED;
	for (unsigned i = 0; (all || own) && i < o->opens; i++) {
		struct opinion_run *x = &o->run[o->open[i]];
		if ((all || &o->sched[x->sched] == s) && x->row.kind != KIND_MANUAL && has_pending_retry(x) &&
		    !x->probing && !x->preventing)
			x->must_end = o->w->t + o->slack + SECONDS(4);
	}
	/* A change of the schedule may end or delay its runs. */
	for (unsigned i = 0; s && (q->op == ST_PUT || q->op == ST_DROP) && i < o->opens; i++)
		if (&o->sched[o->run[o->open[i]].sched] == s) {
			o->run[o->open[i]].ready = 0;
			o->run[o->open[i]].dropped |= q->op == ST_DROP || s->row.flags & SCHED_PAUSED;
		}
	for (unsigned i = 0; q->op == ST_HOLD && !q->hold.key && q->hold.reason && i < o->opens; i++)
		o->run[o->open[i]].dropped = true;
}

/* --- commands --- */

void opinion_command(struct opinion *o, const struct command *c)
{
	struct opinion_sched *s = find_opinion_sched(o, c->sid);
	if (c->kind == CMD_PUT && s)
		s->edit_sent = o->w->t + 1;
	if (c->kind == CMD_DROP && s) {
		s->removing = o->w->t + 1;
		s->kill_tag = c->kill ? c->tag : 0;
	}
	if (c->kind == CMD_PAUSE && s)
		s->pause_sent = o->w->t + 1;
	if (c->kind == CMD_RESUME && s)
		s->resume_sent = o->w->t + 1;
	if (c->kind == CMD_STOP)
		number_map_put(&o->stopped, c->run, 0);
	if (c->kind == CMD_STOP && find_opinion_run(o, c->run))
		find_opinion_run(o, c->run)->may_be_killed = true;
	if (c->kind == CMD_RELEASE)
		holds_released(o, c->key, false);
	for (unsigned i = 0; i < o->opens; i++) {
		struct opinion_run *r = &o->run[o->open[i]];
		bool stop = c->kind == CMD_STOP && c->run == r->row.run;
		bool drop = c->kind == CMD_DROP && c->kill && s == &o->sched[r->sched];
		r->may_be_killed |= stop || drop;
		if (stop || drop)
			r->ready = 0;
		if (stop && r->killed == INT64_MAX)
			r->killed = o->w->t;
	}
}

/* `rm --kill` is done: it must reach every run that the daemon knew when it was sent. */
void opinion_replied(struct opinion *o, const struct reply *reply)
{
	const struct opinion_sched *s = find_opinion_sched(o, reply->sid);
	if (!s || !reply->tag || s->kill_tag != reply->tag || reply->code != REPLY_OK)
		return;
	for (unsigned i = 0; i < o->opens; i++) {
		struct opinion_run *r = &o->run[o->open[i]];
		if (&o->sched[r->sched] == s && r->asked < s->removing && r->killed == INT64_MAX)
			r->killed = o->w->t;
	}
}

/* --- the runner --- */

void opinion_requested(struct opinion *o, const struct rn_req *q)
{
	struct opinion_run *r = find_opinion_run(o, q->run);
	if (!r)
		return;
	switch ((enum rn_op)q->op) {
	case RN_START:
		judge_start(o, r, q->attempt);
		r->requested = q->attempt;
		r->starting = true;
		r->requested_t = o->w->t;
		r->holds_slot = r->launching = true;
		break;
	case RN_PREVENT:
		r->preventing = true;
		r->must_end = INT64_MAX; /* it ends when the runner has answered */
		r->ready = 0;
		break;
	case RN_ASK:
		judge_question(o, r, (enum rn_ask)q->ask);
		r->questioned = o->w->t;
		break;
	case RN_KILL:
	case RN_PROBE:
		break;
	}
}

void opinion_reported(struct opinion *o, const struct rn_report *s)
{
	struct opinion_run *r = find_opinion_run(o, s->run);
	if (!r)
		return;
	if (s->kind == RN_ANSWER) {
		uint8_t bit = (uint8_t)(1u << s->ask);
		r->yes = (uint8_t)((r->yes & ~bit) | (s->yes ? bit : 0));
		r->no = (uint8_t)((r->no & ~bit) | (s->yes ? 0 : bit));
		r->answered[s->ask] = o->w->t;
		if (!s->yes)
			r->no_reason = s->reason;
		if (s->ask == ASK_CHECK && s->yes && r->row.state == RUN_CLAIMED && !r->row.attempt)
			note_ready(o, r);
		return;
	}
	r->probing = r->preventing = false;
	r->launching = false;
	if (s->kind == RN_STARTED || s->kind == RN_ALIVE) {
		r->requested = s->attempt > r->requested ? s->attempt : r->requested;
		r->holds_slot = true;
		r->ready = 0;
		r->reported = r->reported ? r->reported : o->w->t;
	} else {
		r->holds_slot = false;
		if (s->kind == RN_EXIT && s->attempt == r->exit_attempt && !r->exit_reported)
			r->exit_reported = o->w->t;
	}
}

void opinion_started(struct opinion *o, const struct run_file *f)
{
	struct opinion_run *r = find_opinion_run(o, f->request.run);
	if (!r)
		return;
	r->started = o->w->t + 1;
	r->orphan = f->orphan;
	r->reported = 0;
	r->kill_takes = f->plan.kill_takes;
	judge_alive(o, r);
}

void opinion_ended(struct opinion *o, const struct run_file *f)
{
	struct opinion_run *r = find_opinion_run(o, f->request.run);
	if (!r)
		return;
	r->started = 0;
	r->reported = 0;
	r->exit_attempt = f->request.attempt;
	r->exit_outcome = f->exit.outcome;
	r->exit_reason = f->exit.reason;
	r->exit_reset = f->exit.reset;
	r->exit_reported = 0;
}

/* --- faults --- */

void opinion_up(struct opinion *o)
{
	spans_end(&o->down, o->w->t + o->slack + SECONDS(4));
	o->restored = o->w->rows->restored;
	o->loaded = o->w->t;
	o->opens = 0;
	o->askeds = 0;
	for (unsigned i = 0; i < o->runs; i++) {
		struct opinion_run *r = &o->run[i];
		const struct run_row *row = model_run(o->w->rows, r->row.run);
		r->known = r->holds_slot = r->launching = r->ending = r->preventing = r->probing = false;
		r->killed = r->must_end = INT64_MAX;
		r->starting = false;
		r->ready = 0;
		r->requested = 0;
		r->yes = r->no = 0;
		if (!row || !run_is_open(row)) {
			r->gone = true;
			continue;
		}
		r->loaded = true;
		r->dropped = true; /* in a crash, the daemon may have forgotten why the retry was dropped */
		r->probing = r->holds_slot = row->state != RUN_PENDING;
		r->reported = 0;
		open_run(o, r);
		/* A later run with overlap cancel_running may kill the earlier ones after the load. */
		for (unsigned k = 0; k < o->opens; k++)
			o->run[o->open[k]].may_be_killed |= o->run[o->open[k]].sched == r->sched;
	}
	bool paused = model_hold(o->w->rows, 0);
	set_span(&o->all_paused, paused, o->w->t);
	if (paused)
		o->all_until = model_hold(o->w->rows, 0)->until;
	for (unsigned i = 0; i < o->scheds; i++) {
		spans_end(&o->sched[i].changing, o->w->t);
		o->sched[i].busy = 0;
		o->sched[i].removing = 0;
		o->sched[i].known_dropped = o->sched[i].dropped;
		o->sched[i].known_flags = o->sched[i].row.flags;
		o->sched[i].known_failures = o->sched[i].row.failures;
	}
	holds_loaded(o);
}

void opinion_down(struct opinion *o)
{
	spans_begin(&o->down, o->w->t);
	for (unsigned i = 0; i < o->opens; i++)
		o->run[o->open[i]].killed = o->run[o->open[i]].must_end = INT64_MAX;
}

void opinion_outage(struct opinion *o, int64_t until)
{
	spans_add(&o->outage, o->w->t, until + o->slack + SECONDS(3));
}

void opinion_suspended(struct opinion *o, int64_t since)
{
	/* A step of the clock just before the suspension is noticed only after it. */
	if (o->stepped.n && o->stepped.at[o->stepped.n - 1].to >= since)
		o->stepped.at[o->stepped.n - 1].to = o->w->t + o->slack + SECONDS(3);
	spans_add(&o->suspended, since, o->w->t + o->slack + SECONDS(3));
	for (unsigned i = 0; i < o->opens; i++)
		o->run[o->open[i]].killed = o->run[o->open[i]].must_end = INT64_MAX;
}

void opinion_stepped(struct opinion *o, int64_t by)
{
	read_clock(o);
	spans_add(&o->stepped, o->w->t, o->w->t + o->slack + SECONDS(3));
	if (by < 0)
		o->last_back = o->w->t;
	holds_stepped(o, by);
}

void opinion_pruned(struct opinion *o)
{
	for (unsigned i = 0; i < o->scheds; i++) {
		struct opinion_sched *s = &o->sched[i];
		const struct model_sched *m = model_sched(o->w->rows, s->sid);
		if (!m)
			continue;
		copy_ranges(s, m);
		s->missed_length = missed_length(m);
		s->row.pruned_to = m->row.pruned_to;
	}
}

/* The opinion begins again with the rows. A run is known by its number. */
void opinion_restored(struct opinion *o)
{
	free_scheds(o);
	o->sched = NULL;
	o->scheds = o->sched_room = 0;
	o->restored = o->w->rows->restored;
	o->restored_run = o->w->rows->restored_run;
	o->last_news = o->w->rows->last_news;
	for (size_t i = 0; i < model_scheds(o->w->rows); i++) {
		const struct model_sched *m = model_sched_at(o->w->rows, i);
		struct opinion_sched *s = add_sched(o, m->row.sid);
		copy_row(o, s, &m->row);
		copy_ranges(s, m);
		s->missed_length = missed_length(m);
		s->opened = o->w->t;
		note_open_agent(s, true);
		s->dropped = m->dropped;
	}
	for (unsigned i = 0; i < o->runs; i++) {
		struct opinion_run *r = &o->run[i];
		const struct run_row *row = model_run(o->w->rows, r->row.run);
		const struct opinion_sched *s = find_opinion_sched(o, r->row.sid);
		r->sched = s ? (uint32_t)(s - o->sched) : 0;
		r->versions = 0; /* the opinion is not sure about its version any more */
		if (row)
			r->row = *row;
		number_map_put(&o->last_seen, r->row.run, 0);
	}
	for (unsigned i = 0; i < o->scheds; i++)
		await_earlier_ends(o, &o->sched[i]);
	holds_restored(o);
}

void opinion_step_done(struct opinion *o)
{
	if (!o->w->engine)
		return;
	bool trusted = !check_clock_is_held(o->w->check);
	set_span(&o->untrusted, !trusted, o->w->t);
	judge_kills(o);
	judge_orders(o);
	judge_gate(o);
	judge_waiting(o);
	judge_pauses(o);
	judge_moved(o);
}

void opinion_account(struct opinion *o)
{
	for (unsigned i = 0; i < o->scheds; i++) {
		const struct opinion_sched *s = &o->sched[i];
		for (unsigned k = 0; k < s->ranges; k++)
			if (s->range[k].last.us == INT64_MAX && !s->dropped)
				judge_closed_range(o, s, &s->range[k], world_wall(o->w));
		judge_awaited(o, s);
	}
}
