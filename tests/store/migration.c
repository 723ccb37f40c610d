/* Opening a database of an earlier version: every row is found again under the new names, numbers go on where
 * they were, and a migration that fails changes nothing. */
#include "dump.h"
#include "fixture.h"
#include "requests.h"
#include "store/sqlite/backup.h"
#include "store/sqlite/read/reader.h"
#include "store/sqlite/restore.h"
#include "store/sqlite/schema.h"
#include "test.h"

#include <unistd.h>

/* --- a database of an earlier version --- */

struct old_database {
	char dir[64], path[80];
};

static void read_fixture(const char *name, struct buf *ret)
{
	const char *dir = getenv("ROTA_FIXTURES");
	char path[512], part[4096];
	snprintf(path, sizeof path, "%s/%s", dir ? dir : "tests/store/fixtures", name);
	FILE *f = fopen(path, "r");
	if (!f) {
		perror(path);
		exit(1);
	}
	for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
		buf_add(ret, (struct str){ part, n });
	buf_addc(ret, 0);
	fclose(f);
}

static void old_database_make(struct old_database *d, unsigned version)
{
	struct buf rows = { 0 };
	char text[80];
	make_dir(d->dir, sizeof d->dir);
	snprintf(d->path, sizeof d->path, "%s/db", d->dir);
	snprintf(text, sizeof text, "version%u.sql", version);
	read_fixture(text, &rows);
	run_sql(d->path, "PRAGMA journal_mode = WAL");
	for (unsigned i = 0; i < version; i++)
		run_sql(d->path, schema_sql[i]);
	run_sql(d->path, rows.p);
	snprintf(text, sizeof text, "PRAGMA application_id = 0x726F7461; PRAGMA user_version = %u", version);
	run_sql(d->path, text);
	buf_free(&rows);
}

/* Undoes what versions 3 and 7 add, so that the other rows can be compared with those of version 2. */
static void undo_later_versions(const char *path)
{
	CHECK_INT(select_number(path, "SELECT count(*) FROM event"), 0);
	CHECK_INT(select_number(path, "SELECT value FROM meta WHERE key = 'last_event'"), 0);
	CHECK_INT(select_number(path, "SELECT count(*) FROM run WHERE reported <> 0"), 0);
	run_sql(path, "DROP TABLE event; ALTER TABLE run DROP COLUMN reported;"
		      "DELETE FROM meta WHERE key = 'last_event'");
	run_sql(path, "UPDATE run SET node = 0; ALTER TABLE schedule DROP COLUMN part; DROP TABLE part;"
		      "DROP TABLE secret; CREATE TABLE lease (part INTEGER, owner BLOB, epoch INTEGER, until "
		      "INTEGER);"
		      "INSERT INTO meta VALUES ('last_end', 1);"
		      "ALTER TABLE run DROP COLUMN retry; ALTER TABLE hold DROP COLUMN set_back_from");
}

static struct store *open_store(const char *path)
{
	struct store *s = NULL;
	struct why why = { 0 };
	if (!CHECK_INT(store_sqlite_open(path, &s, &why), OK))
		printf("%s\n", why.text);
	return s;
}

/* --- all rows, without the names of their columns --- */

static const char *new_name(const char *table)
{
	return strcmp(table, "notice") == 0 ? "message" : strcmp(table, "words") == 0 ? "run_text" : table;
}

static unsigned dump_table(sqlite3 *db, const char *table, struct buf *out)
{
	sqlite3_stmt *s = NULL;
	char sql[128];
	unsigned n = 0;
	snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY 1, 2", table);
	CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	for (; sqlite3_step(s) == SQLITE_ROW; n++) {
		buf_addf(out, "%s", new_name(table));
		for (int i = 0; i < sqlite3_column_count(s); i++)
			dump_column(s, i, out);
		buf_addc(out, '\n');
	}
	sqlite3_finalize(s);
	return n;
}

/* Tables of the full-text index are left out: they follow from the notes, and database_is_sound compares the
 * two. */
