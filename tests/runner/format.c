/* The formats of run files and logs, and redaction. */
#include "core/model.h"
#include "exec/rundir.h"
#include "runfile/read.h"
#include "runfile/redact.h"
#include "runfile/sections.h"
#include "shim/output/log.h"
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A run file of version 1, as the first release wrote it. Such files must stay readable. */
static size_t read_fixture(const char *name, char *block)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", getenv("ROTA_FIXTURES"), name);
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, block, RUNFILE_BYTES);
	if (fd >= 0)
		close(fd);
	return n > 0 ? (size_t)n : 0;
}

TEST(version_1_is_read)
{
	char block[RUNFILE_BYTES];
	struct runfile f;
	struct rn_report s;
	CHECK_INT(read_fixture("v1-ended.run", block), RUNFILE_BYTES);
	CHECK_INT(runfile_parse((struct str){ block, sizeof block }, &f, NULL), OK);
	CHECK_INT(f.version, 1);
	CHECK_INT(f.run, 281474976710655);
	CHECK_INT(f.attempt, 3);
	CHECK_STR(f.boot, "0a2b3593-6bdd-4c72-b238-6ab785a6a35a");
	CHECK_INT(f.pid, 4242);
	CHECK_INT(f.start, 987654321);
	CHECK_INT(f.session, 4243);
	CHECK_INT(f.agent, 4243);
	CHECK_INT(f.agent_start, 987654322);
	CHECK_STR(f.mark, "00112233445566778899aabbccddeeff");
	CHECK_STR(f.cgroup, "/sys/fs/cgroup/rota.service/run-281474976710655.3-4242");
	CHECK_INT(f.started, 1763228000123456);
	CHECK_INT(f.cause, CAUSE_STOPPED);
	CHECK_INT(f.reason, REASON_REPLACED);
	CHECK_INT(f.signal, 15);
	CHECK_INT(f.log, LOG_CAPPED);
	CHECK_INT(f.output, 123456789);
	CHECK_INT(f.left_out, 118000000);
	CHECK_STR(f.note, "a note with words");
	runfile_outcome(&f, &s);
	CHECK(s.kind == RN_EXIT && s.outcome == OUTCOME_KILLED && s.reason == REASON_REPLACED);
	CHECK_INT(s.ended.us, 1763228060123456);
	CHECK_INT(s.exit_code, 128 + 15);
	CHECK_INT(read_fixture("v1-running.run", block), RUNFILE_BYTES);
	CHECK_INT(runfile_parse((struct str){ block, sizeof block }, &f, NULL), OK);
	CHECK_INT(f.run, 7);
	CHECK_INT(f.exit_version, 0);
	CHECK_STR(f.cgroup, "");
}

