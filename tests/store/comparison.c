/* The same random requests give the same answers and the same rows on SQLite and in the model. */
#include "fixture.h"
#include "request_stream.h"
#include "test.h"

enum { REQUESTS = 20000, BURST_MAX = 700, CHECK_EVERY = 5000 };

/* What the streams have met. */
struct tally {
	unsigned answer[ST_OPS][ST_RESULTS];
	unsigned ends, told;             /* numbered; told to followers at a load */
	unsigned acted, late, withdrawn; /* of followers: moved by an end; stale; withdrawn */
};

static void count(struct tally *t, const struct st_req *r, const struct st_ack *ack)
{
	bool moves = (r->op == ST_OCC || r->op == ST_RANGE) && r->moves;
	bool follows = ack->has_row && ack->row.after, current = ack->has_row && ack->row.rev == r->rev;
	t->answer[ack->op][ack->res]++;
	t->ends += ack->end != 0;
	t->acted += follows && moves && ack->res == ST_OK && ack->row.seen == r->move.seen;
	t->late += follows && moves && ack->res == ST_STALE && current;
	t->withdrawn += follows && r->op == ST_WITHDRAW && ack->res == ST_OK;
}

static void count_ends(void *ctx, const struct load_item *item)
{
	((struct tally *)ctx)->told += item->kind == LOAD_END;
}

static void same_rows(const struct rig *a, const struct rig *b, struct tally *tally)
{
	CHECK_INT(a->ops->load(a->store, count_ends, tally), OK);
	struct buf want = { 0 }, got = { 0 };
	dump_rows(((const struct rows_store *)a->store)->rows, &want);
	dump_load(a->ops, a->store, &want);
	dump_sqlite(b->path, &got);
	dump_load(b->ops, b->store, &got);
	CHECK_SAME(&got, &want);
	buf_free(&want);
	buf_free(&got);
}

/* SQLite answered in the order in which it carried them out, lane by lane: the model does the same. */
static void same_answers(struct rows *model, const struct st_req *asked, const struct st_ack *sqlite,
			 unsigned n, struct tally *tally)
{
	bool *told = calloc(n, sizeof *told);
	for (unsigned i = 0; i < n; i++) {
		struct buf want = { 0 }, got = { 0 };
		struct st_ack ack;
		uint64_t at = sqlite[i].tag - asked[0].tag;
		if (!CHECK(at < n) || !CHECK(!told[at])) /* one answer each */
			continue;
		told[at] = true;
		rows_apply(model, &asked[at], &ack);
		dump_ack(&ack, &want);
		dump_ack(&sqlite[i], &got);
		test_case("tag %llu", (unsigned long long)ack.tag);
		CHECK_SAME(&got, &want);
		count(tally, &asked[at], &ack);
		buf_free(&want);
		buf_free(&got);
	}
	test_case(NULL);
	free(told);
}

/* A burst of requests, as a stream makes them that knows the answers to those before. */
static void submit_burst(struct stream *stream, const struct rows *model, struct rig *sqlite,
			 struct st_req *asked, char (*text)[sizeof stream->text], unsigned n)
{
	struct rows *draft = rows_clone(model);
	for (unsigned i = 0; i < n; i++) {
		struct st_ack ack;
		struct st_req *r = &asked[i];
		*r = stream_next(stream);
		CHECK_INT(sqlite->ops->submit(sqlite->store, r), OK);
		rows_apply(draft, r, &ack);
		stream_learn(stream, &ack);
		stream_keep(stream, r, text[i]);
	}
	rows_free(draft);
}

