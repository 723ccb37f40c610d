#include "daemon/internal.h"

#include "core/model.h"

#include <stdlib.h>
#include <unistd.h>

void attempts_give(void *arg)
{
	struct prepare_task *j = arg;
	struct daemon *d = j->ctx;
	j->why.text[0] = '\0';
	enum err e =
		j->outcome ? OK : runner_give(d->runner, j->req.run, j->req.attempt, &j->launch, &j->why);
	/* No descriptor or no memory for it now is no fault of the schedule's. */
	if ((e == E_IO || e == E_NOMEM) && prepare_again(d->desk, j) == OK)
		return;
	if (e == E_IO || e == E_NOMEM)
		loop_out_of_memory(d->loop);
	else if (e)
		j->reason = REASON_DEFINITION;
	if (j->reason)
		runner_refuse(d->runner, j->req.run, j->req.attempt, j->outcome ? j->outcome : OUTCOME_FAILED,
			      j->reason);
	prepare_task_free(j);
}

/* On the desk's thread: what people will want to know of it, written down before it counts. None: as it was.
 */
static void write_words(struct daemon *d, uint64_t run, enum run_text_kind kind, struct str words)
{
	struct st_req r = { .op = ST_RUN_TEXT,
			    .lane = LANE_USER,
			    .run_text = { .run = run, .kind = (uint8_t)kind, .text = words } };
	while (words.p && daemon_send(d, &r, NULL, NULL) == E_BUSY && !atomic_load(&d->closing))
		usleep(1000);
}

/* On the desk's thread. */
void attempts_prepared(void *ctx, struct prepare_task *j)
{
	struct daemon *d = ctx;
	j->ctx = d;
	if (j->outcome)
		write_words(d, j->req.run, RUN_TEXT_DETAIL, str_of(j->why.text));
	write_words(d, j->req.run, RUN_TEXT_PROVENANCE, j->origin);
	while (!atomic_load(&d->closing)) {
		if (mailbox_put(d->mail, attempts_give, j) == OK)
			return;
		usleep(1000);
	}
	prepare_task_free(j); /* nobody empties it any more; the next daemon asks again */
}

void attempts_want(void *ctx, const struct rn_req *r)
{
	struct daemon *d = ctx;
	/* LAUNCHES_MAX and RUNNER_CHECKS_MAX are under way at most, so there is room. Without memory the
	 * claim stands, and is taken up by the next daemon. */
	if (prepare_put(d->desk, r))
		loop_out_of_memory(d->loop);
}

enum err attempts_ask(void *ctx, const struct rn_req *r)
{
	return prepare_ask(((struct daemon *)ctx)->desk, r);
}

struct answer {
	struct daemon *daemon;
	struct rn_report says;
};

void attempts_say(void *arg)
{
	struct answer *a = arg;
	/* Without memory for it, it waits in the mail: nobody would ask again. */
	if (runner_say(a->daemon->runner, &a->says) == OK || mailbox_put(a->daemon->mail, attempts_say, a))
		free(a);
}

/* On the desk's thread. */
void attempts_answered(void *ctx, const struct rn_report *says, struct str words)
{
	struct daemon *d = ctx;
	struct answer *a = NULL;
	write_words(d, says->run, RUN_TEXT_DETAIL, words);
	while (!atomic_load(&d->closing)) { /* then the next daemon asks again */
		a = a ? a : calloc(1, sizeof *a);
		if (a)
			*a = (struct answer){ d, *says };
		if (a && mailbox_put(d->mail, attempts_say, a) == OK)
			return;
		usleep(1000);
	}
	free(a);
}
