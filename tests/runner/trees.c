/* Whole process trees are killed: with a cgroup, and by descent. */
#include "core/model.h"
#include "exec/rundir.h"
#include "rig.h"
#include "sys/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum { TREE = 4 }; /* processes of `agent tree` */

/* Calls `fn` without a cgroup, then with a cgroup if there is one, and prints which of the two was tested. */
static void both_ways(const char *what, void (*fn)(struct rig *g, const char *way))
{
	char say[128];
	struct rig g = { 0 };
	rig_begin(&g);
	test_case("%s, by descent", what);
	fn(&g, "descent");
	rig_end(&g);
	const char *cgroup = rig_cgroup(say);
	printf("%s: by descent%s (%s)\n", what, cgroup ? " and by cgroup" : " only", say);
	if (cgroup) {
		struct rig h = { .place.cgroup = cgroup };
		test_case("%s, by cgroup", what);
		rig_begin(&h);
		fn(&h, "cgroup");
		rig_end(&h);
		rig_cgroup_end();
	}
	test_case(NULL);
}

static unsigned begin_tree(struct rig *g, uint64_t run, const char *kind, unsigned n, pid_t *pids)
{
	static char file[160];
	snprintf(file, sizeof file, "%s/pids-%llu", g->dir, (unsigned long long)run);
	rig_argv(g, rig_agent, kind, file, NULL);
	CHECK(rig_start(g, run));
	CHECK_INT(rig_runfile(g, run, 1).cgroup[0] != 0, g->place.cgroup != NULL);
	return rig_lines(g, strrchr(file, '/') + 1, n, pids, n);
}

static void timeout(struct rig *g, const char *way)
{
	(void)way;
	pid_t pids[TREE] = { 0 };
	g->launch.timeout = USEC;
	g->launch.grace = USEC / 5;
	g->launch.log_head = g->launch.log_tail = 65536;
	int64_t began = clock_boot().us;
	CHECK_INT(begin_tree(g, 1, "tree", TREE, pids), TREE);
	struct rn_report s = rig_next(g);
	CHECK_INT(s.kind, RN_EXIT);
	CHECK_INT(s.reason, REASON_TIMEOUT);
	CHECK(rig_all_dead(pids, TREE, 0)); /* all processes must be dead already */
	CHECK(clock_boot().us - began >= USEC + USEC / 5);
	struct runfile f = rig_runfile(g, 1, 1);
	CHECK_INT(f.log, LOG_CAPPED);
	CHECK(f.output > 1000000);
	size_t size;
	rig_file(g, 1, 1, "log", &size);
	CHECK(size <= 2 * 65536 + 64);
}

TEST(a_timeout_kills_the_whole_tree)
{
	both_ways("timeout", timeout);
}

static void leftovers(struct rig *g, const char *way)
{
	(void)way;
	pid_t pids[TREE] = { 0 };
	CHECK_INT(begin_tree(g, 1, "leave", TREE, pids), TREE);
	struct rn_report s = rig_next(g);
	CHECK_INT(s.kind, RN_EXIT);
	CHECK_INT(s.outcome, OUTCOME_DONE); /* the agent itself ended with 0 */
	CHECK(rig_all_dead(pids, TREE, 0));
}

TEST(leftover_processes_are_killed)
{
	both_ways("leftovers", leftovers);
}

static void forks(struct rig *g, const char *way)
{
	(void)way;
	pid_t pids[1] = { 0 };
	CHECK_INT(begin_tree(g, 1, "bomb", 1, pids), 1);
	rig_sleep(100);
	rig_ask(g, RN_KILL, 1, 1, REASON_CANCELLED);
	struct rn_report s = rig_next(g);
	CHECK_INT(s.kind, RN_EXIT);
	CHECK_INT(s.reason, REASON_CANCELLED);
}

TEST(a_fork_bomb_is_killed)
{
	both_ways("forks", forks);
}

