#include "exec/runner.h"
#include "core/model.h"
#include "exec/internal.h"
#include "exec/rundir.h"
#include "sys/clock.h"
#include "sys/procs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Events of slots carry their index and turn; these are the others'. */
enum { EVENT_SOCKET = UINT32_MAX - 8, EVENT_LAUNCHER, EVENT_TIMER, EVENT_READY };

/* --- open and close --- */

static bool listen_to(struct runner *r, int fd, uint64_t data)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = data };
	return fd >= 0 && epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

static char *copy(const char *text, bool *failed)
{
	char *c = text ? strdup(text) : NULL;
	*failed |= text && !c;
	return c;
}

enum err runner_open(const struct runner_config *c, struct runner **ret, struct why *why)
{
	enum err e = rundir_check(c->place.runs, why);
	if (e != OK)
		return e;
	struct runner *r = calloc(1, sizeof *r);
	if (!r)
		return E_NOMEM;
	bool failed = false;
	r->c = *c;
	r->c.place.runs = r->runs = copy(c->place.runs, &failed);
	r->c.place.cgroup = r->cgroup = copy(c->place.cgroup, &failed);
	r->c.place.lease = r->lease = copy(c->place.lease, &failed);
	r->launcher = (struct launcher){ -1, -1 };
	r->first = UINT32_MAX;
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	r->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	r->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	failed |= r->epoll < 0 || !listen_to(r, r->timer, EVENT_TIMER) ||
		  !listen_to(r, r->ready, EVENT_READY) || boot_id_read(r->boot) != 0;
	if (failed) {
		int error = errno;
		runner_close(r);
		return why_set(why, E_IO, WHY_NOWHERE, "cannot watch runs: %s", strerror(error));
	}
	*ret = r;
	return OK;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* It goes when its socket does; only one that hangs is left to itself. */
static void end_launcher(struct runner *r)
{
	siginfo_t si;
	struct pollfd p = { .fd = r->launcher.pidfd, .events = POLLIN };
	close_fd(r->launcher.socket);
	if (p.fd >= 0 && poll(&p, 1, 1000) == 1)
		waitid(P_PIDFD, (id_t)p.fd, &si, WEXITED | WNOHANG);
	close_fd(p.fd);
}

void runner_close(struct runner *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->slots; i++) {
		if (r->slot[i].state == SLOT_FREE)
			continue;
		close_fd(r->slot[i].memfd);
		close_fd(r->slot[i].pidfd);
	}
	end_launcher(r);
	close_fd(r->epoll);
	close_fd(r->timer);
	close_fd(r->ready);
	map_free(&r->of);
	free(r->slot);
	free(r->spare);
	free(r->say);
	free(r->runs);
	free(r->cgroup);
	free(r->lease);
	free(r);
}

/* --- trouble --- */

void runner_trouble_set(struct runner *r, unsigned which, const char *fmt, ...)
{
	va_list ap;
	struct trouble *t = &r->trouble[which];
	char text[WHY_TEXT_MAX];
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (!t->since.us)
		t->since = clock_wall();
	why_write(&t->why, WHY_NOWHERE, "%s", text);
}

void runner_trouble_over(struct runner *r, unsigned which)
{
	r->trouble[which].since.us = 0;
}

enum err runner_trouble(const struct runner *r, struct wall *since, struct why *why)
{
	for (unsigned i = 0; i < TROUBLES; i++) {
		if (!r->trouble[i].since.us)
			continue;
		if (since)
			*since = r->trouble[i].since;
		if (why)
			*why = r->trouble[i].why;
		return E_IO;
	}
	return OK;
}

/* --- what is said --- */

/* Before anything is begun: whatever comes of the attempts under way can be said without memory. One may be
 * told born and ended, and both again to who asked twice. */
static bool reserve_says(struct runner *r)
{
	uint32_t need = r->says + 4 * (r->used + 1) + 4;
	if (need <= r->say_room)
		return true;
	struct rn_report *more = realloc(r->say, need * 2 * sizeof *more);
	if (!more)
		return false;
	r->say = more;
	r->say_room = need * 2;
	return true;
}

