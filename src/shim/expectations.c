/* Checks expectations after the agent has ended with 0: files that must exist, and scripts that must end with
 * 0. The first one that fails becomes the cause and the note of the attempt, and the last line of its log. */
#include "shim/cgroup.h"
#include "shim/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

static void printf_like(2, 3) expectation_failed(struct shim *s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(s->exit.note, sizeof s->exit.note, fmt, ap);
	va_end(ap);
	s->exit.cause = CAUSE_EXPECTATION;
	output_drain(&s->output); /* so that all output comes before the note */
	shim_note_in_log(s);
}

/* Forks a script, with the environment, directory and cgroup of the agent. */
static int fork_script(struct shim *s, char *const *argv)
{
	struct program p = shim_program(s);
	p.argv = argv;
	close(s->agent.socket);
	/* All its output goes to the log: standard output is the answer of the agent. */
	int fds[] = { open("/dev/null", O_RDONLY | O_CLOEXEC), s->fds[2], s->fds[2] };
	int e = fds[0] < 0 ? errno : agent_fork(&p, fds, &s->agent);
	if (fds[0] >= 0)
		close(fds[0]);
	return e;
}

/* Runs a script, subject to the same timeout, lease and SIGTERM as the agent. False: it failed, or the
 * attempt was ended. */
static bool run_script(struct shim *s, char *const *argv, unsigned number)
{
	struct agent_failure f;
	int e = fork_script(s, argv);
	if (e) {
		expectation_failed(s, "expected: script %u could not be started: %s", number, strerror(e));
		return false;
	}
	s->tree.main = s->agent.pid;
	s->tree.main_gone = false;
	if (s->tree.cgroup)
		cgroup_enter(s->cgroup, s->agent.pid);
	s->phase = SHIM_RUNNING;
	s->exit.cause = CAUSE_NONE;
	shim_release_agent(s);
	shim_watch(s);
	if (s->exit.cause != CAUSE_EXIT)
		return false;
	int status = s->tree.status;
	if (agent_failed(&s->agent, &f))
		expectation_failed(s, "expected: script %u cannot be executed: %s", number,
				   strerror(f.error));
	else if (WIFSIGNALED(status))
		expectation_failed(s, "expected: script %u was ended by signal %d", number, WTERMSIG(status));
	else if (WEXITSTATUS(status))
		expectation_failed(s, "expected: script %u ended with exit code %d", number,
				   WEXITSTATUS(status));
	return s->exit.cause == CAUSE_EXIT;
}

void shim_check_expectations(struct shim *s)
{
	const struct exit_facts *x = &s->exit;
	output_drain(&s->output);
	if (x->cause != CAUSE_EXIT || x->status || x->signal || output_says_no_work(&s->output))
		return;
	s->expecting = true;
	for (unsigned i = 0; i < s->rq.files; i++)
		if (access(s->rq.file[i], F_OK) < 0) {
			expectation_failed(s, "expected: %s: %s", s->rq.file[i], strerror(errno));
			return;
		}
	for (unsigned i = 0, number = 1; i < s->rq.words && run_script(s, s->rq.word + i, number);
	     i++, number++)
		while (s->rq.word[i])
			i++;
}
