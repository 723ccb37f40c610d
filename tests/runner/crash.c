/* Runs survive the death of daemons and launchers; reboots are recognized. */
#include "core/model.h"
#include "rig.h"
#include "runfile/create.h"
#include "runfile/sections.h"
#include "sys/clock.h"
#include "sys/procs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_called(pid_t pid, const char *want)
{
	char path[32], name[32] = "";
	snprintf(path, sizeof path, "/proc/%d/comm", pid);
	FILE *f = fopen(path, "r");
	bool is = f && fgets(name, sizeof name, f) && strcmp(name, want) == 0;
	if (f)
		fclose(f);
	return is;
}

/* The newest launcher that is a child of `parent`. */
static pid_t launcher_pid(pid_t parent)
{
	struct procs ps;
	struct proc found = { 0 };
	if (procs_list(&ps) != 0)
		return 0;
	for (unsigned i = 0; i < ps.n; i++)
		if (ps.p[i].parent == parent && !ps.p[i].dead && ps.p[i].start >= found.start &&
		    ps.p[i].pid > found.pid && is_called(ps.p[i].pid, "rota-launcher\n"))
			found = ps.p[i];
	procs_free(&ps);
	return found.pid;
}

/* Stops the process, and waits until it is stopped. */
static void freeze(pid_t pid)
{
	char path[32], state = 0;
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	kill(pid, SIGSTOP);
	for (int i = 0; i < 1000 && state != 'T'; i++) {
		FILE *f = fopen(path, "r");
		if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		if (f)
			fclose(f);
		rig_sleep(1);
	}
	CHECK_INT(state, 'T');
}

TEST(runs_of_a_killed_daemon_are_adopted)
{
	struct rig g = { 0 };
	rig_begin(&g);
	runner_close(g.r);
	g.launch.cwd = g.dir;
	fflush(NULL);
	pid_t daemon = fork();
	if (daemon == 0) { /* the child starts three runs and is killed */
		rig_open(&g);
		rig_give_launcher(&g);
		rig_argv(&g, "sh", "-c", "echo $$ >> up; sleep 0.2; exit 4", NULL);
		rig_start(&g, 1);
		rig_argv(&g, "sh", "-c",
			 "echo $$ >> up; while [ ! -e go ]; do sleep 0.05; done; echo went on", NULL);
		rig_start(&g, 2);
		rig_argv(&g, "sh", "-c", "echo $$ >> up; sleep 60", NULL);
		rig_start(&g, 3);
		pause();
		_exit(0);
	}
	CHECK_INT(rig_lines(&g, "up", 3, NULL, 0), 3);
	pid_t launcher = launcher_pid(daemon);
	CHECK(launcher > 0);
	kill(daemon, SIGKILL);
	waitpid(daemon, NULL, 0);
	CHECK(rig_all_dead(&launcher, 1, 2000)); /* the launcher ends with its daemon */
	for (int i = 0; i < 300 && !rig_runfile(&g, 1, 1).exit_version; i++)
		rig_sleep(10); /* run 1 ends while no daemon runs */
	rig_open(&g);
	for (uint64_t run = 1; run <= 4; run++)
		rig_ask(&g, RN_PROBE, run, 1, 0);
	struct rn_report s = rig_next(&g);
	CHECK(s.kind == RN_EXIT && s.run == 1 && s.outcome == OUTCOME_FAILED && s.reason == REASON_EXIT);
	CHECK_INT(rig_runfile(&g, 1, 1).status, 4);
	s = rig_next(&g);
	CHECK(s.kind == RN_ALIVE && s.run == 2);
	s = rig_next(&g);
	CHECK(s.kind == RN_ALIVE && s.run == 3);
	s = rig_next(&g);
	CHECK(s.kind == RN_NOT_STARTED && s.run == 4);
	char go[100];
	snprintf(go, sizeof go, "%s/go", g.dir);
	close(open(go, O_CREAT | O_WRONLY, 0600));
	s = rig_next(&g);
	CHECK(s.kind == RN_EXIT && s.run == 2 && s.outcome == OUTCOME_DONE);
	CHECK_STR(rig_file(&g, 2, 1, "log", NULL), "went on\n");
	rig_ask(&g, RN_KILL, 3, 1, REASON_CANCELLED); /* an adopted run can be killed without a launcher */
	s = rig_next(&g);
	CHECK(s.kind == RN_EXIT && s.run == 3 && s.outcome == OUTCOME_KILLED && s.reason == REASON_CANCELLED);
	rig_end(&g);
}