static void shim_killed(struct rig *g, const char *way)
{
	pid_t pids[2 + TREE] = { 0 };
	/* Without a cgroup, an orphan is found by the mark in its environment. */
	CHECK_INT(begin_tree(g, 1, way[0] == 'c' ? "strip" : "orphan", 2, pids), 2);
	CHECK_INT(begin_tree(g, 2, "tree", TREE, pids + 2), TREE);
	for (uint64_t run = 1; run <= 2; run++)
		kill((pid_t)rig_runfile(g, run, 1).pid, SIGKILL);
	for (unsigned i = 0; i < 2; i++) {
		struct rn_report s = rig_next(g);
		CHECK_INT(s.kind, RN_LOST);
		CHECK(rig_all_dead(pids + (s.run == 2 ? 2 : 0), s.run == 2 ? TREE : 2, 0));
	}
	CHECK_INT(rig_runfile(g, 1, 1).cause, CAUSE_LOST);
	rig_ask(g, RN_PROBE, 1, 1, 0);
	CHECK_INT(rig_next(g).kind, RN_LOST);
	rig_ask(g, RN_START, 1, 1, 0);
	CHECK_INT(rig_next(g).kind, RN_LOST);
}

TEST(the_tree_of_a_killed_shim_is_swept_before_it_is_lost)
{
	both_ways("sweep", shim_killed);
}

static void shim_killed_while_down(struct rig *g, const char *way)
{
	pid_t pids[2] = { 0 };
	(void)way;
	CHECK_INT(begin_tree(g, 1, "orphan", 2, pids), 2);
	runner_close(g->r); /* the daemon and its launcher end */
	kill((pid_t)rig_runfile(g, 1, 1).pid, SIGKILL);
	rig_sleep(50);
	CHECK(rig_alive(pids[0]) || rig_alive(pids[1]));
	rig_open(g); /* the daemon starts again, without a launcher */
	rig_ask(g, RN_PROBE, 1, 1, 0);
	CHECK(rig_quiet(g, 200)); /* the tree cannot be killed without a launcher, so the run is not reported
				     as lost yet */
	rig_give_launcher(g);
	CHECK_INT(rig_next(g).kind, RN_LOST);
	CHECK(rig_all_dead(pids, 2, 0));
}

TEST(a_shim_that_died_while_no_daemon_ran)
{
	both_ways("sweep after a restart", shim_killed_while_down);
}

TEST(other_processes_are_left_alone)
{
	struct rig g = { 0 };
	pid_t pids[2] = { 0 };
	rig_begin(&g);
	CHECK_INT(begin_tree(&g, 1, "orphan", 2, pids), 2);
	CHECK_INT(begin_tree(&g, 2, "orphan", 2, pids), 2);
	kill((pid_t)rig_runfile(&g, 1, 1).pid, SIGKILL);
	struct rn_report s = rig_next(&g);
	CHECK(s.kind == RN_LOST && s.run == 1);
	CHECK(rig_alive(pids[0]) && rig_alive(pids[1])); /* the processes of the other run */
	rig_ask(&g, RN_KILL, 2, 1, REASON_CANCELLED);
	CHECK_INT(rig_next(&g).kind, RN_EXIT);
	CHECK(rig_all_dead(pids, 2, 0));
	rig_end(&g);
}

static bool move_to(const char *cgroup, const char *below)
{
	char path[300], pid[16];
	snprintf(path, sizeof path, "%s%s/cgroup.procs", cgroup, below);
	int n = snprintf(pid, sizeof pid, "%d", getpid()), fd = open(path, O_WRONLY);
	bool ok = fd >= 0 && write(fd, pid, (size_t)n) == n;
	close(fd);
	return ok;
}

/* As with Delegate=yes of systemd: the daemon itself is in the delegated cgroup. */
TEST(the_daemons_own_cgroup_is_found_and_used)
{
	char say[128];
	const char *cgroup = rig_cgroup(say);
	struct buf found = { 0 };
	if (!cgroup || !move_to(cgroup, "")) {
		printf("not exercised: %s\n", say);
		CHECK(rundir_cgroup(&found) == OK || found.n == 0);
	} else {
		CHECK_INT(rundir_cgroup(&found), OK);
		CHECK_STR(found.p, cgroup);
		struct rig g = { .place.cgroup = found.p };
		rig_begin(&g);
		pid_t pids[TREE] = { 0 };
		CHECK_INT(begin_tree(&g, 1, "tree", TREE, pids), TREE);
		rig_ask(&g, RN_KILL, 1, 1, REASON_CANCELLED);
		CHECK_INT(rig_next(&g).reason, REASON_CANCELLED);
		CHECK(rig_all_dead(pids, TREE, 0));
		rig_end(&g);
		CHECK(move_to(cgroup, "/.."));
		buf_free(&found);
		CHECK_INT(rundir_cgroup(&found), E_NOTFOUND); /* the root cgroup is never delegated */
	}
	buf_free(&found);
	rig_cgroup_end();
}
