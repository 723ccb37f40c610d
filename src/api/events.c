#include "api/events.h"

#include "api/json_out.h"
#include "core/model.h"
#include "daemon/notify/message.h"
#include "sys/clock.h"
#include "wire/sse.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
	RING = 1024,
	TEXT = 60,              /* of a report, in an event; `rota show` has all of it */
	EVENT_BYTES_MAX = 1020, /* of a stream: a schedule's id is DOC_ID_MAX at most */
	TOGETHER = 256,         /* told at a time: then those who follow are sent what they have */
	NAMES = 16384           /* of schedules, remembered */
};
static_assert(RING * EVENT_BYTES_MAX < HTTP_STREAM_BYTES_MAX,
	      "who comes back is sent all that is known, without being cut off for it");

struct follower {
	struct events *events;
	struct http_stream *stream;
	struct follower *next;
};

/* Something that happened: a fact, or what a run has said of itself. */
struct happening {
	struct pump_fact fact; /* a report's op is ST_OPS + enum report_kind */
	char text[TEXT + 1];
};

/* They are kept as they are; they are put into words when somebody wants to know. */
struct events {
	struct reader *reader;
	pthread_mutex_t lock; /* of the ring */
	struct happening ring[RING];
	uint64_t before; /* the numbers begin after this one … */
	uint64_t last;   /* … up to that of the newest; it stands at last % RING */
	/* The HTTP thread's. */
	uint64_t told; /* to those who follow */
	struct follower *followers;
	struct {
		uint64_t sid;
		char *id;
	} name[NAMES];
	struct happening some[TOGETHER]; /* copied out of the ring */
	atomic_bool followed, on_way;
};

enum err events_new(struct reader *reader, struct events **ret)
{
	struct events *e = calloc(1, sizeof *e);
	if (!e)
		return E_NOMEM;
	pthread_mutex_init(&e->lock, NULL);
	/* The clock at the start, so that they are larger than those of the daemon before: whoever followed
	 * that one and comes back can say what it saw last. */
	e->last = e->before = (uint64_t)clock_wall().us;
	e->reader = reader;
	*ret = e;
	return OK;
}

