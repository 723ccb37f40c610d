/* The ring of the last events, and the clients that follow them. */
#include "api/events.h"

#include "api/event_json.h"
#include "api/json_out.h"
#include "api/operations.h"
#include "sys/clock.h"
#include "wire/sse.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
	RING_EVENTS = 1024,
	BATCH = 256 /* events that are written as JSON before they are sent to the followers */
};
static_assert(RING_EVENTS * EVENT_BYTES_MAX < HTTP_STREAM_BYTES_MAX,
	      "the whole ring fits into the buffer of a stream, so a follower that reconnects can be sent "
	      "all of it");

struct follower {
	struct events *events;
	struct http_stream *stream;
	struct follower *next;
};

/* Events are kept as data. They are written as JSON only when there is a follower or a request. */
struct events {
	pthread_mutex_t lock; /* protects ring, before and last */
	struct live_event ring[RING_EVENTS];
	uint64_t before; /* the first event has the number before + 1 */
	uint64_t last;   /* the number of the newest; an event is at its number % RING_EVENTS */
	/* Used by the operations thread only: */
	uint64_t sent;     /* the number of the last event that was handed over for all followers */
	struct http *http; /* of the followers */
	struct event_ids *ids;
	struct live_event batch[BATCH]; /* copied from the ring */
	/* Used by the HTTP thread only: */
	struct follower *followers;
	/* Used by any thread: */
	struct operations *operations;
	atomic_uint followed;       /* followers, and those whose stream is about to begin */
	atomic_bool send_scheduled; /* write_new_events will run */
};