static void speak(struct runner *r, const struct rn_report *s)
{
	assert(r->says < r->say_room);
	uint64_t one = 1;
	if (r->says == r->said && write(r->ready, &one, sizeof one) < 0)
		one = 0; /* it is set already */
	r->say[r->says++] = *s;
}

void runner_speak(struct runner *r, const struct slot *s, const struct rn_report *says)
{
	struct rn_report answer;
	if (!is_check(s))
		speak(r, says);
	else if (check_answer(s, says, &answer))
		speak(r, &answer);
}

enum err runner_say(struct runner *r, const struct rn_report *s)
{
	if (!reserve_says(r))
		return E_NOMEM;
	speak(r, s);
	return OK;
}

/* --- slots --- */

static struct slot *find(struct runner *r, uint64_t run, uint16_t attempt)
{
	uint32_t i = map_get(&r->of, attempt_key(run, attempt));
	return i == MAP_NONE ? NULL : &r->slot[i];
}

static bool more_slots(struct runner *r)
{
	uint32_t n = r->slots ? r->slots * 2 : 64;
	struct slot *s = realloc(r->slot, n * sizeof *s);
	if (!s)
		return false;
	r->slot = s;
	uint32_t *spare = realloc(r->spare, n * sizeof *spare);
	if (!spare)
		return false;
	r->spare = spare;
	for (uint32_t i = n; i > r->slots; i--) {
		r->slot[i - 1] = (struct slot){ .memfd = -1, .pidfd = -1 };
		r->spare[r->spares++] = i - 1;
	}
	r->slots = n;
	return true;
}

static enum err add_slot(struct runner *r, const struct rn_req *q, struct slot **ret)
{
	assert(q->run && q->run < UINT64_C(1) << 48);
	if (r->used >= ATTEMPTS_MAX)
		return E_LIMIT;
	if (!r->spares && !more_slots(r))
		return E_NOMEM;
	uint32_t i = r->spare[r->spares - 1];
	if (!map_put(&r->of, attempt_key(q->run, q->attempt), i))
		return E_NOMEM;
	struct slot *s = &r->slot[i];
	uint32_t turn = s->turn + 1;
	*s = (struct slot){ .run = q->run,
			    .attempt = q->attempt,
			    .state = SLOT_LOOK,
			    .at = INT64_MAX,
			    .pause = RUNNER_RETRY_MS * INT64_C(1000),
			    .memfd = -1,
			    .pidfd = -1,
			    .turn = turn };
	r->spares--;
	r->used++;
	*ret = s;
	return OK;
}

void runner_forget(struct runner *r, struct slot *s)
{
	if (is_check(s))
		check_over(r, s);
	runner_unwatch(r, s);
	close_fd(s->memfd);
	map_remove(&r->of, attempt_key(s->run, s->attempt));
	s->state = SLOT_FREE;
	s->memfd = -1;
	s->at = INT64_MAX;
	r->spare[r->spares++] = (uint32_t)(s - r->slot);
	r->used--;
}

void runner_watch(struct runner *r, struct slot *s, int pidfd)
{
	if (pidfd < 0)
		return;
	if (listen_to(r, pidfd, (uint64_t)s->turn << 32 | (uint32_t)(s - r->slot)))
		s->pidfd = pidfd;
	else
		close(pidfd); /* then it is looked at now and then */
}

void runner_unwatch(struct runner *r, struct slot *s)
{
	if (s->pidfd < 0)
		return;
	epoll_ctl(r->epoll, EPOLL_CTL_DEL, s->pidfd, NULL);
	close(s->pidfd);
	s->pidfd = -1;
}

void runner_later(struct slot *s, enum slot_state state)
{
	s->state = (uint8_t)state;
	s->at = clock_boot().us + s->pause;
	if (s->pause < RUNNER_RETRY_MS_MAX * INT64_C(1000))
		s->pause *= 2;
}

/* --- what is asked --- */

static void start(struct runner *r, struct slot *s, const struct rn_req *q, bool is_new)
{
	s->starting = true;
	if (is_new) {
		s->state = SLOT_WANTED;
		r->c.want(r->c.ctx, q);
	} else if (s->state == SLOT_ALIVE) {
		life_say(r, s, RN_STARTED);
	}
}

