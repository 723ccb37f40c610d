#include "request_stream.h"
#include "requests.h"
#include "test.h"

void stream_init(struct stream *s, uint64_t seed, bool one_lane)
{
	*s = (struct stream){ .random = seed, .scheds = STREAM_SCHEDS, .one_lane = one_lane, .now = 100 };
}

static uint64_t below(struct stream *s, uint64_t n)
{
	return test_random(&s->random) % n;
}

static bool one_in(struct stream *s, uint64_t n)
{
	return below(s, n) == 0;
}

/* Mostly soon after now, at times before. */
static int64_t moment(struct stream *s)
{
	return one_in(s, 4) ? s->now - (int64_t)below(s, 60) : s->now + (int64_t)below(s, 8);
}

/* Of a run that was recorded, mostly. */
static uint64_t some_run(struct stream *s, uint64_t *sid)
{
	if (!s->runs || one_in(s, 20))
		return s->run + 1000000;
	unsigned n = s->runs < STREAM_MEMORY ? s->runs : STREAM_MEMORY;
	const struct run_row *run = &s->recent[below(s, n)];
	*sid = run->sid;
	return run->run;
}

static uint32_t some_rev(struct stream *s, uint64_t sid)
{
	return one_in(s, 12) ? (uint32_t)below(s, s->rev[sid] + 2) : s->rev[sid];
}

/* Mostly an end or two further. */
static uint64_t some_end(struct stream *s, uint64_t sid)
{
	return one_in(s, 4) ? below(s, s->seen[sid] + 2) : s->seen[sid] + 1 + below(s, 2);
}

static struct row_move some_move(struct stream *s, uint64_t sid)
{
	return (struct row_move){ .next = one_in(s, 9) ? WALL_NEVER : AT(s->now + 30),
				  .high = AT(one_in(s, 5) ? moment(s) : s->now),
				  .left = (uint32_t)below(s, 9),
				  .owed = (uint32_t)below(s, 3),
				  .owed_since = AT(moment(s)),
				  .seen = some_end(s, sid) };
}

/* Its own, mostly. */
static uint64_t some_id(struct stream *s, uint64_t sid)
{
	return one_in(s, 20) ? 1 + below(s, s->scheds) : sid;
}

static struct str some_note(struct stream *s)
{
	const struct str notes[] = { { 0 }, { 0 }, STR(""), STR("deploy"), STR("on it") };
	return notes[below(s, ARRAY_LEN(notes))];
}

static void make_put(struct stream *s, struct st_req *r)
{
	*r = req_put(r->sid, r->rev, moment(s));
	r->row.after = one_in(s, 4) ? 1 + below(s, s->scheds) : 0;
	r->row.seen = below(s, s->ends + 2);
	r->row.next_set_at = one_in(s, 3) ? AT(moment(s)) : AT(0);
	r->row.flags = (uint32_t)test_random(&s->random);
	r->row.failures = (uint32_t)below(s, 5);
	r->row.high = AT(moment(s));
	r->row.next = AT(moment(s));
	r->row.pruned_to = AT((int64_t)below(s, 50));
	r->row.paused_until = AT(moment(s));
	r->keep_next = one_in(s, 2);
	r->close_range = one_in(s, 2);
	r->ends_known = one_in(s, 3);
	r->note = some_note(s);
	if (one_in(s, 2)) {
		int n = snprintf(s->text, sizeof s->text, "id-%llu document %llu",
				 (unsigned long long)some_id(s, r->sid), (unsigned long long)s->tag);
		r->id = (struct str){ s->text, 5 };
		r->document = (struct str){ s->text + 6, (size_t)n - 6 };
	}
}

static void make_drop(struct stream *s, struct st_req *r)
{
	*r = req_drop(r->sid, one_in(s, 60) ? r->rev : 9999, moment(s));
	r->close_range = one_in(s, 2);
}

static void make_occ(struct stream *s, struct st_req *r)
{
	*r = req_occ(r->sid, r->rev, ++s->run, moment(s));
	uint64_t sid;
	if (s->one_lane && one_in(s, 40))
		r->run.run = some_run(s, &sid); /* perhaps another schedule's */
	r->run.kind = (uint8_t)below(s, RUN_KINDS);
	r->run.state = (uint8_t)(one_in(s, 3) ? below(s, RUN_STATES) : below(s, 2));
	r->run.reason = (uint16_t)below(s, 3);
	r->run.uncounted = (uint16_t)below(s, 3);
	r->run.missed = (uint32_t)below(s, 3);
	r->run.end = below(s, 100);
	r->run.fence = test_random(&s->random);
	r->run.ended = AT(moment(s));
	r->moves = one_in(s, 2);
	r->move = some_move(s, r->sid);
	if (one_in(s, 100))
		r->run.sid++;
}

