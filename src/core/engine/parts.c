/* The parts of the schedules that this engine decides for. A fenced answer ends that: another engine owns the
 * part now, and this one forgets all of it, without a further request to the store or the runner. Processes
 * of the part go on; their new owner learns how they end. */
#include "core/engine/state.h"

void parts_load(struct engine *e, const struct part_row *row)
{
	if (row->part >= STORE_PARTS_MAX)
		return;
	e->part[row->part] = (struct part_state){ row->epoch, true };
	e->node = row->node;
}

bool parts_owned(const struct engine *e, uint32_t part)
{
	return part < STORE_PARTS_MAX && e->part[part].owned;
}

static void forget_run(struct engine *e, struct run *r)
{
	runs_launch_answered(e, r);
	gate_dequeue(e, r);
	gate_release_slot(e, r);
	engine_reply_code(e, r->stop_tag, REPLY_BUSY, r->row.sid, r->row.run);
	engine_remove_run(e, r);
}

void parts_forget(struct engine *e, uint32_t part)
{
	if (!parts_owned(e, part))
		return;
	e->part[part].owned = false;
	e->part_lost = true;
	for (uint32_t i = 0; i < e->scheds; i++) {
		struct sched *s = &e->sched[i];
		if (!s->in_use || s->row.part != part)
			continue;
		command_abort_backfill(e, s);
		while (s->first_run != NONE)
			forget_run(e, &e->run[s->first_run]);
		engine_remove_sched(e, s);
	}
}
