/* The limits that end a run (timeout, stall, lease), and the bounds of its log. */
#include "core/model.h"
#include "exec/lease.h"
#include "port/lease.h"
#include "rig.h"
#include "sys/clock.h"

#include <fcntl.h>
#include <unistd.h>

static void expect_killed(struct rig *g, int line, uint64_t run, enum reason reason)
{
	struct rn_report s = rig_next(g);
	CHECK_INT_AT(line, s.kind, RN_EXIT);
	CHECK_INT_AT(line, s.run, run);
	CHECK_STR_AT(line, outcome_words[s.outcome % OUTCOME_COUNT], "killed");
	CHECK_STR_AT(line, reason_words[s.reason % REASON_COUNT], reason_words[reason]);
}

static struct boot after(int64_t us)
{
	return (struct boot){ clock_boot().us + us };
}

TEST(a_silent_run_stalls)
{
	struct rig g = { 0 };
	rig_begin(&g);
	g.launch.stall = USEC * 4 / 10;
	rig_argv(&g, "sh", "-c", "for i in 1 2 3 4 5 6; do sleep 0.2; echo . >&2; done", NULL);
	CHECK(rig_start(&g, 1));
	struct rn_report s = rig_next(&g);
	CHECK(s.kind == RN_EXIT && s.outcome == OUTCOME_DONE);
	rig_argv(&g, "sh", "-c", "echo .; sleep 60", NULL);
	CHECK(rig_start(&g, 2));
	expect_killed(&g, __LINE__, 2, REASON_STALLED);
	rig_end(&g);
}

TEST(an_expired_lease_kills_the_run)
{
	struct rig g = { 0 };
	struct lease_keeper *l;
	struct why why;
	char path[100];
	rig_begin(&g);
	runner_close(g.r);
	snprintf(path, sizeof path, "%s/lease", g.dir);
	CHECK_INT(lease_keep(path, after(USEC * 3 / 10), &l, &why), OK);
	g.place.lease = path;
	rig_open(&g);
	rig_give_launcher(&g);
	g.launch.grace = 60 * USEC; /* a fenced run gets no grace */
	rig_argv(&g, "sh", "-c", "trap '' TERM; while :; do sleep 0.05; done", NULL);
	CHECK(rig_start(&g, 1));
	for (int i = 0; i < 10; i++) {
		lease_renew(l, after(USEC * 3 / 10));
		CHECK(rig_quiet(&g, 80));
	}
	int64_t ended = after(USEC * 3 / 10).us;
	expect_killed(&g, __LINE__, 1, REASON_FENCED);
	CHECK(clock_boot().us < ended + 5 * USEC);
	/* If the lease has expired, nothing is executed. */
	g.launch.cwd = g.dir;
	rig_argv(&g, "sh", "-c", "echo $$ >> marks", NULL);
	CHECK(rig_start(&g, 2));
	expect_killed(&g, __LINE__, 2, REASON_FENCED);
	/* If the lease was renewed, the program is executed. */
	lease_renew(l, after(60 * USEC));
	CHECK(rig_start(&g, 3));
	CHECK_INT(rig_next(&g).outcome, OUTCOME_DONE);
	CHECK_INT(rig_lines(&g, "marks", 1, NULL, 0), 1);
	lease_renew(l, after(0)); /* ignored: a deadline never decreases */
	CHECK(rig_start(&g, 4));
	CHECK_INT(rig_next(&g).outcome, OUTCOME_DONE);
	lease_close(l);
	/* A page of another boot, and a truncated page. */
	struct lease_page p = { LEASE_MAGIC, 1, INT64_MAX, "00000000-0000-0000-0000-000000000000" };
	int fd = open(path, O_WRONLY);
	CHECK(pwrite(fd, &p, sizeof p, 0) == sizeof p);
	CHECK(rig_start(&g, 5));
	expect_killed(&g, __LINE__, 5, REASON_FENCED);
	CHECK(ftruncate(fd, 10) == 0);
	close(fd);
	CHECK(rig_start(&g, 6));
	expect_killed(&g, __LINE__, 6, REASON_FENCED);
	rig_end(&g);
}

TEST(start_by_passed)
{
	struct rig g = { 0 };
	rig_begin(&g);
	g.launch.cwd = g.dir;
	rig_argv(&g, "sh", "-c", "echo $$ >> marks", NULL);
	g.launch.start_by = after(-1);
	rig_ask(&g, RN_START, 1, 1, 0);
	struct rn_report s = rig_next(&g);
	CHECK(s.kind == RN_EXIT && s.run == 1 && s.outcome == OUTCOME_NONE &&
	      s.reason == REASON_WINDOW_CLOSED);
	CHECK_INT(rig_runfile(&g, 1, 1).cause, CAUSE_LATE);
	rig_ask(&g, RN_PROBE, 1, 1, 0); /* the answer stays the same */
	s = rig_next(&g);
	CHECK(s.kind == RN_EXIT && s.outcome == OUTCOME_NONE);
	g.launch.start_by = after(60 * USEC);
	CHECK(rig_start(&g, 2));
	CHECK_INT(rig_next(&g).outcome, OUTCOME_DONE);
	CHECK_INT(rig_lines(&g, "marks", 1, NULL, 0), 1);
	rig_end(&g);
}

TEST(logs_keep_head_and_tail)
{
	struct rig g = { 0 };
	rig_begin(&g);
	g.launch.log_head = 1600;
	g.launch.log_tail = 3200;
	g.launch.out = true;
	rig_argv(&g, rig_agent, "shout", "16000000", NULL);
	CHECK(rig_start(&g, 1));
	CHECK_INT(rig_next(&g).outcome, OUTCOME_DONE);
	size_t size;
	const char *log = rig_file(&g, 1, 1, "log", &size);
	CHECK(str_starts(str_of(log), STR("000000000000000\n000000000000001\n")));
	CHECK(str_starts(str_of(log + 1600), STR("\n[rota: 00000000000015995200 bytes left out]\n")));
	CHECK_INT(size, 1600 + 45 + 3200);
	CHECK_STR(log + size - 16, "000000000999999\n");
	struct runfile f = rig_runfile(&g, 1, 1);
	CHECK_INT(f.log, LOG_CAPPED);
	CHECK_INT(f.output, 16000000);
	CHECK_INT(f.left_out, 16000000 - 4800);
	rig_end(&g);
}

TEST(secrets_are_masked_across_reads)
{
	static const struct str secrets[] = { { "hunter2hunter2", 14 },
					      { "s3cr3t", 6 },
					      { "line1\nline2", 11 } };
	struct rig g = { 0 };
	rig_begin(&g);
	g.launch.secret = secrets;
	g.launch.secrets = ARRAY_LEN(secrets);
	g.launch.out = true;
	rig_argv(&g, rig_agent, "pieces", "a hunter2hunter2 b s3cr3ts3cr3t c hunter2 d line1\nline2 e hunt",
		 NULL);
	CHECK(rig_start(&g, 1));
	CHECK_INT(rig_next(&g).outcome, OUTCOME_DONE);
	const char *want = "a [redacted] b [redacted][redacted] c hunter2 d [redacted] e hunt";
	CHECK_STR(rig_file(&g, 1, 1, "log", NULL), want);
	CHECK_STR(rig_file(&g, 1, 1, "out", NULL), want);
	rig_end(&g);
}
