#include "core/model.h"
#include "exec/internal.h"
#include "runfile/outbox.h"
#include "sys/clock.h"
#include "sys/procs.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

void life_say(struct runner *r, struct slot *s, enum rn_report_kind say)
{
	runner_speak(r, s,
		     &(struct rn_report){ .kind = (uint8_t)say,
					  .run = s->run,
					  .attempt = s->attempt,
					  .cost = -1,
					  .exit_code = -1 });
}

static void end(struct runner *r, struct slot *s, enum rn_report_kind say)
{
	life_say(r, s, say);
	runner_forget(r, s);
}

static void end_killed(struct runner *r, struct slot *s)
{
	runner_speak(r, s,
		     &(struct rn_report){ .kind = RN_EXIT,
					  .run = s->run,
					  .attempt = s->attempt,
					  .outcome = OUTCOME_KILLED,
					  .reason = s->doom,
					  .ended = clock_wall(),
					  .cost = -1,
					  .exit_code = -1 });
	runner_forget(r, s);
}

/* The reason rides on the signal, and is the shim's to record. */
void life_signal(struct runner *r, struct slot *s)
{
	(void)r;
	siginfo_t si = { .si_signo = SIGTERM, .si_code = SI_QUEUE };
	si.si_pid = getpid();
	si.si_uid = getuid();
	si.si_value.sival_int = s->doom;
	if (s->kill_pending && s->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, s->pidfd, SIGTERM, &si, 0);
}

void life_born(struct runner *r, struct slot *s)
{
	s->state = SLOT_ALIVE;
	s->at = s->pidfd >= 0 ? INT64_MAX : clock_boot().us + RUNNER_WATCH_MS * INT64_C(1000);
	if (s->memfd >= 0)
		close(s->memfd);
	s->memfd = -1;
	if (!s->told)
		life_say(r, s, s->starting ? RN_STARTED : RN_ALIVE);
	s->told = true;
	life_signal(r, s);
}

/* The process that wrote the file, if it is still that one. */
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

static void absent(struct runner *r, struct slot *s, const struct runfile *f)
{
	(void)f;
	if (s->told)
		end(r, s, RN_LOST); /* it was there: somebody has removed its file */
	else if (s->kill_pending || s->burning)
		life_burn(r, s);
	else if (s->memfd >= 0)
		runner_later(s, SLOT_HELD);
	else if (check_is_old(s))
		check_anew(r, s);
	else
		end(r, s, RN_NOT_STARTED);
}

static void alive(struct runner *r, struct slot *s, const struct runfile *f)
{
	if (s->pidfd < 0)
		runner_watch(r, s, open_shim(f));
	life_born(r, s);
}

/* An agent that could not do it says so, whatever its exit code. */
static bool says_it_failed(const struct runner *r, const struct slot *s)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct report *list;
	unsigned n;
	struct why why;
	return outbox_read(r->runs, s->run, s->attempt, &a, &list, &n, &why) == OK &&
	       outbox_last(list, n, REPORT_FAIL);
}

static void ended(struct runner *r, struct slot *s, const struct runfile *f)
{
	struct rn_report says;
	runfile_outcome(f, &says);
	says.run = s->run;
	says.attempt = s->attempt;
	if (check_is_old(s)) {
		check_anew(r, s);
	} else if (f->cause == CAUSE_LOST) {
		end(r, s, RN_LOST);
	} else if (f->cause == CAUSE_PREVENTED && s->kill_pending) {
		end_killed(r, s);
	} else if (f->cause == CAUSE_PREVENTED) {
		end(r, s, RN_NOT_STARTED);
	} else {
		bool well = says.outcome == OUTCOME_DONE || says.outcome == OUTCOME_NO_WORK;
		if (well && !is_check(s) && says_it_failed(r, s)) {
			says.outcome = OUTCOME_FAILED;
			says.reason = REASON_REPORTED;
		}
		runner_speak(r, s, &says);
		runner_forget(r, s);
	}
}

static void dead(struct runner *r, struct slot *s, const struct runfile *f)
{
	/* After a reboot, or of a file that names nobody, there is nobody to look for. */
	if (!f->version || strcmp(f->boot, r->boot) != 0) {
		if (check_is_old(s))
			check_anew(r, s);
		else
			end(r, s, RN_LOST);
		return;
	}
	runner_unwatch(r, s);
	if (s->state == SLOT_SWEEPING) { /* the sweeper died, or could not write */
		runner_trouble_set(r, TROUBLE_FILES, "run %llu is lost, and its file cannot be written",
				   (unsigned long long)s->run);
		runner_later(s, SLOT_SWEEP);
		return;
	}
	launch_sweep(r, s);
}

void life_look(struct runner *r, struct slot *s)
{
	static void (*const found[])(struct runner *, struct slot *, const struct runfile *) = {
		[LIFE_ABSENT] = absent, [LIFE_ALIVE] = alive, [LIFE_ENDED] = ended, [LIFE_DEAD] = dead
	};
	struct runfile f = { 0 };
	enum run_life life;
	struct why why;
	if (runfile_read(r->runs, s->run, s->attempt, &life, &f, &why) != OK) {
		runner_trouble_set(r, TROUBLE_FILES, "%s", why.text);
		runner_later(s, SLOT_LOOK);
		return;
	}
	if (s->state != SLOT_SWEEPING || life != LIFE_DEAD)
		runner_trouble_over(r, TROUBLE_FILES);
	found[life](r, s, &f);
}

/* Whoever is second finds a file: then it is what it is. */
void life_burn(struct runner *r, struct slot *s)
{
	bool taken;
	struct why why;
	enum run_cause cause = s->kill_pending ? CAUSE_STOPPED : CAUSE_PREVENTED;
	if (runfile_prevent(r->runs, s->run, s->attempt, cause, s->doom, s->burning && r->c.place.flush,
			    &taken, &why) != OK) {
		runner_trouble_set(r, TROUBLE_FILES, "%s", why.text);
		runner_later(s, SLOT_LOOK);
		return;
	}
	if (taken)
		life_look(r, s);
	else if (s->kill_pending)
		end_killed(r, s);
	else
		end(r, s, RN_NOT_STARTED);
}
