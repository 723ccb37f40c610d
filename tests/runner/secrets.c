/* Secrets that a shim fetches for its agent: the places where they may appear, and the failure if they cannot
 * be fetched. */
#include "core/model.h"
#include "exec/secret.h"
#include "rig.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define VALUE "hunter2-correct-horse"

static struct str needle;
static unsigned hits;

static bool file_has(const char *path, struct str what)
{
	static char all[1 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	for (ssize_t k; fd >= 0 && n < sizeof all && (k = read(fd, all + n, sizeof all - n)) > 0;)
		n += (size_t)k;
	if (fd >= 0)
		close(fd);
	return n && memmem(all, n, what.p, what.n);
}

static int search_file(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)at;
	if (kind == FTW_F && file_has(path, needle)) {
		printf("%s has it\n", path);
		hits++;
	}
	return 0;
}

/* Checks that the value is in no file of any run. */
static void expect_nowhere(const struct rig *g, int line, const char *value)
{
	needle = str_of(value);
	hits = 0;
	nftw(g->runs, search_file, 8, FTW_PHYS);
	CHECK_INT_AT(line, hits, 0);
}

static const char *path_of(const struct rig *g, const char *name)
{
	static char path[4][128];
	static unsigned i;
	i = (i + 1) % 4;
	snprintf(path[i], sizeof path[i], "%s/%s", g->dir, name);
	return path[i];
}

static const char *write_file(const struct rig *g, const char *name, struct str text)
{
	const char *path = path_of(g, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, text.p, text.n) == (ssize_t)text.n);
	close(fd);
	return path;
}

static const char *const *shell(const char *line)
{
	static const char *argv[] = { "/bin/sh", "-c", NULL, NULL };
	argv[2] = line;
	return argv;
}

static void expect_done(struct rig *g, int line, uint64_t run)
{
	CHECK_INT_AT(line, rig_start(g, run), true);
	struct rn_report s = rig_next(g);
	CHECK_INT_AT(line, s.kind, RN_EXIT);
	CHECK_STR_AT(line, outcome_words[s.outcome % OUTCOME_COUNT], "done");
}

TEST(a_secret_is_in_the_environment_and_masked_in_output)
{
	struct rig g = { 0 };
	const char *env[] = { "PATH=/usr/bin:/bin", "KEY=old", "OTHER=stays", NULL };
	rig_begin(&g);
	const struct launch_fetch fetch[] = {
		{ .name = "KEY", .file = write_file(&g, "key", STR(VALUE "\n")) },
		{ .name = "MORE", .command = shell("echo noise " VALUE " >&2; printf 'printed-%s' value") },
	};
	g.launch.fetch = fetch;
	g.launch.fetches = ARRAY_LEN(fetch);
	g.launch.env = env;
	g.launch.out = true;
	g.launch.context = STR("{}");
	rig_argv(&g, "/bin/sh", "-c",
		 "printf '%s' \"$KEY\" > $0/seen; printf '%s' \"$MORE\" > $0/more; echo $OTHER $KEY "
		 "x${MORE}x; "
		 "echo $KEY >&2; cat /proc/$$/environ | tr '\\0' '\\n' | grep -c '^KEY='",
		 g.dir, NULL);
	expect_done(&g, __LINE__, 1);
	CHECK_STR(rig_file(&g, 1, 1, "out", NULL), "stays [redacted] x[redacted]x\n1\n");
	const char *log = rig_file(&g, 1, 1, "log", NULL);
	CHECK(str_starts(str_of(log), STR("noise [redacted]\n")));
	CHECK(strstr(log, "\n[redacted]\n"));
	CHECK(file_has(path_of(&g, "seen"), STR(VALUE)) &&
	      file_has(path_of(&g, "more"), STR("printed-value")));
	expect_nowhere(&g, __LINE__, VALUE);
	expect_nowhere(&g, __LINE__, "printed-value");
	rig_end(&g);
}

/* Searches the arguments of every process, and the environments of all but the agent. */
static unsigned seen_in(const char *name, pid_t but)
{
	unsigned n = 0;
	for (pid_t pid = 1; pid < 100000; pid++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
		if (pid != but && pid != getpid() && file_has(path, STR(VALUE)))
			n++;
	}
	return n;
}

