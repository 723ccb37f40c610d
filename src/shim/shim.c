/* The shim: runs one attempt, from the request of the launcher to the exit section of the run file. */
#include "shim/shim.h"
#include "runfile/create.h"
#include "shim/cgroup.h"
#include "shim/internal.h"
#include "shim/output/outbox.h"
#include "sys/clock.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Appends a line to the log, where people look for reasons. */
static void add_to_log(struct shim *s, const char *line, int n, size_t room)
{
	log_write(&s->output.log, line, (size_t)n < room ? (size_t)n : room - 1);
}

void shim_note_in_log(struct shim *s)
{
	char line[sizeof s->exit.note + 32];
	add_to_log(s, line, snprintf(line, sizeof line, "[rota: %s]\n", s->exit.note), sizeof line);
}

/* --- secrets --- */

static bool go_on(void *ctx)
{
	return shim_tick(ctx);
}

/* Called after the run file has been created, so that of several shims only one executes the programs that
 * print secrets: a program may allow only one call. False: a secret cannot be fetched, or the attempt was
 * ended meanwhile; the agent must not be executed. */
static bool fetch_secrets(struct shim *s)
{
	struct fetcher *f = &s->secrets;
	if (!s->rq.fetches)
		return true;
	*f = (struct fetcher){ .rq = &s->rq,
			       .cgroup = s->tree.cgroup,
			       .wake = { s->signals, s->timer },
			       .go_on = go_on,
			       .ctx = s };
	agent_disable_core_dumps();
	s->fetching = true;
	bool done = shim_tick(s) && fetch_all(f, s->exit.note, sizeof s->exit.note);
	s->fetching = false;
	s->silent_since = clock_boot().us;
	int e = output_set_secrets(&s->output, &s->rq);
	if (!e && f->stderr_n)
		output_write(&s->output, STREAM_ERR, f->stderr_text, f->stderr_n);
	if (done && e)
		snprintf(s->exit.note, sizeof s->exit.note, "secrets: %s", strerror(e));
	if (done && !e)
		return true;
	if (!f->cancelled)
		shim_end_for(s, CAUSE_SECRET, 0);
	return false;
}

/* Puts the forms of all secrets where the daemon finds them: it masks what the run sends to it, without
 * keeping secrets itself. 0 or an errno. */
static int publish_masks(const struct mask_forms *m)
{
	int fd = memfd_create(RUN_MASKS_NAME, MFD_CLOEXEC), e = fd < 0 ? errno : 0;
	for (unsigned i = 0; i < m->n && !e; i++) {
		uint32_t n = (uint32_t)m->item[i].n;
		e = write_all(fd, (const char *)&n, sizeof n);
		if (!e)
			e = write_all(fd, m->item[i].p, m->item[i].n);
	}
	if (!e && dup3(fd, RUN_MASKS_FD, O_CLOEXEC) < 0)
		e = errno;
	if (fd >= 0)
		close(fd);
	return e;
}

void shim_release_agent(struct shim *s)
{
	for (unsigned i = 0; i < s->secrets.entries; i++)
		agent_set_variable(&s->agent, s->secrets.entry[i]);
	agent_release(&s->agent);
}

/* --- the end --- */

/* Ends the attempt without executing the agent. Ends programs that were started for its secrets, too. */
static void give_up(struct shim *s)
{
	agent_kill(&s->agent);
	s->tree.main_gone = true;
	shim_watch(s);
	output_drain(&s->output);
	if (s->exit.note[0])
		shim_note_in_log(s);
}

static void note_exit_status(struct shim *s)
{
	struct agent_failure f;
	struct exit_facts *x = &s->exit;
	if (WIFEXITED(s->tree.status))
		x->status = WEXITSTATUS(s->tree.status);
	else if (WIFSIGNALED(s->tree.status))
		x->signal = WTERMSIG(s->tree.status);
	if (x->cause != CAUSE_EXIT || !agent_failed(&s->agent, &f))
		return;
	x->cause = CAUSE_NOT_EXECUTED;
	x->status = f.error;
	f.what[sizeof f.what - 1] = 0;
	snprintf(x->note, sizeof x->note, "%s: %s", f.what, strerror(f.error));
	/* The request may have been released, so the program and directory cannot be named here. */
	char line[128];
	const char *what =
		!strcmp(f.what, "cwd") ? "cannot enter the working directory" : "cannot execute the program";
	add_to_log(s, line, snprintf(line, sizeof line, "[rota: %s: %s]\n", what, strerror(f.error)),
		   sizeof line);
}

