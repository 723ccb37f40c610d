/* The clients that follow events. A follower is live if it is sent new events together with the others;
 * otherwise it is sent pages of the log, one at a time, until it has reached `sent`. Tasks of the operations
 * thread for the HTTP thread keep their order, so a follower that becomes live by a page gets the next batch.
 */
#include "api/events.h"

#include "api/operations.h"
#include "wire/sse.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { MARKS = 256, READ_TRIES = 3 };

/* What a follower wants. */
struct follow_filter {
	uint64_t sid;
	uint32_t types;
	unsigned n;
	char list[EVENT_CHOICE_BYTES];
};

struct follower {
	struct events *events;
	struct http_stream *stream;
	struct follower *next;
	uint64_t id; /* by which the operations thread names it: it may be gone meanwhile */
	uint64_t at; /* it was sent everything that it wants up to this number */
	bool live;
	bool reading; /* a page for it is under way */
	struct follow_filter filter;
};

struct events {
	/* Used by the operations thread only: */
	struct event_reader *reader;
	struct http *http;
	uint64_t sent; /* events up to this number were handed over for the followers that are live */
	uint64_t last_id;
	/* The types that followers have asked for since there was none; 0: all. Other events are not worded.
	 */
	uint32_t types;
	unsigned failed_reads; /* in a row */
	/* Used by the HTTP thread only: */
	struct follower *followers;
	/* Used by any thread: */
	struct operations *operations;
	atomic_uint followed;       /* followers, and those whose stream is about to begin */
	atomic_bool send_scheduled; /* write_new_events will run */
	pthread_mutex_t lock;       /* of the marks */
	struct {
		uint64_t number;
		struct wall done;
	} mark[MARKS]; /* the last commits: the newest event of each, and when it became durable */
	unsigned marks;
};

