/* Sends events to the targets of the configuration: positions, batches, and what follows from an answer. */
#include "daemon/notify/event_targets.h"

#include "base/hash.h"
#include "base/json.h"
#include "core/model.h"
#include "sys/clock.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

/* The numbers of requests in the notifier's directory; messages have smaller ones. */
#define EVENT_NUMBERS (UINT64_C(1) << 47)
enum { ATTEMPT = 1 }; /* the files of a request are removed before the next is sent */

/* --- positions --- */

/* Reads {"position":N,"failing_since":US}. */
static enum err read_position(struct event_target *t, struct arena *a, struct why *why)
{
	struct state_row row = { 0 };
	struct val v = { .kind = VAL_NULL };
	enum err e = read_state(t->notifier->reader, str_of(t->key), a, &row, why);
	if (!e && row.text.n)
		e = json_read(row.text, a, &v, why);
	if (e)
		return e;
	const struct val *position = v.kind == VAL_MAP ? val_get(&v, STR("position")) : NULL;
	const struct val *since = v.kind == VAL_MAP ? val_get(&v, STR("failing_since")) : NULL;
	t->rev = row.rev;
	if (position && position->kind == VAL_INT && position->integer >= 0)
		t->position = t->recorded = (uint64_t)position->integer;
	else
		t->recorded = UINT64_MAX; /* none: it begins at the end of the log */
	if (since && since->kind == VAL_INT)
		t->failing_since = (struct wall){ since->integer };
	return OK;
}

static void load_target(struct event_target *t)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct notifier *n = t->notifier;
	struct event_page page;
	struct why why;
	if (read_position(t, &a, &why)) {
		n->retry = true;
		return;
	}
	if (t->recorded == UINT64_MAX) {
		struct event_query q = { .limit = 1 };
		if (event_reader_page(n->events.reader, &q, &a, &page, &why)) {
			n->retry = true;
			return;
		}
		t->position = page.last;
	}
	t->phase = TARGET_CLEARING;
	struct rn_req q = { .op = RN_KILL, .run = t->number, .attempt = ATTEMPT, .reason = REASON_CANCELLED };
	if (runner_submit(n->runner, &q)) {
		t->phase = TARGET_UNLOADED;
		n->retry = true;
	}
}

/* Called on the daemon's thread. */
static void position_recorded(void *ctx, const struct st_ack *ack)
{
	struct event_target *t = ctx;
	atomic_store(&t->answered_rev, ack->res == ST_OK ? ack->count : 0);
	atomic_store(&t->answered, true);
	notifier_wake(t->notifier);
}

static void record_position(struct event_target *t)
{
	char text[96];
	struct st_req r = { .op = ST_STATE, .lane = LANE_USER, .at = clock_wall() };
	if (t->failing_since.us)
		snprintf(text, sizeof text, "{\"position\":%llu,\"failing_since\":%lld}",
			 (unsigned long long)t->position, (long long)t->failing_since.us);
	else
		snprintf(text, sizeof text, "{\"position\":%llu}", (unsigned long long)t->position);
	r.state = (struct state_row){ str_of(t->key), str_of(text), t->rev };
	atomic_store(&t->answered, false);
	if (daemon_send(t->notifier->options.daemon, &r, position_recorded, t) == OK)
		t->phase = TARGET_RECORDING;
	else
		t->notifier->retry = true;
}

static void finish_recording(struct event_target *t)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct state_row row = { 0 };
	struct why why;
	if (!atomic_load(&t->answered))
		return;
	t->phase = TARGET_READY;
	uint32_t rev = atomic_load(&t->answered_rev);
	if (rev) {
		t->rev = rev;
		t->recorded = t->position;
	} else if (read_state(t->notifier->reader, str_of(t->key), &a, &row, &why) == OK) {
		t->rev = row.rev; /* another writer changed it: our position is later */
		t->phase = TARGET_CHANGED;
	}
}

/* --- batches --- */

