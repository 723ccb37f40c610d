#include "api/handlers/runs.h"

#include "api/api.h"
#include "api/json_out.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "runfile/read.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* --- runs --- */

void tell_runs(struct op_call *call, struct api *api, const struct read_runs *page)
{
	for (unsigned i = 0; i < page->n; i++) {
		struct read_sched s = { 0 };
		struct why why;
		if (read_sched(api_reader(api), page->item[i].sid, call->arena, &s, &why))
			s.id = (struct str){ 0 };
		buf_add(&call->answer, i ? STR(",") : STR(""));
		json_write_run(&call->answer, &page->item[i], s.id);
	}
}

enum err handle_runs(struct op_call *call, struct api *api)
{
	const struct arg *schedule = op_arg(call, "schedule"), *limit = op_arg(call, "limit"),
			 *before = op_arg(call, "before"), *since = op_arg(call, "since");
	struct read_filter f = { .failed = op_arg(call, "failed")->given,
				 .limit = limit->given ? limit->count : 20 };
	struct read_sched s = { 0 };
	struct read_runs page;
	enum err e = schedule->given ? api_sched_ever(call, api, schedule->text, &s) : OK;
	f.sid = s.row.sid;
	if (!e && since->given)
		e = api_time(call, "since", since->text, &f.since);
	if (!e && before->given) {
		struct run_row last = { 0 };
		e = api_run_number(call, before->text, &f.before.run);
		if (!e)
			e = read_run(api_reader(api), f.before.run, &last, call->why);
		if (!e)
			f.before.nominal = last.nominal;
	}
	if (!e)
		e = read_runs(api_reader(api), &f, call->arena, &page, call->why);
	if (e)
		return e;
	buf_add(&call->answer, STR("{\"runs\":["));
	tell_runs(call, api, &page);
	buf_add(&call->answer, STR("]"));
	if (page.more && page.n)
		buf_addf(&call->answer, ",\"before\":\"r%llu\"",
			 (unsigned long long)page.item[page.n - 1].run);
	buf_addc(&call->answer, '}');
	return OK;
}

void print_runs(struct op_call *call, const struct val *list)
{
	static const char *const heading[] = { "RUN", "SCHEDULE", "NOMINAL", "STATE", "OUTCOME", "ATTEMPT" };
	struct table t = table_new(call->arena, 6, heading);
	for (unsigned i = 0; list && list->kind == VAL_LIST && i < list->list.n; i++) {
		const struct val *r = &list->list.item[i];
		const char *outcome = val_text(call->arena, r, "outcome"),
			   *reason = val_text(call->arena, r, "reason");
		if (outcome && reason)
			outcome = arena_printf(call->arena, "%s/%s", outcome, reason);
		table_row(&t, (const char *[]){ val_text(call->arena, r, "id"),
						val_text(call->arena, r, "schedule"),
						op_time(call, val_text(call->arena, r, "nominal")),
						val_text(call->arena, r, "state"), outcome ? outcome : reason,
						val_text(call->arena, r, "attempt") });
	}
	table_print(&t, call->out);
}

void show_runs(struct op_call *call, const struct val *v)
{
	const struct val *list = val_get(v, STR("runs"));
	if (list && list->list.n)
		print_runs(call, list);
	else
		fputs("No runs.\n", call->out);
	if (val_get(v, STR("before")))
		fprintf(call->out, "More: --before %s\n", val_text(call->arena, v, "before"));
}

/* --- logs --- */

/* The run a name means: a run, or the latest of a schedule. */
static enum err find_run(struct op_call *call, struct api *api, struct run_row *ret)
{
	struct str name = op_arg(call, "name")->text;
	struct read_sched s;
	struct read_runs page;
	uint64_t number;
	struct why why;
	bool is_run =
		name.n > 1 && name.p[0] == 'r' && str_number(str_from(name, 1), UINT64_C(1) << 48, &number);
	if (is_run && read_run(api_reader(api), number, ret, &why) == OK)
		return OK;
	enum err e = api_sched_ever(call, api, name, &s);
	if (e == E_NOTFOUND && is_run)
		return why_set(call->why, e, WHY_NOWHERE, "there is no run %.*s", STR_SHORT(name));
	if (!e)
		e = read_runs(api_reader(api),
			      &(struct read_filter){ .sid = s.row.sid,
						     .states = 1u << RUN_CLAIMED | 1u << RUN_RETRYING |
							       1u << RUN_FINISHED,
						     .limit = 1 },
			      call->arena, &page, call->why);
	if (!e && !page.n)
		e = why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "'%.*s' has not run yet", STR_SHORT(name));
	if (!e)
		*ret = page.item[0];
	return e;
}