static void dump_all_tables(const char *path, struct buf *out)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	unsigned tables = 0;
	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_prepare_v2(
			  db,
			  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE"
			  " 'memory_words%' AND name NOT LIKE 'sqlite_%'"
			  " ORDER BY iif(name = 'notice', 'message', iif(name = 'words', 'run_text', name))",
			  -1, &s, NULL),
		  SQLITE_OK);
	for (; sqlite3_step(s) == SQLITE_ROW; tables++) {
		const char *table = (const char *)sqlite3_column_text(s, 0);
		unsigned rows = dump_table(db, table, out);
		test_case("table %s", table);
		/* The table lease is empty: it is for several nodes. */
		CHECK(rows > 0 || strcmp(table, "lease") == 0);
	}
	test_case(NULL);
	CHECK_INT(tables, 17);
	sqlite3_finalize(s);
	sqlite3_close(db);
}

TEST(every_row_of_version_1_is_found_again)
{
	struct old_database d;
	struct buf before = { 0 }, after = { 0 };
	old_database_make(&d, 1);
	dump_all_tables(d.path, &before);
	store_sqlite_close(open_store(d.path));
	CHECK_INT(select_number(d.path, "PRAGMA user_version"), schema_version);
	CHECK_INT(
		select_number(d.path, "SELECT count(*) FROM part WHERE part = 0 AND epoch = 0 AND node = 1"),
		1);
	CHECK_INT(select_number(d.path, "SELECT count(*) FROM run WHERE (state < 3) <> (node = 1)"), 0);
	CHECK_INT(select_number(d.path, "SELECT count(*) FROM schedule WHERE part <> 0"), 0);
	CHECK(database_is_sound(d.path));
	undo_later_versions(d.path);
	dump_all_tables(d.path, &after);
	CHECK_SAME(&after, &before);
	CHECK_INT(select_number(
			  d.path,
			  "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%notice%' OR name = 'words'"),
		  0);
	CHECK_INT(select_number(d.path, "SELECT count(*) FROM pragma_table_info('schedule')"
					" WHERE name IN ('checked', 'kept')"),
		  0);
	buf_free(&before);
	buf_free(&after);
	remove_dir(d.dir);
}

/* --- answers from the migrated database --- */

static struct st_ack ask_any(struct store *s, struct st_req r)
{
	struct st_ack ack = { 0 };
	CHECK_INT(store_sqlite_ops.submit(s, &r), OK);
	CHECK_INT(collect_answers(&store_sqlite_ops, s, &ack, 1), 1);
	return ack;
}

static struct st_ack ask(struct store *s, struct st_req r)
{
	struct st_ack ack = ask_any(s, r);
	CHECK_INT(ack.res, ST_OK);
	return ack;
}

TEST(numbers_go_on_after_a_migration)
{
	struct old_database d;
	const struct message_row message = { .origin = STR("o"), .target = STR("t"), .body = STR("b") };
	old_database_make(&d, 1);
	struct store *s = open_store(d.path);
	/* Number 6 was given out and pruned. */
	CHECK_INT(ask(s, (struct st_req){ .op = ST_MESSAGES,
					  .lane = LANE_FINISH,
					  .at = AT(2000),
					  .messages = { 0, &message, 1 } })
			  .message,
		  7);
	struct st_req problem = req_problem(PROBLEM_OPEN, 0, "new", 2000);
	problem.news = 1;
	CHECK_INT(ask(s, problem).problem, 3);
	CHECK_INT(select_number(d.path, "SELECT max(number) FROM news"), 8);
	struct buf load = { 0 };
	dump_load(&store_sqlite_ops, s, &load);
	CHECK(strstr(load.p, "done 4095 8\n"));
	buf_free(&load);
	store_sqlite_close(s);
	remove_dir(d.dir);
}

