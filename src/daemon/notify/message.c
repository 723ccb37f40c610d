#include "daemon/notify/message.h"

#include "base/hash.h"
#include "base/json.h"
#include "core/doc/target.h"
#include "core/when/iso.h"
#include "runfile/tail.h"
#include "sys/clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static const char *const words[] = {
	[NEWS_SUCCESS] = "run.done",
	[NEWS_FAILURE] = "run.failed",
	[NEWS_MISSED] = "run.missed",
	[NEWS_RECOVERED] = "run.recovered",
	[NEWS_PING] = "ping",
	[NEWS_STARTED] = "ping",
	[NEWS_OPENED] = "problem.opened",
	[NEWS_CLOSED] = "problem.closed",
	[MESSAGE_TEST] = "test",
	[MESSAGE_DIGEST] = "digest",
};

const char *message_word(unsigned kind)
{
	return kind < ARRAY_LEN(words) ? words[kind] : "notice";
}

const char *const message_state_words[MESSAGE_STATES] = {
	[MESSAGE_WAITING] = "waiting", [MESSAGE_DELIVERED] = "delivered", [MESSAGE_GIVEN_UP] = "given up",
	[MESSAGE_GONE] = "gone",       [MESSAGE_JOINED] = "joined",
};

/* --- messages --- */

static void put_text(struct buf *out, const char *name, struct str text)
{
	if (!text.n)
		return;
	buf_addf(out, "%s\"%s\":", out->n > 1 ? "," : "", name);
	json_write_str(out, text);
}

static void put_time(struct buf *out, const char *name, struct wall t)
{
	char text[ISO_SIZE];
	if (t.us && t.us != INT64_MAX)
		put_text(out, name, str_of(iso_format_utc(wall_seconds(t), text)));
}

/* Its own for each message, whatever is brought back from a copy: receivers leave out what they have had. */
static void open_message(struct buf *out, unsigned kind, struct str text)
{
	uint64_t n[2] = { (uint64_t)clock_wall().us, (uint64_t)clock_boot().us };
	char id[48];
	if (getrandom(n, sizeof n, 0) != sizeof n)
		n[1] ^= n[0] << 20; /* as good as it gets */
	snprintf(id, sizeof id, "msg_%016llx%016llx", (unsigned long long)n[0], (unsigned long long)n[1]);
	buf_addc(out, '{');
	put_text(out, "id", str_of(id));
	put_text(out, "type", str_of(message_word(kind)));
	put_time(out, "time", clock_wall());
	put_text(out, "text", text);
}

/* What happened, in one sentence. */
static void say_run(const struct run_row *r, struct str id, enum news_kind tell, struct str detail,
		    struct buf *out)
{
	char nominal[ISO_SIZE];
	buf_addf(out, "%.*s", STR_ARG(id));
	if (tell == NEWS_MISSED) {
		buf_addf(out, " did not run at %s", iso_format_utc(wall_seconds(r->nominal), nominal));
		if (r->reason)
			buf_addf(out, " (%s)", reason_words[r->reason]);
		return;
	}
	buf_addf(out, tell == NEWS_RECOVERED ? " has recovered: %s" : " %s", outcome_words[r->outcome]);
	if (r->reason == REASON_EXIT && r->exit_code >= 0)
		buf_addf(out, " with exit code %d", r->exit_code);
	else if (r->reason)
		buf_addf(out, " (%s)", reason_words[r->reason]);
	if (r->attempt > 1)
		buf_addf(out, " after %u attempts", r->attempt);
	if (detail.n)
		buf_addf(out, ": %.*s", STR_ARG(detail));
	if (tell == NEWS_FAILURE && r->attempt)
		message_where(r, out);
}

void message_where(const struct run_row *r, struct buf *out)
{
	/* Nothing of it was executed. */
	if (r->reason == REASON_CHECK || r->reason == REASON_DEFINITION || r->reason == REASON_TEMPLATE)
		buf_addf(out, "; `rota show r%llu` says why", (unsigned long long)r->run);
	else
		buf_addf(out, "; `rota logs r%llu` shows what it printed", (unsigned long long)r->run);
}

