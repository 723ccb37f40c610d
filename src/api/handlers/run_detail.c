/* All there is to know of one run: its record, and what its attempts left on disk. */
#include "api/api.h"
#include "api/handlers/notify.h"
#include "api/handlers/runs.h"
#include "api/json_out.h"
#include "api/reason_text.h"
#include "base/utf8.h"
#include "cli/table.h"
#include "runfile/outbox.h"
#include "runfile/read.h"
#include "runfile/tail.h"

#include <string.h>
#include <sys/stat.h>

enum { ATTEMPTS_TOLD = 20, REPORTS_TOLD = 100, REPORTS_SHOWN = 10 }; /* the last ones */

/* --- the answer --- */

/* In seconds, by the run file where it is over: the record's start is when it was seen, which may be after
 * its end. None where it has not begun. */
static void tell_duration(struct buf *out, const struct runfile *f, struct wall started, struct wall ended)
{
	bool over = ended.us && ended.us != INT64_MAX;
	int64_t us = (over ? ended : api_now()).us - started.us;
	if (f->exit_version)
		us = f->lasted;
	if (started.us || f->exit_version)
		buf_addf(out, ",\"duration\":%.3f", us > 0 ? (double)us / USEC : 0.0);
	else
		buf_add(out, STR(",\"duration\":null"));
}

static void tell_log(struct buf *out, const char *runs, const struct run_row *r, unsigned attempt,
		     const struct runfile *f)
{
	_cleanup_(buf_free) struct buf path = { 0 };
	struct stat st;
	const char *how = f->exit_version ? run_log_word((unsigned)f->log) : NULL;
	runfile_path(&path, runs, r->run, attempt, "log");
	if (path.failed || stat(path.p, &st) < 0) {
		buf_add(out, STR(",\"log\":null"));
		return;
	}
	buf_add(out, STR(",\"log\":{\"path\":"));
	json_write_str(out, buf_str(&path));
	buf_addf(out, ",\"bytes\":%lld", (long long)st.st_size);
	tell_str(out, "kept", how ? str_of(how) : (struct str){ 0 });
	buf_addf(out, ",\"left_out\":%llu}", (unsigned long long)f->left_out);
}

/* The check before it; false, and nothing told, if there was none. */
static bool tell_check(struct buf *out, const char *runs, const struct run_row *r, unsigned attempt)
{
	struct runfile f = { 0 };
	enum run_life life;
	struct why why;
	attempt |= RUN_CHECK;
	if (runfile_read(runs, r->run, attempt, &life, &f, &why) || life == LIFE_ABSENT)
		return false;
	const char *cause = f.exit_version ? run_cause_word((unsigned)f.cause) : NULL;
	buf_addf(out, ",\"check\":{\"attempt\":%u", attempt & ~(unsigned)RUN_CHECK);
	tell_at(out, "started_at", (struct wall){ f.started });
	tell_duration(out, &f, (struct wall){ f.started }, (struct wall){ f.ended });
	tell_str(out, "cause", cause ? str_of(cause) : (struct str){ 0 });
	if (f.exit_version && f.cause == CAUSE_EXIT)
		buf_addf(out, ",\"exit_code\":%lld", (long long)(f.signal ? 128 + f.signal : f.status));
	else
		buf_add(out, STR(",\"exit_code\":null"));
	tell_str(out, "note", f.note[0] ? str_of(f.note) : (struct str){ 0 });
	tell_log(out, runs, r, attempt, &f);
	buf_addc(out, '}');
	return true;
}

/* What it said of itself. */
static void tell_reports(struct op_call *call, const char *runs, const struct run_row *r)
{
	struct report *list = NULL;
	unsigned n = 0;
	struct why why;
	struct buf *out = &call->answer;
	if (r->attempt && outbox_read(runs, r->run, r->attempt, call->arena, &list, &n, &why))
		n = 0; /* the rest is worth telling all the same */
	buf_add(out, STR(",\"reports\":["));
	unsigned first = n > REPORTS_TOLD ? n - REPORTS_TOLD : 0;
	for (unsigned i = first; i < n; i++) {
		buf_addf(out, "%s{\"report\":\"%s\"", i > first ? "," : "", report_words[list[i].kind]);
		tell_str(out, "text", list[i].text);
		tell_str(out, "at", list[i].at);
		buf_addc(out, '}');
	}
	buf_addc(out, ']');
}