TEST(a_killed_launcher_is_noticed_and_replaced)
{
	struct rig g = { 0 };
	struct why why;
	rig_begin(&g);
	CHECK_INT(runner_trouble(g.r, NULL, &why), OK);
	rig_argv(&g, "sleep", "0.5", NULL);
	CHECK(rig_start(&g, 1));
	kill(launcher_pid(getpid()), SIGKILL);
	CHECK(rig_quiet(&g, 100));
	CHECK(!runner_has_launcher(g.r));
	CHECK_INT(runner_trouble(g.r, NULL, &why), E_IO);
	CHECK_STR(why.text, "the launcher has died");
	rig_argv(&g, "true", NULL);
	rig_ask(&g, RN_START, 2, 1, 0);
	struct rn_report s = rig_next(&g); /* the run continues, and the start waits */
	CHECK(s.kind == RN_EXIT && s.run == 1 && s.outcome == OUTCOME_DONE);
	CHECK(rig_quiet(&g, 100));
	CHECK(!runner_keep_launcher(g.r, "/nonexistent/rota-launcher"));
	CHECK_INT(runner_trouble(g.r, NULL, &why), E_IO);
	CHECK(strstr(why.text, "/nonexistent/rota-launcher"));
	CHECK(!runner_keep_launcher(g.r, rig_launcher)); /* too soon after the failed start */
	CHECK(rig_quiet(&g, RUNNER_LAUNCHER_MS + 50));
	CHECK(runner_keep_launcher(g.r, rig_launcher));
	CHECK(runner_keep_launcher(g.r, rig_launcher)); /* does nothing if there is a launcher */
	CHECK_INT(runner_trouble(g.r, NULL, &why), OK);
	s = rig_next(&g);
	CHECK(s.kind == RN_STARTED && s.run == 2);
	CHECK_INT(rig_next(&g).kind, RN_EXIT);
	rig_end(&g);
}

/* A process that is being spawned holds copies of the runner's descriptors. Events of these copies must not
 * be reported. */
TEST(a_dead_launcher_is_forgotten_although_its_pidfd_is_open_elsewhere)
{
	struct rig g = { 0 };
	rig_begin(&g);
	fflush(NULL);
	pid_t holder = fork();
	if (holder == 0) {
		pause();
		_exit(0);
	}
	rig_give_launcher(&g);
	CHECK(rig_quiet(&g, 50));
	CHECK(runner_has_launcher(g.r));
	rig_argv(&g, "true", NULL);
	CHECK(rig_start(&g, 1));
	CHECK_INT(rig_next(&g).kind, RN_EXIT);
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	rig_end(&g);
}

TEST(a_launcher_that_hangs_is_trouble)
{
	struct rig g = { 0 };
	struct why why;
	rig_begin(&g);
	pid_t launcher = launcher_pid(getpid());
	freeze(launcher);
	rig_argv(&g, "true", NULL);
	rig_ask(&g, RN_START, 1, 1, 0);
	CHECK(rig_quiet(&g, RUNNER_ANSWER_MS + 200));
	CHECK_INT(runner_trouble(g.r, NULL, &why), E_IO);
	CHECK_STR(why.text, "the launcher does not answer");
	kill(launcher, SIGCONT);
	CHECK_INT(rig_next(&g).kind, RN_STARTED);
	CHECK_INT(rig_next(&g).kind, RN_EXIT);
	CHECK_INT(runner_trouble(g.r, NULL, &why), OK);
	rig_end(&g);
}