TEST(no_other_process_has_the_secret)
{
	struct rig g = { 0 };
	pid_t pid = 0;
	rig_begin(&g);
	const struct launch_fetch fetch = { .name = "KEY", .file = write_file(&g, "key", STR(VALUE)) };
	g.launch.fetch = &fetch;
	g.launch.fetches = 1;
	rig_argv(&g, "/bin/sh", "-c",
		 "echo $$ > $0/pids; while ! test -e $0/end; do /bin/sleep 0.02 <&-; done", g.dir, NULL);
	CHECK(rig_start(&g, 1));
	CHECK_INT(rig_lines(&g, "pids", 1, &pid, 1), 1);
	CHECK_INT(seen_in("cmdline", 0), 0);
	char environ_of[64];
	snprintf(environ_of, sizeof environ_of, "/proc/%d/environ", pid);
	CHECK(file_has(environ_of, STR("KEY=" VALUE)));
	struct runfile f = rig_runfile(&g, 1, 1);
	snprintf(environ_of, sizeof environ_of, "/proc/%d/environ", (int)f.pid);
	CHECK(!file_has(environ_of, STR(VALUE))); /* the environment of the shim */
	expect_nowhere(&g, __LINE__, VALUE);
	write_file(&g, "end", STR(""));
	CHECK_INT(rig_next(&g).outcome, OUTCOME_DONE);
	rig_end(&g);
}

TEST(lines_and_json_are_masked)
{
	struct rig g = { 0 };
	rig_begin(&g);
	const struct launch_fetch fetch[] = {
		{ .name = "PEM",
		  .file = write_file(&g, "pem",
				     STR("-----BEGIN-----\r\nabcdefghij\r\n}\r\nklmnopqrst\r\n")) },
		{ .name = "ODD", .file = write_file(&g, "odd", STR("a\"b\\c-long\n\n")) },
	};
	g.launch.fetch = fetch;
	g.launch.fetches = ARRAY_LEN(fetch);
	rig_argv(&g, "/bin/sh", "-c",
		 "echo abcdefghij } klmnopqrst; echo \"$PEM\"; printf '%s|' \"$ODD\"; echo "
		 "'{\"a\":\"a\\\\\"b\\\\\\\\c-long\"}'",
		 NULL);
	expect_done(&g, __LINE__, 1);
	CHECK_STR(rig_file(&g, 1, 1, "log", NULL),
		  "[redacted] } [redacted]\n[redacted]\n[redacted]\n|{\"a\":\"[redacted]\"}\n");
	rig_end(&g);
}

TEST(reports_are_masked_after_the_run)
{
	struct rig g = { 0 };
	rig_begin(&g);
	const struct launch_fetch fetch = { .name = "KEY", .file = write_file(&g, "key", STR(VALUE)) };
	g.launch.fetch = &fetch;
	g.launch.fetches = 1;
	rig_argv(&g, "/bin/sh", "-c",
		 "echo '{\"report\":\"step\",\"text\":\"with '$KEY'\"}' >> $ROTA_OUTBOX; echo $ROTA_SECRETS",
		 NULL);
	expect_done(&g, __LINE__, 1);
	CHECK_STR(rig_file(&g, 1, 1, "box", NULL), "{\"report\":\"step\",\"text\":\"with [redacted]\"}\n");
	CHECK_STR(rig_file(&g, 1, 1, "log", NULL), "KEY\n");
	/* If an outbox is long, only its end is read and kept. */
	rig_argv(&g, "/bin/sh", "-c",
		 "i=0; while test $i -lt 9000; do i=$((i + 1)); echo $i long enough for a good part of it "
		 "$KEY; done >> "
		 "$ROTA_OUTBOX; echo the last $KEY >> $ROTA_OUTBOX",
		 NULL);
	expect_done(&g, __LINE__, 2);
	size_t size;
	const char *box = rig_file(&g, 2, 1, "box", &size);
	CHECK(size > OUTBOX_BYTES_MAX && size <= 2 * OUTBOX_BYTES_MAX);
	CHECK_STR(box + size - 20, "the last [redacted]\n");
	expect_nowhere(&g, __LINE__, VALUE);
	rig_end(&g);
}

