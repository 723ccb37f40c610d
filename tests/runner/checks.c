/* The check before an attempt, with real processes: the meaning of its exit code, its adoption by another
 * daemon, its repetition, and its independence from the attempt. */
#include "core/model.h"
#include "rig.h"

#include <signal.h>
#include <unistd.h>

static void ask_check(struct rig *g, uint64_t run, uint32_t number)
{
	struct rn_req q = { .op = RN_ASK, .ask = ASK_CHECK, .run = run, .attempt = 1, .number = number };
	CHECK_INT(runner_submit(g->r, &q), OK);
}

static void expect_answer(struct rig *g, int line, uint64_t run, uint32_t number, bool yes,
			  enum reason reason)
{
	struct rn_report s = rig_next(g);
	CHECK_INT_AT(line, s.kind, RN_ANSWER);
	CHECK_INT_AT(line, s.ask, ASK_CHECK);
	CHECK_INT_AT(line, s.run, run);
	CHECK_INT_AT(line, s.attempt, 1);
	CHECK_INT_AT(line, s.number, number);
	CHECK_INT_AT(line, s.yes, yes);
	CHECK_STR_AT(line, reason_words[s.reason % REASON_COUNT] ? reason_words[s.reason % REASON_COUNT] : "",
		     reason_words[reason] ? reason_words[reason] : "");
}

static void shell(struct rig *g, const char *script)
{
	rig_argv(g, "sh", "-c", script, "sh", g->dir, NULL);
}

TEST(exit_codes_are_answers)
{
	static const struct {
		int line;
		const char *script;
		bool yes;
		enum reason reason;
	} rows[] = {
		{ __LINE__, "exit 0", true, REASON_NONE },
		{ __LINE__, "echo NO-WORK", true, REASON_NONE }, /* only the exit code counts */
		{ __LINE__, "exit 1", false, REASON_NONE },
		{ __LINE__, "exit 2", false, REASON_CHECK },
		{ __LINE__, "kill -9 $$", false, REASON_CHECK },
		{ __LINE__, "trap 'exit 1' TERM; while :; do sleep 0.05; done", false, REASON_CHECK },
		{ __LINE__, "trap 'exit 0' TERM; while :; do sleep 0.05; done", false, REASON_CHECK },
	};
	struct rig g = { 0 };
	rig_begin(&g);
	g.launch.timeout = 3 * USEC;
	g.launch.grace = USEC;
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		shell(&g, rows[i].script);
		ask_check(&g, i + 1, 40 + i);
		expect_answer(&g, rows[i].line, i + 1, 40 + i, rows[i].yes, rows[i].reason);
	}
	rig_argv(&g, "/nonexistent/program", NULL);
	ask_check(&g, 99, 1);
	expect_answer(&g, __LINE__, 99, 1, false, REASON_CHECK);
	CHECK_INT(runner_busy(g.r), 0);
	rig_end(&g);
}

TEST(a_refused_check_has_its_reason)
{
	struct rig g = { 0 };
	rig_begin(&g);
	g.mute = true;
	ask_check(&g, 5, 1);
	CHECK_INT(g.wanted, 1);
	runner_refuse(g.r, 5, 1 | RUN_CHECK, OUTCOME_FAILED, REASON_TEMPLATE);
	expect_answer(&g, __LINE__, 5, 1, false, REASON_TEMPLATE);
	CHECK_INT(runner_busy(g.r), 0);
	rig_end(&g);
}

/* Check and attempt have different run files. */
TEST(the_attempt_starts_after_its_check)
{
	struct rig g = { 0 };
	rig_begin(&g);
	shell(&g, "echo checked");
	ask_check(&g, 7, 1);
	expect_answer(&g, __LINE__, 7, 1, true, REASON_NONE);
	shell(&g, "echo ran");
	CHECK(rig_start(&g, 7));
	struct rn_report s = rig_next(&g);
	CHECK_INT(s.kind, RN_EXIT);
	CHECK_INT(s.attempt, 1);
	CHECK_INT(s.outcome, OUTCOME_DONE);
	CHECK_STR(rig_file(&g, 7, 1, "log", NULL), "ran\n");
	CHECK_STR(rig_file(&g, 7, 1 | RUN_CHECK, "log", NULL), "checked\n");
	CHECK_INT(rig_runfile(&g, 7, 1 | RUN_CHECK).cause, CAUSE_EXIT);
	rig_end(&g);
}

/* A run that was held for hours has its check executed once more. */
TEST(a_check_asked_again_is_executed_again)
{
	struct rig g = { 0 };
	rig_begin(&g);
	shell(&g, "echo x >> $1/times; test $(wc -l < $1/times) -ge 2");
	ask_check(&g, 7, 1);
	expect_answer(&g, __LINE__, 7, 1, false, REASON_NONE);
	ask_check(&g, 7, 2);
	expect_answer(&g, __LINE__, 7, 2, true, REASON_NONE);
	rig_reopen(&g);
	ask_check(&g, 7, 1);
	expect_answer(&g, __LINE__, 7, 1, true, REASON_NONE);
	CHECK_INT(rig_lines(&g, "times", 3, NULL, 0), 3);
	rig_end(&g);
}

