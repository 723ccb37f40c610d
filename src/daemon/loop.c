/* The event loop, the timer of the engine, and the watch on the zone files. */
#include "daemon/loop.h"

#include "sys/clock.h"
#include "sys/thread.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

/* Priorities of events: due times first, then answers of the store and the runner, then mail. */
enum { FIRST = SD_EVENT_PRIORITY_IMPORTANT, NEXT = SD_EVENT_PRIORITY_NORMAL, LAST = SD_EVENT_PRIORITY_IDLE };

enum { ZONES_QUIET_US = 2 * USEC }; /* time without changes after which changed zone files are read */

struct loop {
	struct loop_config config;
	sd_event *event;
	sd_event_source *again, *zones_timer, *stop_timer;
	int timer;
	int64_t armed; /* when the timer expires; INT64_MAX: the timer is off; 0: the timer must be set again
			*/
	int64_t suspended; /* total time the machine was suspended since it was booted */
	int64_t turn_in;   /* the last result of after_turn */
	enum err error;
	struct why why;
};

struct now loop_now(void)
{
	return (struct now){ clock_wall(), clock_boot() };
}

static int64_t suspended_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return clock_boot().us - ((int64_t)t.tv_sec * USEC + t.tv_nsec / 1000);
}

static void end_with_error(struct loop *l, enum err e, const char *text)
{
	if (!l->error)
		l->error = why_set(&l->why, e, WHY_NOWHERE, "%s", text);
	sd_event_exit(l->event, 1);
}

void loop_out_of_memory(struct loop *l)
{
	end_with_error(l, E_NOMEM,
		       "out of memory: the daemon ends; when it is started again, it continues from what is "
		       "recorded");
}

/* --- turns --- */

/* Sets *next to `at` if `at` is earlier, or if there is no next time yet (*any is false). */
static void no_later_than(struct wall at, bool *any, struct wall *next)
{
	if (*any && next->us <= at.us)
		return;
	*any = true;
	*next = at;
}

