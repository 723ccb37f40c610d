/* What the end of a hook's program means, and which words people see. */
#include "core/model.h"
#include "daemon/prepare/hook_answer.h"
#include "runfile/read.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RUN = 7 };

static char runs[32];
static struct arena arena;

static void write_file(const char *kind, const char *text, size_t n)
{
	struct buf path = { 0 };
	runfile_path(&path, runs, RUN, RUN_HOOK + HOOK_OF_SCHEDULE, kind);
	FILE *f = fopen(path.p, "w");
	CHECK(f && fwrite(text, 1, n, f) == n && fclose(f) == 0);
	CHECK_INT(chmod(path.p, 0600), 0);
	buf_free(&path);
}

static void set_up(void)
{
	char bucket[RUNFILE_NAME_MAX], path[96];
	snprintf(runs, sizeof runs, "/tmp/rota-hook-XXXXXX");
	CHECK(mkdtemp(runs) != NULL);
	runfile_bucket(bucket, RUN);
	snprintf(path, sizeof path, "%s/%s", runs, bucket);
	CHECK_INT(mkdir(path, 0700), 0);
}

static void tear_down(void)
{
	char command[64];
	snprintf(command, sizeof command, "rm -r %s", runs);
	CHECK_INT(system(command), 0);
	arena_free(&arena);
	arena = (struct arena){ 0 };
}

static struct hook_answer judge(int line, struct rn_report program, uint8_t on_error)
{
	struct hook_end end = {
		.runs = runs, .run = RUN, .hook = HOOK_OF_SCHEDULE, .on_error = on_error, .program = &program
	};
	struct hook_answer a = { 0 };
	struct why why = { .text = "" };
	CHECK_INT_AT(line, hook_answer(&end, &arena, &a, &why), OK);
	return a;
}

#define EXIT(code)                                                                                           \
	{                                                                                                    \
		.outcome = OUTCOME_FAILED, .reason = REASON_EXIT, .exit_code = (code)                        \
	}
#define DONE                                                                                                 \
	{                                                                                                    \
		.outcome = OUTCOME_DONE                                                                      \
	}

