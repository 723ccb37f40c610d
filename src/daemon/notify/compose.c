/* Turns rows of news into messages: reads the run, schedule or problem, finds the targets, and writes one
 * message for each. */
#include "daemon/notify/message.h"

#include "base/hash.h"
#include "core/doc/target.h"
#include "core/when/iso.h"
#include "daemon/notify/json_body.h"
#include "runfile/tail.h"
#include "sys/clock.h"

#include <stdio.h>
#include <string.h>

/* --- targets --- */

/* The number that identifies a receiver. All webhooks on one host are one receiver, whatever their paths. */
static uint64_t receiver_of(const struct doc_target *t, struct str text)
{
	_cleanup_(buf_free) struct buf name = { 0 };
	target_write_name(t, &name);
	struct str of = t->kind == DOC_TO_WEBHOOK && !name.failed ? buf_str(&name) : text;
	return fnv1a(FNV_START, of) >> 2; /* a store may have signed numbers only */
}

/* m.origin is a text that identifies the receiver; if it is empty, the text of the target identifies it. */
static enum err add_message(struct message_list *list, const char *origin, const struct doc_target *t,
			    struct message_row m)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (list->n == STORE_MESSAGES_MAX)
		return E_LIMIT;
	target_write(t, &text);
	uint64_t hash = fnv1a(FNV_START, m.origin.n ? m.origin : buf_str(&text));
	const char *full_origin = arena_printf(list->arena, "%s/%016llx", origin, (unsigned long long)hash);
	m.target.p = text.failed ? NULL : arena_dup(list->arena, buf_str(&text));
	m.target.n = text.n;
	if (!full_origin || !m.target.p || !m.body.p)
		return E_NOMEM;
	m.receiver = receiver_of(t, buf_str(&text));
	m.next = clock_wall();
	if (text.n > STORE_MESSAGE_BYTES_MAX) {
		m.target = STR("{\"type\":\"event\"}");
		m.state = MESSAGE_GIVEN_UP;
		m.result = STR("not sent: the description of its target is too long");
	}
	if (t->kind == DOC_TO_EVENT) /* the event is the message's row itself */
		m.state = MESSAGE_DELIVERED;
	m.origin = str_of(full_origin);
	list->item[list->n++] = m;
	return OK;
}

static enum err add_messages(struct message_list *list, const char *origin, const struct doc_target *to,
			     unsigned n, struct message_row m)
{
	enum err e = OK;
	for (unsigned i = 0; i < n && !e; i++)
		e = add_message(list, origin, &to[i], m);
	return e;
}

static bool config_wants(const struct message_source *s, enum notify_event event)
{
	return s->config->targets && s->config->events >> event & 1;
}

/* --- schedules --- */

/* The facts about a schedule that messages contain. */
struct subject {
	struct str id, ping;
	struct doc_notification to;
	const char *origin; /* the origin of messages to targets of this document */
};

/* Reads the document of this rev or, if that is gone, the latest. E_NOTFOUND: there is no document any
 * more. */
static enum err read_subject(const struct message_source *s, struct arena *a, uint64_t sid, uint32_t rev,
			     struct subject *ret, struct why *why)
{
	struct read_sched sched;
	struct str text = { 0 };
	*ret = (struct subject){ 0 };
	enum err e = read_sched(s->reader, sid, a, &sched, why);
	if (e)
		return e;
	if (!rev || read_document_of(s->reader, sid, rev, a, &text, why) || !text.n) {
		text = sched.document;
		rev = sched.row.rev;
	}
	ret->id = sched.id;
	ret->origin = arena_printf(a, "s%llu.%u", (unsigned long long)sid, rev);
	if (!ret->origin)
		return E_NOMEM;
	if (!text.n || doc_read_notification(text, a, &ret->to, &ret->ping, why))
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "the document can no longer be read");
	return OK;
}

/* Adds messages to the targets of the document; if it has none, to those of the configuration; if that has
 * none either, an event. */
static enum err add_about(const struct message_source *s, const struct subject *about, enum news_kind kind,
			  const struct message_row *m, struct message_list *list)
{
	static const enum notify_event events[] = { [NEWS_SUCCESS] = NOTIFY_SUCCESS,
						    [NEWS_FAILURE] = NOTIFY_FAILURE,
						    [NEWS_MISSED] = NOTIFY_MISSED,
						    [NEWS_RECOVERED] = NOTIFY_RECOVERED };
	static const struct doc_target event = { .kind = DOC_TO_EVENT };
	if (about->to.targets)
		return add_messages(list, about->origin, about->to.to, about->to.targets, *m);
	if (config_wants(s, events[kind]))
		return add_messages(list, s->origin, s->config->to, s->config->targets, *m);
	return add_message(list, about->origin, &event, *m);
}

/* --- runs --- */

