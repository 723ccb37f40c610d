/* The same random requests give the same answers and the same rows in SQLite and in the model. */
#include "dump.h"
#include "fixture.h"
#include "request_stream.h"
#include "test.h"

enum { REQUESTS = 20000, BURST_MAX = 700, CHECK_EVERY = 5000 };

/* Counts of the requests and answers that the streams have tested. */
struct tally {
	unsigned answer[ST_OPS][ST_RESULTS];
	unsigned ends, loaded_ends;       /* ends that were numbered; ends that were loaded for followers */
	unsigned acted, stale, withdrawn; /* requests of followers: that an end moved; that were stale; that
					     were withdrawn */
};

static void count_answer(struct tally *t, const struct st_req *r, const struct st_ack *ack)
{
	bool moves = (r->op == ST_OCC || r->op == ST_RANGE) && r->moves;
	bool follows = ack->has_row && ack->row.after, current = ack->has_row && ack->row.rev == r->rev;
	t->answer[ack->op][ack->res]++;
	t->ends += ack->end != 0;
	t->acted += follows && moves && ack->res == ST_OK && ack->row.seen == r->move.seen;
	t->stale += follows && moves && ack->res == ST_STALE && current;
	t->withdrawn += follows && r->op == ST_WITHDRAW && ack->res == ST_OK;
}

static void count_ends(void *ctx, const struct load_item *item)
{
	((struct tally *)ctx)->loaded_ends += item->kind == LOAD_END;
}

static void check_rows(const struct fixture *a, const struct fixture *b, struct tally *tally)
{
	CHECK_INT(a->ops->load(a->store, count_ends, tally), OK);
	struct buf want = { 0 }, got = { 0 };
	dump_model(((const struct model_store *)a->store)->model, &want);
	dump_load(a->ops, a->store, &want);
	dump_sqlite(b->path, &got);
	dump_load(b->ops, b->store, &got);
	CHECK_SAME(&got, &want);
	buf_free(&want);
	buf_free(&got);
}

static bool is_same_answer(const struct st_ack *got, const struct st_ack *want)
{
	struct buf a = { 0 }, b = { 0 };
	dump_ack(got, &a);
	dump_ack(want, &b);
	bool same = str_eq(buf_str(&a), buf_str(&b));
	buf_free(&a);
	buf_free(&b);
	return same;
}

/* The model carries out the requests in the order of SQLite's answers. */
static void check_answers(struct model *model, const struct st_req *asked, const struct st_ack *sqlite,
			  unsigned n, struct tally *tally)
{
	bool *answered = calloc(n, sizeof *answered);
	for (unsigned i = 0; i < n; i++) {
		struct buf want = { 0 }, got = { 0 };
		struct st_ack ack;
		uint64_t at = sqlite[i].tag - asked[0].tag;
		if (!CHECK(at < n) || !CHECK(!answered[at])) /* each request must have one answer */
			continue;
		answered[at] = true;
		model_apply(model, &asked[at], &ack);
		dump_ack(&ack, &want);
		dump_ack(&sqlite[i], &got);
		CHECK_INT(sqlite[i].event, ack.event);
		test_case("tag %llu", (unsigned long long)ack.tag);
		CHECK_SAME(&got, &want);
		count_answer(tally, &asked[at], &ack);
		buf_free(&want);
		buf_free(&got);
	}
	test_case(NULL);
	free(answered);
}

/* Submits a burst. The stream learns from a clone of the model, which knows the answers before SQLite gives
 * them. */
static void submit_burst(struct request_stream *stream, const struct model *model, struct fixture *sqlite,
			 struct st_req *asked, char (*text)[sizeof stream->text], unsigned n)
{
	struct model *draft = model_clone(model);
	for (unsigned i = 0; i < n; i++) {
		struct st_ack ack;
		struct st_req *r = &asked[i];
		*r = stream_next(stream);
		CHECK_INT(sqlite->ops->submit(sqlite->store, r), OK);
		model_apply(draft, r, &ack);
		stream_learn(stream, &ack);
		stream_copy_texts(stream, r, text[i]);
	}
	model_free(draft);
}