static void make_range(struct stream *s, struct st_req *r)
{
	int64_t first = moment(s), last = one_in(s, 5) ? INT64_MAX : first + (int64_t)below(s, 20);
	*r = req_range(r->sid, r->rev, first, last);
	r->range.state = (uint8_t)(one_in(s, 50) ? below(s, RUN_STATES) : RUN_SKIPPED + below(s, 2));
	r->range.reason = (uint16_t)(1 + below(s, 2));
	r->moves = one_in(s, 2);
	r->move = some_move(s, r->sid);
	if (r->moves && one_in(s, 2))
		r->move.high = r->range.last;
	if (one_in(s, 100))
		r->range.last.us = r->range.first.us - 1;
}

static void make_withdraw(struct stream *s, struct st_req *r)
{
	*r = req_withdraw(r->sid, r->rev, one_in(s, 2) ? s->now - 10 : moment(s), moment(s));
}

static void make_verdict(struct stream *s, struct st_req *r)
{
	static const uint8_t states[] = { RUN_CLAIMED, RUN_SKIPPED, RUN_MISSED };
	uint64_t run = some_run(s, &r->sid);
	unsigned state = one_in(s, 10) ? (unsigned)below(s, RUN_STATES) : states[below(s, 3)];
	*r = req_verdict(r->sid, run, state, (unsigned)below(s, 3));
}

static void make_started(struct stream *s, struct st_req *r)
{
	uint64_t run = some_run(s, &r->sid);
	*r = req_started(r->sid, run, (unsigned)below(s, 4), moment(s));
}

static void make_finish(struct stream *s, struct st_req *r)
{
	unsigned state =
		one_in(s, 30) ? (unsigned)below(s, RUN_STATES) : RUN_RETRYING + (unsigned)below(s, 2);
	uint64_t run = some_run(s, &r->sid);
	*r = req_finish(r->sid, run, (unsigned)below(s, 4), state, moment(s));
	r->run.reason = (uint16_t)below(s, 3);
	r->run.uncounted = (uint16_t)below(s, 3);
	r->run.retry_at = AT(moment(s));
	r->run.exit_code = (int32_t)below(s, 3) - 1;
	r->failures = (uint32_t)below(s, 4);
	r->avoided = one_in(s, 4);
}

static void make_hold(struct stream *s, struct st_req *r)
{
	*r = req_hold((uint32_t)r->sid % 7, (unsigned)below(s, 3), moment(s));
	r->note = some_note(s);
}

/* Few keys and times, so that the same problem is said, taken and closed again and again. Each key has one
 * lane, and its problems with it. */