static void write_exit_section(struct shim *s)
{
	char section[RUNFILE_SECTION];
	struct exit_facts *x = &s->exit;
	x->ended = clock_wall().us;
	x->lasted = clock_boot().us - s->started;
	x->output = s->output.bytes;
	x->left_out = s->output.log.left_out;
	x->log = s->output.log.state;
	x->no_work = output_says_no_work(&s->output);
	runfile_exit_section(section, x);
	/* The block is allocated, so this needs no space. If the disk fails altogether, the run is lost. */
	if (pwrite(s->file, section, sizeof section, RUNFILE_EXIT) != sizeof section)
		_exit(1);
}

/* --- the attempt --- */

/* False: the agent must not be executed, because the lease has expired or the context cannot be provided. */
static bool set_up(struct shim *s)
{
	int e = 0;
	s->started = s->silent_since = clock_boot().us;
	s->timeout_at = s->rq.head->timeout ? s->started + s->rq.head->timeout : INT64_MAX;
	s->lease_end = lease_deadline(&s->lease);
	if (s->started >= s->lease_end) {
		shim_end_for(s, CAUSE_FENCED, 0);
		return false;
	}
	char name[RUNFILE_NAME_MAX];
	runfile_name(name, s->rq.head->run, s->rq.head->attempt, "box");
	unlinkat(s->dir, name, 0); /* reports that another run has written in advance */
	if (s->context >= 0) {
		runfile_name(name, s->rq.head->run, s->rq.head->attempt, "ctx");
		unlinkat(s->dir, name, 0);
		e = runfile_link(s->context, s->dir, name);
		close(s->context);
	}
	if (e) {
		shim_end_for(s, CAUSE_NOT_EXECUTED, 0);
		s->exit.status = e;
		snprintf(s->exit.note, sizeof s->exit.note, "context: %s", strerror(e));
	}
	return e == 0;
}

static void send_reply(int socket, uint64_t ticket, enum launch_reply_kind kind, int error)
{
	struct launch_reply r = {
		.magic = LAUNCH_MAGIC, .kind = (uint16_t)kind, .error = error, .ticket = ticket
	};
	/* Sends without waiting: a daemon that does not read must not delay the run. It will find the run
	 * file. */
	send(socket, &r, sizeof r, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(socket);
}

static void run_attempt(struct shim *s, bool expects)
{
	if (!set_up(s) || !fetch_secrets(s)) {
		give_up(s);
		return;
	}
	int e = publish_masks(&s->rq.masks);
	if (e) {
		snprintf(s->exit.note, sizeof s->exit.note, "secrets: %s", strerror(e));
		shim_end_for(s, CAUSE_SECRET, 0);
		give_up(s);
		return;
	}
	shim_release_agent(s);
	if (!expects)
		request_release(&s->rq);
	shim_watch(s);
	note_exit_status(s);
	if (expects)
		shim_check_expectations(s);
}

_Noreturn void shim_main(int socket, int memfd, uint64_t ticket)
{
	static struct shim s;
	int e = request_read(memfd, &s.rq);
	close(memfd);
	if (!e)
		e = s.rq.argc ? shim_start(&s) : EPROTO;
	if (e) {
		send_reply(socket, ticket, e == EEXIST ? LAUNCH_TAKEN : LAUNCH_REFUSED, e);
		_exit(0);
	}
	char name[RUN_SHIM_NAME];
	if (runfile_shim_name(name, s.rq.head->run, s.rq.head->attempt))
		prctl(PR_SET_NAME, name); /* before any process of the run can send requests to the daemon */
	bool expects = s.rq.files || s.rq.words;
	for (unsigned i = 0; i < ARRAY_LEN(s.fds) - expects; i++)
		close(s.fds[i]); /* scripts of expectations need standard error again */
	output_open(&s.output, &s.rq, s.dir);
	send_reply(socket, ticket, LAUNCH_STARTED, 0);
	run_attempt(&s, expects);
	output_close(&s.output);
	outbox_mask(s.dir, &s.rq);
	if (s.tree.cgroup)
		cgroup_remove(s.tree.cgroup);
	write_exit_section(&s);
	_exit(0);
}
