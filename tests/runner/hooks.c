/* Hooks, with real processes: what the runner reports of them, their files, and their line, in which they
 * wait for each other but neither for checks nor for runs. */
#include "core/model.h"
#include "rig.h"

#include <signal.h>
#include <unistd.h>

enum { OF_CONFIG = RUN_HOOK + HOOK_OF_CONFIG, OF_SCHEDULE = RUN_HOOK + HOOK_OF_SCHEDULE };

static void ask(struct rig *g, enum rn_ask which, uint64_t run, uint64_t sid, uint32_t number)
{
	struct rn_req q = { .op = RN_ASK,
			    .ask = (uint8_t)which,
			    .run = run,
			    .sid = sid,
			    .attempt = which == ASK_CHECK ? 1 : 0,
			    .number = number };
	CHECK_INT(runner_submit(g->r, &q), OK);
}

static void expect_end(struct rig *g, int line, enum rn_ask which, uint64_t run, enum outcome outcome,
		       enum reason reason, int exit_code)
{
	struct rn_report s = rig_next(g);
	CHECK_INT_AT(line, s.kind, RN_ANSWER);
	CHECK_INT_AT(line, s.ask, which);
	CHECK_INT_AT(line, s.run, run);
	CHECK_AT(line, !s.yes);
	CHECK_INT_AT(line, s.outcome, outcome);
	CHECK_INT_AT(line, s.reason, reason);
	CHECK_INT_AT(line, s.exit_code, exit_code);
}

static void shell(struct rig *g, const char *script)
{
	rig_argv(g, "sh", "-c", script, "sh", g->dir, NULL);
	g->launch.out = g->launch.err = true;
}

static void touch(struct rig *g, const char *name)
{
	char path[96];
	snprintf(path, sizeof path, "%s/%s", g->dir, name);
	FILE *f = fopen(path, "w");
	CHECK(f && fclose(f) == 0);
}

TEST(the_end_of_a_hook_is_reported_as_it_was)
{
	static const struct {
		int line;
		const char *script;
		enum outcome outcome;
		enum reason reason;
		int exit_code;
	} rows[] = {
		{ __LINE__, "exit 0", OUTCOME_DONE, REASON_NONE, 0 },
		{ __LINE__, "exit 3", OUTCOME_FAILED, REASON_EXIT, 3 },
		{ __LINE__, "kill -9 $$", OUTCOME_FAILED, REASON_EXIT, 128 + SIGKILL },
		{ __LINE__, "while :; do sleep 0.05; done", OUTCOME_KILLED, REASON_TIMEOUT, 128 + SIGTERM },
	};
	struct rig g = { 0 };
	rig_begin(&g);
	g.launch.timeout = 3 * USEC;
	g.launch.grace = USEC;
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		shell(&g, rows[i].script);
		ask(&g, ASK_HOOK, i + 1, 1, 1);
		expect_end(&g, rows[i].line, ASK_HOOK, i + 1, rows[i].outcome, rows[i].reason,
			   rows[i].exit_code);
	}
	rig_argv(&g, "/nonexistent/program", NULL);
	ask(&g, ASK_HOOK, 99, 1, 1);
	expect_end(&g, __LINE__, ASK_HOOK, 99, OUTCOME_FAILED, REASON_EXIT, -1);
	g.mute = true;
	ask(&g, ASK_CONFIG_HOOK, 100, 1, 1);
	runner_refuse(g.r, 100, OF_CONFIG, OUTCOME_FAILED, REASON_TEMPLATE);
	expect_end(&g, __LINE__, ASK_CONFIG_HOOK, 100, OUTCOME_FAILED, REASON_TEMPLATE, -1);
	CHECK_INT(runner_busy(g.r), 0);
	rig_end(&g);
}

/* Each hook of a run has its own files; standard output and standard error are kept apart as well. */
TEST(hooks_have_files_of_their_own)
{
	struct rig g = { 0 };
	rig_begin(&g);
	shell(&g, "echo said; echo complained >&2");
	ask(&g, ASK_CONFIG_HOOK, 7, 1, 1);
	expect_end(&g, __LINE__, ASK_CONFIG_HOOK, 7, OUTCOME_DONE, REASON_NONE, 0);
	shell(&g, "echo other");
	ask(&g, ASK_HOOK, 7, 1, 2);
	expect_end(&g, __LINE__, ASK_HOOK, 7, OUTCOME_DONE, REASON_NONE, 0);
	shell(&g, "echo ran");
	CHECK(rig_start(&g, 7));
	CHECK_INT(rig_next(&g).outcome, OUTCOME_DONE);
	CHECK_STR(rig_file(&g, 7, OF_CONFIG, "out", NULL), "said\n");
	CHECK_STR(rig_file(&g, 7, OF_CONFIG, "err", NULL), "complained\n");
	CHECK_STR(rig_file(&g, 7, OF_SCHEDULE, "out", NULL), "other\n");
	CHECK_STR(rig_file(&g, 7, OF_SCHEDULE, "err", NULL), "");
	CHECK_STR(rig_file(&g, 7, 1, "log", NULL), "ran\n");
	rig_end(&g);
}