/* A stopped launcher has the request in its socket; a new launcher gets the same request. */
TEST(a_request_sent_to_two_launchers_executes_once)
{
	for (int round = 0; round < 4; round++) {
		struct rig g = { 0 }, old;
		test_case("round %d", round);
		rig_begin(&g);
		g.launch.cwd = g.dir;
		rig_argv(&g, "sh", "-c", "echo $$ >> marks; sleep 0.2", NULL);
		old = g;
		pid_t ghost = launcher_pid(getpid());
		freeze(ghost);
		rig_ask(&old, RN_START, 1, 1, 0);
		rig_open(&g);
		rig_give_launcher(&g);
		rig_ask(&g, RN_PROBE, 1, 1, 0);
		CHECK_INT(rig_next(&g).kind, RN_NOT_STARTED);
		if (round % 2) { /* the old daemon is dead, so its launcher drops the request */
			runner_close(old.r);
			old.r = NULL;
			kill(ghost, SIGCONT);
			CHECK(rig_all_dead(&ghost, 1, 2000));
			CHECK_INT(rig_lines(&g, "marks", 0, NULL, 0), 0);
		} else {
			kill(ghost, SIGCONT); /* both launchers race */
		}
		rig_ask(&g, RN_START, 1, 1, 0);
		CHECK_INT(rig_next(&g).kind, RN_STARTED);
		CHECK_INT(rig_next(&g).kind, RN_EXIT);
		if (old.r) { /* the old daemon reads late, so the run may have ended already */
			struct rn_report s = rig_next(&old);
			if (s.kind == RN_STARTED)
				s = rig_next(&old);
			CHECK_INT(s.kind, RN_EXIT);
		}
		CHECK_INT(rig_lines(&g, "marks", 1, NULL, 0), 1);
		runner_close(old.r);
		rig_end(&g);
	}
}

TEST(a_killed_launcher_loses_no_request)
{
	enum { RUNS = 40 };
	struct rig g = { 0 };
	rig_begin(&g);
	g.launch.cwd = g.dir;
	rig_argv(&g, "sh", "-c", "echo $$ >> marks", NULL);
	unsigned ended = 0;
	for (unsigned i = 1; i <= RUNS; i++) {
		rig_ask(&g, RN_START, i, 1, 0);
		if (i % 10 == 0) {
			kill(launcher_pid(getpid()), SIGKILL);
			struct rn_report s;
			for (int k = 0; k < 200 && runner_has_launcher(g.r); k++) {
				if (runner_collect(g.r, &s, 1) == 1)
					ended += s.kind == RN_EXIT;
				else
					rig_sleep(5);
			}
			rig_give_launcher(&g);
		}
	}
	while (ended < RUNS) {
		struct rn_report s = rig_next(&g);
		if (!CHECK(s.kind == RN_STARTED || s.kind == RN_EXIT))
			break;
		ended += s.kind == RN_EXIT;
	}
	CHECK_INT(rig_lines(&g, "marks", RUNS, NULL, 0), RUNS);
	rig_end(&g);
}

/* A run file as a shim would have left it. */
static void write_run_file(struct rig *g, uint64_t run, const char *boot, pid_t pid, uint64_t start,
			   bool lock)
{
	char block[RUNFILE_BYTES], name[RUNFILE_NAME_MAX];
	struct start_facts f = { .run = run,
				 .attempt = 1,
				 .boot = boot,
				 .mark = "0123456789abcdef0123456789abcdef",
				 .shim = pid,
				 .shim_start = start,
				 .agent = pid,
				 .agent_start = start };
	CHECK_INT(runfile_start_section(block, &f), 0);
	int dir = runfile_open_directory(g->runs, run, false);
	runfile_name(name, run, 1, "run");
	int fd = runfile_create(dir, name, block, false);
	CHECK(fd >= 0);
	close(dir);
	if (!lock)
		close(fd);
}

