/* run, runs and logs: starts runs, lists them, and prints their output. */
#include "cli/verbs/verbs.h"

#include "cli/remote.h"
#include "cli/table.h"
#include "host/docfile.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

static void add_run(struct cli_call *call, struct table *t, const struct val *r)
{
	const char *outcome = val_text(call->arena, r, "outcome"),
		   *reason = val_text(call->arena, r, "reason"),
		   *by = val_text(call->arena, r, "superseded_by");
	if (outcome && reason)
		outcome = arena_printf(call->arena, "%s/%s", outcome, reason);
	if (outcome && by)
		outcome = arena_printf(call->arena, "%s, superseded by %s", outcome, by);
	table_row(t, (const char *[]){ val_text(call->arena, r, "id"), val_text(call->arena, r, "schedule"),
				       cli_time(call, val_text(call->arena, r, "nominal")),
				       val_text(call->arena, r, "state"), outcome ? outcome : reason,
				       val_text(call->arena, r, "attempt") });
}

/* A range of skipped or missed times; a range without a last time is still open. */
static void add_range(struct cli_call *call, struct table *t, const struct val *g)
{
	const char *first = val_text(call->arena, g, "first"), *last = val_text(call->arena, g, "last");
	const char *times = cli_time(call, first);
	if (!last || strcmp(first, last) != 0)
		times = arena_printf(call->arena, "%s to %s", times, last ? cli_time(call, last) : "now");
	table_row(t, (const char *[]){ NULL, val_text(call->arena, g, "schedule"), times,
				       val_text(call->arena, g, "state"), val_text(call->arena, g, "reason"),
				       NULL });
}

/* Both lists have the newest first. A range comes before a run whose nominal time is earlier than the range's
 * last time; times are texts of one form, so they can be compared as such. */
static void print_runs_and_ranges(struct cli_call *call, const struct val *runs, const struct val *ranges)
{
	static const char *const heading[] = { "RUN", "SCHEDULE", "NOMINAL", "STATE", "OUTCOME", "ATTEMPT" };
	_cleanup_(table_free) struct table t = table_new(6, heading);
	unsigned all = runs && runs->kind == VAL_LIST ? runs->list.n : 0, i = 0,
		 more = ranges && ranges->kind == VAL_LIST ? ranges->list.n : 0, k = 0;
	while (i < all || k < more) {
		const char *last = k < more ? val_text(call->arena, &ranges->list.item[k], "last") : NULL,
			   *nominal = i < all ? val_text(call->arena, &runs->list.item[i], "nominal") : NULL;
		if (k < more && (!last || !nominal || strcmp(last, nominal) > 0))
			add_range(call, &t, &ranges->list.item[k++]);
		else
			add_run(call, &t, &runs->list.item[i++]);
	}
	table_print(&t, call->out);
}

void print_runs(struct cli_call *call, const struct val *list)
{
	print_runs_and_ranges(call, list, NULL);
}

void show_runs(struct cli_call *call, const struct val *v)
{
	const struct val *list = val_get(v, STR("runs")), *ranges = val_get(v, STR("ranges"));
	if ((list && list->list.n) || (ranges && ranges->list.n))
		print_runs_and_ranges(call, list, ranges);
	else
		print(call->out, "No runs.\n");
	if (val_get(v, STR("before")))
		print(call->out, "More: --before %s\n", val_text(call->arena, v, "before"));
}

/* The position in a log that is read piece by piece. The name given by the caller may be a schedule, which
 * means its latest run. The first answer contains the name of that run, so that later pieces come from the
 * same run. */
struct log_reader {
	const char *run; /* the argument; after the first answer it points to `name` */
	char name[32];
	int64_t attempt;
	uint64_t at;
	bool ended, raw;
};

/* Reads and prints one piece; *more: it was not empty. */
static enum err read_piece(struct cli_call *call, struct log_reader *l, bool *more)
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
		return why_set(call->why, E_IO, WHY_NOWHERE, "the answer of the daemon is not valid");
	const char *run = val_text(call->arena, &v, "run");
	snprintf(l->name, sizeof l->name, "%s", run ? run : "");
	l->run = l->name;
	*more = true;
	if (l->attempt && attempt->integer != l->attempt && l->at) {
		/* A new attempt has a new log. */
		l->attempt = attempt->integer;
		l->at = 0;
		return OK;
	}
	*more = (uint64_t)next->integer > l->at;
	if (call->json && (*more || !l->attempt))
		print_json(call->out, text);
	else if (!call->json && l->raw)
		fwrite(piece->str.p, 1, piece->str.n, call->out);
	else if (!call->json)
		print_lines(call->out, piece->str);
	fflush(call->out);
	l->attempt = attempt->integer;
	l->at = (uint64_t)next->integer;
	l->ended = over->boolean;
	return OK;
}