static void stop(struct runner *r, struct slot *s, const struct rn_req *q, bool is_new)
{
	if (!s->kill_pending)
		s->doom = q->reason;
	s->kill_pending = true;
	if (s->state == SLOT_ALIVE)
		life_signal(r, s);
	else if (is_new)
		life_look(r, s);
	else if (s->state == SLOT_WANTED || s->state == SLOT_HELD || s->state == SLOT_SENT)
		life_burn(r, s); /* or, if a shim was faster, it is signalled */
}

static void probe(struct runner *r, struct slot *s, const struct rn_req *q, bool is_new)
{
	(void)q;
	if (is_new)
		life_look(r, s);
	else if (s->state == SLOT_ALIVE)
		life_say(r, s, RN_ALIVE);
	else
		s->starting = false; /* its birth will be the answer */
}

static void burn(struct runner *r, struct slot *s, const struct rn_req *q, bool is_new)
{
	(void)q;
	s->burning = true;
	s->starting = false;
	if (s->state == SLOT_ALIVE)
		life_say(r, s, RN_ALIVE);
	else if (is_new || s->state == SLOT_WANTED || s->state == SLOT_HELD || s->state == SLOT_SENT)
		life_burn(r, s);
}

enum err runner_submit(struct runner *r, const struct rn_req *q)
{
	static void (*const does[])(struct runner *, struct slot *, const struct rn_req *, bool) = {
		[RN_START] = start, [RN_KILL] = stop, [RN_PROBE] = probe, [RN_PREVENT] = burn
	};
	/* Other guards are somebody else's: they need no shim's file, only an answer. */
	bool check = q->op == RN_ASK && q->ask == ASK_CHECK;
	if (q->op == RN_ASK && !check)
		return r->c.ask ? r->c.ask(r->c.ctx, q) : E_INPUT;
	assert(check || (q->op < ARRAY_LEN(does) && does[q->op]));
	if (!reserve_says(r))
		return E_NOMEM;
	struct rn_req of = *q;
	of.attempt = (uint16_t)(q->attempt | (check ? RUN_CHECK : 0));
	struct slot *s = find(r, of.run, of.attempt);
	bool is_new = !s;
	enum err e = is_new ? add_slot(r, &of, &s) : OK;
	if (e == OK && check)
		check_ask(r, s, q, is_new);
	else if (e == OK)
		does[q->op](r, s, q, is_new);
	return e;
}

enum err runner_give(struct runner *r, uint64_t run, uint16_t attempt, const struct launch *l,
		     struct why *why)
{
	struct slot *s = find(r, run, attempt);
	if (!s || s->state != SLOT_WANTED)
		return OK;
	enum err e = launch_render(&r->c.place, run, attempt, l, &s->memfd, why);
	if (e == OK)
		launch_send(r, s);
	return e;
}

void runner_refuse(struct runner *r, uint64_t run, uint16_t attempt, uint8_t outcome, uint16_t reason)
{
	struct slot *s = find(r, run, attempt);
	if (!s || s->state != SLOT_WANTED)
		return;
	runner_speak(r, s,
		     &(struct rn_report){ .kind = RN_EXIT,
					  .run = run,
					  .attempt = attempt,
					  .outcome = outcome,
					  .reason = reason,
					  .ended = clock_wall(),
					  .cost = -1,
					  .exit_code = -1 });
	runner_forget(r, s);
}

/* --- what happens --- */

void runner_launcher(struct runner *r, struct launcher l)
{
	launch_lost(r);
	r->launcher = l;
	if (!listen_to(r, l.socket, EVENT_SOCKET) || !listen_to(r, l.pidfd, EVENT_LAUNCHER)) {
		launch_lost(r);
		return;
	}
	runner_trouble_over(r, TROUBLE_LAUNCHER);
	for (uint32_t i = 0; i < r->slots; i++) {
		if (r->slot[i].state == SLOT_HELD)
			launch_send(r, &r->slot[i]);
		else if (r->slot[i].state == SLOT_SWEEP)
			launch_sweep(r, &r->slot[i]);
	}
}

void runner_no_launcher(struct runner *r, const struct why *why)
{
	runner_trouble_set(r, TROUBLE_LAUNCHER, "%s", why->text);
}

