/* Every promise of port/runner.h, with real processes. */
#include "core/model.h"
#include "rig.h"
#include "sys/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static struct rn_report expect(struct rig *g, int line, enum rn_report_kind say, uint64_t run)
{
	struct rn_report s = rig_next(g);
	CHECK_INT_AT(line, s.kind, say);
	CHECK_INT_AT(line, s.run, run);
	return s;
}

static struct rn_report expect_exit(struct rig *g, int line, uint64_t run, enum outcome outcome,
				    enum reason reason)
{
	struct rn_report s = expect(g, line, RN_EXIT, run);
	CHECK_STR_AT(line, outcome_words[s.outcome % OUTCOME_COUNT], outcome_words[outcome]);
	CHECK_STR_AT(line, reason_words[s.reason % REASON_COUNT], reason_words[reason]);
	CHECK_AT(line, s.ended.us > 0 && s.ended.us <= clock_wall().us);
	return s;
}

TEST(a_run_starts_ends_and_leaves_its_run_file)
{
	struct rig g = { 0 };
	rig_begin(&g);
	rig_argv(&g, "sh", "-c", "echo hello; echo trouble >&2; exit $1", "sh", "0", NULL);
	CHECK(rig_start(&g, 7));
	expect_exit(&g, __LINE__, 7, OUTCOME_DONE, REASON_NONE);
	CHECK_STR(rig_file(&g, 7, 1, "log", NULL)[0] == 'h' ? "either order" : "either order",
		  "either order");
	CHECK(strstr(rig_file(&g, 7, 1, "log", NULL), "hello\n"));
	CHECK(strstr(rig_file(&g, 7, 1, "log", NULL), "trouble\n"));
	struct runfile f = rig_runfile(&g, 7, 1);
	CHECK_INT(f.version, 1);
	CHECK_INT(f.cause, CAUSE_EXIT);
	CHECK_INT(f.output, 14);
	CHECK_INT(f.log, LOG_WHOLE);
	CHECK(f.lasted > 0 && f.lasted < 10 * USEC);
	/* Later requests get the same answer. */
	rig_ask(&g, RN_PROBE, 7, 1, 0);
	expect_exit(&g, __LINE__, 7, OUTCOME_DONE, REASON_NONE);
	rig_ask(&g, RN_KILL, 7, 1, REASON_CANCELLED);
	expect_exit(&g, __LINE__, 7, OUTCOME_DONE, REASON_NONE);
	rig_ask(&g, RN_PREVENT, 7, 1, 0);
	expect_exit(&g, __LINE__, 7, OUTCOME_DONE, REASON_NONE);
	CHECK_INT(runner_busy(g.r), 0);
	rig_end(&g);
}

TEST(outcomes_of_exits)
{
	static const struct {
		int line;
		const char *script;
		enum outcome outcome;
		enum reason reason;
		int status, signal;
	} rows[] = {
		{ __LINE__, "exit 3", OUTCOME_FAILED, REASON_EXIT, 3, 0 },
		{ __LINE__, "kill -9 $$", OUTCOME_FAILED, REASON_EXIT, 0, SIGKILL },
		{ __LINE__, "printf ' \\nNO-WORK today'", OUTCOME_NO_WORK, REASON_NONE, 0, 0 },
		{ __LINE__, "echo NO-WORK >&2; echo done", OUTCOME_DONE, REASON_NONE, 0, 0 },
		{ __LINE__, "echo no NO-WORK", OUTCOME_DONE, REASON_NONE, 0, 0 },
		{ __LINE__, "echo NO-WORK; exit 1", OUTCOME_FAILED, REASON_EXIT, 1, 0 },
	};
	struct rig g = { 0 };
	rig_begin(&g);
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		rig_argv(&g, "sh", "-c", rows[i].script, NULL);
		CHECK(rig_start(&g, i + 1));
		struct rn_report s = expect_exit(&g, rows[i].line, i + 1, rows[i].outcome, rows[i].reason);
		CHECK_INT_AT(rows[i].line, s.exit_code,
			     rows[i].signal ? 128 + rows[i].signal : rows[i].status);
		struct runfile f = rig_runfile(&g, i + 1, 1);
		CHECK_INT_AT(rows[i].line, f.status, rows[i].status);
		CHECK_INT_AT(rows[i].line, f.signal, rows[i].signal);
	}
	rig_end(&g);
}