void events_free(struct events *e)
{
	if (!e)
		return;
	while (e->followers) {
		struct follower *f = e->followers;
		e->followers = f->next;
		free(f);
	}
	for (unsigned i = 0; i < NAMES; i++)
		free(e->name[i].id);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

/* --- what is told --- */

/* The name of what happened; NULL: nobody wants to know. */
static const char *type_of(const struct pump_fact *f)
{
	static const char *const reports[REPORTS] = {
		[REPORT_FAIL] = "run.gave_up", [REPORT_STEP] = "run.step", [REPORT_NOTE] = "run.note"
	};
	if (f->res != ST_OK)
		return NULL;
	if (f->op >= ST_OPS)
		return reports[f->op - ST_OPS];
	switch ((enum st_op)f->op) {
	case ST_PUT:
		return "schedule.changed";
	case ST_DROP:
		return "schedule.removed";
	case ST_OCC:
	case ST_VERDICT:
		return f->run.state == RUN_FINISHED  ? "run.finished"
		       : f->run.state == RUN_SKIPPED ? "occurrence.skipped"
		       : f->run.state == RUN_MISSED  ? "occurrence.missed"
		       : f->op == ST_OCC             ? "run.claimed"
						     : NULL;
	case ST_RANGE:
		return f->range.state == RUN_MISSED ? "occurrence.missed" : "occurrence.skipped";
	case ST_STARTED:
		return "run.started";
	case ST_FINISH:
		return f->run.state == RUN_RETRYING ? "run.failed" : "run.finished";
	case ST_MESSAGES:
		return f->message.kind == NEWS_PING ? NULL : "notice";
	case ST_DELIVERY:
		return f->message.state == MESSAGE_WAITING     ? NULL
		       : f->message.state != MESSAGE_DELIVERED ? "notice.given_up"
		       : f->message.kind == NEWS_PING          ? NULL
							       : "notice.delivered";
	case ST_HOLD:
		return f->hold.reason ? "hold.set" : "hold.freed";
	case ST_PROBLEM:
		return f->problem.act == PROBLEM_ACK     ? "problem.acknowledged"
		       : f->problem.act == PROBLEM_CLOSE ? "problem.closed"
		       : f->problem.fresh                ? "problem.opened"
							 : NULL;
	case ST_WITHDRAW:
	case ST_NAME:
	case ST_SOURCE:
	case ST_STATE:
	case ST_MEMORY:
	case ST_AGENT:
	case ST_RUN_TEXT:
	case ST_PRUNE:
	case ST_OPS:
		break;
	}
	return NULL;
}

static void add_time(struct buf *out, const char *name, struct wall t)
{
	buf_addf(out, ",\"%s\":", name);
	json_write_time(out, t);
}

/* A schedule's id is its own for ever. NULL: it has none. */
static const char *name_of(struct events *e, uint64_t sid)
{
	struct arena arena = { 0 };
	struct str id;
	struct why why;
	if (e->name[sid % NAMES].sid == sid)
		return e->name[sid % NAMES].id;
	char *copy = NULL;
	if (read_id(e->reader, sid, &arena, &id, &why) == OK && id.n)
		copy = strndup(id.p, id.n);
	arena_free(&arena);
	if (copy) {
		free(e->name[sid % NAMES].id);
		e->name[sid % NAMES].sid = sid;
		e->name[sid % NAMES].id = copy;
	}
	return copy;
}

/* What is told, and to whom; a target that is an event may have a name of its own. */
static void add_notice(struct events *e, const struct pump_fact *f, struct buf *out)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	_cleanup_(buf_free) struct buf to = { 0 };
	struct message_row n;
	struct doc_target target;
	struct val body;
	struct why why;
	buf_addf(out, ",\"notice\":%llu,\"about\":\"%s\"", (unsigned long long)f->message.number,
		 message_kind_word(f->message.kind));
	if (read_notice(e->reader, f->message.number, &a, &n, &why))
		return;
	message_receiver_name(&n, &to);
	json_add_str(out, "to", buf_str(&to));
	if (message_target(&n, &a, &target, NULL) == OK && target.name.n)
		json_add_str(out, "name", target.name);
	const struct val *text = n.kind != NEWS_PING && json_read(n.body, &a, &body, NULL) == OK
					 ? val_get(&body, STR("text"))
					 : NULL;
	if (text && text->kind == VAL_STR)
		json_add_str(out, "text", text->str);
	if (f->op == ST_DELIVERY)
		json_add_str(out, "said", n.result);
}

static void write_event(struct events *e, uint64_t number, const struct happening *h, struct buf *out)
{
	const struct pump_fact *f = &h->fact;
	const char *id = f->sid ? name_of(e, f->sid) : NULL;
	buf_addf(out, "{\"id\":%llu,\"type\":\"%s\"", (unsigned long long)number, type_of(f));
	add_time(out, "time", f->at);
	if (id) {
		buf_add(out, STR(",\"schedule\":"));
		json_write_str(out, str_of(id));
	}
	if (f->run.run)
		buf_addf(out, ",\"run\":\"r%llu\"", (unsigned long long)f->run.run);
	if (f->run.run && !f->message.number) {
		buf_addf(out, ",\"attempt\":%u", f->run.attempt);
		add_time(out, "nominal", f->run.nominal);
	}
	if (f->op == ST_OCC && f->run.due.us) /* from due to durable */
		buf_addf(out, ",\"lateness_ms\":%.3f", (double)(f->at.us - f->run.due.us) / 1000);
	if (f->message.number)
		add_notice(e, f, out);
	if (f->problem.number)
		buf_addf(out, ",\"problem\":%llu", (unsigned long long)f->problem.number);
	if (f->op == ST_RANGE) {
		add_time(out, "first", f->range.first);
		add_time(out, "last", f->range.last);
	}
	unsigned reason = f->op == ST_RANGE  ? f->range.reason
			  : f->op == ST_HOLD ? f->hold.reason
					     : f->run.reason;
	if (f->run.outcome)
		buf_addf(out, ",\"outcome\":\"%s\"", outcome_words[f->run.outcome]);
	if (reason)
		buf_addf(out, ",\"reason\":\"%s\"", reason_words[reason]);
	if (f->op >= ST_OPS) {
		buf_add(out, STR(",\"text\":"));
		json_write_str(out, str_of(h->text));
	}
	buf_addc(out, '}');
}

