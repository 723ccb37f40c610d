/* Another node beside the simulated daemon: it takes over the daemon's part now and then, holds some of the
 * runs, and records runs with numbers that the daemon's engine was given. The simulated runner stands for the
 * runners of both nodes. */
#include "check/check.h"
#include "opinion/opinion.h"

enum { OWN_NODE = 1, OTHER_NODE = 2 }; /* OWN_NODE as in the model */

bool world_is_elsewhere(const struct world *w, uint64_t run)
{
	const struct run_row *r = model_run(w->rows, run);
	return r && run_is_open(r) && r->state != RUN_PENDING && r->node && r->node != OWN_NODE;
}

/* --- the part --- */

static void take_part(struct world *w, uint32_t node)
{
	struct st_req q = { .op = ST_TAKE, .epoch = model_part(w->rows, 0)->epoch, .node = node };
	struct st_ack a;
	model_apply(w->rows, &q, &a);
	w->taken = node != OWN_NODE;
	world_log(w, "node %u owns the part, since epoch %llu", node, (unsigned long long)a.part.epoch);
}

void world_take_over(struct world *w)
{
	if (w->engine && !w->taken)
		take_part(w, OTHER_NODE);
}

void world_take_back(struct world *w)
{
	if (w->taken)
		take_part(w, OWN_NODE);
}

void world_fenced(struct world *w)
{
	if (w->fenced)
		return;
	w->fenced = true;
	/* As if the daemon were down: it decides nothing more. It is started again some time later. */
	observe_down(w->check);
	opinion_down(w->opinion);
	agenda_add(&w->agenda, w->t + world_between(w, (struct span){ 1000, MINUTES(10) }), W_RELOAD,
		   w->epoch, 0);
}

/* --- runs --- */

/* The attempt was started by the other node. */
static void hold_elsewhere(struct world *w, const struct run_row *r)
{
	struct st_req q = {
		.op = ST_STARTED, .sid = r->sid, .epoch = model_part(w->rows, 0)->epoch, .run = *r
	};
	struct st_ack a;
	q.run.node = OTHER_NODE;
	model_apply(w->rows, &q, &a);
	world_log(w, "run %llu is held by the other node", (unsigned long long)r->run);
}

void world_hold_elsewhere(struct world *w)
{
	for (unsigned i = 0; w->timing.elsewhere_percent && i < w->files; i++) {
		const struct run_file *f = &w->file[i];
		const struct run_row *r = model_run(w->rows, f->request.run);
		if (f->state == FILE_ALIVE && !f->orphan && r && r->state == RUN_CLAIMED &&
		    r->attempt == f->request.attempt && world_chance(w, w->timing.elsewhere_percent))
			hold_elsewhere(w, r);
		if (world_is_elsewhere(w, f->request.run) && r->attempt == f->request.attempt)
			sim_runner_report_elsewhere(w, i);
	}
}

void world_collide(struct world *w, uint64_t sid)
{
	const struct model_sched *s = model_sched(w->rows, sid);
	struct st_req q = { .op = ST_OCC, .sid = sid, .epoch = model_part(w->rows, 0)->epoch };
	struct st_ack a;
	q.rev = s->row.rev;
	q.run = (struct run_row){ .run = w->rows->last_run + 1,
				  .sid = sid,
				  .rev = s->row.rev,
				  .kind = KIND_MANUAL,
				  .state = RUN_SKIPPED,
				  .reason = REASON_BUDGET,
				  .node = OTHER_NODE,
				  .nominal = world_wall(w),
				  .due = world_wall(w),
				  .claimed = world_wall(w) };
	model_apply(w->rows, &q, &a);
	world_log(w, "another node records run %llu", (unsigned long long)q.run.run);
}