static void write_run_sentence(const struct run_row *r, struct str id, enum news_kind kind, struct str detail,
			       struct buf *out)
{
	char nominal[ISO_SIZE];
	buf_addf(out, "%.*s ", STR_ARG(id));
	if (kind == NEWS_MISSED) {
		buf_addf(out, "did not run at %s", iso_format_utc(wall_seconds(r->nominal), nominal));
		if (r->reason)
			buf_addf(out, " (%s)", reason_words[r->reason]);
		return;
	}
	if (kind == NEWS_RECOVERED)
		buf_addf(out, "has recovered: ");
	message_write_outcome(r, out);
	if (detail.n)
		buf_addf(out, ": %.*s", STR_ARG(detail));
	if (kind == NEWS_FAILURE && r->attempt)
		message_write_hint(r, out);
}

static void body_add_run(struct buf *out, const struct run_row *r)
{
	buf_addf(out, ",\"run\":\"r%llu\",\"attempt\":%u", (unsigned long long)r->run, r->attempt);
	if (r->outcome)
		body_add_text(out, "outcome", str_of(outcome_words[r->outcome]));
	if (r->reason)
		body_add_text(out, "reason", str_of(reason_words[r->reason]));
	if (r->outcome && r->exit_code >= 0)
		buf_addf(out, ",\"exit_code\":%d", r->exit_code);
	body_add_time(out, "nominal", r->nominal);
	body_add_time(out, "started", r->started);
	body_add_time(out, "ended", r->ended);
}

static enum err add_run(const struct message_source *s, const struct subject *about, const struct run_row *r,
			enum news_kind kind, struct message_list *list)
{
	_cleanup_(buf_free) struct buf text = { 0 }, body = { 0 };
	struct str detail = { 0 };
	struct why why;
	if (read_run_text(s->reader, r->run, RUN_TEXT_DETAIL, list->arena, &detail, &why))
		detail = (struct str){ 0 }; /* the message is useful without it */
	detail.n = detail.n < MESSAGE_DETAIL_BYTES ? detail.n : MESSAGE_DETAIL_BYTES;
	write_run_sentence(r, about->id, kind, detail, &text);
	body_open(&body, kind, buf_str(&text));
	body_add_text(&body, "schedule", about->id);
	body_add_run(&body, r);
	body_add_text(&body, "detail", detail);
	body.failed |= text.failed;
	struct message_row m = {
		.kind = (uint8_t)kind, .sid = r->sid, .run = r->run, .body = body_close(&body, list->arena)
	};
	return add_about(s, about, kind, &m, list);
}

static enum err add_range(const struct message_source *s, const struct subject *about,
			  const struct news_row *news, struct message_list *list)
{
	_cleanup_(buf_free) struct buf text = { 0 }, body = { 0 };
	char first[ISO_SIZE], last[ISO_SIZE];
	iso_format_utc(wall_seconds(news->first), first);
	iso_format_utc(wall_seconds(news->last), last);
	if (news->last.us > news->first.us)
		buf_addf(&text, "%.*s did not run from %s to %s", STR_ARG(about->id), first, last);
	else
		buf_addf(&text, "%.*s did not run at %s", STR_ARG(about->id), first);
	body_open(&body, NEWS_MISSED, buf_str(&text));
	body_add_text(&body, "schedule", about->id);
	body_add_time(&body, "first", news->first);
	body_add_time(&body, "last", news->last);
	body.failed |= text.failed;
	struct message_row m = { .kind = NEWS_MISSED,
				 .sid = news->sid,
				 .body = body_close(&body, list->arena) };
	return add_about(s, about, NEWS_MISSED, &m, list);
}

/* --- pings --- */

/* The url of a ping as healthchecks.io expects it: "/start" or "/fail" is appended to the path, and the query
 * has an id that is the same at the start and the end of a run. */
static const char *ping_url(struct arena *a, struct str url, const struct run_row *r, const char *suffix)
{
	size_t query = 0;
	while (query < url.n && url.p[query] != '?')
		query++;
	struct str path = str_sub(url, 0, query), rest = str_from(url, query);
	while (suffix[0] && path.n && path.p[path.n - 1] == '/')
		path.n--;
	return arena_printf(a, "%.*s%s%.*s%srid=%08x-%04x-4000-8000-%012llx", STR_ARG(path), suffix,
			    STR_ARG(rest), rest.n ? "&" : "?", (unsigned)(r->sid & UINT32_MAX),
			    (unsigned)(r->claimed.us / 1000 & 0xFFFF),
			    (unsigned long long)(r->run & UINT64_C(0xFFFFFFFFFFFF)));
}

static enum err add_ping(const struct message_source *s, const struct subject *about, const struct run_row *r,
			 bool started, struct message_list *list)
{
	_cleanup_(buf_free) struct buf output = { 0 };
	bool good = r->outcome == OUTCOME_DONE || r->outcome == OUTCOME_NO_WORK;
	if (!about->ping.n)
		return OK;
	if (!started && r->attempt)
		runfile_log_tail(s->runs, r->run, r->attempt, PING_OUTPUT_BYTES, &output);
	const char *url = ping_url(list->arena, about->ping, r, started ? "/start" : good ? "" : "/fail");
	const char *body = output.failed ? NULL : arena_dup(list->arena, buf_str(&output));
	struct message_row m = { .kind = NEWS_PING,
				 .sid = r->sid,
				 .run = r->run,
				 .origin = about->ping, /* each ping has a url of its own */
				 .body = { body, output.n } };
	if (!url || !body)
		return E_NOMEM;
	return add_message(list, about->origin,
			   &(struct doc_target){ .kind = DOC_TO_WEBHOOK, .url = str_of(url) }, m);
}

