/* Writes times, schedules, runs and problems as JSON. */
#include "api/json_out.h"
#include "api/api.h"
#include "api/documents.h"

#include "core/engine/engine.h"
#include "core/when/iso.h"
#include "daemon/retry_drop.h"

void json_write_time(struct buf *out, struct wall t)
{
	char text[ISO_SIZE];
	if (t.us == INT64_MAX || t.us == 0)
		buf_add(out, STR("null"));
	else
		buf_addf(out, "\"%s\"", iso_format_utc(wall_seconds(t), text));
}

void json_add_time(struct buf *out, const char *name, struct wall t)
{
	buf_addf(out, ",\"%s\":", name);
	json_write_time(out, t);
}

void json_write_stored(struct buf *out, struct str text)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct val v;
	buf_add(out, text.n && json_read(text, &a, &v, NULL) == OK ? text : STR("null"));
}

/* Adds the stored document, with the keys that sign messages masked. */
static void add_document(struct buf *out, struct str text)
{
	static const char mark[] = "\"secret\":\"whsec_";
	_cleanup_(buf_free) struct buf masked = { 0 };
	for (const char *at; (at = memmem(text.p, text.n, mark, sizeof mark - 1));) {
		size_t n = (size_t)(at - text.p) + sizeof mark - 1, end = n;
		while (end < text.n && text.p[end] != '"')
			end++;
		buf_add(&masked, str_sub(text, 0, n));
		buf_add(&masked, STR("***"));
		text = str_from(text, end);
	}
	buf_add(&masked, text);
	out->failed |= masked.failed;
	json_write_stored(out, buf_str(&masked));
}

/* Adds the path of the file, or "run r7 of daily" if a run has added the schedule. */
static void add_source(struct buf *out, struct str from)
{
	const struct str by_run = STR(SOURCE_BY_RUN);
	const char *slash = str_starts(from, by_run) ? memchr(from.p, '/', from.n) : NULL;
	_cleanup_(buf_free) struct buf text = { 0 };
	if (slash) {
		struct str run = str_from(from, (size_t)(slash - from.p) + 1);
		struct str id = str_sub(from, by_run.n, (size_t)(slash - from.p));
		buf_addf(&text, "run %.*s of %.*s", STR_ARG(run), STR_ARG(id));
	}
	out->failed |= text.failed;
	json_add_str(out, "source", slash ? buf_str(&text) : from);
}

void json_add_zone(struct buf *out, struct api *api, const struct sched_row *row)
{
	struct rules rules;
	rules_read(row, &rules);
	json_add_str(out, "timezone", intern_zone(daemon_intern(api_daemon(api)), rules.policy.zone));
	json_add_str(out, "timezone_from",
		     rules.policy.default_zone ? STR("configuration") : STR("document"));
}

/* The state of a schedule that has no further time: finished if it ran, expired if not; NULL while it runs.
 */
static const char *state_without_times(struct api *api, uint64_t sid)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct read_runs last;
	struct why why;
	struct read_filter ran = { .sid = sid,
				   .states = 1u << RUN_PENDING | 1u << RUN_CLAIMED | 1u << RUN_RETRYING |
					     1u << RUN_FINISHED,
				   .limit = 1 };
	if (read_runs(api_reader(api), &ran, &arena, &last, &why) || !last.n)
		return "expired";
	return last.item[0].state == RUN_FINISHED ? "finished" : NULL;
}

void json_write_schedule(struct buf *out, struct api *api, const struct read_sched *s,
			 const struct read_hold *all, struct str blocked, const struct read_avoided *whole)
{
	const struct sched_row *r = &s->row;
	bool enabled = r->flags & SCHED_ENABLED, own = r->flags & SCHED_PAUSED;
	/* A run may have set the time of the next check. Times before that check are skipped, but the
	 * schedule is active: its next time is the check. */
	bool set = r->next_set_at.us && s->open && s->range.reason == REASON_GATED, open = s->open && !set;
	bool paused = own || (enabled && !open && r->left && all->row.reason);
	const char *over = r->after || r->next.us != INT64_MAX ? NULL : state_without_times(api, r->sid);
	buf_add(out, STR("{\"id\":"));
	json_write_str(out, s->id);
	buf_addf(out, ",\"state\":\"%s\"",
		 !enabled       ? "disabled"
		 : paused       ? "paused"
		 : open         ? reason_words[s->range.reason]
		 : r->left == 0 ? "max_runs"
		 : over         ? over
		 : blocked.n    ? "blocked"
				: "active");
	json_add_time(out, "next", enabled && !paused && !open && !blocked.n ? r->next : WALL_NEVER);
	json_add_zone(out, api, r);
	if (r->next_set_at.us)
		json_add_time(out, "next_set_at", r->next_set_at); /* one of the schedule's runs has set it */
	if (blocked.n)
		json_add_str(out, "blocked", blocked);
	if (paused) {
		json_add_time(out, "paused_until", own ? r->paused_until : all->row.until);
		json_add_str(out, "note", own ? s->note : all->note);
		buf_addf(out, ",\"paused_all\":%s", all->row.reason ? "true" : "false");
	}
	buf_addf(out, ",\"failures\":%u,\"rev\":%u", r->failures, r->rev);
	if (r->left != UINT32_MAX)
		buf_addf(out, ",\"runs_left\":%u", r->left);
	json_add_time(out, "changed", r->changed);
	if (s->source.from.n) {
		add_source(out, s->source.from);
		buf_addf(out, ",\"line\":%u", s->source.line);
	}
	if (whole)
		buf_addf(out, ",\"model_calls_avoided\":%llu", (unsigned long long)whole->ever);
	if (whole && s->document.n) {
		buf_add(out, STR(",\"document\":"));
		add_document(out, s->document);
	}
	buf_addc(out, '}');
}