bool runner_has_launcher(const struct runner *r)
{
	return r->launcher.socket >= 0;
}

bool runner_keep_launcher(struct runner *r, const char *program)
{
	struct launcher l;
	struct why why;
	int64_t now = clock_boot().us;
	if (runner_has_launcher(r) || now < r->launcher_at)
		return runner_has_launcher(r);
	r->launcher_at = now + RUNNER_LAUNCHER_MS * INT64_C(1000);
	if (launcher_start(program, &l, &why) == OK)
		runner_launcher(r, l);
	else
		runner_no_launcher(r, &why);
	return runner_has_launcher(r);
}

/* Its pidfd says that the process is over; its file, what that means. */
static void process_over(struct runner *r, uint64_t event)
{
	uint32_t i = (uint32_t)event;
	launch_hear(r); /* what it said before it went */
	if (i >= r->slots || r->slot[i].turn != event >> 32 || r->slot[i].state == SLOT_FREE ||
	    r->slot[i].pidfd < 0)
		return;
	struct slot *s = &r->slot[i];
	runner_unwatch(r, s);
	s->at = INT64_MAX;
	life_look(r, s);
}

static void act(struct runner *r, struct slot *s)
{
	s->at = INT64_MAX;
	switch ((enum slot_state)s->state) {
	case SLOT_HELD:
		if (runner_has_launcher(r))
			launch_send(r, s);
		else
			life_look(r, s);
		break;
	case SLOT_SENT:
	case SLOT_SWEEPING:
		launch_overdue(r, s);
		break;
	case SLOT_SWEEP:
		launch_sweep(r, s);
		break;
	case SLOT_ALIVE:
	case SLOT_LOOK:
		life_look(r, s);
		break;
	default:
		break;
	}
}

/* Costs a look at every slot; there are as many as runs at a time. */
static void keep_time(struct runner *r)
{
	int64_t now = clock_boot().us, next = INT64_MAX;
	for (uint32_t i = 0; i < r->slots; i++) {
		struct slot *s = &r->slot[i];
		if (s->state != SLOT_FREE && s->at <= now)
			act(r, s);
		if (s->state != SLOT_FREE && s->at < next)
			next = s->at;
	}
	struct itimerspec t = { 0 };
	if (next != INT64_MAX)
		t.it_value = (struct timespec){ next / USEC, next % USEC * 1000 + 1 };
	timerfd_settime(r->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

static void handle(struct runner *r, uint64_t event)
{
	switch (event) {
	case EVENT_SOCKET:
	case EVENT_TIMER:
	case EVENT_READY:
		break; /* dealt with in any case */
	case EVENT_LAUNCHER:
		launch_hear(r);
		launch_lost(r);
		break;
	default:
		process_over(r, event);
	}
}

static unsigned take(struct runner *r, struct rn_report *ret, unsigned max)
{
	unsigned n = 0;
	uint64_t count;
	while (n < max && r->said < r->says)
		ret[n++] = r->say[r->said++];
	if (r->said == r->says) {
		r->said = r->says = 0;
		if (read(r->ready, &count, sizeof count) < 0)
			count = 0; /* it was not set */
	}
	return n;
}

unsigned runner_collect(struct runner *r, struct rn_report *ret, unsigned max)
{
	struct epoll_event e[64];
	if (r->says == r->said && !r->used && epoll_wait(r->epoll, e, 1, 0) == 0)
		return 0; /* asked at every turn of its owner, and most of them have no process at all */
	if (r->says == r->said && reserve_says(r)) {
		/* What shims had to say comes before their ends. */
		launch_hear(r);
		int n = epoll_wait(r->epoll, e, ARRAY_LEN(e), 0);
		for (int i = 0; i < n; i++)
			handle(r, e[i].data.u64);
		check_next(r);
		keep_time(r);
	} else if (r->first != UINT32_MAX && r->checks < RUNNER_CHECKS_MAX && reserve_says(r)) {
		check_next(r); /* one was refused between two calls */
		keep_time(r);
	}
	return take(r, ret, max);
}

int runner_fd(const struct runner *r)
{
	return r->epoll;
}

unsigned runner_busy(const struct runner *r)
{
	return r->used;
}
