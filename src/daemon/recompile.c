/* Recompiles schedules whose rules are outdated: compiled by another version, for other zone files, for
 * another zone of the configuration or another agent definition, or with a number that belongs to no name.
 * Until then the engine does not use these rules. */
#include "core/doc/agent/turn.h"
#include "daemon/internal.h"

static void compile_next(struct daemon *d)
{
	while (!d->stopping && d->recompile.under_way < DAEMON_COMPILE_MAX) {
		uint64_t sid = engine_outdated(pump_engine(d->pump), &d->recompile.cursor);
		if (!sid)
			return;
		if (prepare_rules(d->prepare, sid))
			d->recompile.again = true;
		else
			d->recompile.under_way++;
	}
}

void recompile_all(void *arg)
{
	struct daemon *d = arg;
	d->recompile.cursor = 0;
	d->recompile.again = false;
	compile_next(d);
}

/* A schedule whose document cannot be compiled stays as it is until the zone files, its agent or the schedule
 * itself change. */
static void compiled(void *ctx, const struct reply *r)
{
	struct daemon *d = ctx;
	d->recompile.again |= r->code == REPLY_BUSY;
	d->recompile.under_way--;
	compile_next(d);
}

void recompile_finished(struct daemon *d, struct prepare_task *t)
{
	struct command c = { .kind = CMD_RECOMPILE, .sid = t->req.sid, .rules = t->rules };
	bool given = !t->error && commands_give(d, &c, compiled, d) == OK;
	if (!t->error && !given && prepare_retry(d->prepare, t) == OK)
		return; /* out of memory: it is compiled again soon */
	if (!given)
		compiled(d, &(struct reply){ .code = t->error ? REPLY_REFUSED : REPLY_BUSY });
	prepare_task_free(t);
}

void recompile_happened(void *ctx, const struct pump_fact *f, const struct st_ack *ack)
{
	struct daemon *d = ctx;
	(void)ack;
	/* A schedule that was busy may be free now; a schedule that was put may have been compiled with zone
	 * files or agents that were replaced since. */
	if ((d->recompile.again && !d->recompile.under_way) ||
	    (f->op == ST_PUT && engine_is_outdated(pump_engine(d->pump), f->sid)))
		recompile_all(d);
}

static void take_zones(void *arg)
{
	struct daemon *d = arg;
	if (!intern_take_over(d->intern))
		return;
	loop_event(d->loop, &(struct event){ .kind = EV_ZONES });
	recompile_all(d);
	if (d->options.zones_changed)
		d->options.zones_changed(d->options.ctx);
}

void recompile_zones_read(void *ctx)
{
	struct daemon *d = ctx;
	if (mailbox_put_wait(d->mail, take_zones, d))
		return; /* the daemon is closing */
}

void recompile_name(struct daemon *d, const struct name_row *asked, const struct st_ack *ack)
{
	if (!intern_answered(d->intern, asked, ack))
		return;
	loop_event(d->loop, &(struct event){ .kind = EV_ZONES });
	recompile_all(d);
}

void recompile_agent(struct daemon *d, const struct agent_row *changed)
{
	bool gone = changed->act == AGENT_DROP;
	if (changed->act == AGENT_MOVE)
		return;
	if (intern_agent(d->intern, changed->name, gone ? 0 : turn_fingerprint(changed->name, changed->text)))
		loop_out_of_memory(d->loop);
	loop_event(d->loop, &(struct event){ .kind = EV_AGENTS,
					     .key = intern_known(d->intern, DOC_AGENT, changed->name) });
	recompile_all(d);
}