/* What its last attempt answered, if it is an agent's; none while it may still go on. */
static void tell_answer(struct op_call *call, const char *runs, const struct run_row *r)
{
	struct str text = { 0 };
	struct why why;
	if (r->state != RUN_FINISHED ||
	    runfile_tail(runs, r->run, r->attempt, "out", ANSWER_BYTES_MAX, call->arena, &text, &why))
		text = (struct str){ 0 };
	tell_str(&call->answer, "answer", text);
}

/* What only its run file knows. */
static void tell_attempt(struct buf *out, const char *runs, const struct run_row *r, unsigned attempt,
			 struct runfile *f)
{
	enum run_life life;
	struct why why;
	*f = (struct runfile){ 0 };
	if (runfile_read(runs, r->run, attempt, &life, f, &why) || life == LIFE_ABSENT)
		*f = (struct runfile){ 0 };
	bool over = f->exit_version != 0, by_itself = over && f->cause == CAUSE_EXIT;
	const char *cause = over ? run_cause_word((unsigned)f->cause) : NULL;
	buf_addf(out, "{\"attempt\":%u", attempt);
	tell_at(out, "started_at", (struct wall){ f->started });
	tell_at(out, "ended_at", (struct wall){ f->ended });
	tell_duration(out, f, (struct wall){ f->started }, (struct wall){ f->ended });
	tell_str(out, "cause", cause ? str_of(cause) : (struct str){ 0 });
	if (by_itself && !f->signal)
		buf_addf(out, ",\"exit_code\":%lld", (long long)f->status);
	else
		buf_add(out, STR(",\"exit_code\":null"));
	if (f->signal > 0)
		buf_addf(out, ",\"signal\":%lld", (long long)f->signal);
	else
		buf_add(out, STR(",\"signal\":null"));
	tell_str(out, "note", f->note[0] ? str_of(f->note) : (struct str){ 0 });
	tell_log(out, runs, r, attempt, f);
	if (!tell_check(out, runs, r, attempt))
		buf_add(out, STR(",\"check\":null"));
	buf_addc(out, '}');
}

enum err handle_get_run(struct op_call *call, struct api *api)
{
	const char *runs = daemon_runs(api_daemon(api));
	struct buf *out = &call->answer;
	uint64_t number;
	struct run_row r = { 0 };
	struct read_sched s = { 0 };
	struct runfile last = { 0 };
	enum err e = api_run_number(call, op_arg(call, "run")->text, &number);
	if (!e)
		e = read_run(api_reader(api), number, &r, call->why);
	if (e == E_NOTFOUND)
		return why_set(call->why, e, WHY_NOWHERE, "there is no run r%llu",
			       (unsigned long long)number);
	if (!e)
		e = read_sched(api_reader(api), r.sid, call->arena, &s, call->why);
	struct str words = { 0 }, origin = { 0 };
	if (!e)
		e = api_words(call, api, &r, &words);
	if (!e)
		e = read_words(api_reader(api), r.run, RUN_TEXT_PROVENANCE, call->arena, &origin, call->why);
	if (e)
		return e;
	const char *reason = r.reason ? words_reason(reason_words[r.reason]) : NULL;
	tell_run_open(out, &r, s.id);
	buf_addf(out, ",\"rev\":%u,\"attempts_not_counted\":%u,\"removed\":%s", r.rev, r.uncounted,
		 s.dropped.us != INT64_MAX ? "true" : "false");
	tell_str(out, "reason_text", reason ? str_of(reason) : (struct str){ 0 });
	tell_str(out, "detail", words);
	buf_add(out, STR(",\"origin\":"));
	buf_add(out, origin.n ? origin : STR("null"));
	tell_answer(call, runs, &r);
	buf_add(out, STR(",\"attempts\":["));
	unsigned first = r.attempt > ATTEMPTS_TOLD ? r.attempt - ATTEMPTS_TOLD + 1 : 1;
	for (unsigned i = first; i <= r.attempt; i++) {
		buf_add(out, i > first ? STR(",") : STR(""));
		tell_attempt(out, runs, &r, i, &last);
	}
	buf_addc(out, ']');
	struct wall ended = { r.state == RUN_CLAIMED ? 0 : r.ended.us }; /* that of an attempt before */
	tell_duration(out, &last, r.started, ended);
	if (last.signal > 0)
		buf_addf(out, ",\"signal\":%lld", (long long)last.signal);
	else
		buf_add(out, STR(",\"signal\":null"));
	tell_reports(call, runs, &r);
	/* The last one: that of the attempt to come, if it is being asked. */
	if (!tell_check(out, runs, &r, r.attempt + 1u) && !tell_check(out, runs, &r, r.attempt))
		buf_add(out, STR(",\"check\":null"));
	if (r.attempt)
		tell_log(out, runs, &r, r.attempt, &last);
	else
		buf_add(out, STR(",\"log\":null"));
	e = tell_notices_of(call, api, r.run);
	buf_addc(out, '}');
	return e;
}