TEST(without_its_secret_nothing_is_executed)
{
	static char large[SECRET_BYTES_MAX + 2];
	struct rig g = { 0 };
	rig_begin(&g);
	memset(large, 'x', sizeof large);
	mkfifo(path_of(&g, "fifo"), 0600);
	const struct {
		int line;
		const char *file, *command, *why;
	} rows[] = {
		{ __LINE__, "none", NULL, "secret KEY: its file cannot be read: No such file or directory" },
		{ __LINE__, ".", NULL, "secret KEY: its file is not a regular file" },
		{ __LINE__, "fifo", NULL, "secret KEY: its file is not a regular file" },
		{ __LINE__, "empty", NULL, "secret KEY: it is empty" },
		{ __LINE__, "newline", NULL, "secret KEY: it is empty" },
		{ __LINE__, "short", NULL,
		  "secret KEY: it is shorter than 4 bytes, which is too short to be masked in the log" },
		{ __LINE__, "large", NULL, "secret KEY: it is longer than 16384 bytes" },
		{ __LINE__, "zero", NULL, "secret KEY: it contains a 0 byte, which a variable cannot have" },
		{ __LINE__, NULL, "echo " VALUE "; echo no: " VALUE " >&2; exit 3",
		  "secret KEY: its command ended with exit code 3" },
		{ __LINE__, NULL, "echo " VALUE "; kill -9 $$",
		  "secret KEY: its command was ended by signal 9" },
		{ __LINE__, NULL, ":", "secret KEY: it is empty" },
		{ __LINE__, NULL, "yes " VALUE " | head -c 1000000",
		  "secret KEY: it is longer than 16384 bytes" },
		/* The standard error of the command may contain the secret. */
		{ __LINE__, NULL, "echo pass123; echo pass123 is bad >&2; exit 1",
		  "secret KEY: its command ended with exit code 1" },
		{ __LINE__, NULL, "v=$(head -c 16400 /dev/zero | tr '\\0' q); echo $v; echo $v >&2",
		  "secret KEY: it is longer than 16384 bytes" },
		{ __LINE__, NULL, "printf 'abcd\\0part-two'; echo part-two >&2",
		  "secret KEY: it contains a 0 byte, which a variable cannot have" },
		{ __LINE__, NULL, NULL,
		  "secret KEY: its command cannot be executed: No such file or directory" },
	};
	write_file(&g, "empty", STR(""));
	write_file(&g, "newline", STR("\n"));
	write_file(&g, "short", STR("abc\n"));
	write_file(&g, "large", (struct str){ large, SECRET_BYTES_MAX + 1 });
	write_file(&g, "zero", STR("abcd\0efgh"));
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		static const char *const nothing[] = { "/no/such/program", NULL };
		int line = rows[i].line;
		struct launch_fetch fetch = { .name = "KEY",
					      .file = rows[i].file ? path_of(&g, rows[i].file) : NULL,
					      .command = rows[i].command ? shell(rows[i].command) : nothing };
		if (rows[i].file)
			fetch.command = NULL;
		g.launch.fetch = &fetch;
		g.launch.fetches = 1;
		rig_argv(&g, "/bin/sh", "-c", "echo ran > $0/ran", g.dir, NULL);
		CHECK(rig_start(&g, i + 1));
		struct rn_report s = rig_next(&g);
		CHECK_INT_AT(line, s.kind, RN_EXIT);
		CHECK_STR_AT(line, outcome_words[s.outcome % OUTCOME_COUNT], "failed");
		CHECK_STR_AT(line, reason_words[s.reason % REASON_COUNT], "definition");
		CHECK_INT_AT(line, s.exit_code, -1);
		struct runfile f = rig_runfile(&g, i + 1, 1);
		CHECK_INT_AT(line, f.cause, CAUSE_SECRET);
		CHECK_STR_AT(line, f.note, rows[i].why);
		CHECK_INT_AT(line, strstr(rig_file(&g, i + 1, 1, "log", NULL), rows[i].why) != NULL, true);
		CHECK_INT_AT(line, access(path_of(&g, "ran"), F_OK), -1);
	}
	CHECK(strstr(rig_file(&g, 9, 1, "log", NULL), "no: [redacted]"));
	expect_nowhere(&g, __LINE__, VALUE);
	expect_nowhere(&g, __LINE__, "pass123");
	expect_nowhere(&g, __LINE__, "qqqqqqqq");
	expect_nowhere(&g, __LINE__, "part-two");
	rig_end(&g);
}