/* The next daemon adopts a hook that runs, and executes one again that has ended. */
TEST(hooks_are_adopted_and_repeated)
{
	struct rig g = { 0 };
	pid_t pid;
	rig_begin(&g);
	shell(&g, "echo $$ >> $1/pids; until test -e $1/go; do sleep 0.05; done; exit 4");
	ask(&g, ASK_HOOK, 7, 1, 1);
	CHECK_INT(rig_lines(&g, "pids", 1, &pid, 1), 1);
	rig_reopen(&g);
	ask(&g, ASK_HOOK, 7, 1, 1);
	CHECK(rig_quiet(&g, 100));
	CHECK(rig_alive(pid));
	touch(&g, "go");
	expect_end(&g, __LINE__, ASK_HOOK, 7, OUTCOME_FAILED, REASON_EXIT, 4);
	CHECK_INT(rig_lines(&g, "pids", 1, NULL, 0), 1);
	rig_reopen(&g);
	ask(&g, ASK_HOOK, 7, 1, 1);
	expect_end(&g, __LINE__, ASK_HOOK, 7, OUTCOME_FAILED, REASON_EXIT, 4);
	CHECK_INT(rig_lines(&g, "pids", 2, NULL, 0), 2);
	rig_end(&g);
}

/* A create hook that an earlier daemon left behind was asked about another change: it is stopped. */
TEST(a_create_hook_is_not_adopted)
{
	struct rig g = { 0 };
	pid_t pid;
	rig_begin(&g);
	shell(&g, "echo $$ >> $1/pids; sleep 1000");
	ask(&g, ASK_CREATE_HOOK, 7, 1, 1);
	CHECK_INT(rig_lines(&g, "pids", 1, &pid, 1), 1);
	rig_reopen(&g);
	ask(&g, ASK_CREATE_HOOK, 7, 1, 1);
	struct rn_report s = rig_next(&g);
	CHECK_INT(s.kind, RN_ANSWER);
	CHECK_INT(s.outcome, OUTCOME_KILLED);
	CHECK_INT(s.reason, REASON_CANCELLED);
	CHECK(rig_all_dead(&pid, 1, 5000));
	rig_end(&g);
}

/* Hooks that hang fill their line: checks and runs do not wait for them, and the next hook starts when one of
 * them ends. */
TEST(hanging_hooks_delay_neither_checks_nor_runs)
{
	enum { MANY = RUNNER_HOOKS_MAX + 3 };
	struct rig g = { 0 };
	rig_begin(&g);
	shell(&g, "echo $$ >> $1/pids; until test -e $1/go; do sleep 0.2; done");
	for (unsigned i = 1; i <= MANY; i++)
		ask(&g, ASK_HOOK, i, i, i);
	CHECK_INT(g.wanted, RUNNER_HOOKS_MAX);
	shell(&g, "exit 1");
	ask(&g, ASK_CHECK, 500, 500, 1);
	struct rn_report s = rig_next(&g);
	CHECK(s.kind == RN_ANSWER && s.ask == ASK_CHECK && s.run == 500);
	shell(&g, "true");
	CHECK(rig_start(&g, 1000));
	CHECK_INT(rig_next(&g).kind, RN_EXIT);
	CHECK_INT(rig_lines(&g, "pids", RUNNER_HOOKS_MAX, NULL, 0), RUNNER_HOOKS_MAX);
	touch(&g, "go");
	for (unsigned i = 1; i <= MANY; i++)
		CHECK_INT(rig_next(&g).outcome, OUTCOME_DONE);
	CHECK_INT(runner_busy(g.r), 0);
	rig_end(&g);
}

/* Runs of one schedule may overlap: their hooks are executed one after the other, so that they cannot take
 * all places of the queue. */
TEST(a_schedule_has_one_hook_at_a_time)
{
	struct rig g = { 0 };
	rig_begin(&g);
	shell(&g, "echo $$ >> $1/pids; until test -e $1/go; do sleep 0.05; done");
	ask(&g, ASK_HOOK, 1, 5, 1);
	ask(&g, ASK_HOOK, 2, 5, 1);
	ask(&g, ASK_HOOK, 3, 5, 1);
	ask(&g, ASK_HOOK, 4, 6, 1);
	CHECK_INT(g.wanted, 2); /* of runs 1 and 4 */
	runner_drop_questions(g.r, 2, 1);
	CHECK_INT(rig_lines(&g, "pids", 2, NULL, 0), 2);
	touch(&g, "go");
	bool ended[5] = { false };
	for (unsigned i = 0; i < 3; i++) {
		struct rn_report s = rig_next(&g);
		CHECK_INT(s.outcome, OUTCOME_DONE);
		ended[s.run < 5 ? s.run : 0] = true;
	}
	CHECK(ended[1] && !ended[2] && ended[3] && ended[4]);
	CHECK(rig_quiet(&g, 50));
	CHECK_INT(runner_busy(g.r), 0);
	rig_end(&g);
}

TEST(a_dropped_hook_is_killed)
{
	struct rig g = { 0 };
	pid_t pid;
	rig_begin(&g);
	shell(&g, "echo $$ >> $1/pids; sleep 1000");
	ask(&g, ASK_CONFIG_HOOK, 7, 1, 1);
	CHECK_INT(rig_lines(&g, "pids", 1, &pid, 1), 1);
	runner_drop_questions(g.r, 7, 1);
	struct rn_report s = rig_next(&g);
	CHECK_INT(s.outcome, OUTCOME_KILLED);
	CHECK_INT(s.reason, REASON_CANCELLED);
	CHECK(rig_all_dead(&pid, 1, 5000));
	rig_end(&g);
}
