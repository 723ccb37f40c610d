/* Passes attempts to the prepare worker, and its finished tasks back to the runner and the engine. */
#include "daemon/internal.h"

#include "core/model.h"
#include "runfile/tail.h"

void attempts_want(void *ctx, const struct rn_req *r)
{
	struct daemon *d = ctx;
	/* The prepare worker's queue has room for all attempts and checks that can be under way, so only
	 * memory can be missing. Then the daemon ends; the claim is durable, so the next daemon starts the
	 * run. */
	if (r->attempt == RUN_HOOK + HOOK_OF_CREATE ? create_hooks_prepare(d, r)
						    : prepare_launch(d->prepare, r))
		loop_out_of_memory(d->loop);
}

/* --- on a thread of the prepare worker --- */

/* Sends the text before the result of the task, so that the store has it before the engine acts on the
 * result. */
static void record_run_text(struct daemon *d, uint64_t run, enum run_text_kind kind, struct str text)
{
	struct st_req r = { .op = ST_RUN_TEXT,
			    .lane = LANE_USER,
			    .run_text = { .run = run, .kind = (uint8_t)kind, .text = text } };
	if (text.p && daemon_send_wait(d, &r, NULL, NULL))
		return; /* out of memory: people see the reason without this text */
}

void attempts_finished(void *ctx, struct prepare_task *t)
{
	struct daemon *d = ctx;
	t->ctx = d;
	if (t->kind == PREPARE_LAUNCH && t->outcome && t->req.attempt != RUN_HOOK + HOOK_OF_CREATE)
		record_run_text(d, t->req.run, RUN_TEXT_DETAIL, str_of(t->why.text));
	if (t->kind == PREPARE_LAUNCH)
		record_run_text(d, t->req.run, RUN_TEXT_PROVENANCE, t->provenance);
	if (t->kind == PREPARE_ANSWER || (t->kind == PREPARE_HOOK && t->req.ask != ASK_CREATE_HOOK))
		record_run_text(d, t->req.run, RUN_TEXT_DETAIL, t->detail);
	if (mailbox_put_wait(d->mail, attempts_take, t))
		prepare_task_free(t); /* the daemon is closing; the next daemon prepares the attempt again */
}

/* --- on the daemon's thread --- */

bool attempts_hook_ended(void *ctx, const struct rn_report *program)
{
	struct daemon *d = ctx;
	return prepare_hook(d->prepare, program) == OK;
}

static void give_launch(struct daemon *d, struct prepare_task *t)
{
	const struct rn_req *r = &t->req;
	enum err e = t->outcome ? OK : runner_give(d->runner, r->run, r->attempt, &t->launch, &t->why);
	/* A descriptor or memory is missing now. The schedule is not at fault, so the task is tried again. */
	bool transient = e == E_IO || e == E_NOMEM;
	if (transient && prepare_retry(d->prepare, t) == OK)
		return;
	if (transient)
		loop_out_of_memory(d->loop);
	else if (e || t->outcome)
		runner_refuse(d->runner, r->run, r->attempt, t->outcome ? t->outcome : OUTCOME_FAILED,
			      e ? REASON_DEFINITION : t->reason);
	prepare_task_free(t);
}

void attempts_take(void *arg)
{
	struct prepare_task *t = arg;
	struct daemon *d = t->ctx;
	switch ((enum prepare_kind)t->kind) {
	case PREPARE_LAUNCH:
		give_launch(d, t);
		break;
	case PREPARE_RULES:
		recompile_finished(d, t);
		break;
	case PREPARE_HOOK:
		problems_hook(d->problems, t->req.sid, (enum rn_ask)t->req.ask,
			      t->hook_failed ? t->hook_words : (struct str){ 0 });
		if (t->req.ask == ASK_CREATE_HOOK)
			create_hooks_answered(d, t);
		else
			loop_event(d->loop, &(struct event){ .kind = EV_RUNNER, .report = &t->answer });
		prepare_task_free(t);
		break;
	case PREPARE_ANSWER:
		loop_event(d->loop, &(struct event){ .kind = EV_RUNNER, .report = &t->answer });
		prepare_task_free(t);
		break;
	case PREPARE_CALL:
	case PREPARE_ZONES:
		break; /* never given to attempts_finished */
	}
}

/* Reads a file on the daemon's thread, like the runner, which has read the attempt's run file and outbox on
 * this thread in the same turn: the shim has written all three just before, so that they are in memory. The
 * file is opened without waiting, and no more is read than the store keeps. */
static_assert(ANSWER_BYTES_MAX <= STORE_RUN_TEXT_BYTES_MAX, "the store keeps a whole result");
struct str attempts_result(void *ctx, const struct run_row *run, struct arena *a)
{
	const struct daemon *d = ctx;
	struct str text = { 0 };
	struct why why;
	/* The run does not fail because its result cannot be read. */
	if (runfile_tail(d->runs_dir, run->run, run->attempt, "out", ANSWER_BYTES_MAX, a, &text, &why))
		return (struct str){ 0 };
	return text;
}

void attempts_happened(void *ctx, const struct pump_fact *f, const struct st_ack *ack)
{
	struct daemon *d = ctx;
	(void)ack;
	/* There is no next attempt, so neither its check nor a hook is needed any more. */
	if (f->op == ST_FINISH || (f->op == ST_VERDICT && f->run.state != RUN_CLAIMED))
		runner_drop_questions(d->runner, f->run.run, (uint16_t)(f->run.attempt + 1));
}