static enum err write_batch(struct event_target *t, const struct event_page *page, struct str *id,
			    struct str *body)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	uint64_t first = t->position + 1;
	buf_addf(&out, "{\"type\":\"events\",\"gap\":");
	if (page->oldest > first)
		buf_addf(&out, "{\"from\":%llu,\"to\":%llu}", (unsigned long long)first,
			 (unsigned long long)page->oldest - 1);
	else
		buf_add(&out, STR("null"));
	buf_add(&out, STR(",\"events\":["));
	for (unsigned i = 0; i < page->n; i++) {
		buf_add(&out, i ? STR(",") : STR(""));
		buf_add(&out, page->item[i].json);
	}
	buf_add(&out, STR("]}"));
	const char *name = arena_printf(&t->arena, "events_%llu_%llu", (unsigned long long)first,
					(unsigned long long)t->batch_last);
	const char *copy = arena_dup(&t->arena, buf_str(&out));
	if (!name || !copy || out.failed)
		return E_NOMEM;
	*id = str_of(name);
	*body = (struct str){ copy, out.n };
	return OK;
}

static void free_batch(struct event_target *t)
{
	arena_free(&t->arena);
	t->arena = (struct arena){ 0 };
}

/* --- answers --- */

static void remove_files(struct event_target *t)
{
	static const char *const kinds[] = { "log", "out", "ctx", "box", "run" };
	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		_cleanup_(buf_free) struct buf path = { 0 };
		runfile_path(&path, t->notifier->options.dir, t->number, ATTEMPT, kinds[i]);
		if (!path.failed)
			unlink(path.p);
	}
}

static void target_failed(struct event_target *t, struct delivery_decision d, const char *text)
{
	struct wall now = clock_wall();
	bool refused = d.verdict == DELIVERY_REFUSED, was_failing = t->failing_since.us;
	if (!was_failing)
		t->failing_since = now;
	int64_t seconds = (now.us - t->failing_since.us) / USEC;
	t->failures++;
	t->next =
		(struct boot){ clock_boot().us + (refused ? EVENT_TARGET_PAUSE_SECONDS * USEC : d.delay_us) };
	if (d.verdict == DELIVERY_GONE || seconds >= EVENT_TARGET_GONE_SECONDS)
		t->phase = TARGET_GONE;
	else
		t->phase = was_failing ? TARGET_READY : TARGET_CHANGED; /* the beginning is recorded */
	if (t->phase == TARGET_GONE || refused || seconds >= EVENT_TARGET_PROBLEM_SECONDS)
		event_problem_failing(t, text);
}

static void target_succeeded(struct event_target *t)
{
	t->position = t->batch_last;
	t->failures = 0;
	t->failing_since = (struct wall){ 0 };
	t->next = (struct boot){ clock_boot().us + EVENT_BATCH_PAUSE_MS * 1000 };
	t->phase = TARGET_CHANGED;
	event_problem_close(t);
	if (t->gap_told) /* perhaps it was acknowledged meanwhile */
		t->notifier->events.problems_checked = false;
}

void event_target_ended(struct event_target *t, const struct rn_report *report)
{
	static const struct delivery_retry_policy policy = { UINT_MAX, 5, EVENT_TARGET_PAUSE_SECONDS };
	_cleanup_(buf_free) struct buf text = { 0 };
	uint32_t chance = 0;
	if (report->kind == RN_STARTED || report->kind == RN_ALIVE)
		return;
	if (t->phase == TARGET_CLEARING) {
		remove_files(t);
		t->phase = TARGET_READY;
		return;
	}
	if (t->phase != TARGET_SENDING)
		return;
	struct delivery_attempt end =
		delivery_read_end(t->notifier->options.dir, t->number, ATTEMPT, true, report, &text);
	if (getrandom(&chance, sizeof chance, 0) != sizeof chance)
		chance = UINT32_MAX;
	unsigned n = t->failures < 30 ? t->failures + 1 : 30;
	struct delivery_decision d = delivery_retry_decide(&policy, n, end, chance);
	remove_files(t);
	free_batch(t);
	if (d.verdict == DELIVERY_DONE)
		target_succeeded(t);
	else
		target_failed(t, d, text.failed || !text.n ? "no answer" : buf_str(&text).p);
}

static void start_request(struct event_target *t, const struct event_page *page)
{
	struct notifier *n = t->notifier;
	struct str id, body;
	struct why why = { 0 };
	struct rn_req q = { .op = RN_START, .run = t->number, .attempt = ATTEMPT };
	t->batch_last = page->n ? page->item[page->n - 1].row.number : page->searched;
	enum err e = write_batch(t, page, &id, &body);
	if (!e)
		e = delivery_render_request(&(struct delivery_request){ .url = t->config->url,
									.secret = t->config->secret,
									.type = "application/json",
									.id = id,
									.body = body },
					    t->number, &n->options.out, n->options.pass_env, &t->arena,
					    &t->launch, &why);
	if (e && e != E_NOMEM) {
		free_batch(t);
		target_failed(t, (struct delivery_decision){ .verdict = DELIVERY_REFUSED }, why.text);
	} else if (e || runner_submit(n->runner, &q)) {
		free_batch(t);
		n->retry = true;
	} else {
		t->phase = TARGET_SENDING;
	}
}

