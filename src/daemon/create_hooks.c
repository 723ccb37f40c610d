/* Asks the hook before:schedule:create before a run creates or changes a schedule. Its program runs under a
 * shim of the run that makes the change, so that it has the identity of that run's schedule. A run has one
 * such hook at a time, so that its files are bounded. */
#include "daemon/internal.h"

#include "core/doc/config/config.h"

#include <stdlib.h>

bool daemon_has_create_hook(const struct daemon *d)
{
	return d->options.hooks && doc_has_command(&d->options.hooks->create.command);
}

void create_hooks_free(struct create_hook *h)
{
	free((char *)(uintptr_t)h->input.p);
	free(h);
}

enum err daemon_ask_create_hook(struct daemon *d, const struct run_row *run, struct str input,
				create_hook_fn *answered, void *ctx)
{
	struct create_hook *h = calloc(1, sizeof *h);
	char *copy = malloc(input.n + 1);
	enum err e = h && copy ? OK : E_NOMEM;
	if (!e) {
		memcpy(copy, input.p, input.n);
		copy[input.n] = '\0';
		*h = (struct create_hook){ .d = d,
					   .run = run->run,
					   .sid = run->sid,
					   .rev = run->rev,
					   .input = { copy, input.n },
					   .answered = answered,
					   .ctx = ctx };
		e = daemon_call(d, create_hooks_take, h);
	}
	if (e) {
		free(copy);
		free(h);
	}
	return e;
}

/* --- on the daemon's thread --- */

static struct create_hook **find_create(struct daemon *d, uint64_t run)
{
	struct create_hook **at = &d->creates;
	while (*at && (*at)->run != run)
		at = &(*at)->next;
	return at;
}

static void answer(struct create_hook *h, enum create_answer answer, struct str words)
{
	h->answered(h->ctx, answer, words);
	create_hooks_free(h);
}

void create_hooks_take(void *arg)
{
	struct create_hook *h = arg;
	struct daemon *d = h->d;
	struct rn_req q = {
		.op = RN_ASK, .ask = ASK_CREATE_HOOK, .run = h->run, .sid = h->sid, .rev = h->rev
	};
	if (*find_create(d, h->run)) {
		answer(h, CREATE_BUSY, STR("this run already waits for the hook of another change"));
		return;
	}
	h->number = q.number = ++d->last_create;
	h->next = d->creates;
	d->creates = h;
	if (runner_submit(d->runner, &q) == OK)
		return;
	d->creates = h->next;
	answer(h, CREATE_BUSY, STR("too many programs run"));
}

enum err create_hooks_prepare(struct daemon *d, const struct rn_req *r)
{
	struct create_hook *h = *find_create(d, r->run);
	if (!h || h->number != r->number || !h->input.p) {
		runner_refuse(d->runner, r->run, r->attempt, OUTCOME_KILLED, REASON_CANCELLED);
		return OK;
	}
	enum err e = prepare_create_hook(d->prepare, r, h->input);
	if (!e)
		h->input = (struct str){ 0 };
	return e;
}

void create_hooks_answered(struct daemon *d, const struct prepare_task *t)
{
	struct create_hook **at = find_create(d, t->req.run), *h = *at;
	if (!h || h->number != t->program.number)
		return;
	*at = h->next;
	/* Stopped: an earlier daemon had started it, for another change. */
	bool stopped = t->program.reason == REASON_CANCELLED;
	answer(h, stopped ? CREATE_BUSY : t->answer.yes ? CREATE_ALLOWED : CREATE_CANCELLED, t->hook_words);
}
