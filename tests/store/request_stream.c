/* Random requests, one function for each operation. */
#include "request_stream.h"
#include "requests.h"
#include "test.h"

void stream_init(struct request_stream *s, uint64_t seed, bool one_lane)
{
	*s = (struct request_stream){
		.random = seed, .scheds = STREAM_SCHEDS, .one_lane = one_lane, .now = 100
	};
}

static uint64_t random_below(struct request_stream *s, uint64_t n)
{
	return test_random(&s->random) % n;
}

static bool one_in(struct request_stream *s, uint64_t n)
{
	return random_below(s, n) == 0;
}

/* A random time: mostly soon after now, sometimes before. */
static int64_t random_time(struct request_stream *s)
{
	return one_in(s, 4) ? s->now - (int64_t)random_below(s, 60) : s->now + (int64_t)random_below(s, 8);
}

/* Mostly returns the number of a recorded run, and sets *sid to its schedule. */
static uint64_t random_run(struct request_stream *s, uint64_t *sid)
{
	if (!s->runs || one_in(s, 20))
		return s->run + 1000000;
	unsigned n = s->runs < STREAM_HISTORY ? s->runs : STREAM_HISTORY;
	const struct run_row *run = &s->recent[random_below(s, n)];
	*sid = run->sid;
	return run->run;
}

/* Mostly returns the current rev. */
static uint32_t random_rev(struct request_stream *s, uint64_t sid)
{
	return one_in(s, 12) ? (uint32_t)random_below(s, s->rev[sid] + 2) : s->rev[sid];
}

/* Mostly returns an end that is one or two ends after the last one seen. */
static uint64_t random_end(struct request_stream *s, uint64_t sid)
{
	return one_in(s, 4) ? random_below(s, s->seen[sid] + 2) : s->seen[sid] + 1 + random_below(s, 2);
}

static struct row_move random_move(struct request_stream *s, uint64_t sid)
{
	return (struct row_move){ .next = one_in(s, 9) ? WALL_NEVER : AT(s->now + 30),
				  .high = AT(one_in(s, 5) ? random_time(s) : s->now),
				  .left = (uint32_t)random_below(s, 9),
				  .owed = (uint32_t)random_below(s, 3),
				  .owed_since = AT(random_time(s)),
				  .seen = random_end(s, sid) };
}

/* Mostly returns the schedule's own id. */
static uint64_t random_id(struct request_stream *s, uint64_t sid)
{
	return one_in(s, 20) ? 1 + random_below(s, s->scheds) : sid;
}

static struct str random_note(struct request_stream *s)
{
	const struct str notes[] = { { 0 }, { 0 }, STR(""), STR("deploy"), STR("on it") };
	return notes[random_below(s, ARRAY_LEN(notes))];
}

static void make_put(struct request_stream *s, struct st_req *r)
{
	*r = req_put(r->sid, r->rev, random_time(s));
	r->row.after = r->sid % 3 ? 0 : r->sid / 2; /* mostly the same leader, so that `seen` stays */
	if (one_in(s, 10))
		r->row.after = one_in(s, 4) ? 1 + random_below(s, s->scheds) : 0;
	r->row.seen = random_below(s, one_in(s, 2) ? 2 : s->ends + 2);
	r->row.next_set_at = one_in(s, 3) ? AT(random_time(s)) : AT(0);
	r->row.flags = (uint32_t)test_random(&s->random);
	r->row.failures = (uint32_t)random_below(s, 5); /* the store must not take it over */
	r->clear_failures = one_in(s, 4);
	r->row.high = AT(random_time(s));
	r->row.next = AT(random_time(s));
	r->row.pruned_to = AT((int64_t)random_below(s, 50));
	r->row.paused_until = AT(random_time(s));
	r->keep_next = one_in(s, 2);
	r->close_range = one_in(s, 2);
	r->ends_known = one_in(s, 3);
	r->note = random_note(s);
	if (one_in(s, 2)) {
		int n = snprintf(s->text, sizeof s->text, "id-%llu document %llu",
				 (unsigned long long)random_id(s, r->sid), (unsigned long long)s->tag);
		r->id = (struct str){ s->text, 5 };
		r->document = (struct str){ s->text + 6, (size_t)n - 6 };
	}
}