static void compare(uint64_t seed, bool one_lane, struct tally *tally)
{
	struct fixture model, sqlite;
	struct request_stream stream;
	struct st_req *asked = calloc(BURST_MAX, sizeof *asked);
	struct st_ack *ack = calloc(BURST_MAX, sizeof *ack);
	char(*text)[sizeof stream.text] = calloc(BURST_MAX, sizeof *text);
	uint64_t sizes = seed;
	unsigned checked = 0;
	fixture_open(&model, FIXTURE_MODEL);
	fixture_open(&sqlite, FIXTURE_SQLITE);
	stream_init(&stream, seed, one_lane);
	for (unsigned done = 0; done < REQUESTS;) {
		unsigned burst = 1 + (unsigned)(test_random(&sizes) % BURST_MAX);
		struct model *m = ((struct model_store *)model.store)->model;
		submit_burst(&stream, m, &sqlite, asked, text, burst);
		CHECK_INT(collect_answers(sqlite.ops, sqlite.store, ack, burst), burst);
		check_answers(m, asked, ack, burst, tally);
		done += burst;
		if (done / CHECK_EVERY > checked) {
			checked = done / CHECK_EVERY;
			check_rows(&model, &sqlite, tally);
			fixture_reopen(&model);
			fixture_reopen(&sqlite);
		}
	}
	check_rows(&model, &sqlite, tally);
	CHECK(database_is_sound(sqlite.path));
	fixture_close(&model);
	fixture_close(&sqlite);
	free(asked);
	free(ack);
	free(text);
}

TEST(the_same_requests_give_the_same_rows)
{
	struct tally tally = { 0 };
	const char *given = getenv("SEED");
	uint64_t first = given ? strtoull(given, NULL, 10) : 1;
	printf("seeds from %llu on\n", (unsigned long long)first);
	for (uint64_t seed = first; seed < first + 2; seed++) {
		compare(seed, true, &tally);
		compare(seed + 100, false, &tally);
	}
	/* The stream must have got every answer that an operation may give, and no other answer. */
	static const uint8_t possible[ST_OPS] = {
		[ST_PUT] = 1 << ST_OK | 1 << ST_STALE | 1 << ST_REFUSED | 1 << ST_FENCED | 1 << ST_COLLISION,
		[ST_DROP] = 1 << ST_OK | 1 << ST_STALE | 1 << ST_REFUSED | 1 << ST_FENCED,
		[ST_OCC] = 1 << ST_OK | 1 << ST_LOST | 1 << ST_STALE | 1 << ST_REFUSED | 1 << ST_FENCED |
			   1 << ST_COLLISION,
		[ST_RANGE] = 1 << ST_OK | 1 << ST_STALE | 1 << ST_REFUSED | 1 << ST_FENCED,
		[ST_WITHDRAW] = 1 << ST_OK | 1 << ST_STALE | 1 << ST_REFUSED | 1 << ST_FENCED,
		[ST_VERDICT] = 1 << ST_OK | 1 << ST_LOST | 1 << ST_REFUSED | 1 << ST_FENCED,
		[ST_STARTED] = 1 << ST_OK | 1 << ST_REFUSED | 1 << ST_FENCED,
		[ST_FINISH] = 1 << ST_OK | 1 << ST_LOST | 1 << ST_REFUSED | 1 << ST_FENCED,
		[ST_HOLD] = 1 << ST_OK,
		[ST_PROBLEM] = 1 << ST_OK | 1 << ST_LOST | 1 << ST_REFUSED,
		[ST_SOURCE] = 1 << ST_OK | 1 << ST_REFUSED,
		[ST_RUN_TEXT] = 1 << ST_OK | 1 << ST_REFUSED,
		[ST_STATE] = 1 << ST_OK | 1 << ST_STALE | 1 << ST_REFUSED,
		[ST_MEMORY] = 1 << ST_OK | 1 << ST_REFUSED,
		[ST_AGENT] = 1 << ST_OK | 1 << ST_STALE | 1 << ST_REFUSED,
		[ST_MESSAGES] = 1 << ST_OK | 1 << ST_REFUSED,
		[ST_DELIVERY] = 1 << ST_OK | 1 << ST_LOST | 1 << ST_REFUSED,
		[ST_REPORT] = 1 << ST_OK | 1 << ST_REFUSED,
		[ST_PRUNE] = 1 << ST_OK | 1 << ST_REFUSED,
		[ST_NAME] = 1 << ST_OK | 1 << ST_LOST | 1 << ST_REFUSED | 1 << ST_COLLISION,
		[ST_NUMBERS] = 1 << ST_OK | 1 << ST_REFUSED,
		[ST_TAKE] = 1 << ST_OK | 1 << ST_FENCED | 1 << ST_REFUSED,
		[ST_KEY] = 1 << ST_OK | 1 << ST_LOST,
	};
	for (unsigned op = 0; op < ST_OPS; op++)
		for (unsigned res = 0; res < ST_RESULTS; res++) {
			test_case("op %u, answer %u: %u times", op, res, tally.answer[op][res]);
			CHECK((tally.answer[op][res] >= 5) == (possible[op] >> res & 1));
		}
	test_case("ends %u, loaded %u, acted %u, stale %u, withdrawn %u", tally.ends, tally.loaded_ends,
		  tally.acted, tally.stale, tally.withdrawn);
	CHECK(tally.ends >= 100 && tally.loaded_ends >= 50);
	CHECK(tally.acted >= 100 && tally.stale >= 100 && tally.withdrawn >= 5);
	if (getenv("SHOW"))
		printf("ends %u, loaded %u, acted %u, stale %u, withdrawn %u\n", tally.ends,
		       tally.loaded_ends, tally.acted, tally.stale, tally.withdrawn);
	if (getenv("SHOW"))
		for (unsigned op = 0; op < ST_OPS; op++)
			printf("op %u: ok %u lost %u stale %u fenced %u refused %u collision %u\n", op,
			       tally.answer[op][0], tally.answer[op][1], tally.answer[op][2],
			       tally.answer[op][3], tally.answer[op][4], tally.answer[op][5]);
}