/* Waits and returns true if the request is to be repeated: runs continue while the daemon restarts. */
static bool wait_for_daemon(enum err e, unsigned *times)
{
	if (e != E_NODAEMON && e != E_GONE && e != E_BUSY) {
		*times = 0;
		return false;
	}
	nanosleep(&(struct timespec){ 0, CLIENT_RETRY_MS * 1000000L }, NULL);
	return ++*times < CLIENT_RETRIES_MAX;
}

static enum err read_log(struct cli_call *call, struct log_reader *l, bool follow)
{
	_cleanup_(arena_free) struct arena own = { 0 };
	struct cli_call piece = *call;
	piece.arena = &own;
	for (unsigned times = 0;;) {
		bool more;
		enum err e = read_piece(&piece, l, &more);
		arena_reset(&own); /* the run may last for months */
		if (follow && l->attempt && wait_for_daemon(e, &times))
			continue;
		if (e || (!more && (!follow || l->ended)))
			return e;
		if (!more)
			nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
	}
}

enum err verb_logs(struct cli_call *call)
{
	const struct arg *name = op_arg(&call->args, "name"), *from = op_arg(&call->args, "from");
	struct log_reader l = { .raw = op_arg(&call->args, "raw")->given };
	if (!name->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "logs needs a run or a schedule, for example: %s", call->args.op->example);
	if (from->given && !str_number(from->text, UINT64_C(1) << 40, &l.at))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "--from must be a number of bytes");
	struct buf encoded = { 0 };
	remote_encode(&encoded, name->text);
	l.run = arena_dup(call->arena, buf_str(&encoded));
	buf_free(&encoded);
	return l.run ? read_log(call, &l, op_arg(&call->args, "follow")->given) : E_NOMEM;
}

static bool is_ended(const struct val *run)
{
	const struct val *state = val_get(run, STR("state"));
	return state && (str_eq(state->str, STR("finished")) || str_eq(state->str, STR("skipped")) ||
			 str_eq(state->str, STR("missed")));
}

static enum err wait_for_run(struct cli_call *call, const char *run, struct str *text, struct val *ret)
{
	_cleanup_(arena_free) struct arena own = { 0 };
	struct cli_call poll = *call;
	const char *target = arena_printf(call->arena, "/api/v1/runs/%s", run);
	if (!target)
		return E_NOMEM;
	poll.arena = &own;
	for (unsigned ms = 20, times = 0;; ms = ms < 1000 ? ms * 2 : 1000) {
		enum err e = remote_call(&poll, "GET", target, (struct str){ 0 }, text, ret);
		bool ended = !e && is_ended(ret), again = wait_for_daemon(e, &times);
		arena_reset(&own); /* the run may last for months */
		if (ended)         /* requests the run once more, into the arena of the caller */
			return remote_call(call, "GET", target, (struct str){ 0 }, text, ret);
		if (e && !again)
			return e;
		nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000L }, NULL);
	}
}

enum err verb_run(struct cli_call *call)
{
	struct str text;
	struct val answer, run;
	bool watches = op_arg(&call->args, "watch")->given,
	     waits = op_arg(&call->args, "wait")->given || watches;
	const struct arg *name_of = op_arg(&call->args, "schedule");
	/* The text ends with a zero byte, because it comes from argv. */
	bool plan = name_of->given && docfile_is_org(name_of->text);
	if (plan && access(name_of->text.p, F_OK) == 0)
		return plan_run(call, name_of->text);
	enum err e = remote_ask(call, STR("{}"), &text, &answer);
	if (plan && e == E_NOTFOUND)
		return why_set(call->why, e, WHY_NOWHERE,
			       "there is no file '%.*s', and no schedule of that name",
			       STR_SHORT(name_of->text));
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
		e = wait_for_run(call, name, &text, &run);
	if (e)
		return e;
	const char *outcome = val_text(call->arena, &run, "outcome"),
		   *reason = val_text(call->arena, &run, "reason");
	if (call->json)
		print_json(call->out, text);
	else
		print(call->out, "%s: %s%s%s\n", name, outcome ? outcome : "not run", reason ? "/" : "",
		      reason ? reason : "");
	bool good = outcome && (!strcmp(outcome, "done") || !strcmp(outcome, "no_work"));
	return good ? OK : why_set(call->why, E_CONFLICT, WHY_NOWHERE, "the run did not succeed");
}