static void make_drop(struct request_stream *s, struct st_req *r)
{
	*r = req_drop(r->sid, one_in(s, 60) ? r->rev : 9999, random_time(s));
	r->close_range = one_in(s, 2);
}

static void make_occ(struct request_stream *s, struct st_req *r)
{
	*r = req_occ(r->sid, r->rev, ++s->run, random_time(s));
	uint64_t sid;
	if (s->one_lane && one_in(s, 40))
		r->run.run = random_run(s, &sid); /* possibly of another schedule */
	r->run.kind = (uint8_t)random_below(s, RUN_KINDS);
	r->run.state = (uint8_t)(one_in(s, 3) ? random_below(s, RUN_STATES) : random_below(s, 2));
	r->run.reason = (uint16_t)random_below(s, 3);
	r->run.uncounted = (uint16_t)random_below(s, 3);
	r->run.missed = (uint32_t)random_below(s, 3);
	r->run.retry = random_below(s, 100);
	r->run.end = random_below(s, 100);
	r->run.fence = test_random(&s->random);
	r->run.node = 1 + (uint32_t)random_below(s, 2);
	r->run.ended = AT(random_time(s));
	r->publishes = one_in(s, 2);
	r->moves = one_in(s, 2);
	r->move = random_move(s, r->sid);
	if (one_in(s, 100))
		r->run.sid++;
}

static void make_range(struct request_stream *s, struct st_req *r)
{
	int64_t first = random_time(s),
		last = one_in(s, 5) ? INT64_MAX : first + (int64_t)random_below(s, 20);
	*r = req_range(r->sid, r->rev, first, last);
	r->range.state =
		(uint8_t)(one_in(s, 50) ? random_below(s, RUN_STATES) : RUN_SKIPPED + random_below(s, 2));
	r->range.reason = (uint16_t)(1 + random_below(s, 2));
	r->expires = one_in(s, 10);
	r->moves = one_in(s, 2);
	r->move = random_move(s, r->sid);
	if (r->moves && one_in(s, 2))
		r->move.high = r->range.last;
	if (one_in(s, 100))
		r->range.last.us = r->range.first.us - 1;
}

static void make_withdraw(struct request_stream *s, struct st_req *r)
{
	*r = req_withdraw(r->sid, r->rev, one_in(s, 2) ? s->now - 10 : random_time(s), random_time(s));
}

static void make_verdict(struct request_stream *s, struct st_req *r)
{
	static const uint8_t states[] = { RUN_CLAIMED, RUN_SKIPPED, RUN_MISSED };
	uint64_t run = random_run(s, &r->sid);
	unsigned state = one_in(s, 10) ? (unsigned)random_below(s, RUN_STATES) : states[random_below(s, 3)];
	*r = req_verdict(r->sid, run, state, (unsigned)random_below(s, 3));
	r->run.node = 1 + (uint32_t)random_below(s, 2);
}

static void make_started(struct request_stream *s, struct st_req *r)
{
	uint64_t run = random_run(s, &r->sid);
	*r = req_started(r->sid, run, (unsigned)random_below(s, 4), random_time(s));
	r->run.node = 1 + (uint32_t)random_below(s, 2);
}

static void make_finish(struct request_stream *s, struct st_req *r)
{
	unsigned state = one_in(s, 30) ? (unsigned)random_below(s, RUN_STATES)
				       : RUN_RETRYING + (unsigned)random_below(s, 2);
	uint64_t run = random_run(s, &r->sid);
	*r = req_finish(r->sid, run, (unsigned)random_below(s, 4), state, random_time(s));
	r->run.reason = (uint16_t)random_below(s, 3);
	r->run.uncounted = (uint16_t)random_below(s, 3);
	r->run.retry_at = AT(random_time(s));
	r->run.exit_code = (int32_t)random_below(s, 3) - 1;
	r->run.node = (uint32_t)random_below(s, 3);
	r->failures = (uint8_t)(one_in(s, 40) ? FAILURES_CHANGES : random_below(s, FAILURES_CHANGES));
	if (one_in(s, 2)) {
		snprintf(s->text, sizeof s->text, "result %llu", (unsigned long long)s->tag);
		r->result = str_of(s->text);
	}
	r->avoided = one_in(s, 4);
	r->publishes = one_in(s, 3);
}

