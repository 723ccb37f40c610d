/* The simulated runner: launches, run files that survive the daemon, processes that follow their plans, and
 * preconditions that are answered after a delay. */
#include "check/check.h"
#include "coverage.h"
#include "opinion/opinion.h"
#include "room.h"

#include <stdlib.h>

struct run_file *sim_runner_file(const struct world *w, uint64_t run, uint16_t attempt)
{
	uint32_t i;
	return number_map_get(&w->file_of, hash_pair(run, attempt), &i) ? &w->file[i] : NULL;
}

static unsigned index_of(const struct world *w, const struct run_file *f)
{
	return (unsigned)(f - w->file);
}

static struct run_file *new_file(struct world *w, const struct rn_req *q, enum file_state state)
{
	ADD_ROOM(w->file, w->file_room, w->files);
	struct run_file *f = &w->file[w->files];
	*f = (struct run_file){ .request = *q, .state = state };
	number_map_put(&w->file_of, hash_pair(q->run, q->attempt), w->files++);
	return f;
}

static void send_report(struct world *w, int64_t t, const struct rn_report *s, enum rn_op of)
{
	unsigned i = 0;
	while (i < w->reports && w->report[i].epoch)
		i++;
	if (i == w->reports) {
		ADD_ROOM(w->report, w->report_room, w->reports);
		w->reports++;
	}
	w->report[i] = (struct sent_report){ *s, w->epoch, (uint8_t)of };
	w->reports_under_way++;
	agenda_add(&w->agenda, t, W_REPORT, i, 0);
}

/* Reports about one attempt arrive in the order in which they are sent. */
static void report_file(struct world *w, struct run_file *f, enum rn_report_kind what, enum rn_op of)
{
	struct rn_report s = f->exit;
	if (what != RN_EXIT)
		s = (struct rn_report){ 0 };
	s.kind = (uint8_t)what;
	s.run = f->request.run;
	s.attempt = f->request.attempt;
	int64_t t = w->t + world_between(w, w->timing.report);
	if (t < f->last_report)
		t = f->last_report;
	f->last_report = t;
	send_report(w, t, &s, of);
}

/* Reports the present state of an attempt. */
static void report_state(struct world *w, struct run_file *f, enum rn_op of)
{
	static const uint8_t what[] = { [FILE_REQUESTED] = RN_NOT_STARTED,
					[FILE_ALIVE] = RN_ALIVE,
					[FILE_ENDED] = RN_EXIT,
					[FILE_LOST] = RN_LOST,
					[FILE_PREVENTED] = RN_NOT_STARTED };
	report_file(w, f, what[f->state], of);
}

static void end_at(struct world *w, struct run_file *f, int64_t t)
{
	if (f->end <= t)
		return;
	f->end = t;
	agenda_add(&w->agenda, t, W_END, index_of(w, f), 0);
}

static void handle_start(struct world *w, const struct rn_req *q)
{
	struct run_file *f = sim_runner_file(w, q->run, q->attempt);
	if (!f) {
		f = new_file(w, q, FILE_REQUESTED);
		agenda_add(&w->agenda, w->t + world_between(w, w->timing.launch), W_START, index_of(w, f), 0);
	} else if (f->state == FILE_ALIVE) {
		report_file(w, f, RN_STARTED, RN_START);
	} else if (f->state != FILE_REQUESTED) {
		report_state(w, f, RN_START);
	}
	f->watched = true;
}

static void handle_kill(struct world *w, const struct rn_req *q)
{
	struct run_file *f = sim_runner_file(w, q->run, q->attempt);
	if (!f)
		f = new_file(w, q, FILE_PREVENTED);
	f->watched = true;
	if (f->state == FILE_PREVENTED) { /* the attempt will never start, so it is reported as killed */
		f->state = FILE_ENDED;
		f->exit = (struct rn_report){ .outcome = OUTCOME_KILLED,
					      .reason = q->reason,
					      .ended = world_wall(w),
					      .cost = -1,
					      .exit_code = -1 };
	}
	if (f->state == FILE_REQUESTED || f->state == FILE_ALIVE) {
		if (!f->kill_pending)
			f->kill_reason = q->reason;
		f->kill_pending = true;
		if (f->state == FILE_ALIVE && f->end > w->t + f->plan.kill_takes) {
			f->killed = true;
			end_at(w, f, w->t + f->plan.kill_takes);
		}
	} else {
		report_state(w, f, RN_KILL);
	}
}