enum { LOG_PIECE = 256 << 10 };

/* Without a last character of which only the beginning is there: the next piece begins with it. */
static size_t whole_characters(const char *p, size_t n)
{
	for (size_t back = 1; back <= 3 && back <= n; back++) {
		unsigned char c = (unsigned char)p[n - back];
		size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
		if ((c & 0xc0) != 0x80)
			return length > back ? n - back : n;
	}
	return n;
}

/* A piece of the log from an offset on; where the next begins, and whether more may come. */
/* It was started, and has left no file. */
static bool is_pruned(struct op_call *call, struct api *api, const struct run_row *run)
{
	struct runfile f = { 0 };
	enum run_life life = LIFE_ALIVE;
	return run->state == RUN_FINISHED && run->started.us &&
	       runfile_read(daemon_runs(api_daemon(api)), run->run, run->attempt, &life, &f, call->why) ==
		       OK &&
	       life == LIFE_ABSENT;
}

enum err handle_logs(struct op_call *call, struct api *api)
{
	const struct arg *from = op_arg(call, "from");
	struct run_row run;
	struct buf path = { 0 };
	uint64_t at = 0;
	enum err e = find_run(call, api, &run);
	if (e)
		return e;
	if (from->given && !str_number(from->text, UINT64_C(1) << 40, &at))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "--from is a number of bytes");
	unsigned attempt = run.attempt ? run.attempt : 1;
	runfile_path(&path, daemon_runs(api_daemon(api)), run.run, attempt, "log");
	int fd = path.failed ? -1 : open(path.p, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && run.state == RUN_FINISHED) { /* it may have got no further than its check */
		buf_free(&path);
		runfile_path(&path, daemon_runs(api_daemon(api)), run.run, attempt | RUN_CHECK, "log");
		fd = path.failed ? -1 : open(path.p, O_RDONLY | O_CLOEXEC);
	}
	buf_free(&path);
	if (fd < 0 && is_pruned(call, api, &run))
		return why_set(call->why, E_NOTFOUND, WHY_NOWHERE,
			       "the log of r%llu is no longer kept (kept_logs_days, kept_logs)",
			       (unsigned long long)run.run);
	char *bytes = arena_alloc(call->arena, LOG_PIECE);
	ssize_t n = fd >= 0 && bytes ? pread(fd, bytes, LOG_PIECE, (off_t)at) : 0;
	if (fd >= 0)
		close(fd);
	bool over = run.state >= RUN_FINISHED && n < LOG_PIECE;
	if (n > 0 && !over)
		n = (ssize_t)whole_characters(bytes, (size_t)n);
	buf_addf(&call->answer, "{\"run\":\"r%llu\",\"attempt\":%u,\"next\":%llu,\"over\":%s,\"text\":",
		 (unsigned long long)run.run, attempt, (unsigned long long)at + (n > 0 ? (uint64_t)n : 0),
		 over ? "true" : "false");
	json_write_str(&call->answer, (struct str){ bytes, n > 0 ? (size_t)n : 0 });
	buf_addc(&call->answer, '}');
	return OK;
}

/* A log being read by pieces. The first answer says which run it is, so that the latest of a schedule stays
 * the same one while it is followed. */
struct log_reader {
	const char *run; /* what was asked for, then `name` */
	char name[32];
	int64_t attempt;
	uint64_t at;
	bool over, raw;
};

/* One piece, printed; *more: there was something in it. */
static enum err read_piece(struct op_call *call, struct log_reader *l, bool *more)
{
	struct str text;
	struct val v;
	const char *target =
		arena_printf(call->arena, "/api/v1/logs/%s?from=%llu", l->run, (unsigned long long)l->at);
	enum err e = target ? remote_call(call, "GET", target, (struct str){ 0 }, &text, &v) : E_NOMEM;
	if (e)
		return e;
	const struct val *piece = val_get(&v, STR("text")), *next = val_get(&v, STR("next"));
	const struct val *over = val_get(&v, STR("over")), *attempt = val_get(&v, STR("attempt"));
	if (!piece || !next || !over || !attempt)
		return why_set(call->why, E_IO, WHY_NOWHERE, "the daemon's answer makes no sense");
	const char *run = val_text(call->arena, &v, "run");
	snprintf(l->name, sizeof l->name, "%s", run ? run : "");
	l->run = l->name;
	*more = true;
	if (l->attempt && attempt->integer != l->attempt && l->at) {
		/* The next attempt has a log of its own. */
		l->attempt = attempt->integer;
		l->at = 0;
		return OK;
	}
	*more = (uint64_t)next->integer > l->at;
	if (call->json && (*more || !l->attempt))
		fwrite(text.p, 1, text.n, call->out);
	else if (!call->json && l->raw)
		fwrite(piece->str.p, 1, piece->str.n, call->out);
	else if (!call->json)
		print_safe(call->out, piece->str);
	fflush(call->out);
	l->attempt = attempt->integer;
	l->at = (uint64_t)next->integer;
	l->over = over->boolean;
	return OK;
}

