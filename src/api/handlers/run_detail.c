/* Shows one run completely: its record, and the files of its attempts. */
#include "api/handlers/handlers.h"
#include "api/handlers/notify.h"
#include "api/json_out.h"
#include "api/masking.h"
#include "core/schedule/reason_text.h"
#include "core/schedule/rules.h"
#include "runfile/outbox.h"
#include "runfile/read.h"
#include "runfile/tail.h"
#include "sys/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTEMPTS_SHOWN = 20, REPORTS_SHOWN = 100 }; /* the last ones */

/* Adds the duration in seconds; null before the start. For an attempt that has ended, the duration is
 * computed from the run file. The record is less precise: its start is the time at which the daemon noticed
 * the start, which may be after the end. */
static void add_duration(struct buf *out, const struct runfile *f, struct wall started, struct wall ended)
{
	bool has_ended = ended.us && ended.us != INT64_MAX;
	int64_t us = (has_ended ? ended : clock_wall()).us - started.us;
	if (f->exit_version)
		us = f->lasted;
	if (started.us || f->exit_version)
		buf_addf(out, ",\"duration\":%.3f", us > 0 ? (double)us / USEC : 0.0);
	else
		buf_add(out, STR(",\"duration\":null"));
}

static void add_log(struct buf *out, const char *runs, const struct run_row *r, unsigned attempt,
		    const struct runfile *f)
{
	_cleanup_(buf_free) struct buf path = { 0 };
	struct stat st;
	const char *how = f->exit_version ? run_log_word((unsigned)f->log) : NULL;
	int fd = runfile_open(runs, r->run, attempt, "log", O_RDONLY);
	bool known = fd >= 0 && fstat(fd, &st) == 0;
	if (fd >= 0)
		close(fd);
	runfile_path(&path, runs, r->run, attempt, "log");
	if (path.failed || !known) {
		buf_add(out, STR(",\"log\":null"));
		return;
	}
	buf_add(out, STR(",\"log\":{\"path\":"));
	json_write_str(out, buf_str(&path));
	buf_addf(out, ",\"bytes\":%lld", (long long)st.st_size);
	json_add_str(out, "kept", how ? str_of(how) : (struct str){ 0 });
	buf_addf(out, ",\"left_out\":%llu}", (unsigned long long)f->left_out);
}

static void add_signal(struct buf *out, const struct runfile *f)
{
	if (f->signal > 0)
		buf_addf(out, ",\"signal\":%lld", (long long)f->signal);
	else
		buf_add(out, STR(",\"signal\":null"));
}

/* Adds the members of a check or hook, after `first`. False: there was none, and nothing was added. */
static bool add_program(struct buf *out, const char *runs, const struct run_row *r, unsigned attempt,
			const char *first)
{
	struct runfile f = { 0 };
	enum run_life life;
	struct why why;
	if (runfile_read(runs, r->run, attempt, &life, &f, &why) || life == LIFE_ABSENT)
		return false;
	const char *cause = f.exit_version ? run_cause_word((unsigned)f.cause) : NULL;
	buf_add(out, str_of(first));
	json_add_time(out, "started_at", (struct wall){ f.started });
	add_duration(out, &f, (struct wall){ f.started }, (struct wall){ f.ended });
	json_add_str(out, "cause", cause ? str_of(cause) : (struct str){ 0 });
	if (f.exit_version && f.cause == CAUSE_EXIT)
		buf_addf(out, ",\"exit_code\":%lld", (long long)(f.signal ? 128 + f.signal : f.status));
	else
		buf_add(out, STR(",\"exit_code\":null"));
	json_add_str(out, "note", f.note[0] ? str_of(f.note) : (struct str){ 0 });
	add_log(out, runs, r, attempt, &f);
	buf_addc(out, '}');
	return true;
}

/* Adds the check before an attempt. False: there was none, and nothing was added. */
static bool add_check(struct buf *out, const char *runs, const struct run_row *r, unsigned attempt)
{
	char first[48];
	snprintf(first, sizeof first, ",\"check\":{\"attempt\":%u", attempt);
	return add_program(out, runs, r, attempt | RUN_CHECK, first);
}

/* Adds the hooks of the run, in the order in which they were asked. */
static void add_hooks(struct buf *out, const char *runs, const struct run_row *r)
{
	bool any = false;
	buf_add(out, STR(",\"hooks\":["));
	for (unsigned i = 0; i < RUN_HOOKS; i++) {
		char first[48];
		snprintf(first, sizeof first, "%s{\"of\":\"%s\"", any ? "," : "", run_hook_word(i));
		any |= add_program(out, runs, r, RUN_HOOK + i, first);
	}
	buf_addc(out, ']');
}

/* Adds the reports of the run about itself. */
static void add_reports(struct api_call *call, struct api *api, const char *runs, const struct run_row *r)
{
	struct report *list = NULL;
	unsigned n = 0;
	struct why why;
	struct buf *out = &call->answer;
	if (r->attempt && outbox_read(runs, r->run, r->attempt, call->arena, &list, &n, &why))
		n = 0; /* show the rest without them */
	if (r->state != RUN_FINISHED)
		masking_reports(call, api, r, list, n);
	buf_add(out, STR(",\"reports\":["));
	unsigned first = n > REPORTS_SHOWN ? n - REPORTS_SHOWN : 0;
	for (unsigned i = first; i < n; i++) {
		buf_addf(out, "%s{\"report\":\"%s\"", i > first ? "," : "", report_words[list[i].kind]);
		json_add_str(out, "text", list[i].text);
		json_add_str(out, "at", list[i].at);
		buf_addc(out, '}');
	}
	buf_addc(out, ']');
}

/* Adds the answer of an agent: the output of the last attempt, once the run has finished. The previous
 * version of rota kept the answer only in a file. */
