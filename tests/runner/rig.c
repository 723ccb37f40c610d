/* The rig of the runner tests. */
#include "rig.h"
#include "core/model.h"
#include "sys/clock.h"
#include "sys/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char *rig_launcher, *rig_agent;

enum { PATIENCE_MS = 10000 };

__attribute__((constructor)) static void set_up(void)
{
	rig_launcher = getenv("ROTA_LAUNCHER");
	rig_agent = getenv("ROTA_TEST_AGENT");
	if (!rig_launcher || !rig_agent) {
		fprintf(stderr, "ROTA_LAUNCHER and ROTA_TEST_AGENT must name the programs\n");
		exit(2);
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	setvbuf(stdout, NULL, _IOLBF, 0);
}

static void want(void *ctx, const struct rn_req *q)
{
	struct rig *g = ctx;
	struct why why;
	g->wanted++;
	if (!g->mute && runner_give(g->r, q->run, q->attempt, &g->launch, &why) != OK)
		printf("runner_give failed: %s\n", why.text);
}

void rig_open(struct rig *g)
{
	struct why why;
	struct runner_config c = { .place = g->place, .ctx = g, .want = want };
	c.place.runs = g->runs;
	if (runner_open(&c, &g->r, &why) != OK) {
		printf("runner_open failed: %s\n", why.text);
		abort();
	}
}

void rig_give_launcher(struct rig *g)
{
	struct launcher l;
	struct why why;
	if (launcher_start(rig_launcher, NULL, &l, &why) != OK) {
		printf("launcher_start failed: %s\n", why.text);
		abort();
	}
	runner_launcher(g->r, l);
}

void rig_begin(struct rig *g)
{
	const char *tmp = getenv("TMPDIR");
	snprintf(g->dir, sizeof g->dir, "%.40s/rota-run-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(g->dir))
		abort();
	snprintf(g->runs, sizeof g->runs, "%s/runs", g->dir);
	rig_open(g);
	rig_give_launcher(g);
}

void rig_reopen(struct rig *g)
{
	runner_close(g->r);
	rig_open(g);
	rig_give_launcher(g);
}

/* Waits for descendants to end, then kills them. Returns how many had to be killed. */
static unsigned kill_leftovers(void)
{
	unsigned left = 0;
	for (int round = 0; round < 200; round++) {
		while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
			;
		struct procs ps;
		if (procs_list(&ps) != 0)
			return left;
		for (unsigned i = 0; i < ps.n; i++)
			ps.p[i].marked = ps.p[i].pid == getpid();
		procs_mark_descendants(&ps);
		unsigned found = 0;
		for (unsigned i = 0; i < ps.n; i++)
			if (ps.p[i].marked && ps.p[i].pid != getpid() && !ps.p[i].dead) {
				found++;
				/* Kills only after some rounds, because shims may be about to end. */
				if (round > 20)
					kill(ps.p[i].pid, SIGKILL);
				if (round == 21)
					printf("left behind: %d\n", ps.p[i].pid);
			}
		procs_free(&ps);
		if (!found)
			return left;
		if (round > 20)
			left = left > found ? left : found;
		rig_sleep(10);
	}
	return left;
}

static void remove_tree(const char *path)
{
	pid_t pid = fork();
	if (pid == 0) {
		execlp("rm", "rm", "-rf", "--", path, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

void rig_end(struct rig *g)
{
	runner_close(g->r);
	CHECK_INT(kill_leftovers(), 0);
	if (strstr(g->dir, "/rota-run-"))
		remove_tree(g->dir);
}

void rig_argv(struct rig *g, ...)
{
	static const char *argv[64];
	unsigned n = 0;
	va_list ap;
	va_start(ap, g);
	while ((argv[n] = va_arg(ap, const char *)) && n < 63)
		n++;
	va_end(ap);
	g->launch.argv = argv;
}

void rig_ask(struct rig *g, enum rn_op op, uint64_t run, unsigned attempt, unsigned reason)
{
	struct rn_req q = {
		.op = (uint8_t)op, .run = run, .attempt = (uint16_t)attempt, .reason = (uint16_t)reason
	};
	CHECK_INT(runner_submit(g->r, &q), OK);
}

static bool next_report(struct rig *g, int ms, struct rn_report *ret)
{
	int64_t until = clock_boot().us + ms * INT64_C(1000);
	for (;;) {
		if (runner_collect(g->r, ret, 1) == 1)
			return true;
		int64_t left = (until - clock_boot().us) / 1000;
		if (left <= 0)
			return false;
		struct pollfd p = { .fd = runner_fd(g->r), .events = POLLIN };
		poll(&p, 1, (int)left);
	}
}

struct rn_report rig_next(struct rig *g)
{
	struct rn_report s;
	return next_report(g, PATIENCE_MS, &s) ? s : (struct rn_report){ .kind = UINT8_MAX };
}

bool rig_quiet(struct rig *g, int ms)
{
	struct rn_report s;
	return !next_report(g, ms, &s);
}

bool rig_start(struct rig *g, uint64_t run)
{
	rig_ask(g, RN_START, run, 1, 0);
	struct rn_report s = rig_next(g);
	return CHECK_INT(s.kind, RN_STARTED) && CHECK_INT(s.run, run);
}

const char *rig_file(struct rig *g, uint64_t run, unsigned attempt, const char *kind, size_t *size)
{
	static struct buf content;
	struct buf path = { 0 };
	char piece[65536];
	runfile_path(&path, g->runs, run, attempt, kind);
	int fd = open(path.p, O_RDONLY | O_CLOEXEC);
	buf_free(&path);
	content.n = 0;
	buf_add(&content, STR(""));
	for (ssize_t n; fd >= 0 && (n = read(fd, piece, sizeof piece)) > 0;)
		buf_add(&content, (struct str){ piece, (size_t)n });
	if (fd >= 0)
		close(fd);
	if (size)
		*size = content.n;
	return content.p;
}

struct runfile rig_runfile(struct rig *g, uint64_t run, unsigned attempt)
{
	struct runfile f = { 0 };
	enum run_life life;
	struct why why;
	CHECK_INT(runfile_read(g->runs, run, attempt, &life, &f, &why), OK);
	return f;
}

unsigned rig_lines(struct rig *g, const char *name, unsigned lines, pid_t *pids, unsigned max)
{
	char path[160];
	unsigned n = 0;
	snprintf(path, sizeof path, "%s/%s", g->dir, name);
	for (int ms = 0; ms < PATIENCE_MS; ms += 10) {
		char line[64];
		n = 0;
		FILE *f = fopen(path, "r");
		while (f && fgets(line, sizeof line, f)) {
			if (pids && n < max)
				pids[n] = (pid_t)strtol(line, NULL, 10);
			n++;
		}
		if (f)
			fclose(f);
		if (n >= lines)
			break;
		rig_sleep(10);
	}
	return n;
}

bool rig_alive(pid_t pid)
{
	struct proc p;
	return proc_read(pid, &p) && !p.dead;
}

bool rig_all_dead(const pid_t *pids, unsigned n, int ms)
{
	for (int t = 0; t <= ms; t += 10) {
		unsigned alive = 0;
		for (unsigned i = 0; i < n; i++)
			alive += rig_alive(pids[i]);
		if (!alive)
			return true;
		rig_sleep(10);
	}
	return false;
}

void rig_sleep(int ms)
{
	usleep((useconds_t)ms * 1000);
}

/* --- a cgroup --- */

static char cgroup_path[256], cgroup_mount[64];

static bool try_cgroup(const char *mount)
{
	snprintf(cgroup_path, sizeof cgroup_path, "%.150s/rota-test-%d", mount, getpid());
	if (mkdir(cgroup_path, 0755) == 0)
		return true;
	cgroup_path[0] = 0;
	return false;
}

static bool mounted_cgroup(void)
{
	char line[1024], mount[512];
	bool found = false;
	FILE *f = fopen("/proc/self/mountinfo", "r");
	while (f && !found && fgets(line, sizeof line, f))
		found = strstr(line, " - cgroup2 ") && sscanf(line, "%*s %*s %*s %*s %511s", mount) == 1 &&
			try_cgroup(mount);
	if (f)
		fclose(f);
	return found;
}

const char *rig_cgroup(char text[static 128])
{
	if (cgroup_path[0] || mounted_cgroup()) {
		snprintf(text, 128, "cgroup v2 as it is mounted");
		return cgroup_path;
	}
	snprintf(cgroup_mount, sizeof cgroup_mount, "/tmp/rota-cgroup-XXXXXX");
	if (mkdtemp(cgroup_mount) && unshare(CLONE_NEWNS) == 0 &&
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("none", cgroup_mount, "cgroup2", 0, NULL) == 0 && try_cgroup(cgroup_mount)) {
		snprintf(text, 128, "cgroup v2 mounted for the test");
		return cgroup_path;
	}
	snprintf(text, 128, "cgroup v2 is not available: %s", strerror(errno));
	rig_cgroup_end();
	return NULL;
}

void rig_cgroup_end(void)
{
	if (cgroup_path[0])
		CHECK(rmdir(cgroup_path) == 0); /* the cgroup must be empty */
	cgroup_path[0] = 0;
	if (cgroup_mount[0]) {
		umount2(cgroup_mount, MNT_DETACH);
		rmdir(cgroup_mount);
	}
	cgroup_mount[0] = 0;
}