/* Sets the timer to the time at which a turn is needed even if nothing happens before. */
static void set_timer(struct loop *l)
{
	struct now now = loop_now();
	struct wall next;
	struct itimerspec at = { 0 };
	bool any = pump_next(l->config.pump, now, &next);
	if (!runner_has_launcher(l->config.runner))
		no_later_than((struct wall){ now.wall.us + RUNNER_LAUNCHER_MS * INT64_C(1000) }, &any, &next);
	if (l->turn_in)
		no_later_than((struct wall){ now.wall.us + l->turn_in }, &any, &next);
	else if (pump_under_way(l->config.pump)) /* poll for trouble while requests are pending */
		no_later_than((struct wall){ now.wall.us + USEC }, &any, &next);
	bool at_once = any && next.us <= now.wall.us;
	sd_event_source_set_enabled(l->again, at_once ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
	int64_t armed = any && !at_once ? next.us : INT64_MAX;
	if (armed == l->armed)
		return;
	l->armed = armed;
	if (any && !at_once) {
		int64_t us = next.us < 1 ? 1 : next.us;
		at.it_value = (struct timespec){ us / USEC, us % USEC * 1000 };
	}
	/* The kernel cancels the timer when the clock is set, which makes the descriptor readable. */
	if (timerfd_settime(l->timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at, NULL) < 0 &&
	    errno != ECANCELED)
		end_with_error(l, E_IO, "cannot set the timer of the event loop");
}

static void do_turn(struct loop *l)
{
	struct now now = loop_now();
	int64_t suspended = suspended_us();
	bool ok = true;
	if (suspended - l->suspended > USEC)
		ok = pump_event(l->config.pump, &(struct event){ .kind = EV_RESUMED }, now);
	l->suspended = suspended;
	if (!ok || !pump_turn(l->config.pump, now)) {
		loop_out_of_memory(l);
		return;
	}
	runner_keep_launcher(l->config.runner, l->config.launcher);
	l->turn_in = l->config.after_turn(l->config.ctx, now);
	set_timer(l);
}

void loop_event(struct loop *l, const struct event *ev)
{
	if (!pump_event(l->config.pump, ev, loop_now()))
		loop_out_of_memory(l);
	else
		set_timer(l);
}

/* --- event handlers --- */

static int on_timer(sd_event_source *s, int fd, uint32_t revents, void *ctx)
{
	uint64_t times;
	(void)s;
	(void)revents;
	if (read(fd, &times, sizeof times) < 0) {
		/* The timer has not expired, or the clock was set. The engine reads the clock in any case. */
	}
	((struct loop *)ctx)->armed = 0;
	do_turn(ctx);
	return 0;
}

static int on_port(sd_event_source *s, int fd, uint32_t revents, void *ctx)
{
	(void)s;
	(void)fd;
	(void)revents;
	do_turn(ctx);
	return 0;
}

static int on_again(sd_event_source *s, void *ctx)
{
	(void)s;
	do_turn(ctx);
	return 0;
}

static int on_mail(sd_event_source *s, int fd, uint32_t revents, void *ctx)
{
	struct loop *l = ctx;
	(void)s;
	(void)fd;
	(void)revents;
	mailbox_run(l->config.mail);
	do_turn(l);
	return 0;
}

static int on_stop(sd_event_source *s, int fd, uint32_t revents, void *ctx)
{
	struct loop *l = ctx;
	uint64_t times = 0;
	int on = SD_EVENT_ON;
	(void)s;
	(void)revents;
	if (read(fd, &times, sizeof times) < 0)
		return 0;
	sd_event_source_get_enabled(l->stop_timer, &on);
	if (on != SD_EVENT_OFF || times > 1) {
		loop_stop(l);
		return 0;
	}
	sd_event_source_set_time_relative(l->stop_timer, DAEMON_STOP_MS * INT64_C(1000));
	sd_event_source_set_enabled(l->stop_timer, SD_EVENT_ONESHOT);
	l->config.stopping(l->config.ctx);
	return 0;
}

static int on_stop_late(sd_event_source *s, uint64_t usec, void *ctx)
{
	(void)s;
	(void)usec;
	loop_stop(ctx);
	return 0;
}

/* A package manager writes many zone files. They are read only once, when no file has changed for a while. */
static int on_zones_quiet(sd_event_source *s, uint64_t usec, void *ctx)
{
	struct loop *l = ctx;
	(void)s;
	(void)usec;
	l->config.zones_changed(l->config.ctx);
	return 0;
}

static int on_zone_files(sd_event_source *s, const struct inotify_event *event, void *ctx)
{
	struct loop *l = ctx;
	(void)s;
	(void)event;
	sd_event_source_set_time_relative(l->zones_timer, ZONES_QUIET_US);
	sd_event_source_set_enabled(l->zones_timer, SD_EVENT_ONESHOT);
	return 0;
}

/* --- set up --- */

/* Makes the event loop the owner of the source, so that the source is freed together with the loop. */
static void leave_to_loop(sd_event_source *s)
{
	sd_event_source_set_floating(s, true);
	sd_event_source_unref(s);
}

static bool listen_to(struct loop *l, int fd, sd_event_io_handler_t fn, int64_t priority)
{
	sd_event_source *s = NULL;
	if (fd < 0)
		return true;
	if (sd_event_add_io(l->event, &s, fd, EPOLLIN, fn, l) < 0)
		return false;
	sd_event_source_set_priority(s, priority);
	leave_to_loop(s);
	return true;
}

/* Zone files are in directories at most two deep, whose names begin with a capital letter. */
static void watch_zones(struct loop *l, const char *dir, unsigned depth)
{
	char path[PATH_MAX];
	struct dirent *entry;
	sd_event_source *source = NULL;
	/* A directory that does not exist is not watched. */
	if (sd_event_add_inotify(l->event, &source, dir,
				 IN_CLOSE_WRITE | IN_MOVE | IN_CREATE | IN_DELETE | IN_ONLYDIR, on_zone_files,
				 l) < 0)
		return;
	/* The source is requested by pointer because libsystemd 252 otherwise leaks a reference to it. */
	leave_to_loop(source);
	DIR *d = depth < 2 ? opendir(dir) : NULL;
	while (d && (entry = readdir(d)))
		if (entry->d_type == DT_DIR && entry->d_name[0] >= 'A' && entry->d_name[0] <= 'Z' &&
		    snprintf(path, sizeof path, "%s/%s", dir, entry->d_name) < (int)sizeof path)
			watch_zones(l, path, depth + 1);
	if (d)
		closedir(d);
}

enum err loop_new(const struct loop_config *c, struct loop **ret, struct why *why)
{
	struct loop *l = calloc(1, sizeof *l);
	if (!l)
		return E_NOMEM;
	l->config = *c;
	l->suspended = suspended_us();
	l->timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	bool ok = l->timer >= 0 && sd_event_new(&l->event) >= 0 && listen_to(l, l->timer, on_timer, FIRST) &&
		  listen_to(l, c->store_fd, on_port, NEXT) &&
		  listen_to(l, runner_fd(c->runner), on_port, NEXT) &&
		  listen_to(l, mailbox_fd(c->mail), on_mail, LAST) &&
		  sd_event_add_defer(l->event, &l->again, on_again, l) >= 0 &&
		  sd_event_source_set_enabled(l->again, SD_EVENT_OFF) >= 0 &&
		  listen_to(l, c->stop_fd, on_stop, NEXT) &&
		  sd_event_add_time_relative(l->event, &l->zones_timer, CLOCK_BOOTTIME, USEC, USEC,
					     on_zones_quiet, l) >= 0 &&
		  sd_event_source_set_enabled(l->zones_timer, SD_EVENT_OFF) >= 0 &&
		  sd_event_add_time_relative(l->event, &l->stop_timer, CLOCK_BOOTTIME, USEC, USEC,
					     on_stop_late, l) >= 0 &&
		  sd_event_source_set_enabled(l->stop_timer, SD_EVENT_OFF) >= 0;
	if (!ok) {
		loop_free(l);
		return why_set(why, E_IO, WHY_NOWHERE, "the event loop cannot be set up: %s",
			       strerror(errno));
	}
	const char *zones = getenv("TZDIR");
	watch_zones(l, zones && *zones ? zones : "/usr/share/zoneinfo", 0);
	sd_event_set_watchdog(l->event, true);
	*ret = l;
	return OK;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	sd_event_source_unref(l->again);
	sd_event_source_unref(l->zones_timer);
	sd_event_source_unref(l->stop_timer);
	sd_event_unref(l->event);
	if (l->timer >= 0)
		close(l->timer);
	free(l);
}

enum err loop_run(struct loop *l, struct why *why)
{
	sd_notify(0, "READY=1");
	thread_short_slices();
	do_turn(l);
	if (sd_event_loop(l->event) < 0 && !l->error)
		end_with_error(l, E_IO, "the event loop failed");
	sd_notify(0, "STOPPING=1");
	if (l->error && why)
		*why = l->why;
	return l->error;
}

void loop_stop(struct loop *l)
{
	sd_event_exit(l->event, 0);
}