enum err events_new(struct reader *reader, struct operations *operations, struct events **ret)
{
	struct events *e = calloc(1, sizeof *e);
	struct event_reader *words = event_reader_new(reader);
	if (!e || !words) {
		free(e);
		event_reader_free(words);
		return E_NOMEM;
	}
	pthread_mutex_init(&e->lock, NULL);
	e->reader = words;
	e->operations = operations;
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
	event_reader_free(e->reader);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

static struct event_choice choice_of(const struct follow_filter *f)
{
	return (struct event_choice){ { f->list, f->n }, f->types };
}

/* --- frames --- */

/* Text on its way from the operations thread to followers. */
struct frames {
	struct events *events;
	struct buf text;
	uint64_t from, upto;          /* the events after `from`, up to `upto` */
	uint64_t id;                  /* a page: for this follower; 0: for all that are live */
	bool joins;                   /* a page: its follower is live from now on */
	bool failed;                  /* a page: it could not be read */
	struct follow_filter filter;  /* of a new follower */
	struct http_request *request; /* of a new follower */
	struct frame {
		size_t at, n; /* in the text */
		uint64_t number, sid;
		unsigned type;
		size_t name, name_n; /* of the type, in the text */
	} * frame;                   /* a batch for all: where each event is */
	unsigned frames;
	size_t marks; /* bytes of comments at the beginning of the text */
};

static struct frames *frames_new(struct events *e)
{
	struct frames *f = calloc(1, sizeof *f);
	if (f)
		f->events = e;
	return f;
}

static void frames_free(struct frames *f)
{
	buf_free(&f->text);
	free(f->frame);
	free(f);
}

static void write_frame(uint64_t number, struct str event, struct str data, struct buf *out)
{
	char id[24];
	snprintf(id, sizeof id, "%llu", (unsigned long long)number);
	sse_write(out, &(struct sse_event){ .event = event, .id = str_of(id), .data = data });
}

/* --- followers, on the HTTP thread --- */

static void remove_follower(void *ctx)
{
	struct follower *f = ctx;
	struct events *e = f->events;
	for (struct follower **at = &e->followers; *at; at = &(*at)->next)
		if (*at == f) {
			*at = f->next;
			break;
		}
	atomic_fetch_sub(&e->followed, 1);
	free(f);
}

/* A page of the log that a follower waits for. */
struct page_request {
	struct events *events;
	uint64_t id, after;
	struct follow_filter filter;
};

static void read_page(void *arg);

static void request_page(struct follower *f)
{
	struct page_request *r = malloc(sizeof *r);
	if (!r)
		return; /* the next batch tries again */
	*r = (struct page_request){ f->events, f->id, f->at, f->filter };
	f->reading = operations_add(f->events->operations, read_page, r) == OK;
	if (!f->reading)
		free(r);
}

/* The follower has read everything that it was sent. */
static void follower_drained(void *ctx)
{
	struct follower *f = ctx;
	if (!f->live && !f->reading)
		request_page(f);
}

static bool wants(const struct follower *f, const struct frames *b, const struct frame *x)
{
	const struct follow_filter *filter = &f->filter;
	const struct event_choice choice = choice_of(filter);
	return x->number > f->at && (!filter->sid || filter->sid == x->sid) &&
	       (!filter->types || filter->types >> x->type & 1) &&
	       event_is_chosen(&choice, (struct str){ b->text.p + x->name, x->name_n });
}

/* Sends the part of a batch that a follower wants. */
static enum err send_part(struct follower *f, const struct frames *b)
{
	_cleanup_(buf_free) struct buf part = { 0 };
	buf_add(&part, (struct str){ b->text.p, b->marks });
	for (unsigned i = 0; i < b->frames; i++)
		if (wants(f, b, &b->frame[i]))
			buf_add(&part, (struct str){ b->text.p + b->frame[i].at, b->frame[i].n });
	if (part.n == b->marks)
		return OK;
	return part.failed ? E_NOMEM : http_stream_write(f->stream, buf_str(&part));
}

static void send_batch_to(struct follower *f, const struct frames *b, struct http_bytes *all)
{
	bool slow = http_stream_unsent(f->stream) > EVENT_SLOW_BYTES;
	if (slow)
		f->live = false; /* it is sent pages when it has read what waits for it */
	if (!f->live) {
		if (!f->reading && !http_stream_unsent(f->stream))
			request_page(f);
		return;
	}
	bool whole = f->at <= b->from && !f->filter.sid && !f->filter.n;
	enum err e = whole && all ? http_stream_share(f->stream, all) : send_part(f, b);
	if (e == OK)
		f->at = b->upto;
	else if (e == E_NOMEM)
		f->live = false;
	/* After other errors the server calls remove_follower. */
}

static void send_batch(void *arg)
{
	struct frames *b = arg;
	struct http_bytes *all = http_bytes_new(buf_str(&b->text));
	for (struct follower *f = b->events->followers, *next; f; f = next) {
		next = f->next;
		send_batch_to(f, b, all);
	}
	http_bytes_release(all);
	frames_free(b);
}

static struct follower *find_follower(struct events *e, uint64_t id)
{
	struct follower *f = e->followers;
	while (f && f->id != id)
		f = f->next;
	return f;
}

static void send_page(void *arg)
{
	struct frames *p = arg;
	struct follower *f = find_follower(p->events, p->id);
	if (f) {
		f->reading = false;
		enum err e = p->text.n ? http_stream_write(f->stream, buf_str(&p->text)) : OK;
		f->at = p->upto;
		f->live = p->joins;
		if (e == OK && p->failed) {
			http_stream_end(f->stream);
			remove_follower(f);
		} else if (e == OK && !f->live && !http_stream_unsent(f->stream)) {
			request_page(f); /* nothing in this page was wanted */
		}
	}
	frames_free(p);
}

#define LAST_WORDS                                                                                           \
	"event: dropped\ndata: {\"reason\":\"nothing was read for 30 seconds; continue with "                \
	"Last-Event-ID\"}\n\n"
static_assert(HTTP_STALL_MS == 30000, "as in LAST_WORDS");

static void begin_stream(void *arg)
{
	struct frames *b = arg;
	struct events *e = b->events;
	struct follower *f = calloc(1, sizeof *f);
	if (f) {
		*f = (struct follower){ .events = e, .id = b->id, .at = b->upto, .filter = b->filter };
		f->stream = http_stream(b->request, SSE_TYPE, remove_follower, f);
	} else {
		http_answer_error(b->request, E_NOMEM, NULL, (struct str){ 0 });
	}
	if (f && f->stream) {
		f->next = e->followers;
		e->followers = f;
		f->live = b->joins;
		http_stream_watch(f->stream, follower_drained);
		http_stream_set_last_words(f->stream, STR(LAST_WORDS));
		if (http_stream_write(f->stream, buf_str(&b->text)) == OK && !f->live)
			request_page(f);
	} else {
		free(f);
		atomic_fetch_sub(&e->followed, 1);
	}
	frames_free(b);
}

/* --- reading for followers, on the operations thread --- */

static void schedule_send(struct events *e);

/* Writes comments that say when the events of the batch became durable: `rota` ignores them, and benchmarks
 * measure by them. */
static void write_marks(struct events *e, uint64_t from, uint64_t upto, struct buf *out)
{
	pthread_mutex_lock(&e->lock);
	unsigned n = e->marks < MARKS ? e->marks : MARKS;
	for (unsigned i = e->marks - n; i != e->marks; i++) {
		uint64_t number = e->mark[i % MARKS].number;
		if (number > from && number <= upto)
			buf_addf(out, ":durable %llu %lld\n", (unsigned long long)number,
				 (long long)e->mark[i % MARKS].done.us);
	}
	pthread_mutex_unlock(&e->lock);
}

static void add_frame(struct frames *b, const struct event_item *item)
{
	struct frame *x = &b->frame[b->frames++];
	*x = (struct frame){
		.at = b->text.n, .number = item->row.number, .sid = item->row.sid, .type = item->row.type
	};
	write_frame(item->row.number, (struct str){ 0 }, item->json, &b->text);
	x->n = b->text.n - x->at;
	/* The name of the type is part of the JSON, unless it has characters that JSON escapes. */
	struct str frame = { b->text.p + x->at, b->text.failed ? 0 : x->n };
	const char *name = frame.n ? memmem(frame.p, frame.n, item->type.p, item->type.n) : NULL;
	x->name = name ? (size_t)(name - b->text.p) : 0;
	x->name_n = name ? item->type.n : 0;
}

/* The next batch for all followers that are live; NULL: it could not be read. */
static struct frames *read_batch(struct events *e, struct event_page *page)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct frames *b = frames_new(e);
	const struct event_query q = { .after = e->sent,
				       .choice.types = e->types,
				       .limit = EVENT_BATCH,
				       .bytes_max = EVENT_PAGE_BYTES };
	struct why why;
	if (b && event_reader_page(e->reader, &q, &a, page, &why) == OK)
		b->frame = calloc(page->n + 1, sizeof *b->frame);
	if (!b || !b->frame) {
		if (b)
			frames_free(b);
		return NULL;
	}
	b->from = e->sent;
	b->upto = page->searched;
	write_marks(e, b->from, b->upto, &b->text);
	b->marks = b->text.n;
	for (unsigned i = 0; i < page->n; i++)
		add_frame(b, &page->item[i]);
	if (b->text.failed) {
		frames_free(b);
		return NULL;
	}
	return b;
}