static void make_hold(struct request_stream *s, struct st_req *r)
{
	*r = req_hold((uint32_t)r->sid % 7, (unsigned)random_below(s, 3), random_time(s));
	r->hold.set_back_from = one_in(s, 4) ? AT(random_time(s)) : (struct wall){ 0 };
	r->note = random_note(s);
}

/* There are few keys and times, so that the same problem is opened, acknowledged and closed many times. Each
 * key has one lane, so that its requests keep their order. */
static void make_problem(struct request_stream *s, struct st_req *r)
{
	static const char *const keys[LANES][2] = { { "cause-0-0", "cause-0-1" },
						    { "cause-1-0", "cause-1-1" },
						    { "cause-2-0", "cause-2-1" },
						    { "cause-3-0", "cause-3-1" } };
	uint64_t number = one_in(s, 4) && s->one_lane ? random_below(s, s->problems + 3) : 0;
	*r = req_problem((enum problem_act)random_below(s, PROBLEM_ACTS), number,
			 keys[r->sid % LANES][random_below(s, 2)], random_time(s));
	if (one_in(s, 30))
		r->problem.key.n = 0;
	snprintf(s->text, sizeof s->text, "text %llu", (unsigned long long)s->tag);
	if (r->problem.act == PROBLEM_OPEN) {
		r->problem.subject = (struct str){ s->text, 4 };
		if (one_in(s, 2))
			r->problem.text = str_of(s->text);
	} else if (r->problem.act == PROBLEM_ACK) {
		r->problem.by = (struct str){ s->text + 5, 1 };
		if (one_in(s, 2))
			r->problem.note = str_of(s->text);
	}
}

static void make_source(struct request_stream *s, struct st_req *r)
{
	uint64_t sid = r->sid;
	snprintf(s->text, sizeof s->text, "/file %llu", (unsigned long long)s->tag);
	*r = (struct st_req){ .op = ST_SOURCE,
			      .sid = sid,
			      .source = { str_of(s->text), (uint32_t)random_below(s, 100) } };
}

static void make_run_text(struct request_stream *s, struct st_req *r)
{
	uint64_t sid = r->sid, run = random_run(s, &sid);
	snprintf(s->text, sizeof s->text, "words %llu", (unsigned long long)s->tag);
	*r = (struct st_req){ .op = ST_RUN_TEXT,
			      .sid = sid,
			      .run_text = { run, (uint8_t)random_below(s, RUN_TEXT_KINDS),
					    str_of(one_in(s, 4) ? "" : s->text) } };
}

static const char memory_too_long[STORE_MEMORY_BYTES_MAX + 1];

/* Each key has one lane. The rev is that of the last answer, possibly of another key. */
static void make_state(struct request_stream *s, struct st_req *r)
{
	static const char *const keys[LANES] = { "", "desk", "night", "triage" };
	snprintf(s->text, sizeof s->text, "{%llu}", (unsigned long long)s->tag);
	*r = (struct st_req){ .op = ST_STATE,
			      .sid = r->sid,
			      .at = AT(random_time(s)),
			      .state = { str_of(keys[r->sid % LANES]), str_of(s->text),
					 one_in(s, 4) ? 0 : s->state_rev } };
}

/* Each agent has one lane, and each run as well. There are few texts and times, so that some notes exist
 * already. */
static void make_memory(struct request_stream *s, struct st_req *r)
{
	static const char *const agents[LANES] = { "desk", "Nacht", "über", "a b\"c" };
	static const char *const texts[] = { "invoices are late", "the build is slow", "Rechnungen prüfen" };
	uint64_t lane = r->sid % LANES;
	bool adds = !one_in(s, 4);
	*r = (struct st_req){ .op = ST_MEMORY,
			      .sid = r->sid,
			      .at = AT(random_time(s)),
			      .memory = { .act = adds ? MEMORY_ADD
						      : (uint8_t)random_below(s, MEMORY_ACTS + 1),
					  .number = random_below(s, s->notes + 2),
					  .run = one_in(s, 4) ? 0 : lane + LANES * random_below(s, 9),
					  .agent = str_of(agents[lane]) } };
	if (one_in(s, 20) && (s->one_lane || r->memory.act == MEMORY_ADD))
		r->memory.agent = (struct str){ 0 }; /* notes of any agent */
	if (!one_in(s, 20))
		r->memory.text = str_of(texts[random_below(s, ARRAY_LEN(texts))]);
	if (one_in(s, 3))
		r->memory.tags = STR("money late");
	if (one_in(s, 50))
		r->memory.text = (struct str){ memory_too_long, sizeof memory_too_long };
}