static void handle_probe(struct world *w, const struct rn_req *q)
{
	struct run_file *f = sim_runner_file(w, q->run, q->attempt);
	if (!f) {
		send_report(
			w, w->t + world_between(w, w->timing.report),
			&(struct rn_report){ .kind = RN_NOT_STARTED, .run = q->run, .attempt = q->attempt },
			RN_PROBE);
		return;
	}
	f->watched = true;
	if (f->state == FILE_REQUESTED) {
		/* The start was requested from a launcher that has died. The probe either waits for the start
		 * or finds nothing. */
		if (!world_chance(w, w->timing.unseen_percent))
			return;
		f->orphan = true;
	}
	report_state(w, f, RN_PROBE);
}

static void handle_prevent(struct world *w, const struct rn_req *q)
{
	struct run_file *f = sim_runner_file(w, q->run, q->attempt);
	if (!f)
		f = new_file(w, q, FILE_PREVENTED);
	else if (f->state == FILE_REQUESTED)
		f->state = FILE_PREVENTED;
	f->watched = true;
	report_state(w, f, RN_PREVENT);
}

static void handle_ask(struct world *w, const struct rn_req *q)
{
	struct rn_report s = {
		.kind = RN_ANSWER, .ask = q->ask, .run = q->run, .attempt = q->attempt, .number = q->number
	};
	s.yes = w->workload->answer(w, q, &s.reason);
	send_report(w, w->t + world_between(w, w->timing.ask), &s, RN_ASK);
}

void sim_runner_request(struct world *w, const struct rn_req *q)
{
	struct rn_req r = *q;
	if (w->bug && w->bug->runner && !w->bug->runner(w, &r))
		return;
	observe_request(w->check, &r);
	if (w->fenced)
		return;
	opinion_requested(w->opinion, &r);
	world_hash(w, hash_pair(r.op + 300u, hash_pair(r.run, r.attempt)));
	switch ((enum rn_op)r.op) {
	case RN_START:
		handle_start(w, &r);
		break;
	case RN_KILL:
		handle_kill(w, &r);
		break;
	case RN_PROBE:
		handle_probe(w, &r);
		break;
	case RN_PREVENT:
		handle_prevent(w, &r);
		break;
	case RN_ASK:
		handle_ask(w, &r);
		break;
	}
}

void sim_runner_start(struct world *w, unsigned i)
{
	if (w->file[i].state != FILE_REQUESTED)
		return;
	struct process_plan plan = w->workload->plan(w, &w->file[i].request);
	struct run_file *f = &w->file[i];
	if (plan.starts_too_late && !f->plan.starts_too_late) {
		f->plan = plan;
		agenda_add(&w->agenda, w->t + MINUTES(20), W_START, i, 0);
		return;
	}
	f->plan = plan;
	if (plan.starts_too_late) {
		f->state = FILE_ENDED;
		f->exit = (struct rn_report){
			.reason = REASON_WINDOW_CLOSED, .ended = world_wall(w), .cost = -1, .exit_code = -1
		};
		if (f->watched)
			report_file(w, f, RN_EXIT, RN_START);
		return;
	}
	f->state = FILE_ALIVE;
	f->started = w->t;
	f->end = INT64_MAX;
	world_hash(w, hash_pair(400, hash_pair(f->request.run, f->request.attempt)));
	observe_started(w->check, f);
	opinion_started(w->opinion, f);
	if (f->watched)
		report_file(w, f, RN_STARTED, RN_START);
	f->killed = f->kill_pending && plan.kill_takes < plan.lasts;
	end_at(w, f, w->t + (f->killed ? plan.kill_takes : plan.lasts));
}

