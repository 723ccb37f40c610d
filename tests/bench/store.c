/* Benchmark of the SQLite store: durable claims per second, and loading. The peer is a loop that executes the
 * same statements in transactions of the same size, in the same file.
 *
 *   bench_store [DIR]    one JSON line per figure; DIR (default $TMPDIR or /tmp) takes a file of about 1 GB
 */
#include "store/sqlite/store.h"

#include <poll.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 1000000, FEW = 1000, CLAIMS = 100000, ROUNDS = 3, AHEAD = 4 * STORE_GROUP_MAX };

static char path[256];
static int64_t nominal = 1000; /* grows in every round, because an occurrence can be claimed only once */
static uint64_t run;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench_store: %s: %s\n", what, why);
	exit(1);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t random_number(uint64_t *state)
{
	uint64_t x = *state += 0x9E3779B97F4A7C15;
	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
	x = (x ^ x >> 27) * 0x94D049BB133111EB;
	return x ^ x >> 31;
}

static void check(sqlite3 *db, int rc, int want)
{
	if (rc != want)
		die(path, sqlite3_errmsg(db));
}

static struct store *open_store_with(bool events)
{
	struct store *s = NULL;
	struct why why = { 0 };
	struct store_tuning tuning = store_tuning_default;
	tuning.no_events = !events;
	if (store_sqlite_open_tuned(path, &tuning, &s, &why) != OK)
		die("open", why.text);
	return s;
}

static struct store *open_store(void)
{
	return open_store_with(true);
}

static void remove_files(void)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	for (unsigned i = 0; i < 3; i++) {
		char file[300];
		snprintf(file, sizeof file, "%s%s", path, ends[i]);
		unlink(file);
	}
}