static void put_run(const struct run_row *r, struct buf *out)
{
	buf_addf(out, ",\"run\":\"r%llu\",\"attempt\":%u", (unsigned long long)r->run, r->attempt);
	if (r->outcome)
		put_text(out, "outcome", str_of(outcome_words[r->outcome]));
	if (r->reason)
		put_text(out, "reason", str_of(reason_words[r->reason]));
	if (r->outcome && r->exit_code >= 0)
		buf_addf(out, ",\"exit_code\":%d", r->exit_code);
	put_time(out, "nominal", r->nominal);
	put_time(out, "started", r->started);
	put_time(out, "ended", r->ended);
}

/* --- receivers --- */

/* Those on one host wait for each other, whatever their paths are. */
static uint64_t line_of(const struct doc_target *t, struct str text)
{
	struct buf name = { 0 };
	target_write_name(t, &name);
	struct str of = t->kind == DOC_TO_WEBHOOK && !name.failed ? buf_str(&name) : text;
	uint64_t line = fnv1a(FNV_START, of) >> 2; /* SQLite's numbers have a sign */
	buf_free(&name);
	return line;
}

static struct str keep(struct arena *a, const struct buf *b)
{
	char *copy = b->failed ? NULL : arena_dup(a, buf_str(b));
	return (struct str){ copy, copy ? b->n : 0 };
}

/* n.origin: what else than the target is the same for all that go to this receiver; none: the target is. */
static enum err add_one(struct message_list *list, const char *origin, const struct doc_target *t,
			struct message_row n)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (list->n == STORE_MESSAGES_MAX)
		return E_LIMIT;
	target_write(t, &text);
	uint64_t print = fnv1a(FNV_START, n.origin.n ? n.origin : buf_str(&text));
	const char *from = arena_printf(list->arena, "%s/%016llx", origin, (unsigned long long)print);
	n.target = keep(list->arena, &text);
	n.receiver = line_of(t, buf_str(&text));
	n.next = clock_wall();
	if (text.n > STORE_MESSAGE_BYTES_MAX) {
		n.target = STR("{\"type\":\"event\"}");
		n.state = MESSAGE_GIVEN_UP;
		n.result = STR("not sent: what names its receiver is too long");
	}
	if (t->kind == DOC_TO_EVENT) /* being put is all that it needs */
		n.state = MESSAGE_DELIVERED;
	if (!from || !n.target.p || !n.body.p)
		return E_NOMEM;
	n.origin = str_of(from);
	list->item[list->n++] = n;
	return OK;
}

static enum err add_all(struct message_list *list, const char *origin, const struct doc_target *to,
			unsigned n, struct message_row row)
{
	enum err e = OK;
	for (unsigned i = 0; i < n && !e; i++)
		e = add_one(list, origin, &to[i], row);
	return e;
}

/* --- runs --- */

static bool config_hears(const struct message_source *s, enum notify_event event)
{
	return s->config->targets && s->config->events >> event & 1;
}

/* A schedule as it is told of. */
struct about {
	struct str id, ping;
	struct doc_notification to;
	uint64_t sid;
	uint32_t rev;
};

/* The document that was in force, or else the latest. E_NOTFOUND: it is gone. */
static enum err read_about(const struct message_source *s, struct arena *a, uint64_t sid, uint32_t rev,
			   struct about *ret, struct why *why)
{
	struct read_sched sched;
	struct str text = { 0 };
	*ret = (struct about){ .sid = sid, .rev = rev };
	enum err e = read_sched(s->reader, sid, a, &sched, why);
	if (e)
		return e;
	if (!rev || read_document_of(s->reader, sid, rev, a, &text, why) || !text.n) {
		text = sched.document;
		ret->rev = sched.row.rev;
	}
	ret->id = sched.id;
	if (!text.n || doc_read_notification(text, a, &ret->to, &ret->ping, why))
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "its document is not understood any more");
	return OK;
}

/* To whom the document says, else to whom the configuration does, else it is an event and nothing more. */
static enum err add_about(const struct message_source *s, const struct about *about, enum news_kind tell,
			  const struct message_row *row, struct message_list *list)
{
	static const enum notify_event events[] = { [NEWS_SUCCESS] = NOTIFY_SUCCESS,
						    [NEWS_FAILURE] = NOTIFY_FAILURE,
						    [NEWS_MISSED] = NOTIFY_MISSED,
						    [NEWS_RECOVERED] = NOTIFY_RECOVERED };
	static const struct doc_target event = { .kind = DOC_TO_EVENT };
	const char *origin =
		arena_printf(list->arena, "s%llu.%u", (unsigned long long)about->sid, about->rev);
	if (!origin)
		return E_NOMEM;
	if (about->to.targets)
		return add_all(list, origin, about->to.to, about->to.targets, *row);
	if (config_hears(s, events[tell]))
		return add_all(list, s->origin, s->config->to, s->config->targets, *row);
	return add_one(list, origin, &event, *row);
}