/* Each agent has one lane. */
static void make_agent(struct request_stream *s, struct st_req *r)
{
	static const char *const names[LANES] = { "triage", "desk", "night shift", "x" };
	snprintf(s->text, sizeof s->text, "{%llu}", (unsigned long long)s->tag);
	*r = (struct st_req){ .op = ST_AGENT,
			      .sid = r->sid,
			      .at = AT(random_time(s)),
			      .source = { STR("/ops/agents.yaml"), (uint32_t)random_below(s, 9) },
			      .agent = { .name = str_of(names[r->sid % LANES]),
					 .text = str_of(s->text),
					 .rev = one_in(s, 4) ? 0 : s->agent_rev,
					 .act = (uint8_t)(one_in(s, 2) ? AGENT_PUT
								       : random_below(s, AGENT_ACTS)) } };
}

/* Mostly prunes older records, so that some records are left. Runs and problems are pruned only with one
 * lane: in other lanes, earlier requests may not have been carried out yet. */
static void make_prune(struct request_stream *s, struct st_req *r)
{
	static const uint8_t by_sid[] = { PRUNE_RANGES, PRUNE_VERSION, PRUNE_SCHED };
	uint32_t rev = r->rev;
	unsigned what = s->one_lane ? (unsigned)random_below(s, PRUNES) : by_sid[random_below(s, 3)];
	*r = req_prune((enum prune_what)what, what == PRUNE_RUNS || what == PRUNE_PROBLEM ? 0 : r->sid,
		       one_in(s, 5) ? random_time(s) : s->now - (int64_t)random_below(s, 60));
	r->rev = rev;
	if (what == PRUNE_EVENTS) { /* events have the time of the store's clock: all are older, or none */
		r->sid = 0;
		r->at = one_in(s, 3) ? AT(s->now) : AT(INT64_MAX - 1);
		r->prune.last = random_below(s, s->events + 2);
		return;
	}
	r->prune.first =
		what == PRUNE_PROBLEM ? random_below(s, s->problems + 2) : random_below(s, s->run + 2);
	r->prune.last = r->prune.first + random_below(s, 100);
	if (one_in(s, 50))
		r->prune.what = PRUNES;
}

/* Mostly takes all news or some of them, and makes up to four messages. */
static void make_messages(struct request_stream *s, struct st_req *r)
{
	static const struct message_row messages[] = {
		{ .kind = 1,
		  .run = 3,
		  .receiver = 7,
		  .origin = STR("o"),
		  .target = STR("t"),
		  .body = STR("b") },
		{ .kind = 2,
		  .sid = 2,
		  .silent = true,
		  .receiver = 8,
		  .origin = STR("o"),
		  .target = STR("u"),
		  .body = STR("c") },
		{ .run = 9,
		  .joined = 1,
		  .state = MESSAGE_JOINED,
		  .origin = STR(""),
		  .target = STR(""),
		  .body = STR("") },
		{ .state = MESSAGE_DELIVERED, .origin = STR(""), .target = STR("e"), .body = STR("d") },
	};
	unsigned from = (unsigned)random_below(s, ARRAY_LEN(messages));
	*r = (struct st_req){ .op = ST_MESSAGES, .sid = r->sid, .at = AT(random_time(s)) };
	r->messages.news_upto = one_in(s, 5) ? 0 : random_below(s, s->run + 2);
	r->messages.message = &messages[from];
	r->messages.n = (unsigned)random_below(s, ARRAY_LEN(messages) - from + 1);
}

static void make_delivery(struct request_stream *s, struct st_req *r)
{
	*r = (struct st_req){ .op = ST_DELIVERY, .sid = r->sid, .at = AT(random_time(s)) };
	r->delivery = (struct message_row){
		.number = random_below(s, 400),
		.attempts = (uint32_t)random_below(s, 4),
		.silent = one_in(s, 3),
		.state = (uint8_t)(one_in(s, 4) ? random_below(s, MESSAGE_STATES + 1) : 0),
		.next = AT(random_time(s)),
		.result = one_in(s, 3) ? (struct str){ 0 } : STR("said")
	};
}

