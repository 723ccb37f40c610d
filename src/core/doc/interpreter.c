/* The table of interpreters, and the search for them in commands. */
#include "core/doc/interpreter.h"
#include "base/limits.h"

#include <string.h>

enum reading {
	READS_OPTIONS = 0,  /* program text follows the options of the row */
	READS_ALL = 1,      /* any word may be program text, or part of it */
	READS_INPUT = 2,    /* without a file and without program text, the program is standard input */
	READS_ANYWHERE = 4, /* options count behind other words, too, up to the word -- */
	STARTS_PROGRAM = 8, /* the first word that is no option is a program, after `before` others */
};

struct interpreter {
	const char *names;  /* separated by blanks; a version may follow each, as in python3.11 */
	const char *text;   /* letters of options that are followed by program text, alone or among others */
	const char *longs;  /* long options that are followed by program text, with one dash or two */
	const char *valued; /* other options that have a value in the next word: letters, then long ones */
	unsigned reading;
	unsigned before; /* STARTS_PROGRAM: the number of words before the program, as in timeout 5 program */
};

static const struct interpreter table[] = {
	/* shells */
	{ "sh bash rbash dash ash zsh rzsh ksh rksh mksh lksh pdksh oksh yash posh osh ysh oil fish csh tcsh "
	  "rc es "
	  "elvish xonsh nu ion pwsh powershell",
	  "cC", "command init-command commands commandwithargs encodedcommand rcfile init-file", "oO",
	  READS_INPUT, 0 },
	/* programs that pass a word to a shell, or split it into words */
	{ "env", "S", "split-string", "uC", STARTS_PROGRAM, 0 },
	{ "script scriptlive su sg", "cC", "command session-command", "gGsEIoOBm", READS_ANYWHERE, 0 },
	{ "runuser", "cC", "command session-command", "ugGsw", STARTS_PROGRAM, 0 },
	{ "flock", "c", "command", "wE", STARTS_PROGRAM, 1 },
	{ "find", "", "exec execdir ok okdir", "", 0, 0 },
	{ "fd fdfind", "xX", "exec exec-batch", "dEetSCcj", READS_ANYWHERE, 0 },
	{ "ssh autossh mosh sshpass rsh rexec parallel at batch m4 ed ex red", "", "", "",
	  READS_ALL | READS_INPUT, 0 },
	{ "xargs watch tmux screen byobu eval hyperfine socat make gmake bmake just capsh pee mispipe timeit "
	  "pssh parallel-ssh pdsh clush salt",
	  "", "", "", READS_ALL, 0 },
	{ "crontab", "", "", "u", READS_INPUT, 0 },
	{ "entr", "s", "", "", 0, 0 },
	{ "nc ncat netcat", "ec", "exec sh-exec lua-exec", "", 0, 0 },
	{ "scp sftp rsync", "eoSRD", "rsh rsync-path", "iPlFcJfTB", READS_ANYWHERE, 0 },
	{ "git", "cx", "exec upload-pack receive-pack config-env open-files-in-pager extcmd",
	  "CmFbn message author date file", READS_ANYWHERE, 0 },
	{ "tar bsdtar", "IF",
	  "checkpoint-action to-command use-compress-program info-script new-volume-script rsh-command "
	  "rmt-command",
	  "fCTXbgHKLNV file directory exclude", READS_ANYWHERE, 0 },
	{ "zip", "", "TT unzip-command", "bnstxi", READS_ANYWHERE, 0 },
	{ "sort split", "", "compress-program filter", "ktSabln", READS_ANYWHERE, 0 },
	{ "wget", "e", "use-askpass execute", "OPoaiUQTtwlARDX", READS_ANYWHERE, 0 },
	{ "yt-dlp youtube-dl", "", "exec exec-before-download downloader external-downloader netrc-cmd",
	  "ofPa", READS_ANYWHERE, 0 },
	{ "aria2c", "",
	  "on-download-complete on-download-start on-download-stop on-download-error on-download-pause "
	  "on-bt-download-complete",
	  "dosxjiT", READS_ANYWHERE, 0 },
	{ "rg", "", "pre hostname-bin", "egtTABCmMj", READS_ANYWHERE, 0 },
	{ "man", "PHC", "pager html config-file", "slLMS", READS_ANYWHERE, 0 },
	{ "apt apt-get aptitude dpkg", "o", "option config-file pre-invoke post-invoke", "t", READS_ANYWHERE,
	  0 },
	{ "tcpdump", "z", "postrotate-command", "irwcCGs", READS_ANYWHERE, 0 },
	{ "ansible ansible-playbook", "ae", "args extra-vars", "imlu", READS_ANYWHERE, 0 },
	/* They append words to a command line of a script, or words name the script or the package. */
	{ "npm npx pnpm pnpx yarn yarnpkg bunx uvx pipx rake gradle gradlew", "", "", "", READS_ALL, 0 },
	/* Words name a program in a container, or are arguments of a program that only the image names. */
	{ "docker docker-compose podman podman-compose nerdctl buildah crictl ctr kubectl oc lxc lxc-attach "
	  "lxc-execute incus distrobox machinectl",
	  "", "", "", READS_ALL | READS_INPUT, 0 },
	{ "mutt neomutt", "e", "", "", 0, 0 },
	{ "xterm uxterm rxvt urxvt konsole gnome-terminal kitty alacritty st foot", "e", "command exec", "",
	  0, 0 },
	/* programs that start the program that their arguments name */
	{ "busybox toybox nohup setsid unshare strace ltrace valgrind prlimit setpriv unbuffer rlwrap "
	  "dbus-run-session xvfb-run fakeroot proot firejail bwrap tini dumb-init catatonit pkexec run0 "
	  "ssh-agent eatmydata torsocks proxychains proxychains4 chronic ifne caffeinate linux32 "
	  "linux64 systemd-run systemd-inhibit systemd-cat ld.so ld-linux.so ld-linux-x86-64.so "
	  "ld-linux-aarch64.so ld-musl-x86_64.so ld-musl-aarch64.so",
	  "", "", "pEuHMtGSeolf", STARTS_PROGRAM, 0 },
	{ "nice cpulimit", "", "", "nl", STARTS_PROGRAM, 0 },
	{ "ionice", "", "", "cn", STARTS_PROGRAM, 0 },
	{ "stdbuf", "", "", "ioe", STARTS_PROGRAM, 0 },
	{ "sudo doas", "", "", "ughpCTRDrtU", STARTS_PROGRAM, 0 },
	{ "time exec command", "", "", "foa", STARTS_PROGRAM, 0 },
	{ "nsenter", "", "", "tSG", STARTS_PROGRAM, 0 },
	{ "timeout chroot taskset chrt setarch faketime gosu su-exec setuidgid envdir perf", "", "", "ks",
	  STARTS_PROGRAM, 1 },
	{ "start-stop-daemon", "xa", "exec startas", "", 0, 0 },
	/* languages */
	{ "python pypy ipython micropython", "c", "command", "WX", READS_INPUT, 0 },
	{ "perl", "eEMmF", "", "I", READS_INPUT, 0 },
	{ "ruby jruby irb", "e", "", "Ir", READS_INPUT, 0 },
	{ "node nodejs bun tsx ts-node", "ep", "eval print import require loader experimental-loader", "r",
	  READS_INPUT, 0 },
	{ "java", "", "XX:OnOutOfMemoryError XX:OnError", "", 0, 0 },
	{ "awk gawk mawk nawk original-awk bwk sed gsed jq jaq yq", "", "", "", READS_ALL, 0 },
	{ "deno dc", "", "", "", READS_ALL | READS_INPUT, 0 },
	{ "php", "rBRE", "run process-begin process-code process-end", "dcz", READS_INPUT, 0 },
	{ "lua luajit luau texlua", "e", "", "l", READS_INPUT, 0 },
	{ "R Rscript julia octave gnuplot matlab", "eE", "eval print batch", "", READS_INPUT, 0 },
	{ "guile racket sbcl clisp ecl scheme chez csi gsi emacs", "cexEL", "eval eval-string execute", "",
	  READS_INPUT, 0 },
	{ "ghc runghc runhaskell ocaml scala groovy kotlinc clojure clj bb elixir iex erl swipl gprolog raku "
	  "crystal nim tclsh wish expect osascript qjs jsc d8 rhino jshell",
	  "egEsc", "eval execute expression goal", "", READS_INPUT, 0 },
	{ "vi vim nvim rvim gvim", "cS", "cmd", "", READS_INPUT | READS_ANYWHERE, 0 },
	{ "view", "cS", "cmd", "", READS_INPUT, 0 }, /* also a usual word: gh pr view */
	{ "gdb lldb bpftrace dtrace", "enO", "ex iex eval-command init-eval-command one-line", "x",
	  READS_INPUT, 0 },
	/* clients whose language can start programs */
	{ "sqlite3 sqlite duckdb redis-cli", "", "", "", READS_ALL | READS_INPUT, 0 },
	{ "psql mysql mariadb mongo mongosh cqlsh clickhouse-client", "ceE",
	  "command execute eval init-command variable set", "", READS_INPUT, 0 },
};