static void make_problem(struct stream *s, struct st_req *r)
{
	static const char *const keys[LANES][2] = { { "cause-0-0", "cause-0-1" },
						    { "cause-1-0", "cause-1-1" },
						    { "cause-2-0", "cause-2-1" },
						    { "cause-3-0", "cause-3-1" } };
	uint64_t number = one_in(s, 4) && s->one_lane ? below(s, s->problems + 3) : 0;
	*r = req_problem((enum problem_act)below(s, PROBLEM_ACTS), number, keys[r->sid % LANES][below(s, 2)],
			 moment(s));
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

static void make_source(struct stream *s, struct st_req *r)
{
	uint64_t sid = r->sid;
	snprintf(s->text, sizeof s->text, "/file %llu", (unsigned long long)s->tag);
	*r = (struct st_req){ .op = ST_SOURCE,
			      .sid = sid,
			      .source = { str_of(s->text), (uint32_t)below(s, 100) } };
}

static void make_words(struct stream *s, struct st_req *r)
{
	uint64_t sid = r->sid, run = some_run(s, &sid);
	snprintf(s->text, sizeof s->text, "words %llu", (unsigned long long)s->tag);
	*r = (struct st_req){ .op = ST_RUN_TEXT,
			      .sid = sid,
			      .run_text = { run, (uint8_t)below(s, RUN_TEXT_KINDS),
					    str_of(one_in(s, 4) ? "" : s->text) } };
}

static const char memory_too_long[STORE_MEMORY_BYTES_MAX + 1];

/* Each key has one lane. The rev is that of the last answer, which may be another key's. */
static void make_state(struct stream *s, struct st_req *r)
{
	static const char *const keys[LANES] = { "", "desk", "night", "triage" };
	snprintf(s->text, sizeof s->text, "{%llu}", (unsigned long long)s->tag);
	*r = (struct st_req){ .op = ST_STATE,
			      .sid = r->sid,
			      .at = AT(moment(s)),
			      .state = { str_of(keys[r->sid % LANES]), str_of(s->text),
					 one_in(s, 4) ? 0 : s->state_rev } };
}

/* Each agent has one lane, and so has a run's number. Few texts and times, so that some are there already. */
static void make_memory(struct stream *s, struct st_req *r)
{
	static const char *const agents[LANES] = { "desk", "Nacht", "über", "a b\"c" };
	static const char *const texts[] = { "invoices are late", "the build is slow", "Rechnungen prüfen" };
	uint64_t lane = r->sid % LANES;
	bool adds = !one_in(s, 4);
	*r = (struct st_req){ .op = ST_MEMORY,
			      .sid = r->sid,
			      .at = AT(moment(s)),
			      .memory = { .act = adds ? MEMORY_ADD : (uint8_t)below(s, MEMORY_ACTS + 1),
					  .number = below(s, s->notes + 2),
					  .run = one_in(s, 4) ? 0 : lane + LANES * below(s, 9),
					  .agent = str_of(agents[lane]) } };
	if (one_in(s, 20) && (s->one_lane || r->memory.act == MEMORY_ADD))
		r->memory.agent = (struct str){ 0 }; /* whosever it is */
	if (!one_in(s, 20))
		r->memory.text = str_of(texts[below(s, ARRAY_LEN(texts))]);
	if (one_in(s, 3))
		r->memory.tags = STR("money late");
	if (one_in(s, 50))
		r->memory.text = (struct str){ memory_too_long, sizeof memory_too_long };
}

/* So with agents. */
static void make_agent(struct stream *s, struct st_req *r)
{
	static const char *const names[LANES] = { "triage", "desk", "night shift", "x" };
	snprintf(s->text, sizeof s->text, "{%llu}", (unsigned long long)s->tag);
	*r = (struct st_req){ .op = ST_AGENT,
			      .sid = r->sid,
			      .at = AT(moment(s)),
			      .source = { STR("/ops/agents.yaml"), (uint32_t)below(s, 9) },
			      .agent = {
				      .name = str_of(names[r->sid % LANES]),
				      .text = str_of(s->text),
				      .rev = one_in(s, 4) ? 0 : s->agent_rev,
				      .act = (uint8_t)(one_in(s, 2) ? AGENT_PUT : below(s, AGENT_ACTS)) } };
}

/* Mostly of what was a while ago, so that there is something left. Of runs and problems of one lane only:
 * those of others may not have been carried out yet. */
static void make_prune(struct stream *s, struct st_req *r)
{
	static const uint8_t by_sid[] = { PRUNE_RANGES, PRUNE_VERSION, PRUNE_SCHED };
	uint32_t rev = r->rev;
	unsigned what = s->one_lane ? (unsigned)below(s, PRUNES) : by_sid[below(s, 3)];
	*r = req_prune((enum prune_what)what, what == PRUNE_RUNS || what == PRUNE_PROBLEM ? 0 : r->sid,
		       one_in(s, 5) ? moment(s) : s->now - (int64_t)below(s, 60));
	r->rev = rev;
	r->prune.first = what == PRUNE_PROBLEM ? below(s, s->problems + 2) : below(s, s->run + 2);
	r->prune.last = r->prune.first + below(s, 100);
	r->prune.end = one_in(s, 2) ? UINT64_MAX : below(s, s->ends + 2);
	if (one_in(s, 50))
		r->prune.what = PRUNES;
}

/* Mostly all news, or some of them, to one or several. */
static void make_tell(struct stream *s, struct st_req *r)
{
	static const struct message_row some[] = {
		{ .kind = 1,
		  .run = 3,
		  .receiver = 7,
		  .origin = STR("o"),
		  .target = STR("t"),
		  .body = STR("b") },
		{ .kind = 2,
		  .sid = 2,
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
	unsigned from = (unsigned)below(s, ARRAY_LEN(some));
	*r = (struct st_req){ .op = ST_MESSAGES, .sid = r->sid, .at = AT(moment(s)) };
	r->messages.news_upto = one_in(s, 5) ? 0 : below(s, s->run + 2);
	r->messages.message = &some[from];
	r->messages.n = (unsigned)below(s, ARRAY_LEN(some) - from + 1);
}

static void make_tried(struct stream *s, struct st_req *r)
{
	*r = (struct st_req){ .op = ST_DELIVERY, .sid = r->sid, .at = AT(moment(s)) };
	r->delivery =
		(struct message_row){ .number = below(s, 400),
				      .attempts = (uint32_t)below(s, 4),
				      .state = (uint8_t)(one_in(s, 4) ? below(s, MESSAGE_STATES + 1) : 0),
				      .next = AT(moment(s)),
				      .result = one_in(s, 3) ? (struct str){ 0 } : STR("said") };
}

static const struct {
	void (*make)(struct stream *s, struct st_req *r);
	unsigned weight;
} makers[ST_OPS] = {
	[ST_PUT] = { make_put, 8 },           [ST_DROP] = { make_drop, 3 },
	[ST_OCC] = { make_occ, 40 },          [ST_RANGE] = { make_range, 20 },
	[ST_WITHDRAW] = { make_withdraw, 3 }, [ST_VERDICT] = { make_verdict, 15 },
	[ST_STARTED] = { make_started, 10 },  [ST_FINISH] = { make_finish, 20 },
	[ST_HOLD] = { make_hold, 3 },         [ST_PROBLEM] = { make_problem, 6 },
	[ST_RUN_TEXT] = { make_words, 6 },    [ST_SOURCE] = { make_source, 3 },
	[ST_STATE] = { make_state, 6 },       [ST_MEMORY] = { make_memory, 6 },
	[ST_PRUNE] = { make_prune, 4 },       [ST_AGENT] = { make_agent, 6 },
	[ST_MESSAGES] = { make_tell, 4 },     [ST_DELIVERY] = { make_tried, 10 },
};

enum { STREAM_TEXTS = 8 };

/* Those of its texts that stand in the stream's own. */
static unsigned texts(const struct stream *s, struct st_req *r, struct str *ret[static STREAM_TEXTS])
{
	struct problem_change *p = &r->problem;
	struct str *all[STREAM_TEXTS] = { &r->id,      &r->document, &r->source.from, &p->key,
					  &p->subject, &p->text,     &p->by,          &p->note };
	unsigned n = 0, common = 3;
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

static unsigned some_op(struct stream *s)
{
	unsigned sum = 0, op = 0;
	for (unsigned i = 0; i < ST_OPS; i++)
		sum += makers[i].weight;
	for (uint64_t at = below(s, sum); at >= makers[op].weight; op++)
		at -= makers[op].weight;
	return op;
}

static unsigned lane_of(const struct stream *s, const struct st_req *r)
{
	uint64_t way = r->op == ST_HOLD      ? r->hold.key
		       : r->op == ST_PROBLEM ? (uint64_t)(r->problem.key.p[6] - '0')
					     : r->sid;
	return s->one_lane ? LANE_CLAIM : (unsigned)(way % LANES);
}

struct st_req stream_next(struct stream *s)
{
	struct st_req r;
	s->now += one_in(s, 30);
	if (s->n > 10 && one_in(s, 10)) {
		r = s->past[below(s, s->n < STREAM_MEMORY ? s->n : STREAM_MEMORY)];
	} else {
		r = (struct st_req){ .sid = 1 + below(s, s->scheds) };
		unsigned op = !s->rev[r.sid] && one_in(s, 4) ? ST_PUT : some_op(s);
		r.rev = some_rev(s, r.sid);
		makers[op].make(s, &r);
		r.lane = (uint8_t)lane_of(s, &r);
		r.news = (uint8_t)(one_in(s, 3) ? below(s, 256) : 0);
		struct st_req *keep = &s->past[s->n++ % STREAM_MEMORY];
		*keep = r;
		struct str *text[STREAM_TEXTS]; /* it is repeated without what will be gone */
		for (unsigned n = texts(s, keep, text); n > 0; n--)
			*text[n - 1] = (struct str){ 0 };
	}
	r.tag = ++s->tag;
	return r;
}

void stream_keep(const struct stream *s, struct st_req *r, char *text)
{
	struct str *t[STREAM_TEXTS];
	memcpy(text, s->text, sizeof s->text);
	for (unsigned n = texts(s, r, t); n > 0; n--)
		t[n - 1]->p = text + (t[n - 1]->p - s->text);
}

void stream_learn(struct stream *s, const struct st_ack *ack)
{
	if (ack->has_row && ack->row.sid <= STREAM_SCHEDS) {
		s->rev[ack->row.sid] = ack->row.rev;
		s->seen[ack->row.sid] = ack->row.seen;
	}
	if (ack->op == ST_STATE)
		s->state_rev = ack->count;
	s->notes = ack->note > s->notes ? ack->note : s->notes;
	if (ack->op == ST_AGENT)
		s->agent_rev = ack->count;
	s->problems = ack->problem > s->problems ? ack->problem : s->problems;
	s->ends = ack->end > s->ends ? ack->end : s->ends;
	if (ack->op == ST_OCC && ack->res == ST_OK && ack->has_row)
		s->recent[s->runs++ % STREAM_MEMORY] =
			(struct run_row){ .run = ack->run, .sid = ack->row.sid };
}
