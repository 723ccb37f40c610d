/* Judges the end of a hook by how its program ended and by what it printed. */
#include "daemon/prepare/hook_answer.h"

#include "base/json.h"
#include "base/printable.h"
#include "core/model.h"
#include "runfile/read.h"
#include "runfile/tail.h"

/* Exit codes by which a shell reports a program that it cannot execute, or that a signal has killed. */
enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128, SIGNAL_MAX = 64 };

const char *hook_name(enum run_hook hook)
{
	static const char *const names[RUN_HOOKS] = { [HOOK_OF_CONFIG] = "the hook of the configuration",
						      [HOOK_OF_SCHEDULE] = "the hook of the schedule",
						      [HOOK_OF_CREATE] = "the hook " DOC_CREATE_HOOK
									 " of the configuration" };
	return names[hook];
}

/* --- words --- */

/* Adds a text in one line: every character that may not be shown becomes a space, and spaces are joined. */
static void add_line(struct buf *out, struct str text)
{
	text = str_trim(text);
	for (bool space = false; text.n;) {
		unsigned n = printable_length(text);
		bool blank = !n || text.p[0] == ' ';
		if (!blank && space && out->n)
			buf_addc(out, ' ');
		if (!blank)
			buf_add(out, str_sub(text, 0, n));
		space = blank;
		text = str_from(text, n ? n : 1);
	}
}

/* The last bytes of standard error, from the beginning of a line if there is one. */
static enum err read_errors(const struct hook_end *end, struct arena *a, struct str *ret, struct why *why)
{
	enum err e =
		runfile_tail(end->runs, end->run, RUN_HOOK + end->hook, "err", HOOK_WORDS_BYTES, a, ret, why);
	const char *line = !e && ret->n == HOOK_WORDS_BYTES ? memchr(ret->p, '\n', ret->n - 1) : NULL;
	if (line)
		*ret = str_from(*ret, (size_t)(line + 1 - ret->p));
	return e;
}

static enum err set_words(struct arena *a, struct hook_answer *ret, const char *what, struct str text)
{
	_cleanup_(buf_free) struct buf words = { 0 }, line = { 0 };
	add_line(&line, text);
	buf_add(&words, str_of(what));
	if (line.n && words.n)
		buf_add(&words, STR(": "));
	buf_add(&words, buf_str(&line));
	const char *copy = arena_dup(a, buf_str(&words));
	if (words.failed || line.failed || !copy)
		return E_NOMEM;
	ret->words = (struct str){ copy, words.n };
	return OK;
}

/* --- answers --- */

static enum err fail(const struct hook_end *end, struct arena *a, struct hook_answer *ret, const char *what,
		     struct str text)
{
	ret->failed = true;
	ret->yes = end->on_error == HOOK_PROCEEDS;
	return what ? set_words(a, ret, what, text) : E_NOMEM;
}

/* The program ended with 0: its standard output may still cancel. */
static enum err judge_output(const struct hook_end *end, struct arena *a, struct hook_answer *ret,
			     struct why *why)
{
	struct str text;
	struct val said;
	struct why not_json;
	enum err e = runfile_tail(end->runs, end->run, RUN_HOOK + end->hook, "out", HOOK_ANSWER_BYTES + 1, a,
				  &text, why);
	if (e)
		return e;
	ret->yes = true;
	e = text.n > HOOK_ANSWER_BYTES ? E_LIMIT : json_read(str_trim(text), a, &said, &not_json);
	if (e)
		return e == E_NOMEM ? e : OK; /* not an answer, so it goes on */
	const struct val *cancel = said.kind == VAL_MAP ? val_get(&said, STR("cancel")) : NULL;
	const struct val *reason = cancel ? val_get(&said, STR("reason")) : NULL;
	if (!cancel || (cancel->kind == VAL_BOOL && !cancel->boolean))
		return OK;
	if (cancel->kind != VAL_BOOL)
		return fail(end, a, ret,
			    "the value of `cancel` in its standard output is neither true nor false",
			    (struct str){ 0 });
	ret->yes = false;
	bool given = reason && reason->kind == VAL_STR && str_trim(reason->str).n;
	return set_words(a, ret, given ? "" : "it gave no reason",
			 given ? str_sub(reason->str, 0,
					 reason->str.n < HOOK_WORDS_BYTES ? reason->str.n : HOOK_WORDS_BYTES)
			       : (struct str){ 0 });
}

/* The program ended by itself with a code other than 0, or a signal killed it. */
static enum err judge_exit(const struct hook_end *end, struct arena *a, struct hook_answer *ret,
			   struct why *why)
{
	struct str errors;
	int code = end->program->exit_code;
	enum err e = read_errors(end, a, &errors, why);
	if (e)
		return e;
	if (code == EXIT_NOT_FOUND || code == EXIT_NOT_EXECUTABLE)
		return fail(end, a, ret,
			    code == EXIT_NOT_FOUND ? "its program was not found"
						   : "its program cannot be executed",
			    errors);
	if (code > EXIT_SIGNAL && code <= EXIT_SIGNAL + SIGNAL_MAX)
		return fail(end, a, ret, arena_printf(a, "signal %d killed it", code - EXIT_SIGNAL), errors);
	const char *number = arena_printf(a, "exit code %d", code);
	return number ? set_words(a, ret, str_trim(errors).n ? "" : number, errors) : E_NOMEM;
}

/* The program was not executed, was killed, or left no record. */
static enum err judge_failure(const struct hook_end *end, struct arena *a, struct hook_answer *ret,
			      struct why *why)
{
	struct runfile f = { 0 };
	enum run_life life;
	struct str errors = { 0 };
	unsigned reason = end->program->reason;
	if (reason == REASON_TIMEOUT) {
		enum err e = read_errors(end, a, &errors, why);
		return e ? e : fail(end, a, ret, "it took longer than its timeout", errors);
	}
	if (reason == REASON_CANCELLED) { /* its answer is not needed any more */
		ret->failed = true;
		return set_words(a, ret, "it was stopped", errors);
	}
	if (reason == REASON_DEFINITION || reason == REASON_TEMPLATE)
		return fail(end, a, ret, "its command could not be prepared", (struct str){ 0 });
	if (runfile_read(end->runs, end->run, RUN_HOOK + end->hook, &life, &f, why))
		f = (struct runfile){ 0 }; /* then without the note */
	return fail(end, a, ret,
		    reason == REASON_EXIT ? "its program cannot be executed" : "its process was lost",
		    str_of(f.note));
}

enum err hook_answer(const struct hook_end *end, struct arena *a, struct hook_answer *ret, struct why *why)
{
	const struct rn_report *p = end->program;
	*ret = (struct hook_answer){ 0 };
	if (p->outcome == OUTCOME_DONE || p->outcome == OUTCOME_NO_WORK)
		return judge_output(end, a, ret, why);
	if (p->outcome == OUTCOME_FAILED && p->reason == REASON_EXIT && p->exit_code >= 0)
		return judge_exit(end, a, ret, why);
	return judge_failure(end, a, ret, why);
}