/* What may follow the name and the version of a program: bash-static, php8.2-cgi, python3.12t. */
static const char builds[] = "static dbg debug cgi x86_64-linux-gnu aarch64-linux-gnu";

/* Variables whose value a program executes, or from which it loads code. ENV is
 * not among them: it is a usual name for other things, and only interactive shells execute it. A name that
 * ends with * stands for all that begin so. */
static const char code_variables[] =
	"BASH_ENV BASH_FUNC_* PROMPT_COMMAND PS4 ZDOTDIR SHELL PERL5OPT PERL5DB PERL5LIB RUBYOPT RUBYLIB "
	"NODE_OPTIONS NODE_PATH PYTHONSTARTUP PYTHONPATH PYTHONHOME LUA_INIT* LUA_PATH* LUA_CPATH* "
	"JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS R_PROFILE* VIMINIT EXINIT GVIMINIT LD_PRELOAD "
	"LD_AUDIT LD_LIBRARY_PATH GCONV_PATH GIT_SSH* GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR "
	"GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_ASKPASS GIT_CONFIG* GIT_EXEC_PATH GIT_TEMPLATE_DIR "
	"SSH_ASKPASS SUDO_ASKPASS PAGER MANPAGER EDITOR VISUAL FCEDIT BROWSER LESSOPEN LESSCLOSE RSYNC_RSH "
	"RSYNC_CONNECT_PROG CVS_RSH TAR_OPTIONS MAKEFLAGS GNUMAKEFLAGS";