enum err events_new(struct reader *reader, struct operations *operations, struct events **ret)
{
	struct events *e = calloc(1, sizeof *e);
	struct event_ids *ids = event_ids_new(reader);
	if (!e || !ids) {
		free(e);
		event_ids_free(ids);
		return E_NOMEM;
	}
	pthread_mutex_init(&e->lock, NULL);
	/* The numbers begin at the clock's time, so that they are larger than those of an earlier daemon: a
	 * client that followed that daemon can reconnect and name the last event it got. */
	e->last = e->before = (uint64_t)clock_wall().us;
	e->ids = ids;
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
	event_ids_free(e->ids);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

/* --- reading the ring --- */

static uint64_t newest_number(struct events *e)
{
	pthread_mutex_lock(&e->lock);
	uint64_t last = e->last;
	pthread_mutex_unlock(&e->lock);
	return last;
}

/* The number of the newest event that is no longer in the ring. */
static uint64_t last_overwritten(const struct events *e)
{
	return e->last - e->before > RING_EVENTS ? e->last - RING_EVENTS : e->before;
}

/* Copies events from number *first to number `last` to the batch, at most BATCH, and returns how many. Events
 * that are no longer in the ring are skipped: *first is then the oldest that is. */
static unsigned copy_batch(struct events *e, uint64_t *first, uint64_t last)
{
	unsigned n = 0;
	pthread_mutex_lock(&e->lock);
	last = last < e->last ? last : e->last;
	uint64_t oldest = last_overwritten(e) < last ? last_overwritten(e) + 1 : last + 1;
	*first = *first > oldest ? *first : oldest;
	for (; n < BATCH && *first + n <= last; n++)
		e->batch[n] = e->ring[(*first + n) % RING_EVENTS];
	pthread_mutex_unlock(&e->lock);
	return n;
}

void events_write_list(struct events *e, unsigned limit, struct buf *out)
{
	uint64_t last = newest_number(e);
	limit = limit < BATCH ? limit : BATCH;
	uint64_t first = last - e->before > limit ? last - limit + 1 : e->before + 1;
	unsigned n = copy_batch(e, &first, last);
	buf_addc(out, '[');
	for (unsigned i = 0; i < n; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		event_write(e->ids, first + i, &e->batch[i], out);
	}
	buf_addc(out, ']');
}

/* --- writing streams --- */

static void write_frame(uint64_t number, struct str event, struct str data, struct buf *out)
{
	char id[24];
	snprintf(id, sizeof id, "%llu", (unsigned long long)number);
	sse_write(out, &(struct sse_event){ .event = event, .id = str_of(id), .data = data });
}

/* Writes an event that says how many events, from number `first` to before `next`, were left out. */
static void write_left_out(uint64_t first, uint64_t next, struct buf *text)
{
	buf_addf(text, "{\"id\":%llu,\"type\":\"events.left_out\"", (unsigned long long)next - 1);
	json_add_time(text, "time", clock_wall());
	buf_addf(text, ",\"count\":%llu}", (unsigned long long)(next - first));
}

/* Writes the events from number `first` to number `last` for a stream, at most BATCH. Returns the number of
 * the last one written. */
static uint64_t write_stream(struct events *e, uint64_t first, uint64_t last, struct buf *out)
{
	struct buf text = { 0 };
	uint64_t at = first;
	unsigned n = copy_batch(e, &at, last);
	if (at > first) {
		write_left_out(first, at, &text);
		write_frame(at - 1, (struct str){ 0 }, buf_str(&text), out);
	}
	for (unsigned i = 0; i < n; i++) {
		text.n = 0;
		event_write(e->ids, at + i, &e->batch[i], &text);
		write_frame(at + i, (struct str){ 0 }, buf_str(&text), out);
	}
	out->failed |= text.failed;
	buf_free(&text);
	return at + n - 1;
}

/* --- followers, on the HTTP thread --- */

/* Text on its way from the operations thread to followers. */
struct frames {
	struct events *events;
	struct http_request *request; /* of a new follower; NULL: for all followers */
	struct buf text;
};

static void frames_free(struct frames *f)
{
	buf_free(&f->text);
	free(f);
}

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

static void send_to_follower(struct follower *f, const struct buf *text)
{
	/* A follower that reads too slowly is disconnected by the server, which then calls remove_follower.
	 */
	if (!text->failed && http_stream_write(f->stream, buf_str(text)))
		return;
}

static void send_to_all(void *arg)
{
	struct frames *frames = arg;
	struct http_bytes *text = frames->text.failed ? NULL : http_bytes_new(buf_str(&frames->text));
	for (struct follower *f = frames->events->followers, *next; text && f; f = next) {
		next = f->next;
		if (http_stream_share(f->stream, text))
			continue; /* as in send_to_follower */
	}
	http_bytes_release(text);
	frames_free(frames);
}

/* Later events are sent to the new follower together with the others, after its first events. */
static void begin_stream(void *arg)
{
	struct frames *frames = arg;
	struct events *e = frames->events;
	struct follower *f = calloc(1, sizeof *f);
	if (f) {
		f->events = e;
		f->stream = http_stream(frames->request, SSE_TYPE, remove_follower, f);
	} else {
		http_answer_error(frames->request, E_NOMEM, NULL, (struct str){ 0 });
	}
	if (f && f->stream) {
		f->next = e->followers;
		e->followers = f;
		send_to_follower(f, &frames->text);
	} else {
		free(f);
		atomic_fetch_sub(&e->followed, 1);
	}
	frames_free(frames);
}

/* --- writing for followers, on the operations thread --- */

static void schedule_send(struct events *e);

static void write_new_events(void *arg)
{
	struct events *e = arg;
	struct frames *f = atomic_load(&e->followed) ? calloc(1, sizeof *f) : NULL;
	atomic_store(&e->send_scheduled, false);
	if (!f)
		return; /* out of memory: the next event tries again */
	f->events = e;
	e->sent = write_stream(e, e->sent + 1, UINT64_MAX, &f->text);
	if (!f->text.n || http_add_task(e->http, send_to_all, f))
		frames_free(f); /* the server stops, or its queue is full: then these events are lost */
	if (e->sent < newest_number(e))
		schedule_send(e);
}

/* Has the operations thread write new events. One task is enough for all events that are added before it
 * runs. If the task cannot be added, the next event tries again. */
static void schedule_send(struct events *e)
{
	if (atomic_exchange(&e->send_scheduled, true))
		return;
	if (operations_add(e->operations, write_new_events, e))
		atomic_store(&e->send_scheduled, false);
}

/* The number after which the stream begins for a client whose last event was `seen`. If this daemon never
 * used the number, an earlier daemon did: the stream then begins with the first event of this daemon. Events
 * that are no longer in the ring are replaced by one event with their count. */
static uint64_t resume_after(struct events *e, uint64_t seen)
{
	pthread_mutex_lock(&e->lock);
	uint64_t from = seen > e->last || seen < e->before ? e->before : seen;
	pthread_mutex_unlock(&e->lock);
	return from;
}

bool events_have_room(struct events *e)
{
	return atomic_load(&e->followed) < EVENT_FOLLOWERS_MAX;
}

void events_follow(struct events *e, struct http_request *r, uint64_t after)
{
	struct frames *f = calloc(1, sizeof *f);
	e->http = http_server(r);
	if (!atomic_fetch_add(&e->followed, 1)) /* from here on, events_add schedules the sending */
		e->sent = newest_number(e);
	if (f) {
		*f = (struct frames){ .events = e, .request = r };
		uint64_t from = after ? resume_after(e, after) : e->sent;
		/* Sends the number at which the stream begins, so that a client that got no event yet can
		 * reconnect with it. */
		write_frame(from, STR("hello"), STR("{}"), &f->text);
		for (uint64_t at = from; at < e->sent;)
			at = write_stream(e, at + 1, e->sent, &f->text);
	}
	if (!f || http_add_task(e->http, begin_stream, f)) {
		/* Out of memory, or the server stops: the client gets 503 at its deadline. */
		atomic_fetch_sub(&e->followed, 1);
		if (f)
			frames_free(f);
	}
}

/* --- adding --- */

static void add_event(struct events *e, const struct live_event *event)
{
	pthread_mutex_lock(&e->lock);
	e->ring[++e->last % RING_EVENTS] = *event;
	pthread_mutex_unlock(&e->lock);
	if (atomic_load(&e->followed))
		schedule_send(e);
}

void events_add(struct events *e, const struct pump_fact *f)
{
	if (event_type(f))
		add_event(e, &(struct live_event){ .fact = *f });
}

void events_add_report(struct events *e, const struct run_row *run, enum report_kind kind, struct str text)
{
	struct live_event event = {
		.fact = { .op = (uint8_t)(ST_OPS + kind), .sid = run->sid, .at = clock_wall() }
	};
	event.fact.run =
		(struct run_row){ .run = run->run, .attempt = run->attempt, .nominal = run->nominal };
	size_t n = text.n < EVENT_TEXT_MAX ? text.n : EVENT_TEXT_MAX;
	while (n < text.n && n && ((unsigned char)text.p[n] & 0xC0) == 0x80)
		n--; /* do not cut a character in two */
	memcpy(event.text, text.p, n);
	add_event(e, &event);
}