/* The state as people see it. */
static const char *state_of(const struct run_row *r)
{
	switch ((enum run_state)r->state) {
	case RUN_PENDING:
	case RUN_RETRYING:
		return "waiting";
	case RUN_CLAIMED:
		return r->started.us ? "running" : "queued";
	case RUN_SKIPPED:
		return "skipped";
	case RUN_MISSED:
		return "missed";
	case RUN_FINISHED:
	case RUN_STATES:
		break;
	}
	return "finished";
}

int64_t run_lateness(const struct run_row *r)
{
	bool by_hand = r->kind == KIND_MANUAL || r->kind == KIND_BACKFILL;
	bool refused = r->state == RUN_SKIPPED || r->state == RUN_MISSED;
	int64_t late = r->claimed.us - r->due.us;
	return by_hand || refused || late < USEC ? 0 : late / USEC;
}

void json_open_run(struct buf *out, const struct run_row *r, struct str id)
{
	static const char *const kinds[RUN_KINDS] = { "timer", "catch_up", "after", "backfill", "manual" };
	buf_addf(out, "{\"id\":\"r%llu\"", (unsigned long long)r->run);
	json_add_str(out, "schedule", id);
	buf_addf(out, ",\"kind\":\"%s\"", kinds[r->kind < RUN_KINDS ? r->kind : KIND_TIMER]);
	json_add_time(out, "nominal", r->nominal);
	json_add_time(out, "due", r->due);
	buf_addf(out, ",\"attempt\":%u,\"state\":\"%s\"", r->attempt, state_of(r));
	/* While a further attempt runs, the row still has the end of the previous attempt. */
	bool alive = r->state == RUN_CLAIMED;
	buf_addf(out, r->outcome && !alive ? ",\"outcome\":\"%s\"" : ",\"outcome\":null",
		 outcome_words[r->outcome]);
	buf_addf(out, r->reason && !alive ? ",\"reason\":\"%s\"" : ",\"reason\":null",
		 reason_words[r->reason]);
	json_add_time(out, "claimed_at", r->claimed);
	json_add_time(out, "started_at", r->started);
	const struct wall none = { 0 };
	json_add_time(out, "ended_at", alive ? none : r->ended);
	if (r->state == RUN_RETRYING)
		json_add_time(out, "retry_at", r->retry_at);
	else if (r->state == RUN_FINISHED && r->retry_at.us)
		json_add_time(out, "retry_dropped_at", r->retry_at);
	if (run_lateness(r))
		buf_addf(out, ",\"late_s\":%lld", (long long)run_lateness(r));
	buf_addf(out, r->exit_code >= 0 && !alive ? ",\"exit_code\":%d" : ",\"exit_code\":null",
		 r->exit_code);
	buf_addf(out, r->cost >= 0 ? ",\"cost_usd\":%.6f" : ",\"cost_usd\":null", (double)r->cost / 1e6);
	buf_addf(out, ",\"tokens\":{\"in\":%lld,\"out\":%lld},\"missed\":%u", (long long)r->tokens_in,
		 (long long)r->tokens_out, r->missed);
}

void json_add_superseded(struct buf *out, struct reader *reader, const struct run_row *r)
{
	uint64_t by = retry_superseded_by(reader, r);
	if (by)
		buf_addf(out, ",\"superseded_by\":\"r%llu\"", (unsigned long long)by);
}

void json_write_run(struct buf *out, const struct run_row *r, struct str id)
{
	json_open_run(out, r, id);
	buf_addc(out, '}');
}

void json_write_runs(struct buf *out, struct reader *reader, const struct read_runs *page, struct arena *a)
{
	for (unsigned i = 0; i < page->n; i++) {
		struct read_sched s = { 0 };
		struct why why;
		if (read_sched(reader, page->item[i].sid, a, &s, &why))
			s.id = (struct str){ 0 };
		buf_add(out, i ? STR(",") : STR(""));
		json_open_run(out, &page->item[i], s.id);
		json_add_superseded(out, reader, &page->item[i]);
		buf_addc(out, '}');
	}
}

void json_write_problem(struct buf *out, const struct problem_row *p)
{
	buf_addf(out, "{\"number\":%llu,\"count\":%u", (unsigned long long)p->number, p->count);
	json_add_str(out, "key", p->key);
	json_add_str(out, "subject", p->subject);
	json_add_str(out, "text", p->text);
	json_add_time(out, "opened", p->opened);
	json_add_time(out, "said", p->last_reported);
	json_add_time(out, "acknowledged", p->acked);
	json_add_str(out, "by", p->by);
	json_add_str(out, "note", p->note);
	json_add_time(out, "closed", p->closed);
	buf_addc(out, '}');
}