TEST(after_a_reboot_runs_without_exit_are_lost)
{
	struct rig g = { 0 };
	rig_begin(&g);
	/* The pid in the run file is now the pid of this process. */
	struct proc self;
	CHECK(proc_read(getpid(), &self));
	write_run_file(&g, 1, "00000000-0000-0000-0000-000000000000", self.pid, self.start, false);
	rig_ask(&g, RN_PROBE, 1, 1, 0);
	CHECK_INT(rig_next(&g).kind, RN_LOST);
	/* The boot is the same, but the pid now belongs to another process, which is not killed. */
	char boot[40];
	CHECK_INT(boot_id_read(boot), 0);
	pid_t stranger = fork();
	if (stranger == 0) {
		setsid();
		pause();
		_exit(0);
	}
	rig_sleep(50);
	write_run_file(&g, 2, boot, stranger, 1, false);
	rig_ask(&g, RN_PROBE, 2, 1, 0);
	CHECK_INT(rig_next(&g).kind, RN_LOST);
	CHECK(rig_alive(stranger));
	kill(stranger, SIGKILL);
	waitpid(stranger, NULL, 0);
	rig_end(&g);
}

TEST(the_lock_decides_whether_a_run_is_alive)
{
	struct rig g = { 0 };
	rig_begin(&g);
	char boot[40];
	CHECK_INT(boot_id_read(boot), 0);
	fflush(NULL);
	pid_t holder = fork();
	if (holder == 0) {
		write_run_file(&g, 1, boot, 1, 1, true); /* the lock is held, but by another pid */
		pause();
		_exit(0);
	}
	struct runfile f;
	enum run_life life = LIFE_ABSENT;
	struct why why;
	for (int i = 0; i < 500 && life != LIFE_ALIVE; i++) {
		CHECK_INT(runfile_read(g.runs, 1, 1, &life, &f, &why), OK);
		rig_sleep(5);
	}
	rig_ask(&g, RN_PROBE, 1, 1, 0);
	CHECK_INT(rig_next(&g).kind, RN_ALIVE);
	CHECK(rig_quiet(&g, 700));
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	CHECK_INT(rig_next(&g).kind, RN_LOST);
	rig_end(&g);
}

TEST(a_damaged_file_is_alive_while_locked_and_then_lost)
{
	static const struct {
		const char *what;
		size_t at, n; /* bytes to overwrite with 0 */
		enum rn_report_kind say;
	} rows[] = {
		{ "birth damaged", 20, 1, RN_LOST },
		{ "all of it", 0, RUNFILE_BYTES, RN_LOST },
		{ "exit damaged", RUNFILE_EXIT + 30, 10, RN_LOST },
		{ "exit cut off", RUNFILE_EXIT + 60, RUNFILE_SECTION - 60, RN_LOST },
		{ "exit whole", RUNFILE_BYTES - 1, 1, RN_EXIT },
	};
	struct rig g = { 0 };
	rig_begin(&g);
	rig_argv(&g, "true", NULL);
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		static const char zeros[RUNFILE_BYTES];
		struct buf path = { 0 };
		test_case("%s", rows[i].what);
		CHECK(rig_start(&g, i + 1));
		CHECK_INT(rig_next(&g).kind, RN_EXIT);
		runfile_path(&path, g.runs, i + 1, 1, "run");
		int fd = open(path.p, O_RDWR);
		CHECK(pwrite(fd, zeros, rows[i].n, (off_t)rows[i].at) == (ssize_t)rows[i].n);
		CHECK_INT(runfile_lock(fd), 0);
		struct runfile f;
		enum run_life life;
		struct why why;
		CHECK_INT(runfile_read(g.runs, i + 1, 1, &life, &f, &why), OK);
		CHECK_INT(life, rows[i].say == RN_EXIT ? LIFE_ENDED : LIFE_ALIVE);
		close(fd);
		rig_ask(&g, RN_PROBE, i + 1, 1, 0);
		CHECK_INT(rig_next(&g).kind, rows[i].say);
		rig_ask(&g, RN_START, i + 1, 1, 0);
		CHECK_INT(rig_next(&g).kind, rows[i].say);
		buf_free(&path);
	}
	rig_end(&g);
}

/* --- repeated crashes --- */

enum { SOAK_RUNS = 60, SOAK_AT_ONCE = 8 };

/* A daemon that recovers as the engine does: it probes all runs, and starts those that have not started. It
 * ends when all runs have ended. */