/* --- words --- */

static bool has_template(struct str word)
{
	return memmem(word.p, word.n, "{{", 2) != NULL;
}

/* Whether a template could turn the word into an option. */
static bool may_be_option(struct str word)
{
	return has_template(word) && (word.p[0] == '-' || word.p[0] == '+' || str_starts(word, STR("{{")));
}

static struct str base_name(struct str word)
{
	size_t at = word.n;
	while (at > 0 && word.p[at - 1] != '/')
		at--;
	return str_from(word, at);
}

static bool is_one_of(struct str word, const char *list)
{
	for (struct str rest = str_of(list), one; (one = str_token(&rest)).n;)
		if (str_eq(word, one))
			return true;
	return false;
}

/* Whether `word` is `name`, or `name` with a version or a build: python3.11, bash-5.2, bash-static. */
static bool has_name(struct str word, struct str name)
{
	if (!str_starts(word, name))
		return false;
	struct str rest = str_from(word, name.n);
	bool digit = false;
	while (rest.n && (is_digit(rest.p[0]) || rest.p[0] == '.' || rest.p[0] == '-')) {
		digit |= is_digit(rest.p[0]);
		rest = str_from(rest, 1);
	}
	bool letter = digit && rest.n == 1 && strchr("dmtw", rest.p[0]); /* as in python3.12t */
	return !rest.n || letter || (rest.p > word.p + name.n && is_one_of(rest, builds));
}

static const struct interpreter *find_interpreter(struct str word)
{
	struct str base = base_name(word);
	for (unsigned i = 0; base.n && i < ARRAY_LEN(table); i++)
		for (struct str rest = str_of(table[i].names), name; (name = str_token(&rest)).n;)
			if (has_name(base, name))
				return &table[i];
	return NULL;
}