TEST(answers)
{
	static const struct {
		int line;
		struct rn_report program;
		const char *out, *err;
		bool yes, failed;
		const char *words;
	} rows[] = {
		{ __LINE__, DONE, "", "", true, false, "" },
		{ __LINE__, { .outcome = OUTCOME_NO_WORK }, "NO-WORK", "", true, false, "" },
		{ __LINE__, DONE, "all is well", "a warning", true, false, "" },
		{ __LINE__, DONE, "{\"cancel\": false, \"reason\": \"x\"}", "", true, false, "" },
		{ __LINE__, DONE, "{\"reason\": \"x\"}", "", true, false, "" },
		{ __LINE__, DONE, "[{\"cancel\": true}]", "", true, false, "" },
		{ __LINE__, DONE, "note\n{\"cancel\": true}", "", true, false, "" },
		{ __LINE__, DONE, " {\"cancel\": true, \"reason\": \"maintenance until 6\"}\n", "not this",
		  false, false, "maintenance until 6" },
		{ __LINE__, DONE, "{\"cancel\": true}", "", false, false, "it gave no reason" },
		{ __LINE__, DONE, "{\"cancel\": true, \"reason\": 7}", "", false, false,
		  "it gave no reason" },
		{ __LINE__, DONE, "{\"cancel\": true, \"reason\": \"a\\u001b[2J\\nb\\u202e\"}", "", false,
		  false, "a [2J b" },
		{ __LINE__, DONE, "{\"cancel\": \"yes\"}", "", false, true,
		  "the value of `cancel` in its standard output is neither true nor false" },
		{ __LINE__, EXIT(1), "", "maintenance until 6\n", false, false, "maintenance until 6" },
		{ __LINE__, EXIT(1), "", "one\ntwo\n\n", false, false, "one two" },
		{ __LINE__, EXIT(255), "{\"cancel\": false}", "", false, false, "exit code 255" },
		{ __LINE__, EXIT(2), "", "\x1b]0;x\x07\xff", false, false, "]0;x" },
		{ __LINE__, EXIT(127), "", "sh: 1: nope: not found", false, true,
		  "its program was not found: sh: 1: nope: not found" },
		{ __LINE__, EXIT(126), "", "", false, true, "its program cannot be executed" },
		{ __LINE__, EXIT(137), "", "", false, true, "signal 9 killed it" },
		{ __LINE__, EXIT(-1), "", "", false, true, "its program cannot be executed" },
		{ __LINE__,
		  { .outcome = OUTCOME_KILLED, .reason = REASON_TIMEOUT, .exit_code = 143 },
		  "",
		  "waiting",
		  false,
		  true,
		  "it took longer than its timeout: waiting" },
		{ __LINE__,
		  { .outcome = OUTCOME_FAILED, .reason = REASON_LOST, .exit_code = -1 },
		  "",
		  "",
		  false,
		  true,
		  "its process was lost" },
		{ __LINE__,
		  { .outcome = OUTCOME_FAILED, .reason = REASON_TEMPLATE, .exit_code = -1 },
		  "",
		  "",
		  false,
		  true,
		  "its command could not be prepared" },
	};
	set_up();
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		write_file("out", rows[i].out, strlen(rows[i].out));
		write_file("err", rows[i].err, strlen(rows[i].err));
		struct hook_answer a = judge(rows[i].line, rows[i].program, HOOK_CANCELS);
		CHECK_INT_AT(rows[i].line, a.yes, rows[i].yes);
		CHECK_INT_AT(rows[i].line, a.failed, rows[i].failed);
		CHECK_STR_AT(rows[i].line, a.words.p ? a.words.p : "", rows[i].words);
		/* `proceed` changes only the answer of a hook that has failed. */
		a = judge(rows[i].line, rows[i].program, HOOK_PROCEEDS);
		CHECK_INT_AT(rows[i].line, a.yes, rows[i].yes || rows[i].failed);
		CHECK_INT_AT(rows[i].line, a.failed, rows[i].failed);
	}
	tear_down();
}

/* A hook that was stopped cannot allow anything. */
TEST(a_stopped_hook_does_not_proceed)
{
	set_up();
	struct hook_answer a = judge(
		__LINE__,
		(struct rn_report){ .outcome = OUTCOME_KILLED, .reason = REASON_CANCELLED, .exit_code = 143 },
		HOOK_PROCEEDS);
	CHECK(!a.yes && a.failed);
	CHECK_STR(a.words.p, "it was stopped");
	tear_down();
}

/* Output that is too long is not read as an answer. Of a long standard error the end is shown, of a long
 * reason the beginning. */
TEST(long_output_is_bounded)
{
	size_t n = HOOK_ANSWER_BYTES + 100;
	char *text = malloc(n);
	set_up();
	memset(text, ' ', n);
	memcpy(text, "{\"cancel\":true}", 15);
	write_file("out", text, n);
	CHECK(judge(__LINE__, (struct rn_report)DONE, HOOK_CANCELS).yes);
	write_file("out", text, HOOK_ANSWER_BYTES);
	CHECK(!judge(__LINE__, (struct rn_report)DONE, HOOK_CANCELS).yes);
	memset(text, 'x', n);
	memcpy(text + n - 10, "\nthe end\n\n", 10);
	write_file("err", text, n);
	struct hook_answer a = judge(__LINE__, (struct rn_report)EXIT(1), HOOK_CANCELS);
	CHECK_STR(a.words.p, "the end");
	n = (size_t)sprintf(text, "{\"cancel\":true,\"reason\":\"%s", "");
	memset(text + n, 'y', 5000);
	memcpy(text + n + 5000, "\"}", 2);
	write_file("out", text, n + 5002);
	a = judge(__LINE__, (struct rn_report)DONE, HOOK_CANCELS);
	CHECK(!a.yes && a.words.n == HOOK_WORDS_BYTES);
	free(text);
	tear_down();
}
