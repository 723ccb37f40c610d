/* Checks the clock, the store, the runner and memory. A failure is logged and becomes a problem; while the
 * store cannot write, commands that need it are refused. */
#include "daemon/internal.h"

#include "core/when/dur.h"

#include <errno.h>
#include <string.h>

static enum err no_memory(struct why *why)
{
	return why_set(why, E_IO, WHY_NOWHERE, "requests to the store wait: %s", strerror(ENOMEM));
}

enum err daemon_trouble(struct daemon *d, const char **which, struct why *why)
{
	*which = "store";
	enum err e = daemon_store_trouble(d, why);
	if (e)
		return e;
	*which = "runner";
	return daemon_runner_trouble(d, why);
}

enum err daemon_can_write(struct daemon *d, struct why *why)
{
	if (atomic_load(&d->health.lacks_memory))
		return no_memory(why);
	return d->store->ops->write_failure(d->store, why);
}

enum err daemon_store_trouble(struct daemon *d, struct why *why)
{
	if (pump_lacks_memory(d->pump))
		return no_memory(why);
	return d->store->ops->failure(d->store, NULL, NULL, why);
}

enum err daemon_runner_trouble(struct daemon *d, struct why *why)
{
	enum err e = runner_trouble(d->runner, NULL, why);
	return e ? e : prepare_trouble(d->prepare, why);
}

bool daemon_has_cgroup(const struct daemon *d)
{
	return d->cgroup.n > 0;
}

/* Logs the beginning of trouble and, with text NULL, its end. */
static void log_trouble(struct daemon *d, enum health_part part, const char *text)
{
	static const char *const names[HEALTH_PARTS] = {
		[HEALTH_STORE] = "store",
		[HEALTH_RUNNER] = "starting runs",
		[HEALTH_CLOCK] = "clock",
		[HEALTH_CLOCK_STEP] = "clock step",
	};
	if (d->options.trouble && d->health.logged[part] != (text != NULL))
		d->options.trouble(d->options.ctx, names[part], text);
	d->health.logged[part] = text != NULL;
}

/* Compares the wall clock with the boot clock, which cannot be set, to detect that the wall clock was set. */
static void check_clock(struct daemon *d, struct now now)
{
	struct buf length = { 0 };
	int64_t ahead = now.wall.us - now.boot.us, before = d->health.wall_minus_boot, step = 0;
	if (before)
		step = (ahead - before + (ahead < before ? -USEC : USEC) / 2) / USEC;
	d->health.wall_minus_boot = ahead;
	if (step > CLOCK_PROBLEM_SECONDS || step < -CLOCK_PROBLEM_SECONDS) {
		dur_format(step < 0 ? -step : step, &length);
		d->clock_step.at = now.boot;
		d->clock_step.fresh = true;
		snprintf(
			d->clock_step.text, sizeof d->clock_step.text,
			step > 0
				? "the clock was set ahead by %s: times in between run late or are recorded "
				  "as "
				  "missed, as each schedule's policy says"
				: "the clock was set back by %s: times that have run do not run again; `rota "
				  "why` explains any time",
			buf_str(&length).p);
		buf_free(&length);
	} else if (now.boot.us - d->clock_step.at.us > CLOCK_CALM_SECONDS * USEC) {
		d->clock_step.text[0] = '\0';
	}
}

/* A change of the clock is reported at once, because the next turn of the loop may be a long time away. */
static bool clock_changed(const struct daemon *d)
{
	return d->health.logged[HEALTH_CLOCK] != engine_clock_held(pump_engine(d->pump)) ||
	       d->clock_step.fresh || d->health.logged[HEALTH_CLOCK_STEP] != (d->clock_step.text[0] != '\0');
}

/* Requests that wait because the store lacks memory count as well: it repeats them without end. */
static void check_memory(struct daemon *d, struct now now)
{
	bool lacks_memory =
		pump_lacks_memory(d->pump) || d->store->ops->write_failure(d->store, NULL) == E_NOMEM;
	atomic_store(&d->health.lacks_memory, lacks_memory);
	if (!lacks_memory)
		d->health.memory_ok = now.boot;
	else if (now.boot.us - d->health.memory_ok.us >= NO_MEMORY_MS * INT64_C(1000))
		loop_out_of_memory(d->loop);
}

static void check_health(struct daemon *d, struct now now)
{
	struct why store = { 0 }, runner = { 0 };
	bool store_fails = daemon_store_trouble(d, &store) != OK;
	bool runner_fails = daemon_runner_trouble(d, &runner) != OK;
	struct health h = { .clock_held = engine_clock_held(pump_engine(d->pump)),
			    .clock_step = d->clock_step.text[0] ? d->clock_step.text : NULL,
			    .clock_stepped = d->clock_step.fresh,
			    .store = store_fails ? store.text : NULL,
			    .runner = runner_fails ? runner.text : NULL };
	log_trouble(d, HEALTH_STORE, h.store);
	log_trouble(d, HEALTH_RUNNER, h.runner);
	log_trouble(d, HEALTH_CLOCK_STEP, h.clock_step);
	log_trouble(d, HEALTH_CLOCK,
		    h.clock_held ? "it is far ahead of the last record and is not trusted" : NULL);
	d->health.failing = problems_check(d->problems, &h);
	d->clock_step.fresh = false;
	check_memory(d, now);
	if (daemon_can_write(d, NULL))
		commands_refuse_all(d);
	d->health.checked = now.boot;
}

int64_t health_after_turn(void *ctx, struct now now)
{
	struct daemon *d = ctx;
	commands_repeat(d);
	check_clock(d, now);
	if (now.boot.us - d->health.checked.us >= HEALTH_MS * 1000 || clock_changed(d))
		check_health(d, now);
	bool sent = problems_flush(d->problems);
	int64_t calm_in = d->clock_step.at.us + CLOCK_CALM_SECONDS * USEC - now.boot.us + 1;
	return d->busy                      ? COMMAND_RETRY_MS * 1000
	       : d->health.failing || !sent ? HEALTH_MS * 1000
	       : d->clock_step.text[0]      ? calm_in
					    : 0;
}