static bool is_option(struct str word)
{
	return word.n && (word.p[0] == '-' || word.p[0] == '+');
}

static bool has_letter(struct str word, const char *letters)
{
	for (size_t i = 1; i < word.n; i++)
		if (word.p[i] != '-' && strchr(letters, word.p[i]))
			return true;
	return false;
}

/* Whether the word is an option that is followed by program text. Long options may be shortened. */
static bool announces_text(const struct interpreter *in, struct str word)
{
	if (word.n < 2 || !is_option(word))
		return false;
	bool two_dashes = word.p[1] == '-';
	struct str name = str_from(word, two_dashes ? 2 : 1);
	const char *equals = memchr(name.p, '=', name.n);
	if (equals)
		name.n = (size_t)(equals - name.p);
	for (struct str rest = str_of(in->longs), one; name.n > 1 && (one = str_token(&rest)).n;)
		if (name.n <= one.n && str_ieq(name, str_sub(one, 0, name.n)))
			return true;
	return !two_dashes && has_letter(word, in->text);
}

/* Whether the next word may be the value of this option. *certain: it is. */
static bool has_value(const struct interpreter *in, struct str word, bool *certain)
{
	struct str letters = str_of(in->valued), longs = letters;
	*certain = false;
	if (!is_option(word) || word.n < 2)
		return false;
	letters = str_token(&longs);
	if (word.p[1] != '-') {
		*certain = memchr(letters.p, word.p[word.n - 1], letters.n) != NULL;
		return *certain;
	}
	if (word.n == 2 || memchr(word.p, '=', word.n))
		return false;
	*certain = longs.n && is_one_of(str_from(word, 2), longs.p);
	return *certain ||
	       in->reading & STARTS_PROGRAM; /* a wrapper may have other long options with values */
}

/* Whether a template could turn the word into an option of its own: in --message={{x}} and in -m{{x}} it is
 * the value of a known one. */
static bool may_be_other_option(const struct interpreter *in, struct str word)
{
	struct str name = word, letters, all = str_of(in->valued);
	const char *equals = memchr(word.p, '=', word.n);
	if (str_starts(word, STR("{{")))
		return true;
	if (equals)
		name.n = (size_t)(equals - word.p);
	if (name.n < 2 || name.p[0] != '-' || !has_template(name))
		return false;
	letters = str_token(&all);
	return !memchr(letters.p, name.p[1], letters.n);
}

/* Whether the word is NAME=value, and a program would execute the value. */
static bool sets_code(struct str word)
{
	const char *equals = memchr(word.p, '=', word.n);
	struct str name = { word.p, equals ? (size_t)(equals - word.p) : 0 };
	return name.n && interpreter_is_code_variable(name) && has_template(word);
}

/* --- arguments --- */

/* The program that a wrapper starts, if a template can choose it; n: it cannot. Where a word may be the value
 * of an option or not, both are considered: the program is the word after `least` words, or after `most`
 * words. */
static unsigned find_program(const struct interpreter *in, const struct str *word, unsigned n)
{
	unsigned least = in->before, most = least;
	bool value = false, certain = false; /* the word may be the value of the option before it; it is */
	for (unsigned i = 0; i < n; i++) {
		bool assignment = memchr(word[i].p, '=', word[i].n) != NULL;
		if (sets_code(word[i]))
			return i;
		if (!certain && !is_option(word[i]) && !assignment) {
			if (!least && has_template(word[i]))
				return i;
			if (!value && !most--)
				return n; /* the other words are its arguments */
			if (least)
				least--;
		}
		value = !certain && has_value(in, word[i], &certain);
		certain &= value;
	}
	return n;
}

/* The first word of word[0..n), which follow the name of the interpreter, that may be program text. *file:
 * the index of the first word that is not an option, which is a file or a program; n: there is none. */