static void soak_daemon(struct rig *g)
{
	bool ended[SOAK_RUNS + 1] = { 0 };
	unsigned left = SOAK_RUNS, next = 1, busy = 0;
	rig_open(g);
	rig_give_launcher(g);
	while (left) {
		for (; next <= SOAK_RUNS && busy < SOAK_AT_ONCE; next++, busy++)
			rig_ask(g, RN_PROBE, next, 1, 0);
		struct rn_report s = rig_next(g);
		char script[64];
		snprintf(script, sizeof script, "echo %d >> marks; sleep 0.0%d", (int)s.run, (int)s.run % 10);
		rig_argv(g, "sh", "-c", script, NULL);
		if (s.kind == UINT8_MAX)
			_exit(1);
		if (s.kind == RN_NOT_STARTED)
			rig_ask(g, RN_START, s.run, 1, 0);
		if ((s.kind == RN_EXIT || s.kind == RN_LOST) && !ended[s.run])
			ended[s.run] = true, left--, busy--;
	}
	_exit(0);
}

/* Whether the process is a shim: since its start it is called "r12.1". */
static bool is_run(const char *name)
{
	unsigned long long run;
	unsigned attempt;
	return sscanf(name, "r%llu.%u", &run, &attempt) == 2;
}

/* Kills some shims, before and after their start. */
static unsigned kill_shims(uint64_t *seed)
{
	struct procs ps;
	unsigned n = 0;
	if (procs_list(&ps) != 0)
		return 0;
	for (unsigned i = 0; i < ps.n; i++)
		ps.p[i].marked = ps.p[i].pid == getpid();
	procs_mark_descendants(&ps);
	for (unsigned i = 0; i < ps.n; i++)
		if (ps.p[i].marked && !ps.p[i].dead && test_random(seed) % 3 == 0 &&
		    (!strcmp(ps.p[i].name, "rota-shim") || is_run(ps.p[i].name)))
			n += kill(ps.p[i].pid, SIGKILL) == 0;
	procs_free(&ps);
	return n;
}

static void soak(uint64_t seed, bool shims)
{
	struct rig g = { 0 };
	unsigned kills = 0, shot = 0, marks[SOAK_RUNS + 1] = { 0 };
	int status = -1;
	rig_begin(&g);
	runner_close(g.r);
	g.launch.cwd = g.dir;
	do {
		fflush(NULL);
		pid_t daemon = fork();
		if (daemon == 0)
			soak_daemon(&g);
		for (int ms = (int)(test_random(&seed) % 80) + (kills > 40 ? 20000 : 0); ms > 0; ms -= 5) {
			rig_sleep(5);
			if (shims && test_random(&seed) % 4 == 0)
				shot += kill_shims(&seed);
			if (waitpid(daemon, &status, WNOHANG) == daemon)
				break;
		}
		if (!WIFEXITED(status)) {
			kill(daemon, SIGKILL);
			if (waitpid(daemon, &status, 0) == daemon && !WIFEXITED(status))
				status = -1;
			kills++;
		}
	} while (status == -1);
	CHECK_INT(status, 0);
	char path[100], line[16];
	snprintf(path, sizeof path, "%s/marks", g.dir);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		marks[strtoul(line, NULL, 10) % (SOAK_RUNS + 1)]++;
	if (f)
		fclose(f);
	unsigned once = 0;
	for (unsigned i = 1; i <= SOAK_RUNS; i++) {
		test_case("run %u, shims %s", i, shims ? "killed" : "spared");
		CHECK(marks[i] <= 1);
		CHECK(shims || marks[i] == 1);
		once += marks[i] == 1;
	}
	test_case(NULL);
	printf("soak: %u daemons and %u shims killed, %u of %u runs executed\n", kills, shot, once,
	       SOAK_RUNS);
	rig_open(&g);
	rig_end(&g);
}

TEST(daemons_killed_at_random_execute_every_run_once)
{
	soak(1, false);
}

TEST(shims_killed_at_random_execute_none_twice)
{
	soak(2, true);
}
