/* All there is to know of one run: its record, and what its attempts left on disk. */
#include "api/handlers/handlers.h"
#include "api/handlers/notify.h"
#include "api/json_out.h"
#include "core/schedule/reason_text.h"
#include "runfile/outbox.h"
#include "runfile/read.h"
#include "runfile/tail.h"

#include <sys/stat.h>

enum { ATTEMPTS_TOLD = 20, REPORTS_TOLD = 100 }; /* the last ones */

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
	json_add_str(out, "kept", how ? str_of(how) : (struct str){ 0 });
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
	json_add_time(out, "started_at", (struct wall){ f.started });
	tell_duration(out, &f, (struct wall){ f.started }, (struct wall){ f.ended });
	json_add_str(out, "cause", cause ? str_of(cause) : (struct str){ 0 });
	if (f.exit_version && f.cause == CAUSE_EXIT)
		buf_addf(out, ",\"exit_code\":%lld", (long long)(f.signal ? 128 + f.signal : f.status));
	else
		buf_add(out, STR(",\"exit_code\":null"));
	json_add_str(out, "note", f.note[0] ? str_of(f.note) : (struct str){ 0 });
	tell_log(out, runs, r, attempt, &f);
	buf_addc(out, '}');
	return true;
}

/* What it said of itself. */
static void tell_reports(struct api_call *call, const char *runs, const struct run_row *r)
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
		json_add_str(out, "text", list[i].text);
		json_add_str(out, "at", list[i].at);
		buf_addc(out, '}');
	}
	buf_addc(out, ']');
}

/* What its last attempt answered, if it is an agent's; none while it may still go on. */
static void tell_answer(struct api_call *call, const char *runs, const struct run_row *r)
{
	struct str text = { 0 };
	struct why why;
	if (r->state != RUN_FINISHED ||
	    runfile_tail(runs, r->run, r->attempt, "out", ANSWER_BYTES_MAX, call->arena, &text, &why))
		text = (struct str){ 0 };
	json_add_str(&call->answer, "answer", text);
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
	json_add_time(out, "started_at", (struct wall){ f->started });
	json_add_time(out, "ended_at", (struct wall){ f->ended });
	tell_duration(out, f, (struct wall){ f->started }, (struct wall){ f->ended });
	json_add_str(out, "cause", cause ? str_of(cause) : (struct str){ 0 });
	if (by_itself && !f->signal)
		buf_addf(out, ",\"exit_code\":%lld", (long long)f->status);
	else
		buf_add(out, STR(",\"exit_code\":null"));
	if (f->signal > 0)
		buf_addf(out, ",\"signal\":%lld", (long long)f->signal);
	else
		buf_add(out, STR(",\"signal\":null"));
	json_add_str(out, "note", f->note[0] ? str_of(f->note) : (struct str){ 0 });
	tell_log(out, runs, r, attempt, f);
	if (!tell_check(out, runs, r, attempt))
		buf_add(out, STR(",\"check\":null"));
	buf_addc(out, '}');
}

enum err handle_get_run(struct api_call *call, struct api *api)
{
	const char *runs = daemon_runs_dir(api_daemon(api));
	struct buf *out = &call->answer;
	uint64_t number;
	struct run_row r = { 0 };
	struct read_sched s = { 0 };
	struct runfile last = { 0 };
	enum err e = api_run_number(call, op_arg(&call->args, "run")->text, &number);
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
	const char *reason = r.reason ? reason_text(reason_words[r.reason]) : NULL;
	json_open_run(out, &r, s.id);
	buf_addf(out, ",\"rev\":%u,\"attempts_not_counted\":%u,\"removed\":%s", r.rev, r.uncounted,
		 s.dropped.us != INT64_MAX ? "true" : "false");
	json_add_str(out, "reason_text", reason ? str_of(reason) : (struct str){ 0 });
	json_add_str(out, "detail", words);
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