void sim_runner_end(struct world *w, unsigned i)
{
	struct run_file *f = &w->file[i];
	if (f->state != FILE_ALIVE)
		return;
	if (f->end > w->t) { /* the machine was suspended in between */
		agenda_add(&w->agenda, f->end, W_END, i, 0);
		return;
	}
	bool lost = f->plan.leaves_no_record && !f->killed;
	f->state = lost ? FILE_LOST : FILE_ENDED;
	f->exit = (struct rn_report){ .outcome = f->killed ? OUTCOME_KILLED : f->plan.outcome,
				      .reason = f->killed ? f->kill_reason : f->plan.reason,
				      .reset = f->killed ? (struct wall){ 0 } : f->plan.reset,
				      .ended = world_wall(w),
				      .cost = -1,
				      .exit_code = (int32_t)(f->request.run % 256) };
	world_hash(w, hash_pair(500, hash_pair(f->request.run, f->exit.reason)));
	observe_ended(w->check, f);
	opinion_ended(w->opinion, f);
	if (!f->watched)
		return;
	report_file(w, f, lost ? RN_LOST : RN_EXIT, RN_START);
	if (w->timing.report.hi > w->timing.report.lo && world_chance(w, 5))
		report_file(w, f, lost ? RN_LOST : RN_EXIT, RN_START); /* a repeated report */
}

void sim_runner_report(struct world *w, unsigned i)
{
	struct sent_report s = w->report[i];
	w->report[i].epoch = 0;
	w->reports_under_way--;
	if (s.epoch != w->epoch || !w->engine || world_call(w))
		return;
	if (!w->fenced) {
		observe_report(w->check, &s.report);
		opinion_reported(w->opinion, &s.report);
	}
	world_hash(w, hash_pair(s.report.kind + 600u, hash_pair(s.report.run, s.report.yes)));
	if (!w->bug || !w->bug->report || w->bug->report(w, &s.report))
		world_step(w, &(struct event){ .kind = EV_RUNNER, .report = &s.report });
	if (s.epoch == w->epoch)
		world_call(w);
}

void sim_runner_report_elsewhere(struct world *w, unsigned i)
{
	struct run_file *f = &w->file[i];
	f->watched = true;
	if (f->state == FILE_ENDED || f->state == FILE_LOST)
		report_state(w, f, RN_START);
}

void sim_runner_crash(struct world *w, bool machine)
{
	for (unsigned i = 0; i < w->files; i++) {
		struct run_file *f = &w->file[i];
		f->watched = false;
		if (f->state == FILE_REQUESTED && (machine || !world_chance(w, w->timing.orphan_percent))) {
			/* The attempt was not started. It can still be started, with another run file. */
			f->state = FILE_PREVENTED;
			number_map_remove(&w->file_of, hash_pair(f->request.run, f->request.attempt));
		}
		if (machine && f->state == FILE_ALIVE) {
			f->state = FILE_LOST;
			f->exit.ended = world_wall(w);
			observe_ended(w->check, f);
			opinion_ended(w->opinion, f);
		}
		/* The last writes before a crash of the machine may not have reached the disk. */
		if (machine && f->state == FILE_ENDED && w->t - f->end < SECONDS(5) && world_chance(w, 50))
			f->state = FILE_LOST;
	}
}

/* Processes do not run while the machine is suspended. */
void sim_runner_suspend(struct world *w, int64_t lasts)
{
	for (unsigned i = 0; i < w->files; i++)
		if (w->file[i].state == FILE_ALIVE && w->file[i].end < INT64_MAX - lasts)
			w->file[i].end += lasts;
}

void sim_runner_restore(struct world *w, uint64_t known)
{
	for (unsigned i = 0; i < w->files; i++) {
		struct run_file *f = &w->file[i];
		if (f->state == FILE_REQUESTED) { /* its launcher is dead */
			f->state = FILE_PREVENTED;
			number_map_remove(&w->file_of, hash_pair(f->request.run, f->request.attempt));
		}
		if (f->state == FILE_ALIVE && f->request.run > known) {
			f->state = FILE_ENDED;
			f->exit = (struct rn_report){ .outcome = OUTCOME_KILLED,
						      .reason = REASON_RESTORED,
						      .ended = world_wall(w),
						      .cost = -1,
						      .exit_code = -1 };
			observe_ended(w->check, f);
			opinion_ended(w->opinion, f);
		}
	}
}

void sim_runner_free(struct world *w)
{
	free(w->file);
	free(w->report);
	map_free(&w->file_of);
}