TEST(a_program_that_cannot_be_executed)
{
	struct rig g = { 0 };
	rig_begin(&g);
	rig_argv(&g, "/no/such/program", NULL);
	CHECK(rig_start(&g, 1));
	expect_exit(&g, __LINE__, 1, OUTCOME_FAILED, REASON_EXIT);
	CHECK_STR(rig_runfile(&g, 1, 1).note, "exec: No such file or directory");
	CHECK_STR(rig_file(&g, 1, 1, "log", NULL),
		  "[rota: cannot execute the program: No such file or directory]\n");
	rig_argv(&g, "true", NULL);
	g.launch.cwd = "/no/such/place";
	CHECK(rig_start(&g, 2));
	expect_exit(&g, __LINE__, 2, OUTCOME_FAILED, REASON_EXIT);
	CHECK_STR(rig_runfile(&g, 2, 1).note, "cwd: No such file or directory");
	CHECK_INT(rig_runfile(&g, 2, 1).cause, CAUSE_NOT_EXECUTED);
	rig_end(&g);
}

TEST(the_agent_inherits_nothing_else)
{
	static const char *const env[] = { "PATH=/usr/bin:/bin", "COLOUR=blue", NULL };
	struct rig g = { 0 };
	rig_begin(&g);
	g.launch.env = env;
	g.launch.cwd = g.dir;
	g.launch.context = STR("{\"run\":1}");
	g.launch.out = true;
	/* PWD, OLDPWD, SHLVL and _ are set by the shell. */
	rig_argv(&g, "sh", "-c",
		 "pwd; cat \"$ROTA_CONTEXT\"; echo; echo err >&2; echo $COLOUR; "
		 "env | cut -d= -f1 | grep -vx 'PWD\\|OLDPWD\\|SHLVL\\|_' | LC_ALL=C sort",
		 NULL);
	CHECK(rig_start(&g, 1));
	expect_exit(&g, __LINE__, 1, OUTCOME_DONE, REASON_NONE);
	char want[256];
	snprintf(want, sizeof want,
		 "%s\n{\"run\":1}\nblue\nCOLOUR\nPATH\nROTA_CONTEXT\nROTA_OUTBOX\nROTA_RUN_MARK\n", g.dir);
	CHECK_STR(rig_file(&g, 1, 1, "out", NULL), want);
	struct stat st;
	char path[160];
	snprintf(path, sizeof path, "%s/0/1.1.log", g.runs);
	CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);

	/* Descriptors: the test opens some without close-on-exec on purpose. The run must not get them. */
	int leak = open("/dev/null", O_RDONLY);
	rig_give_launcher(&g);
	g.launch.context = (struct str){ 0 };
	rig_argv(&g, rig_agent, "fds", NULL);
	CHECK(rig_start(&g, 2));
	expect_exit(&g, __LINE__, 2, OUTCOME_DONE, REASON_NONE);
	CHECK_STR(rig_file(&g, 2, 1, "out", NULL), "0\n1\n2\n");
	close(leak);

	/* Signals: none blocked, none ignored, although the test ignores some. */
	signal(SIGPIPE, SIG_IGN);
	rig_give_launcher(&g);
	rig_argv(&g, rig_agent, "signals", NULL);
	CHECK(rig_start(&g, 3));
	expect_exit(&g, __LINE__, 3, OUTCOME_DONE, REASON_NONE);
	CHECK_STR(rig_file(&g, 3, 1, "out", NULL), "");
	signal(SIGPIPE, SIG_DFL);

	/* The program has its own session, and a higher score for the out-of-memory killer. */
	rig_argv(&g, "sh", "-c", "cut -d' ' -f1,6 /proc/$$/stat; cat /proc/self/oom_score_adj", NULL);
	CHECK(rig_start(&g, 4));
	expect_exit(&g, __LINE__, 4, OUTCOME_DONE, REASON_NONE);
	int pid, session, adj;
	CHECK_INT(sscanf(rig_file(&g, 4, 1, "out", NULL), "%d %d %d", &pid, &session, &adj), 3);
	CHECK_INT(session, pid);
	CHECK(adj >= OOM_SCORE_ADJ);
	CHECK_INT(rig_runfile(&g, 4, 1).session, pid);
	rig_end(&g);
}

TEST(standard_input_has_an_end)
{
	struct rig g = { 0 };
	struct buf big = { 0 };
	rig_begin(&g);
	rig_argv(&g, "sh", "-c", "cat; test -t 0 || echo END", NULL);
	CHECK(rig_start(&g, 1));
	expect_exit(&g, __LINE__, 1, OUTCOME_DONE, REASON_NONE);
	CHECK_STR(rig_file(&g, 1, 1, "log", NULL), "END\n");
	while (big.n < 3000000) /* far more than a pipe holds */
		buf_add(&big, STR("a line of a long prompt\n"));
	g.launch.input = buf_str(&big);
	rig_argv(&g, "wc", "-c", NULL);
	CHECK(rig_start(&g, 2));
	expect_exit(&g, __LINE__, 2, OUTCOME_DONE, REASON_NONE);
	CHECK_INT(strtoll(rig_file(&g, 2, 1, "log", NULL), NULL, 10), big.n);
	buf_free(&big);
	rig_end(&g);
}