/* A run outlives its daemon: whoever waits for it waits for the next one, too. */
static bool ask_again(enum err e, unsigned *times)
{
	if (e != E_NODAEMON && e != E_GONE && e != E_BUSY) {
		*times = 0;
		return false;
	}
	nanosleep(&(struct timespec){ 0, CLIENT_AGAIN_MS * 1000000L }, NULL);
	return ++*times < CLIENT_AGAIN_MAX;
}

static enum err read_log(struct op_call *call, struct log_reader *l, bool follow)
{
	_cleanup_(arena_free) struct arena own = { 0 };
	struct op_call piece = *call;
	piece.arena = &own;
	for (unsigned times = 0;;) {
		bool more;
		enum err e = read_piece(&piece, l, &more);
		arena_reset(&own); /* it may go on for months */
		if (follow && l->attempt && ask_again(e, &times))
			continue;
		if (e || (!more && (!follow || l->over)))
			return e;
		if (!more)
			nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
	}
}

enum err op_logs(struct op_call *call)
{
	const struct arg *name = op_arg(call, "name"), *from = op_arg(call, "from");
	struct log_reader l = { .raw = op_arg(call, "raw")->given };
	if (!name->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "logs needs a run or a schedule");
	if (from->given && !str_number(from->text, UINT64_C(1) << 40, &l.at))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "--from is a number of bytes");
	struct buf encoded = { 0 };
	remote_encode(&encoded, name->text);
	l.run = arena_dup(call->arena, buf_str(&encoded));
	buf_free(&encoded);
	return l.run ? read_log(call, &l, op_arg(call, "follow")->given) : E_NOMEM;
}

/* --- run, and wait --- */

static bool is_over(const struct val *run)
{
	const struct val *state = val_get(run, STR("state"));
	return state && (str_eq(state->str, STR("finished")) || str_eq(state->str, STR("skipped")) ||
			 str_eq(state->str, STR("missed")));
}

static enum err wait_for(struct op_call *call, const char *run, struct str *text, struct val *ret)
{
	_cleanup_(arena_free) struct arena own = { 0 };
	struct op_call look = *call;
	const char *target = arena_printf(call->arena, "/api/v1/runs/%s", run);
	if (!target)
		return E_NOMEM;
	look.arena = &own;
	for (unsigned ms = 20, times = 0;; ms = ms < 1000 ? ms * 2 : 1000) {
		enum err e = remote_call(&look, "GET", target, (struct str){ 0 }, text, ret);
		bool over = !e && is_over(ret), again = ask_again(e, &times);
		arena_reset(&own); /* it may take for ever */
		if (over)          /* what is kept */
			return remote_call(call, "GET", target, (struct str){ 0 }, text, ret);
		if (e && !again)
			return e;
		nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000L }, NULL);
	}
}

enum err op_run_now(struct op_call *call)
{
	struct str text;
	struct val answer, run;
	bool watches = op_arg(call, "watch")->given, waits = op_arg(call, "wait")->given || watches;
	enum err e = remote_ask(call, STR("{}"), &text, &answer);
	if (e || !waits) {
		if (!e)
			remote_show(call, text, &answer);
		return e;
	}
	const char *name = val_text(call->arena, &answer, "run");
	struct log_reader log = { .run = name };
	if (watches && !call->json)
		e = read_log(call, &log, true);
	if (!e)
		e = wait_for(call, name, &text, &run);
	if (e)
		return e;
	const char *outcome = val_text(call->arena, &run, "outcome"),
		   *reason = val_text(call->arena, &run, "reason");
	if (call->json)
		fwrite(text.p, 1, text.n, call->out);
	else
		fprintf(call->out, "%s: %s%s%s\n", name, outcome ? outcome : "not run", reason ? "/" : "",
			reason ? reason : "");
	bool good = outcome && (!strcmp(outcome, "done") || !strcmp(outcome, "no_work"));
	return good ? OK : why_set(call->why, E_CONFLICT, WHY_NOWHERE, "the run did not succeed");
}
