/* Reads the run file of an attempt, changes the attempt's state accordingly, and reports what the engine must
 * know. */
#include "core/model.h"
#include "exec/internal.h"
#include "runfile/outbox.h"
#include "sys/clock.h"
#include "sys/procs.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

void attempt_report(struct runner *r, struct attempt *a, enum rn_report_kind kind)
{
	runner_report(r, a,
		      &(struct rn_report){ .kind = (uint8_t)kind,
					   .run = a->run,
					   .attempt = a->attempt,
					   .cost = -1,
					   .exit_code = -1 });
}

static void end_attempt(struct runner *r, struct attempt *a, enum rn_report_kind kind)
{
	attempt_report(r, a, kind);
	attempt_remove(r, a);
}

/* Reports the end of an attempt that was killed before it could start. */
static void end_killed(struct runner *r, struct attempt *a)
{
	runner_report(r, a,
		      &(struct rn_report){ .kind = RN_EXIT,
					   .run = a->run,
					   .attempt = a->attempt,
					   .outcome = OUTCOME_KILLED,
					   .reason = a->kill_reason,
					   .ended = clock_wall(),
					   .cost = -1,
					   .exit_code = -1 });
	attempt_remove(r, a);
}

/* Sends SIGTERM to the shim. The signal carries the reason, which the shim records. */
void attempt_signal(struct runner *r, struct attempt *a)
{
	(void)r;
	siginfo_t si = { .si_signo = SIGTERM, .si_code = SI_QUEUE };
	si.si_pid = getpid();
	si.si_uid = getuid();
	si.si_value.sival_int = a->kill_reason;
	if (a->kill_pending && a->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, a->pidfd, SIGTERM, &si, 0);
}

void attempt_started(struct runner *r, struct attempt *a)
{
	a->state = ATTEMPT_ALIVE;
	a->at = a->pidfd >= 0 ? INT64_MAX : clock_boot().us + RUNNER_WATCH_MS * INT64_C(1000);
	if (a->memfd >= 0)
		close(a->memfd);
	a->memfd = -1;
	if (!a->start_reported)
		attempt_report(r, a, a->start_asked ? RN_STARTED : RN_ALIVE);
	a->start_reported = true;
	attempt_signal(r, a);
}

/* A pidfd of the shim that wrote the file; -1: there is no such process any more. */
static int open_shim(const struct runfile *f)
{
	struct proc p;
	if (!f->version || f->pid <= 0)
		return -1;
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)f->pid, 0);
	if (fd >= 0 && proc_read((pid_t)f->pid, &p) && p.start == f->start)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* --- one function for each state of the run file --- */

static void file_absent(struct runner *r, struct attempt *a, const struct runfile *f)
{
	(void)f;
	if (a->start_reported)
		end_attempt(r, a, RN_LOST); /* the file has been removed since */
	else if (a->kill_pending || a->prevent_pending)
		attempt_prevent(r, a);
	else if (a->memfd >= 0)
		attempt_retry(a, ATTEMPT_HELD);
	else if (question_is_stale(a))
		question_restart(r, a);
	else
		end_attempt(r, a, RN_NOT_STARTED);
}

static void file_alive(struct runner *r, struct attempt *a, const struct runfile *f)
{
	/* A create hook of an earlier runner was asked about another change: its answer would be wrong. */
	if (a->ask == ASK_CREATE_HOOK && is_question(a) && !a->sent && !a->kill_pending) {
		a->kill_pending = true;
		a->kill_reason = REASON_CANCELLED;
	}
	if (a->pidfd < 0)
		attempt_watch(r, a, open_shim(f));
	attempt_started(r, a);
}

/* Whether the agent has reported a failure, which takes precedence over its exit code. */
static bool reported_failure(const struct runner *r, const struct attempt *a)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct report *list;
	unsigned n;
	struct why why;
	return outbox_read(r->runs, a->run, a->attempt, &arena, &list, &n, &why) == OK &&
	       outbox_last(list, n, REPORT_FAIL);
}