TEST(exit_codes)
{
	static const struct {
		int line;
		enum run_cause cause;
		int status, signal, want;
	} rows[] = {
		{ __LINE__, CAUSE_EXIT, 0, 0, 0 },
		{ __LINE__, CAUSE_EXIT, 255, 0, 255 },
		{ __LINE__, CAUSE_EXIT, 0, 9, 137 },
		{ __LINE__, CAUSE_TIMEOUT, 0, 15, 143 },
		{ __LINE__, CAUSE_STALLED, 3, 0, 3 },
		{ __LINE__, CAUSE_STOPPED, 0, 0, -1 }, /* the program may not have been executed */
		{ __LINE__, CAUSE_FENCED, 0, 0, -1 },
		{ __LINE__, CAUSE_NOT_EXECUTED, 2, 0, -1 }, /* an errno */
		{ __LINE__, CAUSE_LOST, 0, 0, -1 },
		{ __LINE__, CAUSE_PREVENTED, 0, 0, -1 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct rn_report s;
		runfile_outcome(&(struct runfile){ .cause = rows[i].cause,
						   .status = rows[i].status,
						   .signal = rows[i].signal },
				&s);
		CHECK_INT_AT(rows[i].line, s.exit_code, rows[i].want);
	}
}

TEST(damaged_blocks)
{
	char block[RUNFILE_BYTES], good[RUNFILE_BYTES];
	struct runfile f;
	struct why why;
	CHECK_INT(read_fixture("v1-ended.run", good), RUNFILE_BYTES);
	/* If any byte of the text is changed, the start section is unreadable, or there is no exit section.
	 * There is never another outcome. */
	for (size_t i = 0; i < RUNFILE_BYTES; i++) {
		memcpy(block, good, sizeof block);
		block[i] ^= 1;
		enum err e = runfile_parse((struct str){ block, sizeof block }, &f, &why);
		if (!good[i])
			CHECK_INT(e, OK); /* bytes after the sections do not matter */
		else if (i < RUNFILE_EXIT)
			CHECK_INT(e, E_INPUT);
		else
			CHECK(e == OK && f.exit_version == 0);
	}
	/* Truncated anywhere. */
	for (size_t n = 0; n < RUNFILE_BYTES; n++) {
		enum err e = runfile_parse((struct str){ good, n }, &f, &why);
		bool born = n >= strlen(good), ended = n >= RUNFILE_EXIT + strlen(good + RUNFILE_EXIT);
		CHECK_INT(e, born ? OK : E_INPUT);
		CHECK_INT(f.exit_version, ended ? 1 : 0);
	}
	memset(block, 0, sizeof block);
	snprintf(block, 64, "rota-run 2\nrun 1\nattempt 1\n");
	runfile_seal(block);
	CHECK_INT(runfile_parse((struct str){ block, sizeof block }, &f, &why), E_INPUT);
	CHECK_STR(why.text, "the run file has version 2, which is newer than this rota");
	memset(block, 0, sizeof block);
	snprintf(block, 128, "rota-run 1\nrun 1\nattempt 1\nword that is new\nalone\n");
	runfile_seal(block);
	CHECK_INT(runfile_parse((struct str){ block, sizeof block }, &f, &why), OK);
}

TEST(network_file_systems_are_refused)
{
	struct why why;
	CHECK_STR(rundir_network(0x6969), "nfs");
	CHECK_STR(rundir_network(0xFF534D42), "cifs");
	CHECK(!rundir_network(0xEF53) && !rundir_network(0x01021994) && !rundir_network(0x9123683E));
	CHECK_INT(rundir_check("runs", &why), E_INPUT);
	CHECK_STR(why.text, "the path of the runs directory must be absolute, not runs");
	CHECK_INT(rundir_check("/proc/rota", &why), E_IO);
	CHECK_INT(rundir_check("/proc", &why), E_INPUT); /* /proc does not support unnamed files */
}

/* --- redaction --- */

struct text {
	char p[4096];
	size_t n;
};

static void append_output(void *ctx, const char *p, size_t n)
{
	struct text *t = ctx;
	if (!CHECK(t->n + n < sizeof t->p))
		return;
	memcpy(t->p + t->n, p, n);
	t->n += n;
	t->p[t->n] = 0;
}

static void expect_masked(int line, const struct str *secrets, unsigned n, const char *in, const char *want)
{
	/* The text is written in two pieces, divided at every byte, and byte by byte. */
	for (size_t cut = 0; cut <= strlen(in) + 1; cut++) {
		struct redact r;
		struct text out = { .n = 0 };
		CHECK_INT(redact_init(&r, secrets, n), 0);
		if (cut > strlen(in)) {
			for (const char *p = in; *p; p++)
				redact(&r, p, 1, append_output, &out);
		} else {
			redact(&r, in, cut, append_output, &out);
			redact(&r, in + cut, strlen(in) - cut, append_output, &out);
		}
		redact_end(&r, append_output, &out);
		CHECK_STR_AT(line, out.p, want);
		redact_free(&r);
	}
}

TEST(redaction_across_pieces)
{
	static const struct str secrets[] = { { "abcd", 4 }, { "abcdefgh", 8 }, { "ghij", 4 }, { "aaab", 4 },
					      { "xy", 2 },   { "", 0 },         { "zzzz", 4 } };
	static const struct {
		int line;
		const char *in, *want;
	} rows[] = {
		{ __LINE__, "", "" },
		{ __LINE__, "nothing here", "nothing here" },
		{ __LINE__, "abcd", "[redacted]" },
		{ __LINE__, "abc", "abc" },
		{ __LINE__, "1abcd2", "1[redacted]2" },
		{ __LINE__, "abcdefgh", "[redacted]" },
		{ __LINE__, "abcdefgX", "[redacted]efgX" },
		{ __LINE__, "abcdefghij", "[redacted]" }, /* two secrets that overlap */
		{ __LINE__, "aaaab", "a[redacted]" },
		{ __LINE__, "aaaaaaab aaa", "aaaa[redacted] aaa" },
		{ __LINE__, "xy is too short", "xy is too short" },
		{ __LINE__, "zzzzzzzz", "[redacted]" }, /* a secret that overlaps itself */
		{ __LINE__,
		  "key=sk-"
		  "0123456789-abcdefghij_ABCDEF done",
		  "key=[redacted] done" },
		{ __LINE__, "a desk-lamp-of-the-forties-is-here", "a desk-lamp-of-the-forties-is-here" },
		{ __LINE__, "sk-short", "sk-short" },
		{ __LINE__, "ghp_0123456789abcdefghijABCDEFGHIJ012345\n", "[redacted]\n" },
		{ __LINE__, "AKIAIOSFODNN7EXAMPLE.", "[redacted]." },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
		expect_masked(rows[i].line, secrets, ARRAY_LEN(secrets), rows[i].in, rows[i].want);
}

TEST(redaction_leaves_no_secret_in_random_text)
{
	static const struct str secrets[] = {
		{ "abab", 4 }, { "baab", 4 }, { "bbbbb", 5 }, { "aabbaabb", 8 }
	};
	uint64_t seed = 4;
	for (unsigned round = 0; round < 2000; round++) {
		char in[200];
		size_t n = test_random(&seed) % sizeof in;
		for (size_t i = 0; i < n; i++)
			in[i] = "ab"[test_random(&seed) % 2];
		struct redact r;
		struct text out = { .n = 0 };
		CHECK_INT(redact_init(&r, secrets, ARRAY_LEN(secrets)), 0);
		for (size_t i = 0; i < n;) {
			size_t k = 1 + test_random(&seed) % 9;
			k = k < n - i ? k : n - i;
			redact(&r, in + i, k, append_output, &out);
			i += k;
		}
		redact_end(&r, append_output, &out);
		redact_free(&r);
		for (unsigned i = 0; i < ARRAY_LEN(secrets); i++)
			CHECK(!memmem(out.p, out.n, secrets[i].p, secrets[i].n));
	}
}

/* --- logs --- */

TEST(logs_of_every_length)
{
	char dir[] = "/tmp/rota-log-XXXXXX", path[64], text[600], got[700];
	CHECK(mkdtemp(dir) != NULL);
	int d = open(dir, O_RDONLY | O_DIRECTORY);
	for (unsigned i = 0; i < sizeof text; i++)
		text[i] = (char)('A' + i % 26);
	uint64_t seed = 9;
	for (unsigned n = 0; n <= sizeof text; n++) {
		struct log l;
		log_open(&l, d, "log", 50, 100);
		for (unsigned i = 0; i < n;) {
			unsigned k = 1 + (unsigned)(test_random(&seed) % 40);
			k = k < n - i ? k : n - i;
			log_write(&l, text + i, k);
			i += k;
			CHECK(l.size <= 50 + 2 * 100 + 3 * LOG_GAP_BYTES + 40);
		}
		log_close(&l);
		snprintf(path, sizeof path, "%s/log", dir);
		int fd = open(path, O_RDONLY);
		ssize_t size = read(fd, got, sizeof got);
		close(fd);
		test_case("%u bytes", n);
		CHECK(memcmp(got, text, n < 50 ? n : 50) == 0);
		CHECK_INT(l.left_out > 0, l.state == LOG_CAPPED);
		if (l.state == LOG_WHOLE) {
			CHECK_INT(size, n);
			CHECK(n <= 150 + LOG_GAP_BYTES && memcmp(got, text, n) == 0);
		} else {
			CHECK_INT(size, 50 + LOG_GAP_BYTES + 100);
			CHECK_INT(l.left_out, n - 150);
			CHECK(memcmp(got + size - 100, text + n - 100, 100) == 0);
		}
	}
	test_case(NULL);
	unlink(path);
	close(d);
	rmdir(dir);
}