static enum err add_run(const struct message_source *s, const struct about *about, const struct run_row *r,
			enum news_kind tell, struct message_list *list)
{
	_cleanup_(buf_free) struct buf text = { 0 }, body = { 0 };
	struct str detail = { 0 };
	struct why why;
	if (read_words(s->reader, r->run, RUN_TEXT_DETAIL, list->arena, &detail, &why))
		detail = (struct str){ 0 }; /* the rest is worth telling all the same */
	detail.n = detail.n < MESSAGE_DETAIL_BYTES ? detail.n : MESSAGE_DETAIL_BYTES;
	say_run(r, about->id, tell, detail, &text);
	open_message(&body, tell, buf_str(&text));
	put_text(&body, "schedule", about->id);
	put_run(r, &body);
	put_text(&body, "detail", detail);
	buf_addc(&body, '}');
	body.failed |= text.failed;
	struct message_row row = {
		.kind = (uint8_t)tell, .sid = r->sid, .run = r->run, .body = keep(list->arena, &body)
	};
	return add_about(s, about, tell, &row, list);
}

static enum err add_range(const struct message_source *s, const struct about *about,
			  const struct news_row *news, struct message_list *list)
{
	_cleanup_(buf_free) struct buf text = { 0 }, body = { 0 };
	char first[ISO_SIZE], last[ISO_SIZE];
	iso_format_utc(wall_seconds(news->first), first);
	iso_format_utc(wall_seconds(news->last), last);
	buf_addf(&text, "%.*s did not run at %s", STR_ARG(about->id), first);
	if (news->last.us > news->first.us)
		buf_addf(&text, ", and not until %s", last);
	open_message(&body, NEWS_MISSED, buf_str(&text));
	put_text(&body, "schedule", about->id);
	put_time(&body, "first", news->first);
	put_time(&body, "last", news->last);
	buf_addc(&body, '}');
	body.failed |= text.failed;
	struct message_row row = { .kind = NEWS_MISSED, .sid = news->sid, .body = keep(list->arena, &body) };
	return add_about(s, about, NEWS_MISSED, &row, list);
}

/* --- pings --- */

/* As healthchecks.io has it: the address and a word at its end, and a number by which it knows which start
 * and which end belong together. */
static const char *ping_url(struct arena *a, struct str url, const struct run_row *r, const char *word)
{
	size_t query = 0;
	while (query < url.n && url.p[query] != '?')
		query++;
	struct str path = str_sub(url, 0, query), rest = str_from(url, query);
	while (word[0] && path.n && path.p[path.n - 1] == '/')
		path.n--;
	return arena_printf(a, "%.*s%s%.*s%srid=%08x-%04x-4000-8000-%012llx", STR_ARG(path), word,
			    STR_ARG(rest), rest.n ? "&" : "?", (unsigned)(r->sid & UINT32_MAX),
			    (unsigned)(r->claimed.us / 1000 & 0xFFFF),
			    (unsigned long long)(r->run & UINT64_C(0xFFFFFFFFFFFF)));
}

static enum err add_ping(const struct message_source *s, const struct about *about, const struct run_row *r,
			 bool started, struct message_list *list)
{
	_cleanup_(buf_free) struct buf output = { 0 };
	bool good = r->outcome == OUTCOME_DONE || r->outcome == OUTCOME_NO_WORK;
	if (!about->ping.n)
		return OK;
	if (!started && r->attempt)
		runfile_log_tail(s->runs, r->run, r->attempt, PING_OUTPUT_BYTES, &output);
	const char *url = ping_url(list->arena, about->ping, r, started ? "/start" : good ? "" : "/fail");
	const char *origin =
		arena_printf(list->arena, "s%llu.%u", (unsigned long long)about->sid, about->rev);
	struct doc_target to = { .kind = DOC_TO_WEBHOOK, .url = str_of(url ? url : "") };
	struct message_row row = {
		.kind = NEWS_PING, .sid = r->sid, .run = r->run, .body = keep(list->arena, &output)
	};
	row.origin = about->ping; /* each address is another, by its word and its number */
	return url && origin ? add_one(list, origin, &to, row) : E_NOMEM;
}