/* `n` schedules with documents of 400 bytes. */
static void make_file(unsigned n)
{
	char sql[1000];
	sqlite3 *db = NULL;
	remove_files();
	store_sqlite_close(open_store());
	check(db, sqlite3_open(path, &db), SQLITE_OK);
	snprintf(
		sql, sizeof sql,
		"PRAGMA synchronous = OFF; BEGIN;"
		"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
		" INSERT INTO schedule (sid, after, seen, rev, flags, left, failures, owed, owed_since, "
		"next, high,"
		" pruned_to, changed, paused_until, next_set_at, put_at, rules)"
		" SELECT i, 0, 0, 1, 7, 4294967295, 0, 0, 0, 1700000000000000 + i, 0, 0, 0, 0, 0, 0, "
		"zeroblob(%d)"
		" FROM n;"
		"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
		" INSERT INTO document (sid, id, body) SELECT i, 'schedule-' || i, hex(zeroblob(200)) FROM n;"
		"COMMIT; PRAGMA wal_checkpoint(TRUNCATE)",
		n, STORE_RULES, n);
	check(db, sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	sync();
}

/* A claim of a random schedule. */
static struct st_req random_claim(uint64_t *seed, unsigned held)
{
	uint64_t sid = 1 + random_number(seed) % held;
	struct st_req r = {
		.op = ST_OCC, .lane = LANE_CLAIM, .sid = sid, .rev = 1, .moves = true, .tag = ++run
	};
	struct wall at = { ++nominal };
	r.run = (struct run_row){ .run = run,
				  .sid = sid,
				  .rev = 1,
				  .state = RUN_CLAIMED,
				  .nominal = at,
				  .due = at,
				  .claimed = at,
				  .cost = -1,
				  .exit_code = -1 };
	r.move = (struct row_move){ .next = { nominal + 60 * USEC }, .high = at, .left = UINT32_MAX };
	return r;
}

/* --- rota's store --- */

static unsigned collect_answers(struct store *s)
{
	static struct st_ack ack[STORE_GROUP_MAX];
	struct pollfd p = { .fd = store_sqlite_ops.fd(s), .events = POLLIN };
	poll(&p, 1, -1);
	unsigned n = store_sqlite_ops.collect(s, ack, STORE_GROUP_MAX);
	for (unsigned i = 0; i < n; i++)
		if (ack[i].res != ST_OK)
			die("claim", "was not answered with OK");
	return n;
}

/* `state`: RUN_CLAIMED, or RUN_FINISHED for the action `event`. */
static double claims_of(struct store *s, unsigned held, uint64_t seed, enum run_state state)
{
	unsigned sent = 0, done = 0;
	double begin = now();
	while (done < CLAIMS) {
		for (; sent < CLAIMS && sent - done < AHEAD; sent++) {
			struct st_req r = random_claim(&seed, held);
			r.run.state = (uint8_t)state;
			r.run.outcome = state == RUN_FINISHED;
			r.publishes = state == RUN_FINISHED;
			if (store_sqlite_ops.submit(s, &r) != OK)
				die("submit", "refused");
		}
		done += collect_answers(s);
	}
	double took = now() - begin;
	store_sqlite_close(s);
	return CLAIMS / took;
}

static double our_claims(unsigned held, uint64_t seed)
{
	return claims_of(open_store(), held, seed, RUN_CLAIMED);
}

struct count {
	uint64_t schedules, sum;
};

static void count_item(void *ctx, const struct load_item *item)
{
	struct count *c = ctx;
	if (item->kind == LOAD_SCHED) {
		c->schedules++;
		c->sum += item->sched.sid + item->sched.rules[0];
	}
}

static double our_load(void)
{
	struct store *s = open_store();
	struct count c = { 0 };
	double begin = now();
	if (store_sqlite_ops.load(s, count_item, &c) != OK || c.schedules != MANY)
		die("load", "did not give all schedules");
	double took = now() - begin;
	store_sqlite_close(s);
	return took;
}

/* --- the bare loop --- */

static sqlite3 *bare_open(void)
{
	sqlite3 *db = NULL;
	check(db, sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL), SQLITE_OK);
	check(db, sqlite3_exec(db, "PRAGMA synchronous = FULL; PRAGMA cache_size = -32768", NULL, NULL, NULL),
	      SQLITE_OK);
	return db;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *st = NULL;
	check(db, sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	return st;
}

static void step(sqlite3 *db, sqlite3_stmt *st)
{
	check(db, sqlite3_step(st), SQLITE_DONE);
	sqlite3_reset(st);
}

static void bind(sqlite3_stmt *st, const int64_t *v, int n)
{
	for (int i = 0; i < n; i++)
		sqlite3_bind_int64(st, i + 1, v[i]);
}

static double bare_claims(unsigned held, uint64_t seed)
{
	sqlite3 *db = bare_open();
	sqlite3_stmt *add = prepare(
		db,
		"INSERT INTO run (run, sid, rev, attempt, reason, kind, state, outcome, uncounted, replaced, "
		"missed, nominal, due,"
		" claimed, started, ended, retry_at, \"end\", fence, cost, tokens_in, tokens_out, exit_code)"
		" VALUES (?1, ?2, 1, 0, 0, 0, 1, 0, 0, 0, 0, ?3, ?3, ?3, 0, 0, 0, 0, 0, -1, 0, 0, -1)");
	sqlite3_stmt *set =
		prepare(db, "UPDATE schedule SET next = ?2, high = ?3, left = ?4, failures = 0, owed = 0,"
			    " owed_since = 0 WHERE sid = ?1 AND rev = 1 AND high < ?3");
	sqlite3_stmt *begin = prepare(db, "BEGIN IMMEDIATE"), *commit = prepare(db, "COMMIT");
	double from = now();
	for (unsigned i = 0; i < CLAIMS; i++) {
		if (i % STORE_GROUP_MAX == 0)
			step(db, begin);
		struct st_req r = random_claim(&seed, held);
		bind(add, (const int64_t[]){ (int64_t)r.run.run, (int64_t)r.sid, r.run.nominal.us }, 3);
		step(db, add);
		bind(set, (const int64_t[]){ (int64_t)r.sid, r.move.next.us, r.move.high.us, r.move.left },
		     4);
		step(db, set);
		if (sqlite3_changes(db) != 1)
			die("bare loop", "a claim was lost");
		if (i % STORE_GROUP_MAX == STORE_GROUP_MAX - 1 || i == CLAIMS - 1)
			step(db, commit);
	}
	double took = now() - from;
	sqlite3_finalize(add);
	sqlite3_finalize(set);
	sqlite3_finalize(begin);
	sqlite3_finalize(commit);
	sqlite3_close(db);
	return CLAIMS / took;
}

static double bare_load(void)
{
	sqlite3 *db = bare_open();
	sqlite3_stmt *st = prepare(db, "SELECT * FROM schedule");
	struct count c = { 0 };
	double begin = now();
	while (sqlite3_step(st) == SQLITE_ROW) {
		for (int i = 0; i < 16; i++)
			c.sum += (uint64_t)sqlite3_column_int64(st, i);
		c.sum += *(const uint8_t *)sqlite3_column_blob(st, 16);
		c.schedules++;
	}
	if (c.schedules != MANY)
		die("bare load", "did not give all schedules");
	double took = now() - begin;
	sqlite3_finalize(st);
	sqlite3_close(db);
	return took;
}

/* --- figures --- */

/* Prints the best of several rounds. The rounds of the store and of the bare loop alternate, so that both
 * work on the same file. */
static void print_claims(const char *name, unsigned held)
{
	double ours = 0, peer = 0;
	for (uint64_t i = 0; i < ROUNDS; i++) {
		double a = our_claims(held, 2 * i), b = bare_claims(held, 2 * i + 1);
		ours = a > ours ? a : ours;
		peer = b > peer ? b : peer;
	}
	printf("{\"name\": \"%s\", \"ours\": %.0f, \"peer\": %.0f, \"ratio\": %.2f, \"unit\": "
	       "\"claims/s\"}\n",
	       name, ours, peer, ours / peer);
}

/* What the log of events costs while nobody follows: claims per second with the log, beside those without. */
static void print_log(const char *name, unsigned held, enum run_state state)
{
	double with[2 * ROUNDS], without[2 * ROUNDS], ours = 0, peer = 0;
	for (uint64_t i = 0; i < 2 * ROUNDS; i++) {
		with[i] = claims_of(open_store_with(true), held, 2 * i, state);
		without[i] = claims_of(open_store_with(false), held, 2 * i + 1, state);
		ours = with[i] > ours ? with[i] : ours;
		peer = without[i] > peer ? without[i] : peer;
	}
	printf("{\"name\": \"%s\", \"ours\": %.0f, \"peer\": %.0f, \"ratio\": %.3f, \"unit\": "
	       "\"claims/s\"}\n",
	       name, ours, peer, ours / peer);
}

static void print_load(void)
{
	double ours = 1e9, peer = 1e9;
	for (unsigned i = 0; i < ROUNDS; i++) {
		double a = our_load(), b = bare_load();
		ours = a < ours ? a : ours;
		peer = b < peer ? b : peer;
	}
	printf("{\"name\": \"store load 1000000\", \"ours\": %.3f, \"peer\": %.3f, \"ratio\": %.2f, "
	       "\"unit\": \"s\"}\n",
	       ours, peer, ours / peer);
}

int main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");
	snprintf(path, sizeof path, "%s/rota-bench-store-%d",
		 argc > 1 ? argv[1]
		 : tmp    ? tmp
			  : "/tmp",
		 (int)getpid());
	setvbuf(stdout, NULL, _IOLBF, 0);
	make_file(FEW);
	print_claims("store claims, 1000 held", FEW);
	print_log("store claims, events logged", FEW, RUN_CLAIMED);
	print_log("store claims, action event, events logged", FEW, RUN_FINISHED);
	make_file(MANY);
	print_load();
	print_claims("store claims, 1000000 held", MANY);
	remove_files();
	return 0;
}