TEST(readers_find_what_version_1_wrote)
{
	struct old_database d;
	struct reader *r = NULL;
	struct arena a = { 0 };
	struct why why = { 0 };
	struct read_sched sched;
	struct read_messages messages;
	struct read_memories notes;
	struct read_agent agent;
	struct state_row state;
	bool gone = false;
	old_database_make(&d, 1);
	CHECK_INT(sqlite_reader_open(d.path, &r, &why), E_INPUT);
	CHECK(strstr(why.text, "version 1"));
	struct store *s = open_store(d.path);
	CHECK_INT(sqlite_reader_open(d.path, &r, &why), OK);
	CHECK_INT(read_sched(r, 5, &a, &sched, &why), OK);
	CHECK_INT(sched.row.next_set_at.us, 19);
	CHECK(str_eq(sched.id, STR("daily")) && str_eq(sched.document, STR("{\"when\":\"hourly\"}")));
	CHECK_INT(read_messages(r, 0, 0, &a, &messages, &why), OK);
	CHECK(messages.n == 5 && messages.item[4].tried_at.us == 55 && messages.item[1].joined == 3);
	CHECK_INT(read_receiver_gone(r, STR("schedule:daily"), &gone, &why), OK);
	CHECK(gone);
	CHECK_INT(read_memories_about(r, STR("desk"), STR("invoice"), 0, 0, &a, &notes, &why), OK);
	CHECK(notes.n == 1 && notes.item[0].row.number == 1);
	CHECK_INT(read_agent(r, STR("desk"), &a, &agent, &why), OK);
	CHECK(str_eq(agent.text, STR("{\"name\":\"desk\"}")) && agent.source.line == 7);
	CHECK_INT(read_state(r, STR("desk"), &a, &state, &why), OK);
	CHECK(str_eq(state.text, STR("{\"a\":1}")) && state.rev == 1);
	reader_close(r);
	arena_free(&a);
	store_sqlite_close(s);
	remove_dir(d.dir);
}

/* --- the index of notes, which triggers kept up to version 4 --- */

static struct st_req req_note(enum memory_act act, uint64_t number, uint64_t run, const char *text)
{
	return (struct st_req){ .op = ST_MEMORY,
				.lane = LANE_USER,
				.at = AT(3000),
				.memory = { .act = (uint8_t)act,
					    .number = number,
					    .run = run,
					    .agent = STR("desk"),
					    .text = str_of(text) } };
}

TEST(the_writer_keeps_the_index_of_notes)
{
	struct old_database d;
	old_database_make(&d, 1);
	CHECK_INT(select_number(d.path, "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'"), 2);
	struct store *s = open_store(d.path);
	CHECK_INT(select_number(d.path, "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'"), 0);
	CHECK_INT(ask(s, req_note(MEMORY_ADD, 0, 5, "a lighthouse")).note, 4); /* 3 was removed */
	CHECK(database_is_sound(d.path));
	CHECK_INT(
		select_number(d.path, "SELECT rowid FROM memory_words WHERE memory_words MATCH 'lighthouse'"),
		4);
	/* Note 1 is of version 1. */
	ask(s, req_note(MEMORY_REMOVE, 1, 0, ""));
	CHECK(database_is_sound(d.path));
	ask(s, req_note(MEMORY_REMOVE_RUN, 0, 5, ""));
	CHECK(database_is_sound(d.path));
	CHECK_INT(select_number(d.path, "SELECT count(*) FROM memory"), 1);
	CHECK_INT(select_number(d.path, "SELECT count(*) FROM memory_words WHERE memory_words"
					" MATCH 'lighthouse OR invoice'"),
		  0);
	store_sqlite_close(s);
	remove_dir(d.dir);
}

/* The comparison of the schema is over when the store is open. A trigger that is added later cannot
 * write to virtual tables: the request fails. */
TEST(the_schema_is_not_trusted_by_the_writer)
{
	struct old_database d;
	old_database_make(&d, 1);
	struct store *s = open_store(d.path);
	run_sql(d.path, "CREATE TRIGGER evil AFTER INSERT ON memory BEGIN"
			" INSERT INTO memory_words (rowid, text) VALUES (99, 'evil'); END");
	CHECK(ask_any(s, req_note(MEMORY_ADD, 0, 0, "a lighthouse")).res != ST_OK);
	CHECK_INT(select_number(d.path, "SELECT count(*) FROM memory"), 2);
	run_sql(d.path, "DROP TRIGGER evil");
	CHECK(database_is_sound(d.path));
	store_sqlite_close(s);
	remove_dir(d.dir);
}