/* --- who follows --- */

static void closed(void *ctx)
{
	struct follower *f = ctx;
	struct events *e = f->events;
	for (struct follower **at = &e->followers; *at; at = &(*at)->next)
		if (*at == f) {
			*at = f->next;
			break;
		}
	atomic_store(&e->followed, e->followers != NULL);
	free(f);
}

static void send(struct follower *f, const struct buf *events)
{
	/* Who is too slow is cut off by the server, and told so by `closed`. */
	if (!events->failed && http_stream_write(f->stream, buf_str(events))) {
		/* see above */
	}
}

/* The number of the last that is known no more. */
static uint64_t gone(const struct events *e)
{
	return e->last - e->before > RING ? e->last - RING : e->before;
}

/* Copies what there is from *first up to `last` to `some`, TOGETHER at most; what is known no more is passed
 * over. How many. */
static unsigned copy(struct events *e, uint64_t *first, uint64_t last)
{
	unsigned n = 0;
	pthread_mutex_lock(&e->lock);
	last = last < e->last ? last : e->last;
	uint64_t oldest = gone(e) < last ? gone(e) + 1 : last + 1;
	*first = *first > oldest ? *first : oldest;
	for (; n < TOGETHER && *first + n <= last; n++)
		e->some[n] = e->ring[(*first + n) % RING];
	pthread_mutex_unlock(&e->lock);
	return n;
}

static void write_frame(uint64_t number, const struct buf *text, struct buf *out)
{
	char id[24];
	snprintf(id, sizeof id, "%llu", (unsigned long long)number);
	sse_write(out, &(struct sse_event){ .id = str_of(id), .data = buf_str(text) });
	out->failed |= text->failed;
}

static void write_gap(uint64_t first, uint64_t next, struct buf *text)
{
	buf_addf(text, "{\"id\":%llu,\"type\":\"events.left_out\"", (unsigned long long)next - 1);
	add_time(text, "time", clock_wall());
	buf_addf(text, ",\"count\":%llu}", (unsigned long long)(next - first));
}

/* The events from `first` up to `last` as a stream has them, TOGETHER at most; the number of the last of
 * them.
 */
static uint64_t write_stream(struct events *e, uint64_t first, uint64_t last, struct buf *out)
{
	struct buf text = { 0 };
	uint64_t at = first;
	unsigned n = copy(e, &at, last);
	if (at > first) {
		write_gap(first, at, &text);
		write_frame(at - 1, &text, out);
	}
	for (unsigned i = 0; i < n; i++) {
		text.n = 0;
		write_event(e, at + i, &e->some[i], &text);
		write_frame(at + i, &text, out);
	}
	buf_free(&text);
	return at + n - 1;
}

static uint64_t newest(struct events *e)
{
	pthread_mutex_lock(&e->lock);
	uint64_t last = e->last;
	pthread_mutex_unlock(&e->lock);
	return last;
}

/* To all who follow, what they have not been told. */
static void tell(struct events *e)
{
	struct buf out = { 0 };
	e->told = write_stream(e, e->told + 1, UINT64_MAX, &out);
	for (struct follower *f = e->followers, *next; f && out.n; f = next) {
		next = f->next;
		send(f, &out);
	}
	buf_free(&out);
}

struct bell {
	struct events *events;
	struct http *http;
};

static void ring(struct events *e, struct http *http);