/* --- problems --- */

/* A failure that its schedule tells the same targets of need not be told twice, nor its end. */
static bool is_told_already(const struct message_source *s, struct arena *a, struct str key,
			    enum news_kind tell)
{
	unsigned long long sid = 0;
	char text[64], again[64];
	struct about about;
	struct why why;
	snprintf(text, sizeof text, "%.*s", STR_SHORT(key));
	if (sscanf(text, "schedule:%llu:", &sid) != 1)
		return false;
	snprintf(again, sizeof again, "schedule:%llu:failed", sid);
	if (strcmp(text, again) != 0 || read_about(s, a, sid, 0, &about, &why) || about.to.targets)
		return false;
	return tell == NEWS_OPENED ? about.to.on_failure && config_hears(s, NOTIFY_FAILURE)
				   : about.to.on_recovered && config_hears(s, NOTIFY_RECOVERED);
}

static enum err add_problem(const struct message_source *s, uint64_t number, enum news_kind tell,
			    struct message_list *list, struct why *why)
{
	_cleanup_(buf_free) struct buf text = { 0 }, body = { 0 };
	struct problem_row p;
	if (!config_hears(s, NOTIFY_PROBLEM))
		return OK;
	enum err e = read_problem(s->reader, number, list->arena, &p, why);
	if (e)
		return e == E_NOTFOUND ? OK : e;
	if (is_told_already(s, list->arena, p.key, tell))
		return OK;
	buf_addf(&text, tell == NEWS_OPENED ? "problem %llu: %.*s" : "problem %llu is over: %.*s",
		 (unsigned long long)p.number, STR_ARG(p.text));
	open_message(&body, tell, buf_str(&text));
	buf_addf(&body, ",\"problem\":%llu", (unsigned long long)p.number);
	put_text(&body, "subject", p.subject);
	put_text(&body, "key", p.key);
	put_time(&body, "opened", p.opened);
	put_time(&body, "closed", p.closed);
	buf_addc(&body, '}');
	body.failed |= text.failed;
	struct message_row row = { .kind = (uint8_t)tell,
				   .problem = number,
				   .body = keep(list->arena, &body) };
	return add_all(list, s->origin, s->config->to, s->config->targets, row);
}

/* --- all of them --- */

static enum err add_news(const struct message_source *s, const struct news_row *news,
			 struct message_list *list, struct why *why)
{
	unsigned what = news->what;
	struct run_row r = { 0 };
	struct about about;
	enum err e = OK;
	if (news->problem)
		return add_problem(s, news->problem, what >> NEWS_CLOSED & 1 ? NEWS_CLOSED : NEWS_OPENED,
				   list, why);
	if (news->run)
		e = read_run(s->reader, news->run, &r, why);
	if (!e)
		e = read_about(s, list->arena, news->sid, r.rev, &about, why);
	if (e)
		return e == E_NOTFOUND ? OK : e;
	if (!news->run)
		return add_range(s, &about, news, list);
	/* That it is well again says that it was well. */
	if (what >> NEWS_RECOVERED & 1)
		what &= ~(1u << NEWS_SUCCESS);
	for (unsigned i = NEWS_SUCCESS; i <= NEWS_RECOVERED && !e; i++)
		if (what >> i & 1)
			e = add_run(s, &about, &r, (enum news_kind)i, list);
	if (!e && what & (1u << NEWS_PING | 1u << NEWS_STARTED))
		e = add_ping(s, &about, &r, what >> NEWS_STARTED & 1, list);
	return e;
}

enum err message_add(const struct message_source *s, const struct news_row *news, struct message_list *list,
		     struct why *why)
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
	open_message(&body, MESSAGE_TEST, STR("this is a test: nothing has happened"));
	buf_addc(&body, '}');
	struct message_row row = { .kind = MESSAGE_TEST, .body = keep(list->arena, &body) };
	enum err e = add_all(list, s->origin, s->config->to, s->config->targets, row);
	for (unsigned i = first; i < list->n; i++)
		list->item[i].receiver =
			~list->item[i].receiver >> 2; /* who waits for an answer waits in no line */
	return e;
}