static void write_new_events(void *arg)
{
	struct events *e = arg;
	struct event_page page = { 0 };
	atomic_store(&e->send_scheduled, false);
	if (!atomic_load(&e->followed))
		return;
	struct frames *b = read_batch(e, &page);
	/* The task owns the batch. Without it the server stops, or has too many tasks: this batch is read
	 * again. */
	bool empty = b && !b->frames;
	bool sent = b && !empty && !http_add_task(e->http, send_batch, b);
	if (b && !sent)
		frames_free(b);
	if (!sent && !empty) {
		if (++e->failed_reads < READ_TRIES) /* later, the next event wakes it */
			schedule_send(e);
		return;
	}
	e->failed_reads = 0;
	e->sent = page.searched;
	if (page.searched < page.last)
		schedule_send(e);
}

/* Has the operations thread write new events. One task is enough for all events that are logged before it
 * runs. If the task cannot be added, the next event tries again. */
static void schedule_send(struct events *e)
{
	if (atomic_exchange(&e->send_scheduled, true))
		return;
	if (operations_add(e->operations, write_new_events, e))
		atomic_store(&e->send_scheduled, false);
}

void events_logged(struct events *e, uint64_t number, struct wall done)
{
	if (!atomic_load(&e->followed))
		return;
	pthread_mutex_lock(&e->lock);
	if (!e->marks || e->mark[(e->marks - 1) % MARKS].done.us != done.us)
		e->marks++;
	e->mark[(e->marks - 1) % MARKS].number = number;
	e->mark[(e->marks - 1) % MARKS].done = done;
	pthread_mutex_unlock(&e->lock);
	schedule_send(e);
}

/* Reads a page for one follower, up to what the others were sent. */
static void fill_page(struct events *e, const struct page_request *r, struct frames *p)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct event_page page;
	const struct event_query q = { .after = r->after,
				       .sid = r->filter.sid,
				       .choice = choice_of(&r->filter),
				       .limit = EVENT_BATCH,
				       .bytes_max = EVENT_PAGE_BYTES };
	struct why why;
	if (event_reader_page(e->reader, &q, &a, &page, &why)) {
		p->failed = true;
		p->upto = r->after;
		sse_write(&p->text, &(struct sse_event){ .event = STR("error"), .data = str_of(why.text) });
		return;
	}
	for (unsigned i = 0; i < page.n && page.item[i].row.number <= e->sent; i++)
		write_frame(page.item[i].row.number, (struct str){ 0 }, page.item[i].json, &p->text);
	p->upto = page.searched < e->sent ? page.searched : e->sent;
	p->joins = p->upto >= e->sent;
	p->failed = p->text.failed;
}