/* --- for people --- */

static void line(struct op_call *call, const char *name, const char *text)
{
	if (!text)
		return;
	fprintf(call->out, "  %-11s ", name);
	print_safe(call->out, str_of(text));
	fputc('\n', call->out);
}

static const char *signal_text(struct op_call *call, const struct val *v)
{
	const struct val *n = val_get(v, STR("signal"));
	if (!n || n->kind != VAL_INT)
		return NULL;
	const char *name = sigabbrev_np((int)n->integer);
	return name ? arena_printf(call->arena, "%lld (SIG%s)", (long long)n->integer, name)
		    : arena_printf(call->arena, "%lld", (long long)n->integer);
}

static const char *log_text(struct op_call *call, const struct val *v)
{
	const struct val *log = val_get(v, STR("log"));
	if (!log || log->kind != VAL_MAP)
		return NULL;
	const struct val *out = val_get(log, STR("left_out"));
	const char *kept = val_text(call->arena, log, "kept"), *left = "";
	if (out && out->integer)
		left = arena_printf(call->arena, ", %lld %s", (long long)out->integer,
				    kept && !strcmp(kept, "cut") ? "lost: the disk refused them"
								 : "left out in the middle");
	return arena_printf(call->arena, "%s (%s bytes%s)", val_text(call->arena, log, "path"),
			    val_text(call->arena, log, "bytes"), left ? left : "");
}

static const char *check_text(struct op_call *call, const struct val *v)
{
	const struct val *c = val_get(v, STR("check"));
	if (!c || c->kind != VAL_MAP)
		return NULL;
	const char *code = val_text(call->arena, c, "exit_code"), *cause = val_text(call->arena, c, "cause"),
		   *note = val_text(call->arena, c, "note"), *log = log_text(call, c);
	const char *end = code    ? arena_printf(call->arena, "exit code %s", code)
			  : note  ? note
			  : cause ? cause
				  : "under way";
	return log ? arena_printf(call->arena, "%s, %s", end, log) : end;
}

static const char *seconds_text(struct op_call *call, const struct val *v)
{
	const struct val *d = val_get(v, STR("duration"));
	double s = !d ? -1 : d->kind == VAL_FLOAT ? d->real : d->kind == VAL_INT ? (double)d->integer : -1;
	return s < 0 ? NULL : arena_printf(call->arena, "%.3f s", s);
}

static void show_attempts(struct op_call *call, const struct val *list)
{
	static const char *const heading[] = {
		"ATTEMPT", "STARTED", "TOOK", "CAUSE", "EXIT", "SIGNAL", "LOG"
	};
	struct table t = table_new(call->arena, ARRAY_LEN(heading), heading);
	if (!list || list->list.n < 2)
		return;
	for (unsigned i = 0; i < list->list.n; i++) {
		const struct val *a = &list->list.item[i], *log = val_get(a, STR("log"));
		table_row(&t,
			  (const char *[]){ val_text(call->arena, a, "attempt"),
					    op_time(call, val_text(call->arena, a, "started_at")),
					    seconds_text(call, a), val_text(call->arena, a, "cause"),
					    val_text(call->arena, a, "exit_code"), signal_text(call, a),
					    log && log->kind == VAL_MAP ? val_text(call->arena, log, "path")
									: NULL });
	}
	fputc('\n', call->out);
	table_print(&t, call->out);
}

static void show_reports(struct op_call *call, const struct val *list)
{
	unsigned n = list && list->kind == VAL_LIST ? list->list.n : 0;
	for (unsigned i = n > REPORTS_SHOWN ? n - REPORTS_SHOWN : 0; i < n; i++) {
		const struct val *report = &list->list.item[i];
		const char *kind = val_text(call->arena, report, "report"),
			   *text = val_text(call->arena, report, "text");
		line(call, kind, text ? text : "");
	}
}

static const char *last_note(struct op_call *call, const struct val *list)
{
	return list && list->list.n ? val_text(call->arena, &list->list.item[list->list.n - 1], "note")
				    : NULL;
}