void message_receiver(const struct message_row *n, struct buf *out)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct doc_target t;
	if (message_target(n, &a, &t, NULL))
		buf_addf(out, "somebody");
	else if (n->kind == NEWS_PING)
		buf_addf(out, "%.*s", STR_SHORT(target_host(t.url)));
	else
		target_write_name(&t, out);
}

enum err message_target(const struct message_row *n, struct arena *a, struct doc_target *ret, struct why *why)
{
	struct key_reader r = { n->target, a, why, NULL };
	struct val list = { .kind = VAL_LIST }, *item = arena_alloc(a, sizeof *item);
	struct doc_target *to;
	unsigned count;
	if (!item)
		return E_NOMEM;
	enum err e = json_read(n->target, a, item, why);
	list.list.item = item;
	list.list.n = 1;
	if (!e)
		e = target_read_list(&r, "to", &list, &to, &count);
	if (!e)
		*ret = to[0];
	return e;
}

/* --- many --- */

static bool is_alike(const struct message_row *a, const struct message_row *b)
{
	bool plain = a->kind != NEWS_PING && a->kind != MESSAGE_TEST && a->state == MESSAGE_WAITING;
	return plain && a->state == b->state && a->kind != MESSAGE_DIGEST && b->kind != NEWS_PING &&
	       str_eq(a->target, b->target);
}

static struct str text_of(struct arena *a, struct str body)
{
	struct val v;
	const struct val *text = json_read(body, a, &v, NULL) ? NULL : val_get(&v, STR("text"));
	return text && text->kind == VAL_STR ? text->str : (struct str){ 0 };
}

/* The message of all that are alike from `from` on; each of the first few in its own words. */
static struct str write_digest(const struct message_list *list, unsigned from, unsigned count)
{
	_cleanup_(buf_free) struct buf text = { 0 }, body = { 0 }, items = { 0 };
	unsigned told = 0;
	buf_addf(&text, "%u messages:", count);
	for (unsigned i = from; i < list->n && told < MESSAGES_TOLD && items.n < DIGEST_BYTES; i++) {
		const struct message_row *n = &list->item[i];
		if (!is_alike(n, &list->item[from]))
			continue;
		buf_addf(&text, "\n%.*s", STR_LINE(text_of(list->arena, n->body)));
		buf_add(&items, told++ ? STR(",") : STR(""));
		buf_add(&items, n->body);
	}
	if (count > told)
		buf_addf(&text, "\nand %u others; `rota runs` and `rota` have all of them", count - told);
	open_message(&body, MESSAGE_DIGEST, buf_str(&text));
	buf_addf(&body, ",\"count\":%u,\"messages\":[%s]}", count, buf_str(&items).p);
	body.failed |= text.failed || items.failed;
	return body.n <= STORE_MESSAGE_BYTES_MAX ? keep(list->arena, &body) : (struct str){ 0 };
}

enum err message_join(struct message_list *list)
{
	struct message_row *in = list->item, *out;
	bool *taken = arena_alloc(list->arena, STORE_MESSAGES_MAX * sizeof *taken);
	unsigned n = 0;
	out = arena_alloc(list->arena, STORE_MESSAGES_MAX * sizeof *out);
	if (!out || !taken)
		return E_NOMEM;
	memset(taken, 0, STORE_MESSAGES_MAX * sizeof *taken);
	for (unsigned i = 0; i < list->n; i++) {
		unsigned alike = 0;
		for (unsigned k = i; k < list->n && !taken[i]; k++)
			alike += is_alike(&in[k], &in[i]);
		/* One more row is needed for the whole. */
		bool joins = alike > MESSAGES_ALONE && n + (list->n - i) < STORE_MESSAGES_MAX;
		if (joins) {
			struct message_row whole = in[i];
			whole.kind = MESSAGE_DIGEST;
			whole.sid = whole.run = whole.problem = 0;
			whole.body = write_digest(list, i, alike);
			if (!whole.body.p)
				return E_NOMEM;
			out[n++] = whole;
		}
		for (unsigned k = i; k < list->n && joins; k++) {
			if (!is_alike(&in[k], &in[i]))
				continue;
			out[n] = in[k];
			out[n].state = MESSAGE_JOINED;
			out[n].joined = 1;
			out[n++].body = STR("");
			taken[k] = true;
		}
		if (!joins && !taken[i])
			out[n++] = in[i];
	}
	memcpy(list->item, out, n * sizeof *out);
	list->n = n;
	return OK;
}