/* --- problems --- */

/* Whether the problem is a failure of a schedule, and the same targets get another message about that failure
 * (NEWS_OPENED) or about the recovery from it. */
static bool has_other_message(const struct message_source *s, struct arena *a, struct str key,
			      enum news_kind kind)
{
	unsigned long long sid = 0;
	char text[64], again[64];
	struct subject about;
	struct why why;
	snprintf(text, sizeof text, "%.*s", STR_SHORT(key));
	if (sscanf(text, "schedule:%llu:", &sid) != 1)
		return false;
	snprintf(again, sizeof again, "schedule:%llu:failed", sid);
	if (strcmp(text, again) != 0 || read_subject(s, a, sid, 0, &about, &why) || about.to.targets)
		return false;
	return kind == NEWS_OPENED ? about.to.on_failure && config_wants(s, NOTIFY_FAILURE)
				   : about.to.on_recovered && config_wants(s, NOTIFY_RECOVERED);
}

static enum err add_problem(const struct message_source *s, uint64_t number, enum news_kind kind,
			    struct message_list *list, struct why *why)
{
	_cleanup_(buf_free) struct buf text = { 0 }, body = { 0 };
	struct problem_row p;
	if (!config_wants(s, NOTIFY_PROBLEM))
		return OK;
	enum err e = read_problem(s->reader, number, list->arena, &p, why);
	if (e)
		return e == E_NOTFOUND ? OK : e;
	if (has_other_message(s, list->arena, p.key, kind))
		return OK;
	buf_addf(&text, kind == NEWS_OPENED ? "problem %llu: %.*s" : "problem %llu is closed: %.*s",
		 (unsigned long long)p.number, STR_ARG(p.text));
	body_open(&body, kind, buf_str(&text));
	buf_addf(&body, ",\"problem\":%llu", (unsigned long long)p.number);
	body_add_text(&body, "subject", p.subject);
	body_add_text(&body, "key", p.key);
	body_add_time(&body, "opened", p.opened);
	body_add_time(&body, "closed", p.closed);
	body.failed |= text.failed;
	struct message_row m = { .kind = (uint8_t)kind,
				 .problem = number,
				 .body = body_close(&body, list->arena) };
	return add_messages(list, s->origin, s->config->to, s->config->targets, m);
}

/* --- all news --- */

static enum err add_news(const struct message_source *s, const struct news_row *news,
			 struct message_list *list, struct why *why)
{
	unsigned kinds = news->what;
	struct run_row r = { 0 };
	struct subject about;
	enum err e = OK;
	if (news->problem)
		return add_problem(s, news->problem, kinds >> NEWS_CLOSED & 1 ? NEWS_CLOSED : NEWS_OPENED,
				   list, why);
	if (news->run)
		e = read_run(s->reader, news->run, &r, why);
	if (!e)
		e = read_subject(s, list->arena, news->sid, r.rev, &about, why);
	if (e)
		return e == E_NOTFOUND ? OK : e;
	if (!news->run)
		return add_range(s, &about, news, list);
	/* A recovery is also a success: one message reports both. */
	if (kinds >> NEWS_RECOVERED & 1)
		kinds &= ~(1u << NEWS_SUCCESS);
	for (unsigned i = NEWS_SUCCESS; i <= NEWS_RECOVERED && !e; i++)
		if (kinds >> i & 1)
			e = add_run(s, &about, &r, (enum news_kind)i, list);
	if (!e && kinds & (1u << NEWS_PING | 1u << NEWS_STARTED))
		e = add_ping(s, &about, &r, kinds >> NEWS_STARTED & 1, list);
	return e;
}

enum err message_add_news(const struct message_source *s, const struct news_row *news,
			  struct message_list *list, struct why *why)
{
	unsigned before = list->n;
	enum err e = add_news(s, news, list, why);
	if (e)
		list->n = before;
	return e;
}

enum err message_add_test(const struct message_source *s, struct message_list *list)
{
	_cleanup_(buf_free) struct buf body = { 0 };
	unsigned first = list->n;
	body_open(&body, MESSAGE_TEST, STR("this is a test: nothing has happened"));
	struct message_row m = { .kind = MESSAGE_TEST, .body = body_close(&body, list->arena) };
	enum err e = add_messages(list, s->origin, s->config->to, s->config->targets, m);
	/* A person waits for the result of a test, so test messages do not wait for other messages to the
	 * same receiver. */
	for (unsigned i = first; i < list->n; i++)
		list->item[i].receiver = ~list->item[i].receiver >> 2;
	return e;
}