/* --- a database that a daemon of version 2 wrote --- */

/* The ends of all schedules were numbered together; those of `leader` are 4 and 7. `behind` has acted on
 * both, and `late` was put after both, when the last end of all was 11. The next end of `leader` is new to
 * both. */
TEST(followers_of_version_2_act_on_the_next_end)
{
	struct old_database d;
	struct buf load = { 0 };
	old_database_make(&d, 2);
	struct store *s = open_store(d.path);
	CHECK_INT(select_number(d.path, "SELECT count(*) FROM schedule WHERE after = 2 AND seen = 7"), 2);
	CHECK_INT(select_number(d.path, "SELECT count(*) FROM schedule WHERE after = 0 AND seen <> 0"), 0);
	CHECK_INT(select_number(d.path, "SELECT node FROM run WHERE run = 12"), 1); /* it is running */
	dump_load(&store_sqlite_ops, s, &load);
	CHECK(!strstr(load.p, "\nfor "));
	buf_free(&load);
	struct st_req r = req_occ(2, 1, 13, 1795082400000000);
	r.run.state = RUN_FINISHED;
	CHECK_INT(ask(s, r).end, 8);
	dump_load(&store_sqlite_ops, s, &load);
	CHECK(strstr(load.p, "\nfor 3 end 13 2 ") && strstr(load.p, "\nfor 6 end 13 2 "));
	buf_free(&load);
	/* Ends of others go on from their own last number. */
	CHECK_INT(ask(s, req_finish(5, 12, 1, RUN_FINISHED, 1795082400000000)).end, 1);
	struct st_req numbers = { .op = ST_NUMBERS, .lane = LANE_USER };
	numbers.numbers = (struct numbers_request){ NUMBER_RUN, 10 };
	CHECK_INT(ask(s, numbers).first, 14);
	store_sqlite_close(s);
	CHECK(database_is_sound(d.path));
	remove_dir(d.dir);
}

/* --- a database that a daemon of version 5 wrote --- */

static struct st_req req_name(uint8_t kind, uint32_t number, const char *text)
{
	return (struct st_req){ .op = ST_NAME, .lane = LANE_USER, .name = { kind, number, str_of(text) } };
}

/* Names get an index by their texts. One name is given a second number, as if two nodes had named it. */
TEST(names_of_version_5_keep_their_numbers)
{
	struct old_database d;
	old_database_make(&d, 5);
	int64_t names = select_number(d.path, "SELECT count(*) FROM name");
	run_sql(d.path, "INSERT INTO name VALUES (2, 900, 'key:deploy')");
	struct store *s = open_store(d.path);
	CHECK_INT(select_number(d.path, "PRAGMA user_version"), schema_version);
	static const struct {
		uint8_t kind;
		uint32_t number;
		const char *text;
	} rows[] = { { 0, 1, "Europe/Berlin" },
		     { 0, 2, "Asia/Tokyo" },
		     { 1, 1, "22405,22638" },
		     { 2, 1, "key:deploy" },
		     { 2, 2, "key:release" } };
	CHECK_INT(names, ARRAY_LEN(rows));
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		test_case("%s", rows[i].text);
		struct st_ack ack = ask_any(s, req_name(rows[i].kind, 77, rows[i].text));
		CHECK(ack.res == ST_LOST && ack.name == rows[i].number);
	}
	test_case(NULL);
	CHECK_INT(ask(s, req_name(2, 901, "key:new")).name, 901);
	CHECK_INT(select_number(d.path, "SELECT count(*) FROM name"), names + 2);
	struct st_req numbers = { .op = ST_NUMBERS, .lane = LANE_USER };
	numbers.numbers = (struct numbers_request){ NUMBER_NAME + 2, 10 };
	CHECK_INT(ask(s, numbers).first, 902);
	store_sqlite_close(s);
	CHECK(database_is_sound(d.path));
	remove_dir(d.dir);
}

/* A database of the version before the log of events: its rows stay, and the log begins with the next change.
 */