static void arrive(void *arg)
{
	struct bell b = *(struct bell *)arg;
	free(arg);
	atomic_store(&b.events->on_way, false);
	tell(b.events);
	if (b.events->followers && b.events->told < newest(b.events))
		ring(b.events, b.http);
}

/* One is enough for all that come before it is heard. If it cannot be: the next event rings again. */
static void ring(struct events *e, struct http *http)
{
	if (atomic_exchange(&e->on_way, true))
		return;
	struct bell *b = malloc(sizeof *b);
	if (b)
		*b = (struct bell){ e, http };
	if (!b || http_add_task(http, arrive, b)) {
		free(b);
		atomic_store(&e->on_way, false);
	}
}

static void add(struct events *e, struct http *http, const struct happening *h)
{
	pthread_mutex_lock(&e->lock);
	e->ring[++e->last % RING] = *h;
	pthread_mutex_unlock(&e->lock);
	if (atomic_load(&e->followed))
		ring(e, http);
}

void events_add(struct events *e, struct http *http, const struct pump_fact *f)
{
	if (type_of(f))
		add(e, http, &(struct happening){ .fact = *f });
}

void events_report(struct events *e, struct http *http, const struct run_row *run, enum report_kind kind,
		   struct str text)
{
	struct happening h = {
		.fact = { .op = (uint8_t)(ST_OPS + kind), .sid = run->sid, .at = clock_wall() }
	};
	h.fact.run = (struct run_row){ .run = run->run, .attempt = run->attempt, .nominal = run->nominal };
	size_t n = text.n < TEXT ? text.n : TEXT;
	while (n < text.n && n && ((unsigned char)text.p[n] & 0xC0) == 0x80)
		n--; /* do not cut a character in two */
	memcpy(h.text, text.p, n);
	add(e, http, &h);
}

/* The last event that need not be told to somebody who has seen this one. A number that was never given is
 * that of another daemon: then all of this one's are told, or how many were left out. */
static uint64_t where(struct events *e, uint64_t seen)
{
	pthread_mutex_lock(&e->lock);
	uint64_t from = seen > e->last || seen < e->before ? e->before : seen;
	pthread_mutex_unlock(&e->lock);
	return from;
}

/* Says where the stream begins, so that a reader that has heard nothing yet can come back, too. */
static void greet(uint64_t from, struct buf *out)
{
	char id[24];
	snprintf(id, sizeof id, "%llu", (unsigned long long)from);
	sse_write(out, &(struct sse_event){ .event = STR("hello"), .id = str_of(id), .data = STR("{}") });
}

void events_follow(struct events *e, struct http_request *r, uint64_t after)
{
	struct follower *f = calloc(1, sizeof *f);
	if (!f) {
		http_answer_error(r, E_NOMEM, NULL, (struct str){ 0 });
		return;
	}
	f->events = e;
	f->stream = http_stream(r, SSE_TYPE, closed, f);
	if (!f->stream) {
		free(f);
		return;
	}
	if (!e->followers) {
		atomic_store(&e->followed, true); /* from here on every event rings */
		e->told = newest(e);
	}
	f->next = e->followers;
	e->followers = f;
	struct buf out = { 0 };
	uint64_t from = after ? where(e, after) : e->told;
	greet(from, &out);
	for (uint64_t at = from; at < e->told;)
		at = write_stream(e, at + 1, e->told,
				  &out); /* what comes after that it is told with the others */
	send(f, &out);
	buf_free(&out);
}

void events_list(struct events *e, unsigned limit, struct buf *out)
{
	uint64_t last = newest(e);
	limit = limit < TOGETHER ? limit : TOGETHER;
	uint64_t first = last - e->before > limit ? last - limit + 1 : e->before + 1;
	unsigned n = copy(e, &first, last);
	buf_addc(out, '[');
	for (unsigned i = 0; i < n; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		write_event(e, first + i, &e->some[i], out);
	}
	buf_addc(out, ']');
}
