#include "core/doc/agent/turn.h"
#include "daemon/internal.h"

#include <unistd.h>

static void compile_next(struct daemon *d)
{
	while (!d->stopping && d->compile.under_way < DAEMON_COMPILE_MAX) {
		uint64_t sid = engine_outdated(pump_engine(d->pump), &d->compile.at);
		if (!sid)
			return;
		if (prepare_compile(d->desk, sid))
			d->compile.again = true;
		else
			d->compile.under_way++;
	}
}

/* Nothing of theirs comes due before they are compiled anew: after a start with other zone files than the
 * last time, or another version, and whenever the zone files change. */
void recompile_all(void *arg)
{
	struct daemon *d = arg;
	d->compile.at = 0;
	d->compile.again = false;
	compile_next(d);
}

static void compile_over(void *ctx, const struct reply *r)
{
	struct daemon *d = ctx;
	d->compile.again |= r->code == REPLY_BUSY;
	d->compile.under_way--;
	compile_next(d);
}

/* It waits as it is, until the zone files change again or somebody changes it. */
static void compile_failed(void *arg)
{
	compile_over(arg, &(struct reply){ .code = REPLY_REFUSED });
}

/* On the desk's thread. */
void recompile_compiled(void *ctx, uint64_t sid, enum err e, const struct rules *rules)
{
	struct daemon *d = ctx;
	struct command c = { .kind = CMD_RECOMPILE, .sid = sid };
	enum err full;
	if (!e)
		c.rules = *rules;
	do {
		full = e ? mailbox_put(d->mail, compile_failed, d) : daemon_order(d, &c, compile_over, d);
		if (full)
			usleep(1000);
	} while (full && !atomic_load(&d->closing));
}

static void take_zones(void *arg)
{
	struct daemon *d = arg;
	if (!intern_take_over(d->names))
		return;
	loop_event(d->loop, &(struct event){ .kind = EV_ZONES });
	recompile_all(d);
	if (d->options.zones_changed)
		d->options.zones_changed(d->options.ctx);
}

/* On the desk's thread. */
void recompile_zones_read(void *ctx)
{
	struct daemon *d = ctx;
	while (mailbox_put(d->mail, take_zones, d) && !atomic_load(&d->closing))
		usleep(1000);
}

/* Whoever names it, or nobody, is compiled anew; who was blocked for want of it goes on by itself. */
void recompile_agent(struct daemon *d, const struct agent_row *changed)
{
	bool gone = changed->act == AGENT_DROP;
	if (changed->act == AGENT_MOVE)
		return;
	if (intern_agent(d->names, changed->name, gone ? 0 : turn_fingerprint(changed->name, changed->text)))
		loop_out_of_memory(d->loop);
	loop_event(d->loop, &(struct event){ .kind = EV_AGENTS,
					     .key = intern_known(d->names, DOC_AGENT, changed->name) });
	recompile_all(d);
}