/* Standard error is truncated at a line end, so that no part of a value remains. */
TEST(standard_error_ends_with_a_whole_line)
{
	static_assert(FETCH_STDERR_MAX == 16384, "the command says a little more");
	struct rig g = { 0 };
	rig_begin(&g);
	const struct launch_fetch fetch = {
		.name = "KEY",
		.command =
			shell("echo " VALUE "; { yes filling | head -c 16368; echo got " VALUE "; } >&2")
	};
	g.launch.fetch = &fetch;
	g.launch.fetches = 1;
	rig_argv(&g, "/bin/sh", "-c", "echo ran", NULL);
	expect_done(&g, __LINE__, 1);
	const char *log = rig_file(&g, 1, 1, "log", NULL);
	CHECK(str_starts(str_of(log), STR("filling\nfilling\n")) && strstr(log, "filling\nran\n"));
	expect_nowhere(&g, __LINE__, "hunter2");
	rig_end(&g);
}

/* The shim knows the secret until the run has ended. */
TEST(a_shim_dumps_no_core)
{
	struct rig g = { 0 };
	struct rlimit was, most;
	CHECK_INT(getrlimit(RLIMIT_CORE, &was), 0);
	most = (struct rlimit){ was.rlim_max, was.rlim_max };
	CHECK_INT(setrlimit(RLIMIT_CORE, &most), 0);
	rig_begin(&g);
	const struct launch_fetch fetch = { .name = "KEY", .file = write_file(&g, "key", STR(VALUE)) };
	g.launch.fetch = &fetch;
	g.launch.fetches = 1;
	/* Compares the limits of the launcher (which a sanitizer may change), of the agent and of the
	 * shim. */
	rig_argv(&g, "/bin/sh", "-c",
		 "for p in $(cut -d ' ' -f 4 /proc/$PPID/stat) $$ $PPID; do awk '/^Max core/ { print $5 }' "
		 "/proc/$p/limits; done",
		 NULL);
	expect_done(&g, __LINE__, 1);
	char log[64];
	snprintf(log, sizeof log, "%s", rig_file(&g, 1, 1, "log", NULL));
	char *launcher = strtok(log, "\n"), *agent = strtok(NULL, "\n"), *shim = strtok(NULL, "\n");
	CHECK(launcher && agent && shim && !strcmp(agent, launcher) && !strcmp(shim, "0"));
	rig_end(&g);
	CHECK_INT(setrlimit(RLIMIT_CORE, &was), 0);
}

TEST(the_largest_secret)
{
	static char large[SECRET_BYTES_MAX + 1];
	struct rig g = { 0 };
	rig_begin(&g);
	memset(large, 'x', SECRET_BYTES_MAX);
	large[SECRET_BYTES_MAX] = '\n';
	const struct launch_fetch fetch = {
		.name = "KEY", .file = write_file(&g, "large", (struct str){ large, sizeof large })
	};
	g.launch.fetch = &fetch;
	g.launch.fetches = 1;
	rig_argv(&g, "/bin/sh", "-c", "echo ${#KEY}; echo $KEY", NULL);
	expect_done(&g, __LINE__, 1);
	CHECK_STR(rig_file(&g, 1, 1, "log", NULL), "16384\n[redacted]\n");
	rig_end(&g);
}

TEST(a_command_that_hangs_ends_at_the_timeout)
{
	struct rig g = { 0 };
	pid_t pid[2];
	rig_begin(&g);
	char line[256];
	snprintf(line, sizeof line, "echo $$ >> %s; sleep 600 & echo $! >> %s; trap '' TERM; wait; sleep 600",
		 path_of(&g, "pids"), path_of(&g, "pids"));
	const struct launch_fetch fetch = { .name = "KEY", .command = shell(line) };
	g.launch.fetch = &fetch;
	g.launch.fetches = 1;
	g.launch.timeout = USEC;
	g.launch.grace = USEC / 10;
	g.launch.stall = USEC / 5; /* the stall limit does not apply before the agent is executed */
	rig_argv(&g, "/bin/sh", "-c", "echo ran > $0/ran", g.dir, NULL);
	CHECK(rig_start(&g, 1));
	CHECK_INT(rig_lines(&g, "pids", 2, pid, 2), 2);
	struct rn_report s = rig_next(&g);
	CHECK_STR(outcome_words[s.outcome % OUTCOME_COUNT], "killed");
	CHECK_STR(reason_words[s.reason % REASON_COUNT], "timeout");
	CHECK_STR(rig_runfile(&g, 1, 1).note,
		  "secret KEY: its command was still running when the attempt ended");
	CHECK(rig_all_dead(pid, 2, 5000));

	g.launch.timeout = 0;
	CHECK_INT(unlink(path_of(&g, "pids")), 0);
	CHECK(rig_start(&g, 2));
	CHECK_INT(rig_lines(&g, "pids", 2, pid, 2), 2);
	rig_ask(&g, RN_KILL, 2, 1, REASON_CANCELLED);
	s = rig_next(&g);
	CHECK_STR(outcome_words[s.outcome % OUTCOME_COUNT], "killed");
	CHECK_STR(reason_words[s.reason % REASON_COUNT], "cancelled");
	CHECK(rig_all_dead(pid, 2, 5000));
	CHECK_INT(access(path_of(&g, "ran"), F_OK), -1);
	rig_end(&g);
}