static void add_answer(struct api_call *call, const char *runs, const struct run_row *r, struct str result)
{
	struct str text = result;
	struct why why;
	if (!result.n && r->state == RUN_FINISHED &&
	    runfile_tail(runs, r->run, r->attempt, "out", ANSWER_BYTES_MAX, call->arena, &text, &why))
		text = (struct str){ 0 };
	json_add_str(&call->answer, "answer", text);
}

/* Adds one attempt, from its run file, and returns that file in *f. */
static void add_attempt(struct buf *out, const char *runs, const struct run_row *r, unsigned attempt,
			struct runfile *f)
{
	enum run_life life;
	struct why why;
	*f = (struct runfile){ 0 };
	if (runfile_read(runs, r->run, attempt, &life, f, &why) || life == LIFE_ABSENT)
		*f = (struct runfile){ 0 };
	bool ended = f->exit_version != 0, by_itself = ended && f->cause == CAUSE_EXIT;
	const char *cause = ended ? run_cause_word((unsigned)f->cause) : NULL;
	buf_addf(out, "{\"attempt\":%u", attempt);
	json_add_time(out, "started_at", (struct wall){ f->started });
	json_add_time(out, "ended_at", (struct wall){ f->ended });
	add_duration(out, f, (struct wall){ f->started }, (struct wall){ f->ended });
	json_add_str(out, "cause", cause ? str_of(cause) : (struct str){ 0 });
	if (by_itself && !f->signal)
		buf_addf(out, ",\"exit_code\":%lld", (long long)f->status);
	else
		buf_add(out, STR(",\"exit_code\":null"));
	add_signal(out, f);
	json_add_str(out, "note", f->note[0] ? str_of(f->note) : (struct str){ 0 });
	add_log(out, runs, r, attempt, f);
	if (!add_check(out, runs, r, attempt))
		buf_add(out, STR(",\"check\":null"));
	buf_addc(out, '}');
}

static void add_attempts(struct api_call *call, const char *runs, const struct run_row *r,
			 struct runfile *last)
{
	struct buf *out = &call->answer;
	unsigned first = r->attempt > ATTEMPTS_SHOWN ? r->attempt - ATTEMPTS_SHOWN + 1 : 1;
	buf_add(out, STR(",\"attempts\":["));
	for (unsigned i = first; i <= r->attempt; i++) {
		buf_add(out, i > first ? STR(",") : STR(""));
		add_attempt(out, runs, r, i, last);
	}
	buf_addc(out, ']');
}

/* Adds the answer, and what is on disk: attempts, reports, check and log. */
static void add_files(struct api_call *call, struct api *api, const struct run_row *r, struct str result)
{
	const char *runs = daemon_runs_dir(api_daemon(api));
	struct buf *out = &call->answer;
	struct runfile last = { 0 };
	add_answer(call, runs, r, result);
	add_attempts(call, runs, r, &last);
	/* While a run is claimed, `ended` in its record is the end of the previous attempt. */
	struct wall ended = { r->state == RUN_CLAIMED ? 0 : r->ended.us };
	add_duration(out, &last, r->started, ended);
	add_signal(out, &last);
	add_reports(call, api, runs, r);
	/* Adds the latest check: that of the next attempt if it is being made now, else that of this
	 * attempt. */
	if (!add_check(out, runs, r, r->attempt + 1u) && !add_check(out, runs, r, r->attempt))
		buf_add(out, STR(",\"check\":null"));
	add_hooks(out, runs, r);
	if (r->attempt)
		add_log(out, runs, r, r->attempt, &last);
	else
		buf_add(out, STR(",\"log\":null"));
}

enum err handle_get_run(struct api_call *call, struct api *api)
{
	struct buf *out = &call->answer;
	uint64_t number;
	struct run_row r = { 0 };
	struct read_sched s = { 0 };
	enum err e = api_read_run_number(call, op_arg(&call->args, "run")->text, &number);
	if (!e)
		e = read_run(api_reader(api), number, &r, call->why);
	if (e == E_NOTFOUND)
		return why_set(call->why, e, WHY_NOWHERE, "there is no run r%llu; `rota runs` lists them",
			       (unsigned long long)number);
	if (!e)
		e = read_sched(api_reader(api), r.sid, call->arena, &s, call->why);
	struct str detail = { 0 }, origin = { 0 }, result = { 0 };
	if (!e)
		e = api_run_detail(call, api, &r, &detail);
	if (!e)
		e = read_run_text(api_reader(api), r.run, RUN_TEXT_PROVENANCE, call->arena, &origin,
				  call->why);
	if (!e)
		e = read_run_text(api_reader(api), r.run, RUN_TEXT_RESULT, call->arena, &result, call->why);
	if (e)
		return e;
	const char *reason = r.reason ? reason_text(reason_words[r.reason]) : NULL;
	json_open_run(out, &r, s.id);
	json_add_superseded(out, api_reader(api), &r);
	if (run_lateness(&r)) {
		const struct rules *rules = (const struct rules *)s.row.rules;
		buf_addf(out, ",\"grace_s\":%u", rules->policy.window ? rules->policy.window : GRACE_SECONDS);
	}
	buf_addf(out, ",\"rev\":%u,\"attempts_not_counted\":%u,\"removed\":%s", r.rev, r.uncounted,
		 s.dropped.us != INT64_MAX ? "true" : "false");
	json_add_str(out, "reason_text", reason ? str_of(reason) : (struct str){ 0 });
	json_add_str(out, "detail", detail);
	buf_add(out, STR(",\"origin\":"));
	json_write_stored(out, origin);
	add_files(call, api, &r, result);
	e = messages_write_run(call, api, r.run);
	buf_addc(out, '}');
	return e;
}