/* --- planted bugs: answers as a store with the bug would give them --- */

static void name_has_two_numbers(const struct st_req *r, struct st_ack *a)
{
	if (a->op == ST_NAME && a->res == ST_LOST) {
		a->res = ST_OK;
		a->name = r->name.number;
	}
}

static void collision_is_mine(const struct st_req *r, struct st_ack *a)
{
	(void)r;
	if (a->res == ST_COLLISION)
		a->res = ST_OK;
}

static void numbers_are_given_twice(const struct st_req *r, struct st_ack *a)
{
	(void)r;
	a->first -= a->first > 1;
}

static void owner_is_not_fenced(const struct st_req *r, struct st_ack *a)
{
	(void)r;
	if (a->res == ST_FENCED)
		a->res = ST_OK;
}

enum { PLANTED_BURST = 100, PLANTED_REQUESTS = 5000 };

/* The number of the request at which the bug is found; 0: it is not found. */
static unsigned find_bug(void (*bug)(const struct st_req *r, struct st_ack *a))
{
	struct fixture sqlite;
	struct request_stream stream;
	struct st_req asked[PLANTED_BURST];
	struct st_ack ack[PLANTED_BURST], want;
	char text[PLANTED_BURST][sizeof stream.text];
	struct model *model = model_new();
	unsigned found = 0;
	fixture_open(&sqlite, FIXTURE_SQLITE);
	stream_init(&stream, 7, true);
	for (unsigned done = 0; done < PLANTED_REQUESTS && !found; done += PLANTED_BURST) {
		submit_burst(&stream, model, &sqlite, asked, text, PLANTED_BURST);
		CHECK_INT(collect_answers(sqlite.ops, sqlite.store, ack, PLANTED_BURST), PLANTED_BURST);
		for (unsigned i = 0; i < PLANTED_BURST && !found; i++) {
			model_apply(model, &asked[i], &want);
			bug(&asked[i], &ack[i]);
			found = is_same_answer(&ack[i], &want) ? 0 : done + i + 1;
		}
	}
	fixture_close(&sqlite);
	model_free(model);
	return found;
}

TEST(planted_bugs_are_found)
{
	static const struct {
		const char *name;
		void (*bug)(const struct st_req *r, struct st_ack *a);
	} bugs[] = { { "a name has two numbers", name_has_two_numbers },
		     { "a collided number is answered as mine", collision_is_mine },
		     { "numbers are given twice", numbers_are_given_twice },
		     { "an earlier owner is not fenced", owner_is_not_fenced } };
	for (unsigned i = 0; i < ARRAY_LEN(bugs); i++) {
		test_case("%s", bugs[i].name);
		unsigned at = find_bug(bugs[i].bug);
		CHECK(at > 0);
		if (getenv("SHOW"))
			printf("%s: found at request %u\n", bugs[i].name, at);
	}
}