/* Reads the next batch, and sends it if there is anything that the target wants. */
static void take_batch(struct event_target *t)
{
	struct notifier *n = t->notifier;
	struct event_query q = { .after = t->position,
				 .choice = t->config->choice,
				 .limit = EVENT_BATCH_EVENTS,
				 .bytes_max = EVENT_BATCH_BYTES };
	struct event_page page;
	struct why why;
	_cleanup_(arena_free) struct arena a = { 0 };
	if (event_reader_page(n->events.reader, &q, &a, &page, &why)) {
		n->retry = true;
		return;
	}
	unsigned long long unknown = UINT64_MAX;
	atomic_compare_exchange_strong(&n->events.last, &unknown, page.last);
	bool gap = page.oldest > t->position + 1;
	if (gap && t->gap_told != page.oldest - 1) {
		t->gap_told = page.oldest - 1;
		event_problem_gap(t, t->position + 1, t->gap_told);
	}
	if (page.n || gap) {
		start_request(t, &page);
		return;
	}
	t->position = page.searched;
	if (t->position - t->recorded >= EVENT_POSITION_LAG || t->recorded == UINT64_MAX)
		t->phase = TARGET_CHANGED;
}

/* --- turns --- */

static bool has_more(const struct event_target *t)
{
	return t->position < atomic_load(&t->notifier->events.last) || t->recorded == UINT64_MAX;
}

void event_targets_turn(struct notifier *n)
{
	struct boot now = clock_boot();
	if (!n->events.problems_checked)
		event_problems_check(n);
	for (unsigned i = 0; i < n->events.n; i++) {
		struct event_target *t = &n->events.target[i];
		if (t->phase == TARGET_UNLOADED)
			load_target(t);
		if (t->phase == TARGET_RECORDING)
			finish_recording(t);
		if (t->phase == TARGET_READY && t->next.us <= now.us && has_more(t))
			take_batch(t);
		if (t->phase == TARGET_CHANGED)
			record_position(t);
	}
}

int64_t event_targets_next(const struct notifier *n)
{
	int64_t us = INT64_MAX, now = clock_boot().us;
	for (unsigned i = 0; i < n->events.n; i++) {
		const struct event_target *t = &n->events.target[i];
		if (t->phase == TARGET_READY && has_more(t) && t->next.us - now < us)
			us = t->next.us > now ? t->next.us - now : 0;
	}
	return us;
}

struct event_target *event_targets_find(struct notifier *n, uint64_t number)
{
	return number >= EVENT_NUMBERS && number - EVENT_NUMBERS < n->events.n
		       ? &n->events.target[number - EVENT_NUMBERS]
		       : NULL;
}

/* Called on the daemon's thread. */
void notifier_logged(void *notifier, uint64_t number, struct wall done)
{
	struct notifier *n = notifier;
	(void)done;
	atomic_store(&n->events.last, number);
	if (n->events.n)
		notifier_wake(n);
}

/* --- open and close --- */

enum err event_targets_open(struct notifier *n)
{
	const struct config_events *c = n->options.events;
	if (!c || !c->n)
		return OK;
	n->events.target = calloc(c->n, sizeof *n->events.target);
	n->events.reader = event_reader_new(n->reader);
	if (!n->events.target || !n->events.reader)
		return E_NOMEM;
	atomic_store(&n->events.last, UINT64_MAX); /* not known: the first page tells */
	for (; n->events.n < c->n; n->events.n++) {
		struct event_target *t = &n->events.target[n->events.n];
		t->notifier = n;
		t->config = &c->target[n->events.n];
		t->number = EVENT_NUMBERS + n->events.n;
		t->problem_unknown = true;
		snprintf(t->key, sizeof t->key, EVENT_STATE_KEY "%016llx",
			 (unsigned long long)fnv1a(FNV_START, t->config->url));
	}
	return OK;
}

void event_targets_close(struct notifier *n)
{
	for (unsigned i = 0; i < n->events.n; i++)
		arena_free(&n->events.target[i].arena);
	free(n->events.target);
	event_reader_free(n->events.reader);
}