static void make_report(struct request_stream *s, struct st_req *r)
{
	uint64_t sid = r->sid, run = random_run(s, &sid);
	*r = (struct st_req){ .op = ST_REPORT, .sid = sid, .at = AT(random_time(s)) };
	r->run = (struct run_row){ .run = run, .attempt = (uint16_t)random_below(s, 3) };
	r->report.type = (uint8_t)(EVENT_RUN_STEP + random_below(s, one_in(s, 20) ? 9 : 3));
	r->report.text = one_in(s, 30) ? (struct str){ 0 } : STR("ran the tests");
}

static void make_numbers(struct request_stream *s, struct st_req *r)
{
	*r = (struct st_req){ .op = ST_NUMBERS, .sid = r->sid };
	r->numbers = (struct numbers_request){ (uint8_t)random_below(s, NUMBER_KINDS + 1),
					       (uint32_t)random_below(s, 4) };
	if (one_in(s, 20))
		r->numbers.n = STORE_NUMBERS_MAX + 1;
}

static void make_name(struct request_stream *s, struct st_req *r)
{
	*r = (struct st_req){ .op = ST_NAME, .sid = r->sid };
	snprintf(s->text, sizeof s->text, "name %llu", (unsigned long long)random_below(s, 40));
	r->name = (struct name_row){ (uint8_t)(r->sid % LANES), (uint32_t)random_below(s, 40),
				     one_in(s, 20) ? (struct str){ 0 } : str_of(s->text) };
}

static void make_take(struct request_stream *s, struct st_req *r)
{
	*r = (struct st_req){ .op = ST_TAKE, .sid = r->sid };
	r->part = (uint32_t)random_below(s, STREAM_PARTS);
	r->epoch = one_in(s, 4) ? random_below(s, s->epoch[r->part] + 2) : s->epoch[r->part];
	r->node = (uint32_t)(one_in(s, 20) ? 0 : 1 + one_in(s, 6));
	if (one_in(s, 20))
		r->part = STORE_PARTS_MAX;
}

static void make_key(struct request_stream *s, struct st_req *r)
{
	*r = (struct st_req){ .op = ST_KEY, .sid = r->sid };
	memset(r->key, (int)random_below(s, 2), sizeof r->key);
}

static const struct {
	void (*make)(struct request_stream *s, struct st_req *r);
	unsigned weight;
} makers[ST_OPS] = {
	[ST_PUT] = { make_put, 8 },           [ST_DROP] = { make_drop, 3 },
	[ST_OCC] = { make_occ, 40 },          [ST_RANGE] = { make_range, 20 },
	[ST_WITHDRAW] = { make_withdraw, 3 }, [ST_VERDICT] = { make_verdict, 15 },
	[ST_STARTED] = { make_started, 10 },  [ST_FINISH] = { make_finish, 20 },
	[ST_HOLD] = { make_hold, 3 },         [ST_PROBLEM] = { make_problem, 6 },
	[ST_RUN_TEXT] = { make_run_text, 6 }, [ST_SOURCE] = { make_source, 3 },
	[ST_STATE] = { make_state, 6 },       [ST_MEMORY] = { make_memory, 6 },
	[ST_PRUNE] = { make_prune, 4 },       [ST_AGENT] = { make_agent, 6 },
	[ST_MESSAGES] = { make_messages, 4 }, [ST_DELIVERY] = { make_delivery, 10 },
	[ST_NUMBERS] = { make_numbers, 6 },   [ST_NAME] = { make_name, 4 },
	[ST_TAKE] = { make_take, 2 },         [ST_KEY] = { make_key, 2 },
	[ST_REPORT] = { make_report, 6 },
};

enum { STREAM_TEXTS = 8 };

