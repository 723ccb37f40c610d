/* A full disk: an attempt cannot start, and the runner reports trouble; a log is cut, and its run continues.
 * The disk is a small tmpfs in a mount namespace of the test, so the test needs root. */
#include "core/model.h"
#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static bool small_disk(struct rig *g, const char *options)
{
	rig_begin(g);
	runner_close(g->r);
	mkdir(g->runs, 0700);
	bool ok = unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		  mount("none", g->runs, "tmpfs", 0, options) == 0 && chmod(g->runs, 0700) == 0;
	if (!ok)
		printf("not exercised: no small disk can be mounted: %s\n", strerror(errno));
	rig_open(g);
	rig_give_launcher(g);
	return ok;
}

static void fill_disk(struct rig *g, const char *name)
{
	static char piece[65536];
	char path[160];
	snprintf(path, sizeof path, "%s/%s", g->runs, name);
	int fd = open(path, O_CREAT | O_WRONLY, 0600);
	while (write(fd, piece, sizeof piece) > 0 || write(fd, piece, 4096) > 0)
		;
	close(fd);
}

TEST(full_at_the_start)
{
	struct rig g = { 0 };
	struct why why;
	if (small_disk(&g, "size=1m")) {
		char path[160];
		fill_disk(&g, "ballast");
		g.launch.cwd = g.dir;
		rig_argv(&g, "sh", "-c", "echo $$ >> marks", NULL);
		rig_ask(&g, RN_START, 1, 1, 0);
		CHECK(rig_quiet(&g, 250));
		CHECK_INT(runner_trouble(g.r, NULL, &why), E_IO);
		CHECK_STR(why.text, "run 1 could not be started: No space left on device");
		CHECK_INT(rig_lines(&g, "marks", 0, NULL, 0), 0);
		rig_ask(&g, RN_PROBE, 1, 1, 0); /* the answer comes when the run has started */
		snprintf(path, sizeof path, "%s/ballast", g.runs);
		unlink(path);
		CHECK_INT(rig_next(&g).kind, RN_ALIVE);
		CHECK_INT(rig_next(&g).outcome, OUTCOME_DONE);
		CHECK_INT(runner_trouble(g.r, NULL, &why), OK);
		CHECK_INT(rig_lines(&g, "marks", 1, NULL, 0), 1);
		/* A run that is killed while it waits is reported as soon as its run file can be written. */
		fill_disk(&g, "ballast");
		rig_ask(&g, RN_START, 2, 1, 0);
		CHECK(rig_quiet(&g, 150));
		rig_ask(&g, RN_KILL, 2, 1, REASON_CANCELLED);
		CHECK(rig_quiet(&g, 150));
		unlink(path);
		struct rn_report s = rig_next(&g);
		CHECK(s.kind == RN_EXIT && s.run == 2 && s.outcome == OUTCOME_KILLED);
		CHECK_INT(rig_lines(&g, "marks", 1, NULL, 0), 1);
		umount2(g.runs, MNT_DETACH);
	}
	rig_end(&g);
}

TEST(full_while_logging)
{
	struct rig g = { 0 };
	if (small_disk(&g, "size=1m")) {
		rig_argv(&g, rig_agent, "shout", "16000000", NULL);
		CHECK(rig_start(&g, 1));
		struct rn_report s = rig_next(&g);
		CHECK(s.kind == RN_EXIT && s.outcome == OUTCOME_DONE);
		struct runfile f = rig_runfile(&g, 1, 1);
		CHECK_INT(f.log, LOG_CUT);
		CHECK_INT(f.output, 16000000);
		CHECK(f.left_out > 14000000);
		CHECK(str_starts(str_of(rig_file(&g, 1, 1, "log", NULL)), STR("000000000000000\n")));
		umount2(g.runs, MNT_DETACH);
	}
	rig_end(&g);
}