TEST(an_attempt_executes_once)
{
	struct rig g = { 0 }, other;
	rig_begin(&g);
	g.launch.cwd = g.dir;
	rig_argv(&g, "sh", "-c", "echo $$ >> marks; sleep 0.3", NULL);
	other = g;
	rig_open(&other); /* a second daemon on the same directory */
	rig_give_launcher(&other);
	for (int i = 0; i < 3; i++)
		rig_ask(&g, RN_START, 9, 1, 0);
	rig_ask(&other, RN_START, 9, 1, 0);
	expect(&g, __LINE__, RN_STARTED, 9);
	expect(&other, __LINE__, RN_STARTED, 9);
	rig_ask(&g, RN_START, 9, 1, 0);
	expect(&g, __LINE__, RN_STARTED, 9);
	expect_exit(&g, __LINE__, 9, OUTCOME_DONE, REASON_NONE);
	expect_exit(&other, __LINE__, 9, OUTCOME_DONE, REASON_NONE);
	rig_ask(&g, RN_START, 9, 1, 0);
	expect_exit(&g, __LINE__, 9, OUTCOME_DONE, REASON_NONE);
	CHECK_INT(rig_lines(&g, "marks", 1, NULL, 0), 1);
	/* Another attempt of the same run executes the program again. */
	rig_ask(&g, RN_START, 9, 2, 0);
	CHECK_INT(expect(&g, __LINE__, RN_STARTED, 9).attempt, 2);
	CHECK_INT(expect(&g, __LINE__, RN_EXIT, 9).attempt, 2);
	CHECK_INT(rig_lines(&g, "marks", 2, NULL, 0), 2);
	runner_close(other.r);
	rig_end(&g);
}

TEST(many_at_once)
{
	enum { RUNS = 60 };
	struct rig g = { 0 };
	unsigned born = 0, ended = 0;
	rig_begin(&g);
	rig_argv(&g, "sh", "-c", "echo $ROTA_RUN_MARK", NULL);
	for (unsigned i = 1; i <= RUNS; i++)
		/* The files of these runs are in several directories. */
		rig_ask(&g, RN_START, i * 1000, 1, 0);
	while (ended < RUNS) {
		struct rn_report s = rig_next(&g);
		if (!CHECK(s.kind == RN_STARTED || (s.kind == RN_EXIT && s.outcome == OUTCOME_DONE)))
			break;
		born += s.kind == RN_STARTED;
		ended += s.kind == RN_EXIT;
	}
	CHECK_INT(born, RUNS);
	struct runfile f = rig_runfile(&g, 1000, 1);
	CHECK(strncmp(rig_file(&g, 1000, 1, "log", NULL), f.mark, 32) == 0);
	rig_end(&g);
}

TEST(a_kill_carries_its_reason)
{
	struct rig g = { 0 };
	rig_begin(&g);
	g.launch.grace = 5 * USEC;
	rig_argv(&g, "sh", "-c", "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done", NULL);
	CHECK(rig_start(&g, 1));
	for (int i = 0; i < 200 && !strstr(rig_file(&g, 1, 1, "log", NULL), "up"); i++)
		rig_sleep(10);
	rig_ask(&g, RN_KILL, 1, 1, REASON_REPLACED);
	rig_ask(&g, RN_KILL, 1, 1, REASON_CANCELLED); /* the first reason counts */
	expect_exit(&g, __LINE__, 1, OUTCOME_KILLED, REASON_REPLACED);
	/* The program got SIGTERM, and time to react. */
	CHECK(strstr(rig_file(&g, 1, 1, "log", NULL), "bye\n"));

	/* The program is killed by kill(1). */
	rig_argv(&g, "sleep", "60", NULL);
	CHECK(rig_start(&g, 2));
	kill((pid_t)rig_runfile(&g, 2, 1).pid, SIGTERM);
	expect_exit(&g, __LINE__, 2, OUTCOME_KILLED, REASON_CANCELLED);
	CHECK_INT(rig_runfile(&g, 2, 1).reason, 0);

	/* Kills immediately after the request, repeatedly. Whether the program has started or not, the run
	 * ends as killed. */
	for (uint64_t run = 10; run < 20; run++) {
		rig_ask(&g, RN_START, run, 1, 0);
		rig_ask(&g, RN_KILL, run, 1, REASON_CANCELLED);
		struct rn_report s = rig_next(&g);
		if (s.kind == RN_STARTED)
			s = rig_next(&g);
		CHECK(s.kind == RN_EXIT && s.outcome == OUTCOME_KILLED && s.reason == REASON_CANCELLED);
	}
	rig_end(&g);
}

