/* The table of interpreters, and the search for them in commands. */
#include "core/doc/interpreter.h"
#include "base/limits.h"

#include <string.h>

enum reading {
	READS_OPTIONS = 0, /* program text follows the options of the row */
	READS_ALL = 1,     /* any word may be program text, or part of it */
	READS_INPUT = 2,   /* without a file and without program text, the program is standard input */
};

struct interpreter {
	const char *names;  /* separated by blanks; a version may follow each, as in python3.11 */
	const char *text;   /* letters of options that are followed by program text, alone or among others */
	const char *longs;  /* long options that are followed by program text, with one dash or two */
	const char *valued; /* letters of other options that have a value in the next word */
	unsigned reading;
};

static const struct interpreter table[] = {
	/* shells */
	{ "sh bash rbash dash ash zsh rzsh ksh rksh mksh lksh pdksh oksh yash posh osh ysh oil fish csh tcsh "
	  "rc es "
	  "elvish xonsh nu ion pwsh powershell",
	  "cC", "command init-command commands commandwithargs encodedcommand rcfile init-file", "oO",
	  READS_INPUT },
	/* programs that pass a word to a shell, or split it into words */
	{ "env", "S", "split-string", "uC", 0 },
	{ "script scriptlive su runuser flock sg", "cC", "command session-command", "", 0 },
	{ "find", "", "exec execdir ok okdir", "", 0 },
	{ "fd fdfind", "xX", "exec exec-batch", "", 0 },
	{ "ssh autossh mosh sshpass rsh rexec parallel at batch m4 ed ex red", "", "", "",
	  READS_ALL | READS_INPUT },
	{ "xargs watch tmux screen byobu eval hyperfine socat make gmake bmake just", "", "", "", READS_ALL },
	{ "entr", "s", "", "", 0 },
	{ "nc ncat netcat", "ec", "exec sh-exec lua-exec", "", 0 },
	{ "scp sftp rsync", "eoSRD", "rsh rsync-path", "", 0 },
	{ "git", "cx", "exec upload-pack receive-pack config-env", "C", 0 },
	{ "tar bsdtar", "IF",
	  "checkpoint-action to-command use-compress-program info-script new-volume-script rsh-command "
	  "rmt-command",
	  "", 0 },
	{ "zip", "", "TT unzip-command", "", 0 },
	{ "sort split", "", "compress-program filter", "", 0 },
	{ "xterm uxterm rxvt urxvt konsole gnome-terminal kitty alacritty st foot", "e", "command exec", "",
	  0 },
	/* programs that start the program that their arguments name */
	{ "busybox toybox nice nohup setsid stdbuf ionice sudo doas time exec command", "", "", "", 0 },
	/* languages */
	{ "python pypy ipython micropython", "c", "command", "WX", READS_INPUT },
	{ "perl", "eEMmF", "", "I", READS_INPUT },
	{ "ruby jruby irb", "e", "", "Ir", READS_INPUT },
	{ "node nodejs bun", "ep", "eval print import require loader experimental-loader", "r", READS_INPUT },
	{ "awk gawk mawk nawk original-awk bwk sed gsed jq jaq yq", "", "", "", READS_ALL },
	{ "deno dc", "", "", "", READS_ALL | READS_INPUT },
	{ "php", "rBRE", "run process-begin process-code process-end", "dcz", READS_INPUT },
	{ "lua luajit luau texlua", "e", "", "l", READS_INPUT },
	{ "R Rscript julia octave gnuplot matlab", "eE", "eval print batch", "", READS_INPUT },
	{ "guile racket sbcl clisp ecl scheme chez csi gsi emacs", "cexEL", "eval eval-string execute", "",
	  READS_INPUT },
	{ "ghc runghc runhaskell ocaml scala groovy kotlinc clojure clj bb elixir iex erl swipl gprolog raku "
	  "crystal nim tclsh wish expect osascript qjs jsc d8 rhino jshell",
	  "egEsc", "eval execute expression goal", "", READS_INPUT },
	{ "vi vim nvim view rvim gvim", "cS", "cmd", "", READS_INPUT },
	{ "gdb lldb bpftrace dtrace", "enO", "ex iex eval-command init-eval-command one-line", "x",
	  READS_INPUT },
	/* clients whose language can start programs */
	{ "sqlite3 sqlite duckdb redis-cli", "", "", "", READS_ALL | READS_INPUT },
	{ "psql mysql mariadb mongo mongosh cqlsh clickhouse-client", "ceE",
	  "command execute eval init-command variable set", "", READS_INPUT },
};

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

/* Whether `word` is `name`, or `name` with a version: python3.11, bash-5.2. */
static bool has_name(struct str word, struct str name)
{
	if (!str_starts(word, name))
		return false;
	for (size_t i = name.n; i < word.n; i++)
		if (!is_digit(word.p[i]) && word.p[i] != '.' && word.p[i] != '-')
			return false;
	return true;
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
	if (word.n < 2 || (word.p[0] != '-' && word.p[0] != '+'))
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

/* --- arguments --- */

/* The first word of word[0..n), which follow the name of the interpreter, that may be program text. *file:
 * the index of the first word that is not an option, which is a file or a program; n: there is none. */
static unsigned find_text(const struct interpreter *in, const struct str *word, unsigned n, unsigned *file)
{
	bool value = false; /* the word is the value of the option before it */
	*file = n;
	if (in->reading & READS_ALL)
		return 0;
	for (unsigned i = 0; i < n; i++) {
		if (announces_text(in, word[i]) || (*file == n && may_be_option(word[i])))
			return i;
		bool option = word[i].n && (word[i].p[0] == '-' || word[i].p[0] == '+');
		if (!option && !value && *file == n)
			*file = i;
		value = option && word[i].n == 2 && strchr(in->valued, word[i].p[1]);
	}
	return n;
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

/* --- standard input --- */

static bool is_input_name(struct str word)
{
	return str_eq(word, STR("-")) || str_eq(word, STR("-s")) || str_eq(word, STR("/dev/stdin")) ||
	       str_eq(word, STR("/dev/fd/0")) || str_eq(word, STR("/proc/self/fd/0"));
}

bool interpreter_reads_input(const struct str *word, unsigned n, struct str *name)
{
	for (unsigned i = 0; i < n; i++) {
		const struct interpreter *in = find_interpreter(word[i]);
		unsigned left = n - i - 1, file;
		if (!in || !(in->reading & READS_INPUT))
			continue;
		unsigned text = find_text(in, word + i + 1, left, &file);
		bool input = (in->reading & READS_ALL) || (text == left && file == left);
		for (unsigned k = i + 1; k < n; k++)
			input |= is_input_name(word[k]);
		*name = base_name(word[i]);
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
