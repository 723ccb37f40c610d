/* The table of attempts: entries by (run, attempt), each with its pidfd and the time at which it acts
 * next. */
#include "base/array.h"
#include "exec/internal.h"
#include "sys/clock.h"

#include <sys/epoll.h>
#include <unistd.h>

struct attempt *attempt_find(struct runner *r, uint64_t run, uint16_t attempt)
{
	uint32_t i = map_get(&r->by_key, attempt_key(run, attempt));
	return i == MAP_NONE ? NULL : &r->attempt[i];
}

static bool grow_table(struct runner *r)
{
	unsigned old = r->attempts;
	if (!array_reserve(&r->spare, &r->spare_room, old + 1, sizeof *r->spare) ||
	    !array_reserve(&r->attempt, &r->attempts, old + 1, sizeof *r->attempt))
		return false;
	assert(r->spare_room >= r->attempts);
	for (unsigned i = r->attempts; i > old; i--) {
		r->attempt[i - 1] = (struct attempt){ .memfd = -1, .pidfd = -1 };
		r->spare[r->spares++] = i - 1;
	}
	return true;
}

enum err attempt_add(struct runner *r, uint64_t run, uint16_t attempt, struct attempt **ret)
{
	assert(run && run < RUN_NUMBERS_MAX);
	if (r->used >= ATTEMPTS_MAX)
		return E_LIMIT;
	if (!r->spares && !grow_table(r))
		return E_NOMEM;
	uint32_t i = r->spare[r->spares - 1];
	if (!map_put(&r->by_key, attempt_key(run, attempt), i))
		return E_NOMEM;
	struct attempt *a = &r->attempt[i];
	*a = (struct attempt){ .run = run,
			       .attempt = attempt,
			       .state = ATTEMPT_UNKNOWN,
			       .at = INT64_MAX,
			       .pause = RUNNER_RETRY_MS * INT64_C(1000),
			       .memfd = -1,
			       .pidfd = -1,
			       .generation = a->generation + 1 };
	r->spares--;
	r->used++;
	*ret = a;
	return OK;
}

void attempt_remove(struct runner *r, struct attempt *a)
{
	if (is_question(a))
		question_uncount(r, a);
	attempt_unwatch(r, a);
	if (a->memfd >= 0)
		close(a->memfd);
	map_remove(&r->by_key, attempt_key(a->run, a->attempt));
	a->state = ATTEMPT_FREE;
	a->memfd = -1;
	a->at = INT64_MAX;
	r->spare[r->spares++] = (uint32_t)(a - r->attempt);
	r->used--;
}

void attempt_watch(struct runner *r, struct attempt *a, int pidfd)
{
	if (pidfd < 0)
		return;
	if (runner_listen(r, pidfd, (uint64_t)a->generation << 32 | (uint32_t)(a - r->attempt)))
		a->pidfd = pidfd;
	else
		close(pidfd); /* its run file is read every RUNNER_WATCH_MS instead */
}

void attempt_unwatch(struct runner *r, struct attempt *a)
{
	if (a->pidfd < 0)
		return;
	epoll_ctl(r->epoll, EPOLL_CTL_DEL, a->pidfd, NULL);
	close(a->pidfd);
	a->pidfd = -1;
}

void attempt_retry(struct attempt *a, enum attempt_state state)
{
	a->state = (uint8_t)state;
	a->at = clock_boot().us + a->pause;
	if (a->pause < RUNNER_RETRY_MS_MAX * INT64_C(1000))
		a->pause *= 2;
}
