/* The notifier's thread: opens, wakes and closes it, and makes its turns. */
#include "daemon/notify/event_targets.h"

#include "sys/thread.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

void notifier_wake(struct notifier *n)
{
	if (eventfd_write(n->wakeup, 1) < 0)
		return; /* the counter is full, so the thread is awake already */
}

void notifier_config_changed(struct notifier *n)
{
	if (!atomic_exchange(&n->config_changed, true))
		notifier_wake(n);
}

void notifier_happened(void *notifier, const struct pump_fact *f, const struct st_ack *ack)
{
	struct notifier *n = notifier;
	(void)ack;
	if (f->news && f->res == ST_OK && !atomic_exchange(&n->has_news, true))
		notifier_wake(n);
	/* The changed document may have named a receiver that is gone: gone_close_changed checks that. */
	if ((f->op == ST_PUT || f->op == ST_DROP) && atomic_load(&n->gone_is_reported))
		notifier_config_changed(n);
}

/* --- on the thread --- */

/* Keeps a launcher running while there is something to deliver. */
static void keep_launcher(struct notifier *n)
{
	if (runner_busy(n->runner) && !runner_keep_launcher(n->runner, n->options.launcher))
		n->retry = true;
}

static void do_turn(struct notifier *n)
{
	n->retry = false;
	if (atomic_exchange(&n->config_changed, false)) {
		config_reload(n);
		if (n->origin && atomic_load(&n->gone_is_reported))
			gone_close_changed(n);
		n->check_due = true;
	}
	keep_launcher(n);
	deliveries_collect(n);
	deliveries_record(n);
	if (n->origin) /* otherwise the targets are not known yet */
		news_take(n);
	deliveries_start_due(n);
	event_targets_turn(n);
	keep_launcher(n);
}

/* Milliseconds until the next turn; -1: none until the thread is woken. */
static int turn_in_ms(const struct notifier *n)
{
	if (n->check_due && deliveries_have_room(n))
		return 0;
	if (n->retry)
		return NOTIFY_RETRY_MS;
	int64_t us = deliveries_next(n), events = event_targets_next(n);
	if (events <= 0)
		return 0;
	if (events < us)
		us = events;
	/* A due message that waits for another delivery to its receiver is started when that delivery ends,
	 * so it is enough to look again after NOTIFY_RETRY_MS. */
	if (us <= 0)
		us = NOTIFY_RETRY_MS * 1000;
	return us == INT64_MAX ? -1 : us > INT64_C(3600000000) ? 3600000 : (int)(us / 1000 + 1);
}

static void *notifier_main(void *arg)
{
	struct notifier *n = arg;
	struct why why;
	eventfd_t times;
	if (runfile_walk(n->options.dir, 0, deliveries_remove_stale, n, &why))
		n->retry = true; /* stale files only use space: the next start removes them */
	while (!atomic_load(&n->stop)) {
		struct pollfd fds[] = { { .fd = n->wakeup, .events = POLLIN },
					{ .fd = runner_fd(n->runner), .events = POLLIN } };
		do_turn(n);
		int ready = poll(fds, ARRAY_LEN(fds), turn_in_ms(n));
		if (ready > 0 && fds[0].revents && eventfd_read(n->wakeup, &times) < 0)
			times = 0; /* an additional turn does no harm */
		n->check_due |= ready == 0;
	}
	return NULL;
}

/* --- open and close --- */

enum err notifier_open(const struct notifier_options *o, struct notifier **ret, struct why *why)
{
	struct notifier *n = calloc(1, sizeof *n);
	if (!n)
		return E_NOMEM;
	n->options = *o;
	n->check_due = true;
	n->next_due = WALL_NEVER;
	atomic_store(&n->gone_is_reported, true);
	atomic_store(&n->has_news, true);
	atomic_store(&n->config_changed, true);
	for (unsigned i = 0; i < DELIVERIES_MAX; i++)
		n->delivery[i].notifier = n;
	n->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct runner_config c = { .place = { .runs = o->dir, .flush = true },
				   .owner = o->owner,
				   .ctx = n,
				   .want = deliveries_want };
	enum err e = OK;
	if (n->wakeup < 0)
		e = why_set(why, E_IO, WHY_NOWHERE, "cannot create an eventfd for the notifier: %s",
			    strerror(errno));
	if (!e)
		e = runner_open(&c, &n->runner, why);
	if (!e)
		e = daemon_reader(o->daemon, &n->reader, why);
	if (!e)
		e = event_targets_open(n);
	if (!e)
		e = thread_start(&n->thread, notifier_main, n);
	n->started = !e;
	if (e)
		notifier_close(n);
	else
		*ret = n;
	return e;
}

void notifier_close(struct notifier *n)
{
	if (!n)
		return;
	atomic_store(&n->stop, true);
	if (n->wakeup >= 0)
		notifier_wake(n);
	if (n->started)
		pthread_join(n->thread, NULL);
	for (unsigned i = 0; i < DELIVERIES_MAX; i++) {
		arena_free(&n->delivery[i].arena);
		buf_free(&n->delivery[i].result_text);
	}
	event_targets_close(n);
	runner_close(n->runner);
	reader_close(n->reader);
	arena_free(&n->batch.arena);
	arena_free(&n->config_arena);
	if (n->wakeup >= 0)
		close(n->wakeup);
	free(n);
}