static void read_page(void *arg)
{
	struct page_request *r = arg;
	struct events *e = r->events;
	struct frames *p = frames_new(e);
	if (p) {
		p->id = r->id;
		fill_page(e, r, p);
		/* If the server stops or has too many tasks, the follower gets nothing more: it is
		 * disconnected at its deadline, and can continue. */
		if (http_add_task(e->http, send_page, p))
			frames_free(p);
	}
	free(r);
}

/* --- new followers --- */

bool events_have_room(struct events *e)
{
	return atomic_load(&e->followed) < EVENT_FOLLOWERS_MAX;
}

/* Returns the number after which the stream of a new follower begins. Writes a message if the log lacks
 * `after`. */
static uint64_t begin_after(uint64_t after, const struct event_page *log, struct buf *out)
{
	char data[96];
	if (after == EVENTS_FROM_NOW)
		return log->last;
	if (after > log->last) {
		snprintf(data, sizeof data, "{\"after\":%llu,\"last\":%llu}", (unsigned long long)after,
			 (unsigned long long)log->last);
		write_frame(log->last, STR("unknown"), str_of(data), out);
		return log->last;
	}
	if (after + 1 < log->oldest) {
		snprintf(data, sizeof data, "{\"after\":%llu,\"oldest\":%llu}", (unsigned long long)after,
			 (unsigned long long)log->oldest);
		write_frame(log->oldest - 1, STR("pruned"), str_of(data), out);
		return log->oldest - 1;
	}
	return after;
}

enum err events_follow(struct events *e, struct http_request *r, const struct event_query *q, struct why *why)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct event_page log;
	struct buf told = { 0 };
	if (q->choice.list.n > EVENT_CHOICE_BYTES)
		return why_set(why, E_INPUT, WHY_NOWHERE, "type has %zu bytes; at most %u are allowed",
			       q->choice.list.n, EVENT_CHOICE_BYTES);
	enum err err = event_reader_page(e->reader, &(struct event_query){ .after = INT64_MAX, .limit = 1 },
					 &a, &log, why);
	struct frames *f = err ? NULL : frames_new(e);
	if (!f)
		return err ? err : E_NOMEM;
	e->http = http_server(r);
	bool first =
		!atomic_fetch_add(&e->followed, 1); /* from here on, events_logged schedules the sending */
	if (first)
		e->sent = log.last;
	e->types = !q->choice.types || (!first && !e->types) ? 0
		   : first                                   ? q->choice.types
							     : e->types | q->choice.types;
	f->upto = begin_after(q->after, &log, &told);
	write_frame(f->upto, STR("hello"), STR("{}"), &f->text);
	buf_add(&f->text, buf_str(&told));
	buf_free(&told);
	f->id = ++e->last_id;
	f->request = r;
	f->joins = f->upto >= e->sent;
	f->filter = (struct follow_filter){ .sid = q->sid,
					    .types = q->choice.types,
					    .n = (unsigned)q->choice.list.n };
	if (q->choice.list.n)
		memcpy(f->filter.list, q->choice.list.p, q->choice.list.n);
	schedule_send(e); /* events may have been logged since the log was read */
	if (http_add_task(e->http, begin_stream, f)) {
		/* The server stops, or has too many tasks: the client gets 503 at its deadline. */
		atomic_fetch_sub(&e->followed, 1);
		frames_free(f);
	}
	return OK;
}

/* --- lists --- */

enum err events_write_list(struct events *e, const struct event_query *q, struct buf *out, struct why *why)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct event_query from = *q;
	struct event_page page;
	enum err err = OK;
	if (q->after == EVENTS_FROM_NOW)
		err = event_reader_newest(e->reader, q, &from.after, why);
	if (!err)
		err = event_reader_page(e->reader, &from, &a, &page, why);
	if (err)
		return err;
	buf_add(out, STR("{\"events\":["));
	for (unsigned i = 0; i < page.n; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		buf_add(out, page.item[i].json);
	}
	buf_addf(out, "],\"after\":%llu,\"oldest\":%llu,\"last\":%llu,\"next\":%llu}",
		 (unsigned long long)from.after, (unsigned long long)page.oldest,
		 (unsigned long long)page.last, (unsigned long long)page.searched);
	return OK;
}