/* The daemon dies while the check runs. The next daemon adopts the process. */
TEST(a_running_check_is_adopted)
{
	struct rig g = { 0 };
	pid_t pid;
	rig_begin(&g);
	shell(&g, "echo $$ >> $1/pids; until test -e $1/go; do sleep 0.05; done; exit 1");
	ask_check(&g, 7, 3);
	CHECK_INT(rig_lines(&g, "pids", 1, &pid, 1), 1);
	rig_reopen(&g);
	ask_check(&g, 7, 1);
	CHECK(rig_quiet(&g, 100));
	CHECK(rig_alive(pid));
	ask_check(&g, 7, 2); /* asked again while the check runs: the last question counts */
	char path[96];
	snprintf(path, sizeof path, "%s/go", g.dir);
	FILE *f = fopen(path, "w");
	CHECK(f && fclose(f) == 0);
	expect_answer(&g, __LINE__, 7, 2, false, REASON_NONE);
	CHECK_INT(rig_lines(&g, "pids", 1, NULL, 0), 1);
	CHECK_INT(g.wanted, 1);
	rig_end(&g);
}

/* The shim of the check was killed while no daemon ran. The process tree is killed, then the check is
 * executed again. */
TEST(a_check_whose_shim_died_earlier)
{
	struct rig g = { 0 };
	pid_t pids[2];
	rig_begin(&g);
	shell(&g, "echo $$ >> $1/pids; test $(wc -l < $1/pids) -ge 2 || sleep 1000");
	ask_check(&g, 7, 1);
	CHECK_INT(rig_lines(&g, "pids", 1, pids, 1), 1);
	runner_close(g.r);
	pid_t shim = (pid_t)rig_runfile(&g, 7, 1 | RUN_CHECK).pid;
	kill(shim, SIGKILL);
	CHECK(rig_all_dead(&shim, 1, 5000));
	rig_open(&g);
	rig_give_launcher(&g);
	ask_check(&g, 7, 1);
	expect_answer(&g, __LINE__, 7, 1, true, REASON_NONE);
	CHECK_INT(rig_lines(&g, "pids", 2, pids, 2), 2);
	CHECK(rig_all_dead(pids, 2, 5000));
	rig_end(&g);
}

/* A check whose shim is killed while it runs has failed, and is not repeated. */
TEST(a_check_whose_shim_dies)
{
	struct rig g = { 0 };
	pid_t pid;
	rig_begin(&g);
	shell(&g, "echo $$ >> $1/pids; sleep 1000");
	ask_check(&g, 7, 1);
	CHECK_INT(rig_lines(&g, "pids", 1, &pid, 1), 1);
	CHECK(rig_quiet(&g, 50));
	kill((pid_t)rig_runfile(&g, 7, 1 | RUN_CHECK).pid, SIGKILL);
	expect_answer(&g, __LINE__, 7, 1, false, REASON_CHECK);
	CHECK(rig_all_dead(&pid, 1, 5000));
	CHECK_INT(g.wanted, 1);
	rig_end(&g);
}

TEST(a_dropped_check_is_killed)
{
	struct rig g = { 0 };
	pid_t pid;
	rig_begin(&g);
	shell(&g, "echo $$ >> $1/pids; sleep 1000");
	ask_check(&g, 7, 1);
	CHECK_INT(rig_lines(&g, "pids", 1, &pid, 1), 1);
	runner_drop_questions(g.r, 8, 1); /* ignored: there is no such check */
	CHECK_STR(rig_file(&g, 8, 1 | RUN_CHECK, "run", NULL), "");
	runner_drop_questions(g.r, 7, 1);
	expect_answer(&g, __LINE__, 7, 1, false, REASON_CHECK);
	CHECK(rig_all_dead(&pid, 1, 5000));
	CHECK_INT(runner_busy(g.r), 0);
	rig_end(&g);
}

/* At most RUNNER_CHECKS_MAX checks run at a time. Other checks wait in order, and runs do not wait for
 * checks. */
TEST(checks_are_queued)
{
	enum { MANY = RUNNER_CHECKS_MAX + 20 };
	struct rig g = { 0 };
	bool answered[MANY + 1] = { false };
	rig_begin(&g);
	shell(&g, "echo $$ >> $1/pids; until test -e $1/go; do sleep 0.05; done");
	for (unsigned i = 1; i <= MANY; i++)
		ask_check(&g, i, i);
	CHECK_INT(g.wanted, RUNNER_CHECKS_MAX);
	runner_drop_questions(g.r, MANY, 1); /* dropped while it is queued */
	shell(&g, "true");
	CHECK(rig_start(&g, 1000));
	CHECK_INT(rig_next(&g).kind, RN_EXIT);
	shell(&g, "echo $$ >> $1/pids");
	char path[96];
	snprintf(path, sizeof path, "%s/go", g.dir);
	FILE *f = fopen(path, "w");
	CHECK(f && fclose(f) == 0);
	for (unsigned i = 1; i < MANY; i++) {
		struct rn_report s = rig_next(&g);
		CHECK(s.kind == RN_ANSWER && s.yes && s.run == s.number && s.run < MANY && !answered[s.run]);
		if (s.run < MANY)
			answered[s.run] = true;
	}
	CHECK(rig_quiet(&g, 50));
	CHECK_INT(rig_lines(&g, "pids", MANY - 1, NULL, 0), MANY - 1);
	CHECK_INT(runner_busy(g.r), 0);
	rig_end(&g);
}