static void file_ended(struct runner *r, struct attempt *a, const struct runfile *f)
{
	struct rn_report report;
	runfile_outcome(f, &report);
	report.run = a->run;
	report.attempt = a->attempt;
	/* A run can write its own run file: retries and followers do not wait for an end in the future. */
	if (report.ended.us <= 0 || report.ended.us > clock_wall().us)
		report.ended = clock_wall();
	if (question_is_stale(a)) {
		question_restart(r, a);
	} else if (f->cause == CAUSE_LOST) {
		end_attempt(r, a, RN_LOST);
	} else if (f->cause == CAUSE_PREVENTED && a->kill_pending) {
		end_killed(r, a);
	} else if (f->cause == CAUSE_PREVENTED) {
		end_attempt(r, a, RN_NOT_STARTED);
	} else {
		bool success = report.outcome == OUTCOME_DONE || report.outcome == OUTCOME_NO_WORK;
		if (success && !is_question(a) && reported_failure(r, a)) {
			report.outcome = OUTCOME_FAILED;
			report.reason = REASON_REPORTED;
		}
		runner_report(r, a, &report);
		attempt_remove(r, a);
	}
}

/* The shim died without an exit section. */
static void file_dead(struct runner *r, struct attempt *a, const struct runfile *f)
{
	/* After a reboot none of its processes is alive; and a damaged file does not name any process to look
	 * for. */
	if (!f->version || strcmp(f->boot, r->boot) != 0) {
		if (question_is_stale(a))
			question_restart(r, a);
		else
			end_attempt(r, a, RN_LOST);
		return;
	}
	attempt_unwatch(r, a);
	if (a->state == ATTEMPT_SWEEPING) { /* the sweep died, or could not write */
		runner_trouble_set(r, TROUBLE_FILES, "run %llu is lost, and its run file cannot be written",
				   (unsigned long long)a->run);
		attempt_retry(a, ATTEMPT_SWEEP);
		return;
	}
	launch_send_sweep(r, a);
}

void attempt_update(struct runner *r, struct attempt *a)
{
	static void (*const by_life[])(struct runner *, struct attempt *, const struct runfile *) = {
		[LIFE_ABSENT] = file_absent,
		[LIFE_ALIVE] = file_alive,
		[LIFE_ENDED] = file_ended,
		[LIFE_DEAD] = file_dead,
	};
	struct runfile f = { 0 };
	enum run_life life;
	struct why why;
	enum err e = runfile_read(r->runs, a->run, a->attempt, &life, &f, &why);
	if (e == E_INPUT) { /* replaced by something else: like a damaged file, it names no process */
		f = (struct runfile){ 0 };
		life = LIFE_DEAD;
	} else if (e) {
		runner_trouble_set(r, TROUBLE_FILES, "%s", why.text);
		attempt_retry(a, ATTEMPT_UNKNOWN);
		return;
	}
	if (a->state != ATTEMPT_SWEEPING || life != LIFE_DEAD)
		runner_trouble_clear(r, TROUBLE_FILES);
	by_life[life](r, a, &f);
}

/* Creates the run file with an exit section. If there is a run file already, the state of the attempt is read
 * from that file. */
void attempt_prevent(struct runner *r, struct attempt *a)
{
	bool taken;
	struct why why;
	enum run_cause cause = a->kill_pending ? CAUSE_STOPPED : CAUSE_PREVENTED;
	if (runfile_prevent(r->runs, a->run, a->attempt, cause, a->kill_reason,
			    a->prevent_pending && r->config.place.flush, &taken, &why) != OK) {
		runner_trouble_set(r, TROUBLE_FILES, "%s", why.text);
		attempt_retry(a, ATTEMPT_UNKNOWN);
		return;
	}
	if (taken)
		attempt_update(r, a);
	else if (a->kill_pending)
		end_killed(r, a);
	else
		end_attempt(r, a, RN_NOT_STARTED);
}
