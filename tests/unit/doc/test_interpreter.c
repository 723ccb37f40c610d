/* Which words of a command count as program text. */
#include "core/doc/interpreter.h"
#include "test.h"

enum { WORDS = 16 };

/* Splits at blanks; T stands for a word that is a template. */
static unsigned split(const char *text, struct str word[static WORDS])
{
	unsigned n = 0;
	for (struct str rest = str_of(text), one; (one = str_token(&rest)).n && n < WORDS; n++)
		word[n] = str_eq(one, STR("T")) ? STR("{{user.x}}") : one;
	return n;
}

TEST(program_text_is_found)
{
	static const struct {
		int line;
		const char *command;
		int from; /* -1: none */
	} rows[] = {
		{ __LINE__, "echo T", -1 },
		{ __LINE__, "T -c x", 0 },
		{ __LINE__, "sh -c T", 1 },
		{ __LINE__, "sh -ce T", 1 },
		{ __LINE__, "sh -cx T", 1 },
		{ __LINE__, "sh -c -- T", 1 },
		{ __LINE__, "bash -c -o pipefail T", 1 },
		{ __LINE__, "bash -o pipefail -c T", 3 },
		{ __LINE__, "bash -o pipefail run.sh T", -1 },
		{ __LINE__, "/usr/bin/rbash -c T", 1 },
		{ __LINE__, "bash-5.2 -lc T", 1 },
		{ __LINE__, "bash run.sh T", -1 },
		{ __LINE__, "bash T run.sh", 1 },
		{ __LINE__, "bash -{{user.x}} T", 1 },
		{ __LINE__, "bash jobs/{{user.x}}.sh T", -1 },
		{ __LINE__, "bash --rcfile T", 1 },
		{ __LINE__, "zsh --command=T", 1 },
		{ __LINE__, "fish --comm T", 1 },
		{ __LINE__, "script -qc T", 1 },
		{ __LINE__, "script --command T", 1 },
		{ __LINE__, "env -S T", 1 },
		{ __LINE__, "env -iS T", 1 },
		{ __LINE__, "env --split-string=T", 1 },
		{ __LINE__, "env T", 1 },
		{ __LINE__, "env X={{user.x}} prog", -1 },
		{ __LINE__, "env X=1 nice -n 5 sh -c T", 6 },
		{ __LINE__, "sudo T", 1 },
		{ __LINE__, "sudo -u www prog T", -1 },
		{ __LINE__, "su - www -c T", 3 },
		{ __LINE__, "ssh host T", 1 },
		{ __LINE__, "xargs echo T", 1 },
		{ __LINE__, "find . -name T", -1 },
		{ __LINE__, "find . -exec T", 2 },
		{ __LINE__, "find . -execdir rm T", 2 },
		{ __LINE__, "python3.11 -c T", 1 },
		{ __LINE__, "python3 -Ic T", 1 },
		{ __LINE__, "python3 agent.py T", -1 },
		{ __LINE__, "python3 -m module T", -1 },
		{ __LINE__, "perl -ne T", 1 },
		{ __LINE__, "perl5.36 -E T", 1 },
		{ __LINE__, "node -e T", 1 },
		{ __LINE__, "node --eval=T", 1 },
		{ __LINE__, "node --pri T", 1 },
		{ __LINE__, "ruby -e T", 1 },
		{ __LINE__, "php -r T", 1 },
		{ __LINE__, "lua5.4 -e T", 1 },
		{ __LINE__, "awk T file", 1 },
		{ __LINE__, "gawk -f a.awk T", 1 },
		{ __LINE__, "sed -i T file", 1 },
		{ __LINE__, "git commit -m T", -1 },
		{ __LINE__, "git -c T commit", 1 },
		{ __LINE__, "tar --checkpoint-action=T", 1 },
		{ __LINE__, "make A=T", 1 },
		{ __LINE__, "psql -c T", 1 },
		{ __LINE__, "docker exec box prog T", 1 },
		{ __LINE__, "sudo podman run image T", 2 },
		{ __LINE__, "kubectl exec pod -- T", 1 },
		{ __LINE__, "npm run build -- T", 1 },
		{ __LINE__, "npx -y T", 1 },
		{ __LINE__, "just deploy T", 1 },
		/* the value of --foreground may be 5, or not */
		{ __LINE__, "timeout --foreground 5 /usr/bin/{{user.x}}", 3 },
		{ __LINE__, "timeout --foreground /usr/bin/{{user.x}} prog", -1 },
		{ __LINE__, "sudo --login /usr/bin/{{user.x}}", 2 },
		{ __LINE__, "sudo --user www prog T", -1 },
		{ __LINE__, "sudo --login --user www T", 4 },
		{ __LINE__, "busybox sh -c T", 2 },
		{ __LINE__, "bash-static -c T", 1 },
		{ __LINE__, "python3-dbg -c T", 1 },
		{ __LINE__, "python3.12t -c T", 1 },
		{ __LINE__, "php8.2-cgi -r T", 1 },
		{ __LINE__, "bashful -c T", -1 },
		{ __LINE__, "node-build -e T", -1 },
		{ __LINE__, "nice -n 5 T", 3 },
		{ __LINE__, "nice -n 5 T -c T", 3 },
		{ __LINE__, "nice --adjustment 5 T", 3 },
		{ __LINE__, "nice -n 5 prog T", -1 },
		{ __LINE__, "nice -n 5 prog-{{user.x}}", 3 },
		{ __LINE__, "timeout 5 T", 2 },
		{ __LINE__, "timeout -k 1 5 T", 4 },
		{ __LINE__, "timeout 5 prog T", -1 },
		{ __LINE__, "env A=b T", 2 },
		{ __LINE__, "env A=b prog T", -1 },
		{ __LINE__, "env GIT_SSH_COMMAND={{user.x}} git fetch", 1 },
		{ __LINE__, "sudo -u www T", 3 },
		{ __LINE__, "flock file T", 2 },
		{ __LINE__, "flock file prog T", -1 },
		{ __LINE__, "systemd-run --user T", 2 },
		{ __LINE__, "su www T", 2 },
		{ __LINE__, "git fetch origin T", 3 },
		{ __LINE__, "git fetch origin -- T", -1 },
		{ __LINE__, "git commit -am T", -1 },
		{ __LINE__, "git commit --message T", -1 },
		{ __LINE__, "git commit --message={{user.x}}", -1 },
		{ __LINE__, "git commit -q T", 3 },
		{ __LINE__, "git grep -O{{user.x}}", 2 },
		{ __LINE__, "git grep x -{{user.x}}", 3 },
		{ __LINE__, "tar -cf x.tar a T", 4 },
		{ __LINE__, "tar -cf x.tar -- T", -1 },
		{ __LINE__, "rsync -a src T", 3 },
		{ __LINE__, "yt-dlp T", 1 },
		{ __LINE__, "yt-dlp -- T", -1 },
		{ __LINE__, "vim file T", 2 },
		{ __LINE__, "python3 -m timeit T", 3 },
		{ __LINE__, "java -XX:OnError={{user.x}} -jar x", 1 },
		{ __LINE__, "claude -p T", -1 },
		{ __LINE__, "notify-send T", -1 },
		{ __LINE__, "grep -c T file", -1 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct str word[WORDS];
		unsigned n = split(rows[i].command, word);
		unsigned from = interpreter_arguments(word, n).from;
		test_case("%s", rows[i].command);
		CHECK_INT_AT(rows[i].line, from == n ? -1 : (int)from, rows[i].from);
	}
}

TEST(programs_on_standard_input_are_found)
{
	static const struct {
		int line;
		const char *command;
		bool reads;
	} rows[] = {
		{ __LINE__, "sh", true },
		{ __LINE__, "bash -s x", true },
		{ __LINE__, "bash -eu -o pipefail", true },
		{ __LINE__, "bash run.sh", false },
		{ __LINE__, "bash /dev/stdin", true },
		{ __LINE__, "sh -c cat", false },
		{ __LINE__, "python3", true },
		{ __LINE__, "python3 -", true },
		{ __LINE__, "python3 -u", true },
		{ __LINE__, "python3 -u agent.py", false },
		{ __LINE__, "nice python3 -X utf8", true },
		{ __LINE__, "ssh host", true },
		{ __LINE__, "python3 -i agent.py", true },
		{ __LINE__, "crontab -", true },
		{ __LINE__, "crontab file", false },
		{ __LINE__, "xargs sh -c x", true },
		{ __LINE__, "xargs rm", false },
		{ __LINE__, "sed 1d", false },
		{ __LINE__, "cat", false },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct str word[WORDS], name;
		unsigned n = split(rows[i].command, word);
		test_case("%s", rows[i].command);
		CHECK_INT_AT(rows[i].line, interpreter_reads_input(word, n, &name), rows[i].reads);
		CHECK_INT_AT(rows[i].line, interpreter_line_reads_input(str_of(rows[i].command), &name),
			     rows[i].reads);
	}
	struct str name;
	test_case("lines");
	CHECK(interpreter_line_reads_input(STR("cd /tmp && cat | sh"), &name));
	CHECK_STR(name.p, "sh");
	CHECK(!interpreter_line_reads_input(STR("cat > x; sh x"), &name));
	CHECK(interpreter_line_executes_next(STR("exec bash -c"), &name));
	CHECK(interpreter_line_executes_next(STR("cd x; ssh host"), &name));
	CHECK(!interpreter_line_executes_next(STR("./agent --fast"), &name));
}

TEST(variables_that_are_executed_are_known)
{
	CHECK(interpreter_is_code_variable(STR("BASH_ENV")));
	CHECK(interpreter_is_code_variable(STR("GIT_SSH_COMMAND")));
	CHECK(interpreter_is_code_variable(STR("BASH_FUNC_x%%")));
	CHECK(!interpreter_is_code_variable(STR("BASH_ENVIRONMENT")));
	CHECK(!interpreter_is_code_variable(STR("GIT_DIR")));
	CHECK(!interpreter_is_code_variable(STR("NAME")));
}
