/* The same random requests give the same answers and the same rows on both stores. */
#include "rig.h"
#include "stream.h"
#include "test.h"

enum { REQUESTS = 20000, BURST_MAX = 700, CHECK_EVERY = 5000 };

static void same_rows(const struct rig *a, struct rig *b)
{
	struct buf want = { 0 }, got = { 0 };
	dump_memory(a->store, &want);
	dump_load(a->ops, a->store, &want);
	dump_sqlite(b->path, &got);
	dump_load(b->ops, b->store, &got);
	CHECK_SAME(&got, &want);
	buf_free(&want);
	buf_free(&got);
}

/* Both answered `n` requests whose tags begin with `first`; in memory in order, in SQLite by lanes. */
static void same_answers(struct st_ack *memory, struct st_ack *sqlite, unsigned n, uint64_t first,
			 unsigned tally[ST_OPS][ST_RESULTS])
{
	for (unsigned i = 0; i < n; i++) {
		struct buf want = { 0 }, got = { 0 };
		struct st_ack *m = &memory[sqlite[i].tag - first];
		if (!CHECK(sqlite[i].tag >= first && sqlite[i].tag < first + n))
			continue;
		CHECK_INT(sqlite[i].tag, m->tag);
		dump_ack(m, &want);
		dump_ack(&sqlite[i], &got);
		test_case("tag %llu", (unsigned long long)m->tag);
		CHECK_SAME(&got, &want);
		tally[m->op][m->res]++;
		m->tag = 0; /* one answer each */
		buf_free(&want);
		buf_free(&got);
	}
	test_case(NULL);
}

static void compare(uint64_t seed, bool one_lane, unsigned tally[ST_OPS][ST_RESULTS])
{
	struct rig memory, sqlite;
	struct st_ack *a = calloc(BURST_MAX, sizeof *a), *b = calloc(BURST_MAX, sizeof *b);
	struct stream stream;
	uint64_t sizes = seed;
	unsigned checked = 0;
	rig_open(&memory, RIG_MEMORY);
	rig_open(&sqlite, RIG_SQLITE);
	stream_init(&stream, seed, one_lane);
	for (unsigned done = 0; done < REQUESTS;) {
		unsigned burst = 1 + (unsigned)(test_random(&sizes) % BURST_MAX);
		uint64_t first = stream.tag + 1;
		for (unsigned i = 0; i < burst; i++) {
			struct st_req r = stream_next(&stream);
			memory_apply(memory.store, &r, &a[i]);
			stream_learn(&stream, &a[i]);
			CHECK_INT(sqlite.ops->submit(sqlite.store, &r), OK);
		}
		CHECK_INT(rig_collect(sqlite.ops, sqlite.store, b, burst), burst);
		same_answers(a, b, burst, first, tally);
		done += burst;
		if (done / CHECK_EVERY > checked) {
			checked = done / CHECK_EVERY;
			same_rows(&memory, &sqlite);
			rig_reopen(&memory);
			rig_reopen(&sqlite);
		}
	}
	same_rows(&memory, &sqlite);
	CHECK(database_is_sound(sqlite.path));
	rig_close(&memory);
	rig_close(&sqlite);
	free(a);
	free(b);
}

TEST(same_stream_same_rows)
{
	unsigned tally[ST_OPS][ST_RESULTS] = { 0 };
	for (uint64_t seed = 1; seed <= 2; seed++) {
		compare(seed, true, tally);
		compare(seed + 100, false, tally);
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
	};
	for (unsigned op = 0; op < ST_OPS; op++)
		for (unsigned res = 0; res < ST_RESULTS; res++) {
			test_case("op %u, answer %u: %u times", op, res, tally[op][res]);
			CHECK((tally[op][res] >= 5) == (met[op] >> res & 1));
		}
	if (getenv("SHOW"))
		for (unsigned op = 0; op < ST_OPS; op++)
			printf("op %u: ok %u lost %u stale %u refused %u\n", op, tally[op][0], tally[op][1],
			       tally[op][2], tally[op][4]);
}