TEST(version_7_gets_an_empty_log)
{
	struct old_database d;
	struct reader *r = NULL;
	struct arena a = { 0 };
	struct read_events log = { 0 };
	struct why why = { 0 };
	old_database_make(&d, 2);
	for (unsigned i = 2; i < 7; i++)
		run_sql(d.path, schema_sql[i]);
	run_sql(d.path, "PRAGMA user_version = 7");
	int64_t runs = select_number(d.path, "SELECT sum(run * state) FROM run");
	struct store *s = open_store(d.path);
	CHECK_INT(select_number(d.path, "SELECT sum(run * state) FROM run"), runs);
	CHECK_INT(store_sqlite_ops.reader(s, &r, &why), OK);
	CHECK_INT(read_events(r, &(struct event_filter){ 0 }, &a, &log, &why), OK);
	CHECK(log.n == 0 && log.oldest == 1 && log.last == 0);
	/* The end of a run that is older than the log. */
	CHECK_INT(ask(s, req_finish(5, 12, 1, RUN_FINISHED, 1795082400000000)).event, 2);
	CHECK_INT(read_events(r, &(struct event_filter){ 0 }, &a, &log, &why), OK);
	CHECK(log.n == 2 && log.item[0].type == EVENT_RUN_FINISHED && log.item[0].run == 12);
	reader_close(r);
	arena_free(&a);
	store_sqlite_close(s);
	CHECK(database_is_sound(d.path));
	remove_dir(d.dir);
}

/* --- one transaction --- */

/* A view with the name of a new table would make one of the last statements fail. It is found before the
 * first one. */
TEST(a_database_that_cannot_be_migrated_stays_as_it_is)
{
	struct old_database d;
	struct store *s = NULL;
	struct why why = { 0 };
	struct buf before = { 0 }, after = { 0 };
	old_database_make(&d, 1);
	dump_all_tables(d.path, &before);
	run_sql(d.path, "CREATE VIEW message AS SELECT 1");
	CHECK_INT(store_sqlite_open(d.path, &s, &why), E_INPUT);
	CHECK(strstr(why.text, d.path) && strstr(why.text, "view message"));
	CHECK_INT(select_number(d.path, "PRAGMA user_version"), 1);
	CHECK_INT(select_number(d.path, "SELECT max(checked) FROM schedule"), 19);
	run_sql(d.path, "DROP VIEW message");
	dump_all_tables(d.path, &after);
	CHECK_SAME(&after, &before);
	store_sqlite_close(open_store(d.path));
	buf_free(&before);
	buf_free(&after);
	remove_dir(d.dir);
}

/* --- backups --- */

TEST(a_backup_of_version_1_is_migrated_when_it_is_restored)
{
	struct old_database d;
	struct buf before = { 0 }, after = { 0 };
	char file[96], generation[96], aside[128];
	uint64_t bytes = 0;
	struct why why = { 0 };
	old_database_make(&d, 1);
	snprintf(file, sizeof file, "%s/backup", d.dir);
	snprintf(generation, sizeof generation, "%s/generation", d.dir);
	CHECK_INT(backup_make(d.path, file, &bytes, &why), OK);
	CHECK_INT(select_number(file, "PRAGMA user_version"), 1);
	struct restore_request q = { .database = d.path, .generation = generation, .now = AT(1000) };
	CHECK_INT(restore_backup(&q, file, aside, sizeof aside, &why), OK);
	CHECK_INT(select_number(d.path, "PRAGMA user_version"), schema_version);
	run_sql(file, "DELETE FROM meta"); /* a restore writes there */
	/* Empty, but numbered from the time of the restore on: see restore_mark. */
	CHECK_INT(select_number(d.path, "SELECT value FROM meta WHERE key = 'last_event'"), 1000);
	run_sql(d.path, "UPDATE meta SET value = 0 WHERE key = 'last_event'");
	undo_later_versions(d.path);
	run_sql(d.path, "DELETE FROM meta");
	run_sql(file, "INSERT INTO meta VALUES ('x', 0)");
	run_sql(d.path, "INSERT INTO meta VALUES ('x', 0)");
	dump_all_tables(file, &before);
	dump_all_tables(d.path, &after);
	CHECK_SAME(&after, &before);
	buf_free(&before);
	buf_free(&after);
	remove_dir(d.dir);
}
