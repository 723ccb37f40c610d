/* Backups under load, and the detection of a database that was replaced by an older copy. */
#include "store/sqlite/backup.h"
#include "fixture.h"
#include "requests.h"
#include "store/sqlite/restore.h"
#include "store/sqlite/store.h"
#include "test.h"

#include <sqlite3.h>
#include <unistd.h>

/* --- the number of openings --- */

struct home {
	struct fixture store;
	char generation[96];
};

static void home_open(struct home *p)
{
	fixture_open(&p->store, FIXTURE_SQLITE);
	snprintf(p->generation, sizeof p->generation, "%s/generation", p->store.dir);
}

static struct restore_state detect(struct home *p, uint64_t last_run, int64_t now)
{
	struct restore_request q = { p->store.path, p->generation, last_run, AT(now) };
	struct restore_state state = { 0 };
	struct why why = { 0 };
	if (!CHECK_INT(restore_detect(&q, &state, &why), OK))
		printf("%s\n", why.text);
	return state;
}

static void write_generation(const struct home *p, const char *text)
{
	FILE *f = fopen(p->generation, "w");
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static void keep_done(void *ctx, const struct load_item *item)
{
	if (item->kind == LOAD_DONE)
		*(struct load_item *)ctx = *item;
}

TEST(a_database_that_was_put_back_is_detected)
{
	static const struct {
		int line;
		const char *beside; /* content of the generation file after three openings; NULL: the file was
				       removed */
		uint64_t last_run;
		bool older;
	} rows[] = {
		{ __LINE__, "3\n", 7, false }, { __LINE__, "2\n", 0, false }, /* as if the file could not be
										 written */
		{ __LINE__, "4\n", 0, true },  { __LINE__, NULL, 0, true },   { __LINE__, "3\n", 8, true },
		{ __LINE__, "", 0, true },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct home p;
		struct load_item done = { 0 };
		test_case("line %d", rows[i].line);
		home_open(&p);
		fixture_ask(&p.store, req_put(5, 0, 10));
		fixture_ask(&p.store, req_occ(5, 1, 7, 100));
		for (unsigned n = 0; n < 3; n++)
			CHECK(!detect(&p, 7, 500).older);
		if (rows[i].beside)
			write_generation(&p, rows[i].beside);
		else
			unlink(p.generation);
		struct restore_state state = detect(&p, rows[i].last_run, 1000);
		CHECK_INT(state.older, rows[i].older);
		CHECK_INT(state.unknown_runs, rows[i].older);
		CHECK_INT(state.restored.us, rows[i].older ? 1000 : 0);
		CHECK_INT(state.restored_run, rows[i].older ? 7 : 0);
		CHECK_INT(p.store.ops->load(p.store.store, keep_done, &done), OK);
		CHECK_INT(done.done.last_run, rows[i].older ? 4095 : 7);
		CHECK_INT(done.done.restored.us, state.restored.us);
		CHECK_INT(done.done.restored_run, state.restored_run);
		/* It is reported only once. */
		uint64_t last = rows[i].older ? 4095 : 7;
		state = detect(&p, last, 2000);
		CHECK(!state.older && state.unknown_runs == rows[i].older);
		struct why why;
		CHECK_INT(restore_clear_unknown_runs(p.store.path, &why), OK);
		CHECK(!detect(&p, last, 3000).unknown_runs);
		fixture_close(&p.store);
	}
}

TEST(a_restore_after_a_step_back_of_the_clock_keeps_the_earlier_mark)
{
	struct home p;
	home_open(&p);
	fixture_ask(&p.store, req_put(5, 0, 10));
	CHECK(!detect(&p, 0, 500).older);
	write_generation(&p, "9\n");
	CHECK_INT(detect(&p, 0, 1000).restored.us, 1000);
	write_generation(&p, "99\n");
	struct restore_state state = detect(&p, 0, 900);
	CHECK(state.older);
	CHECK_INT(state.restored.us, 1000);
	fixture_close(&p.store);
}

TEST(a_new_database_is_not_older)
{
	struct home p;
	home_open(&p);
	write_generation(&p, "7\n"); /* left from a removed database */
	CHECK(!detect(&p, 0, 1000).older);
	CHECK(!detect(&p, 0, 1000).older);
	fixture_close(&p.store);
	/* If there are run files, a new database counts as older, because the numbers of these runs must not
	 * be reused. */
	home_open(&p);
	CHECK(detect(&p, 4096, 1000).older);
	struct load_item done = { 0 };
	CHECK_INT(p.store.ops->load(p.store.store, keep_done, &done), OK);
	CHECK_INT(done.done.last_run, 8191);
	fixture_close(&p.store);
}

/* If the file cannot be written, the first opening is not counted: a number without a file would look like a
 * database from another directory. */
TEST(a_generation_file_that_cannot_be_written)
{
	struct home p;
	home_open(&p);
	char good[96];
	memcpy(good, p.generation, sizeof good);
	snprintf(p.generation, sizeof p.generation, "%s/no/generation", p.store.dir);
	for (unsigned i = 0; i < 3; i++)
		CHECK(!detect(&p, 0, 1000).older);
	memcpy(p.generation, good, sizeof good);
	CHECK(!detect(&p, 0, 1000).older);
	CHECK(!detect(&p, 0, 1000).older);
	fixture_close(&p.store);
}

/* --- backups --- */

/* Each run has moved its schedule, so a backup of one moment shows both changes or neither. */
TEST(a_backup_under_load_shows_one_moment)
{
	struct fixture f;
	char file[128];
	uint64_t next = 0, bytes, backups = 0;
	unsigned under_way = 0;
	struct st_ack ack[512];
	struct why why = { 0 };
	fixture_open(&f, FIXTURE_SQLITE);
	for (uint64_t sid = 1; sid <= 200; sid++)
		fixture_ask(&f, req_put(sid, 0, 10));
	while (backups < 5) {
		for (; under_way < 400; under_way++) {
			uint64_t sid = ++next % 200 + 1;
			struct st_req r =
				moving(req_occ(sid, 1, next, 100 + (int64_t)next), 1, 100 + (int64_t)next);
			r.tag = next;
			CHECK_INT(f.ops->submit(f.store, &r), OK);
		}
		snprintf(file, sizeof file, "%s/backup-%llu", f.dir, (unsigned long long)backups++);
		if (!CHECK_INT(backup_make(f.path, file, &bytes, &why), OK))
			printf("%s\n", why.text);
		under_way -= collect_answers(f.ops, f.store, ack, under_way);
		CHECK(database_is_sound(file));
		sqlite3 *db = NULL;
		sqlite3_stmt *s = NULL;
		CHECK_INT(sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
		CHECK_INT(sqlite3_prepare_v2(
				  db,
				  "SELECT count(*) FROM schedule s WHERE high <> ifnull((SELECT max(nominal)"
				  " FROM run r WHERE r.sid = s.sid), 0)",
				  -1, &s, NULL),
			  SQLITE_OK);
		CHECK_INT(sqlite3_step(s), SQLITE_ROW);
		CHECK_INT(sqlite3_column_int64(s, 0), 0);
		sqlite3_finalize(s);
		sqlite3_close(db);
	}
	fixture_close(&f);
}

/* --- the key of run tokens --- */

struct loaded_key {
	bool found;
	uint8_t bytes[STORE_KEY_BYTES];
};

static void keep_key(void *ctx, const struct load_item *item)
{
	struct loaded_key *key = ctx;
	if (item->kind != LOAD_KEY)
		return;
	key->found = true;
	memcpy(key->bytes, item->key, sizeof key->bytes);
}

static struct loaded_key load_key(struct fixture *f)
{
	struct loaded_key key = { 0 };
	CHECK_INT(f->ops->load(f->store, keep_key, &key), OK);
	return key;
}

static void store_key(struct fixture *f, uint8_t byte)
{
	struct st_req r = { .op = ST_KEY, .lane = LANE_USER };
	memset(r.key, byte, sizeof r.key);
	CHECK_INT(fixture_ask(f, r).res, ST_OK);
}

/* Tokens that can be computed from a backup must be worth nothing where it is restored. */
TEST(a_restored_database_has_the_key_of_its_directory)
{
	struct fixture from, to;
	char file[128], generation[128], aside[256];
	uint64_t bytes;
	struct why why = { 0 };
	fixture_open(&from, FIXTURE_SQLITE);
	store_key(&from, 1);
	snprintf(file, sizeof file, "%s/backup", from.dir);
	CHECK_INT(backup_make(from.path, file, &bytes, &why), OK);
	for (unsigned has_key = 0; has_key < 2; has_key++) {
		test_case("the replaced database has %s key", has_key ? "a" : "no");
		fixture_open(&to, FIXTURE_SQLITE);
		if (has_key)
			store_key(&to, 2);
		store_sqlite_close(to.store);
		snprintf(generation, sizeof generation, "%s/generation", to.dir);
		struct restore_request q = { to.path, generation, 0, AT(1000) };
		if (!CHECK_INT(restore_backup(&q, file, aside, sizeof aside, &why), OK))
			printf("%s\n", why.text);
		struct store *store = NULL;
		CHECK_INT(store_sqlite_open(to.path, &store, &why), OK);
		to.store = store;
		struct loaded_key key = load_key(&to);
		CHECK_INT(key.found, has_key);
		CHECK_INT(key.bytes[0], has_key ? 2 : 0);
		fixture_close(&to);
	}
	CHECK_INT(load_key(&from).bytes[0], 1);
	fixture_close(&from);
}
