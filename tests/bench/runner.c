/* Benchmark of runs: processes per second through shims, with records. The peer is a parent that spawns the
 * program, copies its output to a file and renames an exit record into place.
 *
 * usage: bench_runner LAUNCHER [RUNS] */
#include "exec/runner.h"
#include "sys/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE = 16 };

static const char *const argv_true[] = { "/bin/true", NULL };

static void want(void *ctx, const struct rn_req *q)
{
	struct runner **r = ctx;
	struct why why;
	struct launch l = { .argv = argv_true, .timeout = 60 * USEC };
	if (runner_give(*r, q->run, q->attempt, &l, &why) != OK)
		exit(1);
}

static double shim_runs(const char *launcher, const char *dir, unsigned runs, bool flush)
{
	struct runner *r;
	struct launcher l;
	struct why why;
	char path[128];
	snprintf(path, sizeof path, "%s/runs-%d", dir, flush);
	struct runner_config c = { .place = { .runs = path, .flush = flush }, .ctx = &r, .want = want };
	if (runner_open(&c, &r, &why) != OK || launcher_start(launcher, NULL, &l, &why) != OK) {
		fprintf(stderr, "%s\n", why.text);
		exit(1);
	}
	runner_launcher(r, l);
	int64_t began = clock_boot().us;
	for (unsigned next = 1, ended = 0; ended < runs;) {
		struct rn_report s[64];
		for (; next <= runs && next - ended <= AT_ONCE; next++)
			if (runner_submit(r, &(struct rn_req){ .op = RN_START, .run = next, .attempt = 1 }) !=
			    OK)
				exit(1);
		struct pollfd p = { .fd = runner_fd(r), .events = POLLIN };
		poll(&p, 1, 1000);
		unsigned n = runner_collect(r, s, 64);
		for (unsigned i = 0; i < n; i++)
			ended += s[i].kind == RN_EXIT;
	}
	double seconds = (double)(clock_boot().us - began) / USEC;
	runner_close(r);
	return runs / seconds;
}

/* The parent of one run, with as little code as possible. */
static void bare_parent(const char *dir, unsigned run)
{
	char name[128], piece[4096], final[128];
	int fd[2], status;
	pid_t pid;
	char *const none[] = { NULL };
	posix_spawn_file_actions_t fa;
	snprintf(name, sizeof name, "%s/%u.log", dir, run);
	int log = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (log < 0 || pipe2(fd, O_CLOEXEC) != 0)
		_exit(1);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, fd[1], 1);
	posix_spawn_file_actions_adddup2(&fa, fd[1], 2);
	if (posix_spawn(&pid, argv_true[0], &fa, NULL, (char *const *)(uintptr_t)argv_true, none) != 0)
		_exit(1);
	close(fd[1]);
	for (ssize_t n; (n = read(fd[0], piece, sizeof piece)) > 0;)
		if (write(log, piece, (size_t)n) != n)
			_exit(1);
	waitpid(pid, &status, 0);
	snprintf(name, sizeof name, "%s/%u.tmp", dir, run);
	snprintf(final, sizeof final, "%s/%u.exit", dir, run);
	int out = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (out < 0 || write(out, &status, sizeof status) != sizeof status || rename(name, final) != 0)
		_exit(1);
	_exit(0);
}

static double bare_runs(const char *dir, unsigned runs)
{
	char path[128];
	snprintf(path, sizeof path, "%s/bare", dir);
	mkdir(path, 0700);
	int64_t began = clock_boot().us;
	for (unsigned next = 1, ended = 0; ended < runs;) {
		for (; next <= runs && next - ended <= AT_ONCE; next++)
			if (fork() == 0)
				bare_parent(path, next);
		ended += wait(NULL) > 0;
	}
	return runs / ((double)(clock_boot().us - began) / USEC);
}

static void print_figure(const char *name, double ours, double peer)
{
	printf("{\"name\":\"%s\",\"ours\":%.0f,\"peer\":%.0f,\"ratio\":%.2f,\"unit\":\"/s\"}\n", name, ours,
	       peer, ours / peer);
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/rota-bench-runner-XXXXXX", command[64];
	unsigned runs = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 2000;
	if (argc < 2 || !mkdtemp(dir)) {
		fprintf(stderr, "usage: bench_runner LAUNCHER [RUNS]\n");
		return 2;
	}
	double peer = bare_runs(dir, runs);
	print_figure("run.shim", shim_runs(argv[1], dir, runs, false), peer);
	print_figure("run.shim-flushed", shim_runs(argv[1], dir, runs, true), peer);
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command);
}