/* The beginning of what may be long. */
static const char *beginning(struct op_call *call, const struct val *v, const char *name)
{
	enum { ENOUGH = 400 };
	const char *text = val_line(call->arena, v, name);
	struct str all = str_of(text ? text : "");
	size_t n = 0;
	while (n < ENOUGH && n < all.n) {
		unsigned more = utf8_length(str_from(all, n));
		n += more ? more : 1;
	}
	return all.n ? arena_printf(call->arena, "%.*s%s", (int)n, all.p, n < all.n ? " …" : "") : NULL;
}

/* Of what it was made. */
static void show_origin(struct op_call *call, const struct val *v)
{
	struct arena *a = call->arena;
	const struct val *program = v && v->kind == VAL_MAP ? val_get(v, STR("program")) : NULL;
	_cleanup_(buf_free) struct buf text = { 0 };
	if (!program || program->kind != VAL_LIST)
		return;
	const char *model = val_text(a, v, "model");
	line(call, "agent",
	     arena_printf(a, "%s, definition %s%s%s", val_text(a, v, "agent"), val_text(a, v, "definition"),
			  model ? ", model " : "", model ? model : ""));
	for (unsigned i = 0; i < program->list.n; i++)
		buf_addf(&text, "%s%.*s", i ? " " : "", STR_ARG(program->list.item[i].str));
	line(call, "program", text.failed ? NULL : arena_dup(a, buf_str(&text)));
	line(call, "message", beginning(call, v, "message"));
}

void show_run(struct op_call *call, const struct val *v)
{
	struct arena *a = call->arena;
	const char *outcome = val_text(a, v, "outcome"), *reason = val_text(a, v, "reason"),
		   *text = val_text(a, v, "reason_text"), *state = val_text(a, v, "state"),
		   *limited = val_text(a, v, "attempts_not_counted"), *due = val_text(a, v, "due"),
		   *nominal = val_text(a, v, "nominal"), *cost = val_text(a, v, "cost_usd");
	const struct val *removed = val_get(v, STR("removed")), *tokens = val_get(v, STR("tokens"));
	const char *in = tokens ? val_text(a, tokens, "in") : NULL,
		   *out = tokens ? val_text(a, tokens, "out") : NULL;
	fprintf(call->out, "%s: %s%s%s%s%s\n", val_text(a, v, "id"), outcome ? outcome : state,
		reason ? "/" : "", reason ? reason : "", text ? ": " : "", text ? text : "");
	line(call, "schedule",
	     arena_printf(a, "%s, version %s%s", val_text(a, v, "schedule"), val_text(a, v, "rev"),
			  removed && removed->boolean ? " (removed since)" : ""));
	line(call, "detail", val_text(a, v, "detail"));
	line(call, "state", state);
	line(call, "kind", val_text(a, v, "kind"));
	line(call, "nominal", op_time(call, nominal));
	if (due && nominal && strcmp(due, nominal) != 0)
		line(call, "due", op_time(call, due));
	line(call, "started", op_time(call, val_text(a, v, "started_at")));
	line(call, "ended", op_time(call, val_text(a, v, "ended_at")));
	line(call, "took", seconds_text(call, v));
	line(call, "attempts",
	     limited && strcmp(limited, "0") != 0
		     ? arena_printf(a, "%s, of which %s did not count", val_text(a, v, "attempt"), limited)
		     : val_text(a, v, "attempt"));
	line(call, "retry at", op_time(call, val_text(a, v, "retry_at")));
	if (!signal_text(call, v)) /* else it is made of the signal, as shells do it */
		line(call, "exit code", val_text(a, v, "exit_code"));
	line(call, "signal", signal_text(call, v));
	line(call, "note", last_note(call, val_get(v, STR("attempts"))));
	line(call, "check", check_text(call, v));
	show_reports(call, val_get(v, STR("reports")));
	line(call, "cost", cost ? arena_printf(a, "$%s", cost) : NULL);
	if (in && out && (strcmp(in, "0") != 0 || strcmp(out, "0") != 0))
		line(call, "tokens", arena_printf(a, "%s in, %s out", in, out));
	show_origin(call, val_get(v, STR("origin")));
	line(call, "answer", beginning(call, v, "answer"));
	line(call, "log", log_text(call, v));
	show_notices(call, val_get(v, STR("notices")), "told");
	show_attempts(call, val_get(v, STR("attempts")));
}
