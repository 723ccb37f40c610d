/* Lists runs, and sends logs in pieces. */
#include "api/handlers/handlers.h"

#include "api/json_out.h"
#include "core/model.h"
#include "runfile/read.h"

#include <fcntl.h>
#include <unistd.h>

/* --- runs --- */

static void write_range(struct api_call *call, struct api *api, const struct range_row *g)
{
	struct buf *out = &call->answer;
	struct read_sched s = { 0 };
	struct why why;
	if (read_sched(api_reader(api), g->sid, call->arena, &s, &why))
		s.id = (struct str){ 0 };
	buf_add(out, STR("{\"schedule\":"));
	json_write_str(out, s.id);
	buf_addf(out, ",\"state\":\"%s\",\"reason\":\"%s\"", g->state == RUN_MISSED ? "missed" : "skipped",
		 reason_words[g->reason]);
	json_add_time(out, "first", g->first);
	json_add_time(out, "last", g->last);
	buf_addc(out, '}');
}

/* Adds the ranges of skipped and missed times between the runs of the page. An open range, whose last time is
 * null, is on the first page. */
static enum err add_ranges(struct api_call *call, struct api *api, const struct read_filter *f,
			   const struct read_runs *page)
{
	struct wall since = f->since.us ? f->since : (struct wall){ INT64_MIN }, until = WALL_NEVER;
	struct read_ranges ranges;
	if (f->before.run)
		until.us = f->before.nominal.us - 1;
	if (page->more && page->n)
		since = page->item[page->n - 1].nominal;
	enum err e = read_ranges(api_reader(api), f->sid, since, until, READ_LIST_MAX, call->arena, &ranges,
				 call->why);
	if (e)
		return e;
	buf_add(&call->answer, STR(",\"ranges\":["));
	for (unsigned i = 0; i < ranges.n; i++) {
		buf_add(&call->answer, i ? STR(",") : STR(""));
		write_range(call, api, &ranges.item[i]);
	}
	buf_addc(&call->answer, ']');
	return OK;
}

enum err handle_runs(struct api_call *call, struct api *api)
{
	const struct arg *schedule = op_arg(&call->args, "schedule"), *limit = op_arg(&call->args, "limit"),
			 *before = op_arg(&call->args, "before"), *since = op_arg(&call->args, "since");
	struct read_filter f = { .failed = op_arg(&call->args, "failed")->given,
				 .limit = limit->given ? limit->count : 20 };
	struct read_sched s = { 0 };
	struct read_runs page;
	enum err e = schedule->given ? api_find_schedule_or_removed(call, api, schedule->text, &s) : OK;
	f.sid = s.row.sid;
	if (!e && since->given)
		e = api_read_time(call, "since", since->text, &f.since);
	if (!e && before->given) {
		struct run_row last = { 0 };
		e = api_read_run_number(call, before->text, &f.before.run);
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
	json_write_runs(&call->answer, api_reader(api), &page, call->arena);
	buf_add(&call->answer, STR("]"));
	e = f.failed ? OK : add_ranges(call, api, &f, &page);
	if (page.more && page.n)
		buf_addf(&call->answer, ",\"before\":\"r%llu\"",
			 (unsigned long long)page.item[page.n - 1].run);
	buf_addc(&call->answer, '}');
	return e;
}

/* --- logs --- */

enum { LOG_PIECE = 256 << 10 }; /* bytes */

/* Finds a run by its number, or the latest run of a schedule. */
static enum err find_run(struct api_call *call, struct api *api, struct run_row *ret)
{
	struct str name = op_arg(&call->args, "name")->text;
	struct read_sched s;
	struct read_runs page;
	uint64_t number;
	struct why why;
	bool is_run =
		name.n > 1 && name.p[0] == 'r' && str_number(str_from(name, 1), UINT64_C(1) << 48, &number);
	if (is_run && read_run(api_reader(api), number, ret, &why) == OK)
		return OK;
	enum err e = api_find_schedule_or_removed(call, api, name, &s);
	if (e == E_NOTFOUND && is_run)
		return why_set(call->why, e, WHY_NOWHERE, "there is no run %.*s; `rota runs` lists them",
			       STR_SHORT(name));
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

/* The length without an incomplete character at the end; the next piece will begin with that character. */
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

/* Whether the run was started, but has no run file any more. */
static bool is_pruned(struct api_call *call, struct api *api, const struct run_row *run)
{
	struct runfile f = { 0 };
	enum run_life life = LIFE_ALIVE;
	return run->state == RUN_FINISHED && run->started.us &&
	       runfile_read(daemon_runs_dir(api_daemon(api)), run->run, run->attempt, &life, &f, call->why) ==
		       OK &&
	       life == LIFE_ABSENT;
}

/* The log of an attempt; -1: there is none. */
static int open_log(struct api *api, const struct run_row *run, unsigned attempt)
{
	/* A run that is over may have only the log of the check before its attempt, or of a hook. */
	const unsigned attempts[] = { attempt, attempt | RUN_CHECK, RUN_HOOK + HOOK_OF_SCHEDULE,
				      RUN_HOOK + HOOK_OF_CONFIG };
	unsigned n = run->state >= RUN_FINISHED ? ARRAY_LEN(attempts) : 1;
	int fd = -1;
	for (unsigned i = 0; fd < 0 && i < n; i++) {
		fd = runfile_open(daemon_runs_dir(api_daemon(api)), run->run, attempts[i], "log", O_RDONLY);
	}
	return fd;
}

enum err handle_logs(struct api_call *call, struct api *api)
{
	const struct arg *from = op_arg(&call->args, "from");
	struct run_row run;
	uint64_t at = 0;
	enum err e = find_run(call, api, &run);
	if (e)
		return e;
	if (from->given && !str_number(from->text, UINT64_C(1) << 40, &at))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "--from must be a number of bytes");
	unsigned attempt = run.attempt ? run.attempt : 1;
	int fd = open_log(api, &run, attempt);
	if (fd < 0 && is_pruned(call, api, &run))
		return why_set(call->why, E_NOTFOUND, WHY_NOWHERE,
			       "the log of r%llu was removed for its age or size (kept_logs_days, kept_logs)",
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
