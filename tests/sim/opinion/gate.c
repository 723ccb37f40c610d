/* Judges the gate: limits, order by priority and then by arrival, and that a free slot is used. Only runs of
 * which it is certain that they wait for nothing but a slot are compared. */
#include "opinion/facts.h"

static bool needs_no_more(const struct policy *a, const struct policy *b)
{
	return (!a->agent || a->agent == b->agent) && (!a->key || a->key == b->key);
}

static bool is_held(const struct opinion *o, const struct policy *p)
{
	return maybe_held(o, p, o->w->t - o->slack, o->w->t, false);
}

/* The window of its first attempt has closed: it will be refused when its turn comes. */
static bool is_too_late(const struct opinion *o, const struct opinion_run *r)
{
	const struct policy *p = &r->rules.policy;
	return p->window && world_wall(o->w).us > r->row.due.us + SECONDS(p->window);
}

/* Of two runs that wait for nothing but a slot, the one with the higher priority starts first; with equal
 * priority, the one that is ready for longer. */
static void judge_order(struct opinion *o, const struct opinion_run *r)
{
	const struct policy *p = &r->rules.policy;
	if (!r->ready || is_held(o, p))
		return;
	for (unsigned i = 0; i < o->opens; i++) {
		const struct opinion_run *x = &o->run[o->open[i]];
		const struct policy *q = &x->rules.policy;
		if (x->starting || !x->ready || x->ready >= o->w->t || !needs_no_more(q, p) ||
		    is_held(o, q) || is_too_late(o, x))
			continue;
		if (q->priority > p->priority || (q->priority == p->priority && x->ready < r->ready))
			FIND(o,
			     "run %llu (priority %d) starts before run %llu (priority %d), which is ready "
			     "since "
			     "%.3f s",
			     (unsigned long long)r->row.run, p->priority, (unsigned long long)x->row.run,
			     q->priority, (double)(o->w->t - x->ready) / 1e6);
	}
}

/* Called at the end of a step, when it is known which runs were held or refused in it. */
void judge_orders(struct opinion *o)
{
	for (unsigned i = 0; i < o->opens; i++)
		if (o->run[o->open[i]].starting)
			judge_order(o, &o->run[o->open[i]]);
	for (unsigned i = 0; i < o->opens; i++) {
		struct opinion_run *r = &o->run[o->open[i]];
		r->ready = r->starting ? 0 : r->ready;
		r->starting = false;
	}
}

/* A run that is ready and fits is started in the same step. */
void judge_gate(struct opinion *o)
{
	unsigned used = 0, launching = 0;
	for (unsigned i = 0; i < o->opens; i++) {
		used += o->run[o->open[i]].holds_slot;
		launching += o->run[o->open[i]].launching;
	}
	if (used >= o->w->config.slots || launching >= LAUNCHES_MAX)
		return;
	for (unsigned i = 0; i < o->opens; i++) {
		struct opinion_run *r = &o->run[o->open[i]];
		const struct policy *p = &r->rules.policy;
		unsigned agent = 0, key = 0;
		if (!r->ready || r->killed != INT64_MAX || is_held(o, p))
			continue;
		for (unsigned k = 0; k < o->opens; k++) {
			const struct opinion_run *x = &o->run[o->open[k]];
			const struct opinion_sched *s = &o->sched[x->sched];
			/* Its slot counts for one of its versions. */
			bool changed = s->versions != x->versions;
			agent += x->holds_slot && (changed || x->rules.policy.agent == p->agent);
			key += x->holds_slot && (changed || x->rules.policy.key == p->key);
		}
		if ((p->agent && agent >= p->agent_slots) || (p->key && key))
			continue;
		FIND(o, "run %llu is ready since %.3f s, and there is room, but it is not started",
		     (unsigned long long)r->row.run, (double)(o->w->t - r->ready) / 1e6);
		r->ready = 0;
	}
}

/* A process was started: the limits must hold. */
void judge_alive(struct opinion *o, const struct opinion_run *r)
{
	unsigned all = 0, agent = 0, key = 0;
	const struct policy *p = &r->rules.policy;
	for (unsigned i = 0; i < o->opens; i++) {
		const struct opinion_run *x = &o->run[o->open[i]];
		if (!x->started || x->orphan)
			continue;
		bool same = o->sched[x->sched].versions == x->versions;
		all += !world_is_elsewhere(o->w, x->row.run);
		agent += same && x->rules.policy.agent == p->agent;
		key += same && x->rules.policy.key == p->key;
	}
	if (r->orphan)
		return;
	if (all > o->w->config.slots)
		FIND(o, "%u runs are alive, slots are %u", all, o->w->config.slots);
	if (o->sched[r->sched].versions != r->versions)
		return;
	if (p->agent && agent > p->agent_slots)
		FIND(o, "agent %u has %u live runs, allowed are %u", p->agent, agent, p->agent_slots);
	if (p->key && key > 1)
		FIND(o, "key %u has %u live runs", p->key, key);
}