static unsigned find_text(const struct interpreter *in, const struct str *word, unsigned n, unsigned *file)
{
	bool value = false; /* the word is the value of the option before it */
	bool anywhere = in->reading & READS_ANYWHERE, ended = false;
	unsigned program = in->reading & STARTS_PROGRAM ? find_program(in, word, n) : n;
	*file = n;
	if (in->reading & READS_ALL)
		return 0;
	for (unsigned i = 0; i < program; i++) {
		bool first = *file == n && !(anywhere && ended);
		if (announces_text(in, word[i]) || (first && may_be_option(word[i])) ||
		    (anywhere && !ended && !value && may_be_other_option(in, word[i])))
			return i;
		bool option = is_option(word[i]), certain;
		if (!option && !value && *file == n)
			*file = i;
		ended |= str_eq(word[i], STR("--"));
		value = !value && option && has_value(in, word[i], &certain);
	}
	return program;
}

struct program_text interpreter_arguments(const struct str *word, unsigned n)
{
	struct program_text first = { .from = n };
	if (n && has_template(word[0])) /* any program may be meant */
		return (struct program_text){ 0, STR("the program that it names") };
	for (unsigned i = 0; i < n && i < first.from; i++) {
		unsigned file;
		const struct interpreter *in = find_interpreter(word[i]);
		unsigned at = in ? i + 1 + find_text(in, word + i + 1, n - i - 1, &file) : n;
		if (at < first.from)
			first = (struct program_text){ at, base_name(word[i]) };
	}
	return first;
}

/* --- variables --- */

bool interpreter_is_code_variable(struct str name)
{
	for (struct str rest = str_of(code_variables), one; (one = str_token(&rest)).n;) {
		bool beginning = one.p[one.n - 1] == '*';
		if (beginning ? str_starts(name, str_sub(one, 0, one.n - 1)) : str_eq(name, one))
			return true;
	}
	return false;
}

/* --- standard input --- */

static bool is_input_name(struct str word)
{
	static const char names[] = "- -s -i --interactive /dev/stdin /dev/fd/0 /proc/self/fd/0";
	return is_one_of(word, names);
}

bool interpreter_reads_input(const struct str *word, unsigned n, struct str *name)
{
	bool passed_on = false; /* xargs makes arguments of its input */
	for (unsigned i = 0; i < n; i++) {
		const struct interpreter *in = find_interpreter(word[i]);
		unsigned left = n - i - 1, file;
		*name = base_name(word[i]);
		if (in && passed_on)
			return true;
		passed_on |= has_name(*name, STR("xargs"));
		if (!in || !(in->reading & READS_INPUT))
			continue;
		unsigned text = find_text(in, word + i + 1, left, &file);
		bool input = (in->reading & READS_ALL) || (text == left && file == left);
		for (unsigned k = i + 1; k < n; k++)
			input |= is_input_name(word[k]);
		if (input)
			return true;
	}
	return false;
}

/* --- command lines --- */

/* Takes the words of the next simple command from the line: up to one of ;|&()<> or a new line. */
static unsigned next_command(struct str *line, struct str *word, unsigned room)
{
	static const char blanks[] = " \t'\"", ends[] = ";|&()<>\n`{}";
	unsigned n = 0;
	size_t at = 0;
	while (at < line->n && !strchr(ends, line->p[at])) {
		size_t from = at;
		while (at < line->n && !strchr(blanks, line->p[at]) && !strchr(ends, line->p[at]))
			at++;
		if (at > from && n < room)
			word[n++] = str_sub(*line, from, at);
		at += at == from;
	}
	*line = str_from(*line, at < line->n ? at + 1 : at);
	return n;
}

bool interpreter_line_reads_input(struct str line, struct str *name)
{
	struct str word[INTERPRETER_WORDS_MAX];
	while (line.n)
		if (interpreter_reads_input(word, next_command(&line, word, INTERPRETER_WORDS_MAX), name))
			return true;
	return false;
}

bool interpreter_line_executes_next(struct str line, struct str *name)
{
	struct str word[INTERPRETER_WORDS_MAX + 1];
	unsigned n = 0;
	while (line.n)
		n = next_command(&line, word, INTERPRETER_WORDS_MAX);
	word[n++] = STR("{{}}"); /* stands for the word that is appended */
	struct program_text found = interpreter_arguments(word, n);
	*name = found.name;
	return found.from < n;
}