/* The texts of a request that point into the stream's buffer. */
static unsigned buffered_texts(const struct request_stream *s, struct st_req *r,
			       struct str *ret[static STREAM_TEXTS])
{
	struct problem_change *p = &r->problem;
	struct str *all[STREAM_TEXTS] = { &r->id,      &r->document, &r->source.from, &p->key,
					  &p->subject, &p->text,     &p->by,          &p->note };
	unsigned n = 0, common = 3;
	if (r->op == ST_FINISH)
		all[common++] = &r->result;
	if (r->op == ST_NAME)
		all[common++] = &r->name.text;
	if (r->op == ST_STATE)
		all[common++] = &r->state.text;
	if (r->op == ST_AGENT)
		all[common++] = &r->agent.text;
	if (r->op == ST_RUN_TEXT)
		all[common++] = &r->run_text.text;
	for (unsigned i = 0; i < (r->op == ST_PROBLEM ? STREAM_TEXTS : common); i++)
		if (all[i]->p >= s->text && all[i]->p < s->text + sizeof s->text)
			ret[n++] = all[i];
	return n;
}

static unsigned random_op(struct request_stream *s)
{
	unsigned sum = 0, op = 0;
	for (unsigned i = 0; i < ST_OPS; i++)
		sum += makers[i].weight;
	for (uint64_t at = random_below(s, sum); at >= makers[op].weight; op++)
		at -= makers[op].weight;
	return op;
}

static unsigned lane_of(const struct request_stream *s, const struct st_req *r)
{
	uint64_t key = r->op == ST_HOLD      ? r->hold.key
		       : r->op == ST_PROBLEM ? (uint64_t)(r->problem.key.p[6] - '0')
					     : r->sid;
	return s->one_lane ? LANE_CLAIM : (unsigned)(key % LANES);
}

struct st_req stream_next(struct request_stream *s)
{
	struct st_req r;
	s->now += one_in(s, 30);
	if (s->n > 10 && one_in(s, 10)) {
		r = s->past[random_below(s, s->n < STREAM_HISTORY ? s->n : STREAM_HISTORY)];
	} else {
		r = (struct st_req){ .sid = 1 + random_below(s, s->scheds) };
		unsigned op = !s->rev[r.sid] && one_in(s, 4) ? ST_PUT : random_op(s);
		r.rev = random_rev(s, r.sid);
		makers[op].make(s, &r);
		if (OWNER_OPS >> r.op & 1) {
			r.part = (uint32_t)(r.sid % STREAM_PARTS);
			if (one_in(s, 100))
				r.part = (uint32_t)random_below(s, STREAM_PARTS + 1);
			r.epoch = r.part < STREAM_PARTS && !one_in(s, 100) ? s->epoch[r.part]
									   : random_below(s, 5);
		}
		r.lane = (uint8_t)lane_of(s, &r);
		r.news = (uint8_t)(one_in(s, 3) ? random_below(s, 256) : 0);
		struct st_req *copy = &s->past[s->n++ % STREAM_HISTORY];
		*copy = r;
		struct str *text[STREAM_TEXTS]; /* a request may be repeated later, but then without the
						   buffered texts */
		for (unsigned n = buffered_texts(s, copy, text); n > 0; n--)
			*text[n - 1] = (struct str){ 0 };
	}
	r.tag = ++s->tag;
	return r;
}

void stream_copy_texts(const struct request_stream *s, struct st_req *r, char *text)
{
	struct str *t[STREAM_TEXTS];
	memcpy(text, s->text, sizeof s->text);
	for (unsigned n = buffered_texts(s, r, t); n > 0; n--)
		t[n - 1]->p = text + (t[n - 1]->p - s->text);
}

void stream_learn(struct request_stream *s, const struct st_ack *ack)
{
	if (ack->has_row && ack->row.sid <= STREAM_SCHEDS) {
		s->rev[ack->row.sid] = ack->row.rev;
		s->seen[ack->row.sid] = ack->row.seen;
	}
	if (ack->op == ST_TAKE && ack->part.part < STREAM_PARTS)
		s->epoch[ack->part.part] = ack->part.epoch;
	if (ack->op == ST_STATE)
		s->state_rev = ack->count;
	s->notes = ack->note > s->notes ? ack->note : s->notes;
	if (ack->op == ST_AGENT)
		s->agent_rev = ack->count;
	s->problems = ack->problem > s->problems ? ack->problem : s->problems;
	s->ends = ack->end > s->ends ? ack->end : s->ends;
	s->events = ack->event > s->events ? ack->event : s->events;
	if (ack->op == ST_OCC && ack->res == ST_OK && ack->has_row)
		s->recent[s->runs++ % STREAM_HISTORY] =
			(struct run_row){ .run = ack->run, .sid = ack->row.sid };
}