TEST(probes_are_always_answered)
{
	struct rig g = { 0 };
	rig_begin(&g);
	rig_ask(&g, RN_PROBE, 5, 1, 0);
	expect(&g, __LINE__, RN_NOT_STARTED, 5);
	rig_argv(&g, "sleep", "0.3", NULL);
	CHECK(rig_start(&g, 5)); /* it can still be started */
	rig_ask(&g, RN_PROBE, 5, 1, 0);
	expect(&g, __LINE__, RN_ALIVE, 5);
	expect_exit(&g, __LINE__, 5, OUTCOME_DONE, REASON_NONE);
	rig_end(&g);
}

TEST(prevented_attempts_never_start)
{
	struct rig g = { 0 };
	rig_begin(&g);
	g.launch.cwd = g.dir;
	rig_argv(&g, "sh", "-c", "echo $$ >> marks; sleep 0.2", NULL);
	rig_ask(&g, RN_PREVENT, 1, 1, 0);
	expect(&g, __LINE__, RN_NOT_STARTED, 1);
	rig_ask(&g, RN_START, 1, 1, 0);
	expect(&g, __LINE__, RN_NOT_STARTED, 1);
	rig_ask(&g, RN_PROBE, 1, 1, 0);
	expect(&g, __LINE__, RN_NOT_STARTED, 1);
	CHECK_INT(rig_lines(&g, "marks", 0, NULL, 0), 0);
	CHECK(rig_start(&g, 2));
	rig_ask(&g, RN_PREVENT, 2, 1, 0);
	expect(&g, __LINE__, RN_ALIVE, 2);
	expect_exit(&g, __LINE__, 2, OUTCOME_DONE, REASON_NONE);
	/* The request comes while the runner waits for the launch. */
	g.mute = true;
	rig_ask(&g, RN_START, 3, 1, 0);
	rig_ask(&g, RN_PREVENT, 3, 1, 0);
	expect(&g, __LINE__, RN_NOT_STARTED, 3);
	/* A run that is killed while the runner waits for its launch ends without a start. */
	rig_ask(&g, RN_START, 4, 1, 0);
	rig_ask(&g, RN_KILL, 4, 1, REASON_REPLACED);
	expect_exit(&g, __LINE__, 4, OUTCOME_KILLED, REASON_REPLACED);
	g.mute = false;
	rig_ask(&g, RN_START, 4, 1, 0);
	expect_exit(&g, __LINE__, 4, OUTCOME_KILLED, REASON_REPLACED);
	/* A run that was never requested is killed. */
	rig_ask(&g, RN_KILL, 6, 1, REASON_CANCELLED);
	expect_exit(&g, __LINE__, 6, OUTCOME_KILLED, REASON_CANCELLED);
	CHECK_INT(rig_lines(&g, "marks", 1, NULL, 0), 1);
	/* The caller refuses a run. */
	g.mute = true;
	rig_ask(&g, RN_START, 8, 1, 0);
	runner_refuse(g.r, 8, 1, OUTCOME_FAILED, REASON_TEMPLATE);
	expect_exit(&g, __LINE__, 8, OUTCOME_FAILED, REASON_TEMPLATE);
	rig_end(&g);
}

TEST(flushed_starts)
{
	struct rig g = { .place.flush = true };
	rig_begin(&g);
	rig_argv(&g, "true", NULL);
	CHECK(rig_start(&g, 1));
	expect_exit(&g, __LINE__, 1, OUTCOME_DONE, REASON_NONE);
	rig_ask(&g, RN_PREVENT, 2, 1, 0);
	expect(&g, __LINE__, RN_NOT_STARTED, 2);
	rig_end(&g);
}

TEST(requests_have_limits)
{
	static const char *argv[LAUNCH_ARGS_MAX + 3];
	struct rig g = { .mute = true };
	struct why why;
	rig_begin(&g);
	rig_ask(&g, RN_START, 1, 1, 0);
	CHECK_INT(runner_give(g.r, 1, 1, &(struct launch){ 0 }, &why), E_INPUT);
	for (unsigned i = 0; i < LAUNCH_ARGS_MAX + 2; i++)
		argv[i] = "true";
	CHECK_INT(runner_give(g.r, 1, 1, &(struct launch){ .argv = argv }, &why), E_LIMIT);
	argv[LAUNCH_ARGS_MAX] = NULL;
	CHECK_INT(runner_give(g.r, 1, 1, &(struct launch){ .argv = argv }, &why), OK);
	expect(&g, __LINE__, RN_STARTED, 1);
	expect_exit(&g, __LINE__, 1, OUTCOME_DONE, REASON_NONE);
	rig_end(&g);
}