/* A command that prints a secret may leave processes behind. They do not delay the agent, and end with the
 * run. */
TEST(a_command_may_leave_processes)
{
	struct rig g = { 0 };
	pid_t pid;
	rig_begin(&g);
	char line[256];
	snprintf(line, sizeof line, "sleep 600 & echo $! >> %s; echo " VALUE, path_of(&g, "pids"));
	const struct launch_fetch fetch = { .name = "KEY", .command = shell(line) };
	g.launch.fetch = &fetch;
	g.launch.fetches = 1;
	rig_argv(&g, "/bin/sh", "-c", "echo got $KEY", NULL);
	expect_done(&g, __LINE__, 1);
	CHECK_STR(rig_file(&g, 1, 1, "log", NULL), "got [redacted]\n");
	CHECK_INT(rig_lines(&g, "pids", 1, &pid, 1), 1);
	CHECK(rig_all_dead(&pid, 1, 5000));
	rig_end(&g);
}

TEST(scripts_of_expectations_have_the_secrets)
{
	struct rig g = { 0 };
	static const char *const script[] = { "/bin/sh", "-c", "test \"$KEY\" = " VALUE " && echo $KEY",
					      NULL };
	static const char *const *const scripts[] = { script, NULL };
	rig_begin(&g);
	const struct launch_fetch fetch = { .name = "KEY", .file = write_file(&g, "key", STR(VALUE)) };
	g.launch.fetch = &fetch;
	g.launch.fetches = 1;
	g.launch.scripts = scripts;
	rig_argv(&g, "/bin/sh", "-c", "echo ran", NULL);
	expect_done(&g, __LINE__, 1);
	CHECK_STR(rig_file(&g, 1, 1, "log", NULL), "ran\n[redacted]\n");
	rig_end(&g);
}

TEST(names_become_files_and_commands)
{
	struct arena a = { 0 };
	struct str word[] = { STR("pass"), STR("show"), STR("x") };
	const struct config_secret item[] = {
		{ .name = STR("FILE"), .file = STR("/etc/key") },
		{ .name = STR("LINE"), .command = { .shell = STR("pass show x | head -1") } },
		{ .name = STR("LIST"), .command = { .argv = word, .argc = 3 } },
		{ .name = STR("UNIT"), .credential = STR("rota.key") },
	};
	const struct secret_list all = { item, ARRAY_LEN(item) };
	const struct str names[] = { STR("LIST"), STR("FILE"), STR("LINE"), STR("UNIT") };
	struct launch l = { 0 };
	struct why why;
	unsetenv("CREDENTIALS_DIRECTORY");
	CHECK_INT(secret_fill(&all, names, 4, &a, &l, &why), E_INPUT);
	CHECK(strstr(why.text,
		     "secret UNIT is a credential, but the daemon was started without credentials"));
	CHECK(!l.fetches && !l.fetch);
	setenv("CREDENTIALS_DIRECTORY", "/run/credentials/rota.service", 1);
	CHECK_INT(secret_fill(&all, names, 4, &a, &l, &why), OK);
	CHECK_INT(l.fetches, 4);
	CHECK(!strcmp(l.fetch[0].name, "LIST") && !l.fetch[0].file &&
	      !strcmp(l.fetch[0].command[1], "show") && !l.fetch[0].command[3]);
	CHECK(!strcmp(l.fetch[1].name, "FILE") && !strcmp(l.fetch[1].file, "/etc/key") &&
	      !l.fetch[1].command);
	CHECK_STR(l.fetch[2].command[2], "pass show x | head -1");
	CHECK_STR(l.fetch[3].file, "/run/credentials/rota.service/rota.key");
	const struct str wrong[] = { STR("FILE"), STR("FIEL") };
	CHECK_INT(secret_fill(&all, wrong, 2, &a, &l, &why), E_INPUT);
	CHECK(strstr(why.text, "secret FIEL: the configuration has no secret of that name"));
	arena_free(&a);
}
