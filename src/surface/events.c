#include "surface/events.h"

#include "core/model.h"
#include "surface/sse.h"
#include "surface/tell.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { RING = 1024, EVENT_BYTES_MAX = 640 /* of a stream: a schedule's id is DOC_ID_MAX at most */ };
static_assert(RING * EVENT_BYTES_MAX < HTTP_STREAM_BYTES_MAX,
	      "who comes back is sent all that is known, without being cut off for it");
static_assert(2 * RING < HTTP_POSTS_MAX, "answers find room beside events");

struct follower {
	struct events *events;
	struct http_stream *stream;
	struct follower *next;
};

struct events {
	struct reader *reader;
	struct buf ring[RING]; /* JSON */
	uint64_t before;       /* the numbers begin after this one … */
	uint64_t last;         /* … up to that of the newest; it stands at last % RING */
	struct follower *followers;
	atomic_uint left_out;
	atomic_uint on_way; /* RING at most: the box they come by is also that of the answers */
};

struct news {
	struct events *events;
	struct pump_fact fact;
	struct wall at; /* when its cause was durable */
};

enum err events_new(struct reader *reader, struct events **ret)
{
	struct events *e = calloc(1, sizeof *e);
	if (!e)
		return E_NOMEM;
	e->reader = reader;
	/* The clock at the start, so that they are larger than those of the daemon before: whoever followed
	 * that one and comes back can say what it saw last. */
	e->last = e->before = (uint64_t)tell_now().us;
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
	for (unsigned i = 0; i < RING; i++)
		buf_free(&e->ring[i]);
	free(e);
}

/* --- what is told
 * --------------------------------------------------------------------------------------------- */

/* The name of what happened; NULL: nobody wants to know. */
static const char *type_of(const struct pump_fact *f)
{
	if (f->res != ST_OK)
		return NULL;
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
	case ST_WORDS:
	case ST_PRUNE:
	case ST_OPS:
		break;
	}
	return NULL;
}

static void add_time(struct buf *out, const char *name, struct wall t)
{
	buf_addf(out, ",\"%s\":", name);
	tell_time(out, t);
}

static void write_event(struct events *e, uint64_t number, const char *type, const struct pump_fact *f,
			struct wall at, struct buf *out)
{
	struct arena arena = { 0 };
	struct read_sched s = { 0 };
	struct why why;
	buf_addf(out, "{\"id\":%llu,\"type\":\"%s\"", (unsigned long long)number, type);
	add_time(out, "time", at);
	if (f->sid && read_sched(e->reader, f->sid, &arena, &s, &why) == OK && s.id.n) {
		buf_add(out, STR(",\"schedule\":"));
		json_write_str(out, s.id);
	}
	if (f->run.run) {
		buf_addf(out, ",\"run\":\"r%llu\",\"attempt\":%u", (unsigned long long)f->run.run,
			 f->run.attempt);
		add_time(out, "nominal", f->run.nominal);
	}
	if (f->op == ST_OCC && f->run.due.us) /* from due to durable */
		buf_addf(out, ",\"lateness_ms\":%.3f", (double)(at.us - f->run.due.us) / 1000);
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
	buf_addc(out, '}');
	arena_free(&arena);
}

/* --- who follows
 * ---------------------------------------------------------------------------------------------- */

static void closed(void *ctx)
{
	struct follower *f = ctx;
	for (struct follower **at = &f->events->followers; *at; at = &(*at)->next)
		if (*at == f) {
			*at = f->next;
			break;
		}
	free(f);
}

static void send(struct events *e, struct follower *f, uint64_t number)
{
	struct buf out = { 0 };
	char id[24];
	snprintf(id, sizeof id, "%llu", (unsigned long long)number);
	sse_write(&out, &(struct sse_event){ .id = str_of(id), .data = buf_str(&e->ring[number % RING]) });
	/* Who is too slow is cut off by the server, and told so by `closed`. */
	if (!out.failed && http_stream_write(f->stream, buf_str(&out))) {
		/* see above */
	}
	buf_free(&out);
}

static void append(struct events *e, const char *type, const struct pump_fact *f, struct wall at)
{
	uint64_t number = ++e->last;
	struct buf *slot = &e->ring[number % RING];
	slot->n = 0;
	slot->failed = false;
	write_event(e, number, type, f, at, slot);
	for (struct follower *to = e->followers; to; to = to->next)
		send(e, to, number);
}

static void arrive(void *arg)
{
	struct news n = *(struct news *)arg;
	free(arg);
	atomic_fetch_sub(&n.events->on_way, 1);
	unsigned left_out = atomic_exchange(&n.events->left_out, 0);
	if (left_out)
		append(n.events, "events.left_out", &(struct pump_fact){ 0 }, n.at);
	append(n.events, type_of(&n.fact), &n.fact, n.at);
}

void events_add(struct events *e, struct http *http, const struct pump_fact *f)
{
	if (!type_of(f))
		return;
	bool room = atomic_fetch_add(&e->on_way, 1) < RING;
	struct news *n = room ? malloc(sizeof *n) : NULL;
	if (n)
		*n = (struct news){ e, *f, tell_now() };
	if (!n || http_post(http, arrive, n)) {
		free(n);
		atomic_fetch_sub(&e->on_way, 1);
		atomic_fetch_add(&e->left_out, 1);
	}
}

/* The last event that need not be told to somebody who has seen this one. A larger number than there is was
 * given by another daemon, by a clock that was ahead. */
static uint64_t where(const struct events *e, uint64_t seen)
{
	uint64_t gone = e->last - e->before > RING ? e->last - RING : e->before;
	return seen > e->last || seen < gone ? gone : seen;
}

/* Says where the stream begins, so that a reader that has heard nothing yet can come back, too. */
static void greet(struct follower *f, uint64_t from)
{
	struct buf out = { 0 };
	char id[24];
	snprintf(id, sizeof id, "%llu", (unsigned long long)from);
	sse_write(&out, &(struct sse_event){ .event = STR("hello"), .id = str_of(id), .data = STR("{}") });
	if (!out.failed && http_stream_write(f->stream, buf_str(&out))) {
		/* as in send */
	}
	buf_free(&out);
}

void events_follow(struct events *e, struct http_request *r, uint64_t after)
{
	struct follower *f = calloc(1, sizeof *f);
	if (!f) {
		http_problem(r, E_NOMEM, NULL, (struct str){ 0 });
		return;
	}
	f->events = e;
	f->stream = http_stream(r, SSE_TYPE, closed, f);
	if (!f->stream) {
		free(f);
		return;
	}
	uint64_t from = after ? where(e, after) : e->last;
	greet(f, from);
	for (uint64_t n = from + 1; n <= e->last; n++)
		send(e, f, n);
	f->next = e->followers;
	e->followers = f;
}

void events_list(struct events *e, unsigned limit, struct buf *out)
{
	uint64_t n = e->last - e->before < limit ? e->last - e->before : limit;
	n = n < RING ? n : RING - 1;
	buf_addc(out, '[');
	for (uint64_t i = e->last - n + 1; i <= e->last; i++) {
		if (i > e->last - n + 1)
			buf_addc(out, ',');
		buf_add(out, buf_str(&e->ring[i % RING]));
	}
	buf_addc(out, ']');
}