static void compare(uint64_t seed, bool one_lane, struct tally *tally)
{
	struct rig model, sqlite;
	struct stream stream;
	struct st_req *asked = calloc(BURST_MAX, sizeof *asked);
	struct st_ack *ack = calloc(BURST_MAX, sizeof *ack);
	char(*text)[sizeof stream.text] = calloc(BURST_MAX, sizeof *text);
	uint64_t sizes = seed;
	unsigned checked = 0;
	rig_open(&model, RIG_ROWS);
	rig_open(&sqlite, RIG_SQLITE);
	stream_init(&stream, seed, one_lane);
	for (unsigned done = 0; done < REQUESTS;) {
		unsigned burst = 1 + (unsigned)(test_random(&sizes) % BURST_MAX);
		struct rows *rows = ((struct rows_store *)model.store)->rows;
		submit_burst(&stream, rows, &sqlite, asked, text, burst);
		CHECK_INT(rig_collect(sqlite.ops, sqlite.store, ack, burst), burst);
		same_answers(rows, asked, ack, burst, tally);
		done += burst;
		if (done / CHECK_EVERY > checked) {
			checked = done / CHECK_EVERY;
			same_rows(&model, &sqlite, tally);
			rig_reopen(&model);
			rig_reopen(&sqlite);
		}
	}
	same_rows(&model, &sqlite, tally);
	CHECK(database_is_sound(sqlite.path));
	rig_close(&model);
	rig_close(&sqlite);
	free(asked);
	free(ack);
	free(text);
}

TEST(same_stream_same_rows)
{
	struct tally tally = { 0 };
	for (uint64_t seed = 1; seed <= 2; seed++) {
		compare(seed, true, &tally);
		compare(seed + 100, false, &tally);
	}
	/* The stream is worth something only if it met every answer that there is, and no other. */
	static const uint8_t met[ST_OPS] = {
		[ST_PUT] = 1 << ST_OK | 1 << ST_STALE | 1 << ST_REFUSED,
		[ST_DROP] = 1 << ST_OK | 1 << ST_STALE | 1 << ST_REFUSED,
		[ST_OCC] = 1 << ST_OK | 1 << ST_LOST | 1 << ST_STALE | 1 << ST_REFUSED,
		[ST_RANGE] = 1 << ST_OK | 1 << ST_STALE | 1 << ST_REFUSED,
		[ST_WITHDRAW] = 1 << ST_OK | 1 << ST_STALE | 1 << ST_REFUSED,
		[ST_VERDICT] = 1 << ST_OK | 1 << ST_LOST | 1 << ST_REFUSED,
		[ST_STARTED] = 1 << ST_OK | 1 << ST_REFUSED,
		[ST_FINISH] = 1 << ST_OK | 1 << ST_LOST | 1 << ST_REFUSED,
		[ST_HOLD] = 1 << ST_OK,
		[ST_PROBLEM] = 1 << ST_OK | 1 << ST_LOST | 1 << ST_REFUSED,
		[ST_SOURCE] = 1 << ST_OK | 1 << ST_REFUSED,
		[ST_RUN_TEXT] = 1 << ST_OK | 1 << ST_REFUSED,
		[ST_STATE] = 1 << ST_OK | 1 << ST_STALE | 1 << ST_REFUSED,
		[ST_MEMORY] = 1 << ST_OK | 1 << ST_REFUSED,
		[ST_AGENT] = 1 << ST_OK | 1 << ST_STALE | 1 << ST_REFUSED,
		[ST_MESSAGES] = 1 << ST_OK | 1 << ST_REFUSED,
		[ST_DELIVERY] = 1 << ST_OK | 1 << ST_LOST | 1 << ST_REFUSED,
		[ST_PRUNE] = 1 << ST_OK | 1 << ST_REFUSED,
	};
	for (unsigned op = 0; op < ST_OPS; op++)
		for (unsigned res = 0; res < ST_RESULTS; res++) {
			test_case("op %u, answer %u: %u times", op, res, tally.answer[op][res]);
			CHECK((tally.answer[op][res] >= 5) == (met[op] >> res & 1));
		}
	test_case("ends %u, told %u, acted %u, late %u, withdrawn %u", tally.ends, tally.told, tally.acted,
		  tally.late, tally.withdrawn);
	CHECK(tally.ends >= 100 && tally.told >= 100);
	CHECK(tally.acted >= 100 && tally.late >= 100 && tally.withdrawn >= 5);
	if (getenv("SHOW"))
		printf("ends %u, told %u, acted %u, late %u, withdrawn %u\n", tally.ends, tally.told,
		       tally.acted, tally.late, tally.withdrawn);
	if (getenv("SHOW"))
		for (unsigned op = 0; op < ST_OPS; op++)
			printf("op %u: ok %u lost %u stale %u refused %u\n", op, tally.answer[op][0],
			       tally.answer[op][1], tally.answer[op][2], tally.answer[op][4]);
}
