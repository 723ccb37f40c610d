#include "daemon/internal.h"

#include "core/when/dur.h"
#include "store/sqlite/store.h"

#include <errno.h>
#include <string.h>

static enum err say_starved(struct why *why)
{
	return why_set(why, E_IO, WHY_NOWHERE, "what is to be recorded waits: %s", strerror(ENOMEM));
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

enum err daemon_writes(struct daemon *d, struct why *why)
{
	if (atomic_load(&d->starved))
		return say_starved(why);
	return store_sqlite_writes(d->store, why);
}

enum err daemon_store_trouble(struct daemon *d, struct why *why)
{
	if (pump_starved(d->pump))
		return say_starved(why);
	return store_sqlite_trouble(d->store, NULL, NULL, why);
}

enum err daemon_runner_trouble(struct daemon *d, struct why *why)
{
	enum err e = runner_trouble(d->runner, NULL, why);
	return e ? e : prepare_trouble(d->desk, why);
}

bool daemon_has_cgroup(const struct daemon *d)
{
	return d->cgroup.n > 0;
}

/* Once when it begins, and once when it is over. */
static void log_trouble(struct daemon *d, unsigned which, const char *text)
{
	static const char *const words[LOGS] = {
		[LOG_STORE] = "the store",
		[LOG_RUNNER] = "starting runs",
		[LOG_CLOCK] = "the clock",
		[LOG_STEP] = "the clock's pace",
	};
	if (d->options.trouble && d->said[which] != (text != NULL))
		d->options.trouble(d->options.ctx, words[which], text);
	d->said[which] = text != NULL;
}

/* The wall clock against the one that only counts, suspension included. */
static void watch_clock(struct daemon *d, struct now now)
{
	struct buf length = { 0 };
	int64_t skew = now.wall.us - now.boot.us, step = 0;
	if (d->skew)
		step = (skew - d->skew + (skew < d->skew ? -USEC : USEC) / 2) / USEC;
	d->skew = skew;
	if (step > CLOCK_TOLD_SECONDS || step < -CLOCK_TOLD_SECONDS) {
		dur_format(step < 0 ? -step : step, &length);
		d->step.at = now.boot;
		d->step.fresh = true;
		snprintf(
			d->step.text, sizeof d->step.text,
			step > 0
				? "the clock was set ahead by %s: what was due in between is run late or "
				  "recorded "
				  "as missed, as its policy says"
				: "the clock was set back by %s: what has run does not run again; `rota why` "
				  "explains any time",
			buf_str(&length).p);
		buf_free(&length);
	} else if (now.boot.us - d->step.at.us > CLOCK_CALM_SECONDS * USEC) {
		d->step.text[0] = '\0';
	}
}

/* Whatever is said of it must be said soon, for there may be no other reason to look again. */
static bool clock_changed(const struct daemon *d)
{
	return d->said[LOG_CLOCK] != engine_clock_held(pump_engine(d->pump)) || d->step.fresh ||
	       d->said[LOG_STEP] != (d->step.text[0] != '\0');
}

int64_t health_turned(void *ctx, struct now now)
{
	struct daemon *d = ctx;
	commands_again(d);
	watch_clock(d, now);
	if (now.boot.us - d->looked.us >= HEALTH_MS * 1000 || clock_changed(d)) {
		struct why store = { 0 }, runner = { 0 };
		bool bad_store = daemon_store_trouble(d, &store) != OK;
		bool bad_runner = daemon_runner_trouble(d, &runner) != OK;
		struct health h = { .clock_held = engine_clock_held(pump_engine(d->pump)),
				    .clock_step = d->step.text[0] ? d->step.text : NULL,
				    .clock_stepped = d->step.fresh,
				    .store = bad_store ? store.text : NULL,
				    .runner = bad_runner ? runner.text : NULL };
		log_trouble(d, LOG_STORE, h.store);
		log_trouble(d, LOG_RUNNER, h.runner);
		log_trouble(d, LOG_STEP, h.clock_step);
		log_trouble(d, LOG_CLOCK, h.clock_held ? "it ran far ahead and is not believed" : NULL);
		d->unwell = problems_look(d->problems, &h);
		d->step.fresh = false;
		atomic_store(&d->starved, pump_starved(d->pump));
		if (daemon_writes(d, NULL))
			commands_refuse_all(d);
		if (!d->starved)
			d->fed = now.boot;
		else if (now.boot.us - d->fed.us >= STARVED_MS * INT64_C(1000))
			loop_out_of_memory(d->loop);
		d->looked = now.boot;
	}
	bool told = problems_flush(d->problems);
	int64_t calm = d->step.at.us + CLOCK_CALM_SECONDS * USEC - now.boot.us + 1;
	return d->again             ? ORDER_AGAIN_MS * 1000
	       : d->unwell || !told ? HEALTH_MS * 1000
	       : d->step.text[0]    ? calm
				    : 0;
}
