/* Opening a reader, and damaged files. */
#include "reader.h"
#include "store/sqlite/schema.h"

#include <sys/stat.h>
#include <unistd.h>

static void expect_refused_at(int line, const char *path, enum err want, const char *say)
{
	struct reader *r = (void *)1;
	struct why why = { 0 };
	CHECK_INT_AT(line, sqlite_reader_open(path, &r, &why), want);
	CHECK_AT(line, r == (void *)1); /* untouched */
	if (!CHECK_AT(line, strstr(why.text, say) && strstr(why.text, path)))
		printf("%s\n", why.text);
}
#define EXPECT_REFUSED(path, want, say) expect_refused_at(__LINE__, path, want, say)

static void write_junk(const char *path, off_t from, size_t n)
{
	FILE *f = fopen(path, from ? "r+" : "w");
	CHECK(f && fseek(f, from, SEEK_SET) == 0);
	for (size_t i = 0; f && i < n; i++)
		fputc(0xA5, f);
	if (f)
		fclose(f);
}

TEST(reader_open_refuses_what_it_cannot_read)
{
	struct stat st;
	struct fixture f;
	char other[96], text[64];
	fixture_open(&f, FIXTURE_SQLITE);
	snprintf(other, sizeof other, "%s/other", f.dir);
	EXPECT_REFUSED(other, E_IO, "No such file or directory");
	CHECK(stat(other, &st) != 0); /* no file was created */
	write_junk(other, 0, 8192);
	EXPECT_REFUSED(other, E_INPUT, "is not a database");
	unlink(other);
	run_sql(other, "CREATE TABLE notes (text)");
	EXPECT_REFUSED(other, E_INPUT, "another program");
	unlink(other);
	run_sql(other, "PRAGMA journal_mode = WAL"); /* created and left empty */
	EXPECT_REFUSED(other, E_INPUT, "must be migrated");
	snprintf(text, sizeof text, "PRAGMA user_version = %u", schema_version + 1);
	run_sql(f.path, text);
	EXPECT_REFUSED(f.path, E_INPUT, "use the newer");
	run_sql(f.path, "PRAGMA user_version = 0");
	EXPECT_REFUSED(f.path, E_INPUT, "must be migrated");
	reader_close(NULL);
	fixture_close(&f);
}

TEST(reader_open_reports_damage)
{
	struct fixture f;
	fixture_open(&f, FIXTURE_SQLITE);
	for (uint64_t i = 1; i < 200; i++)
		fixture_ask(&f, (struct st_req){ .op = ST_HOLD, .hold = { (uint32_t)i, 1, AT(1) } });
	store_sqlite_close(f.store);
	write_junk(f.path, 100, 4096 - 100);
	EXPECT_REFUSED(f.path, E_IO, "malformed");
	remove_dir(f.dir);
}

TEST(damage_is_reported_by_a_query)
{
	struct scene s;
	struct read_scheds list = { .n = 77 };
	struct stat st;
	static char large[500];
	memset(large, 'x', sizeof large - 1);
	scene_open(&s);
	for (uint64_t i = 1; i <= 2000; i++) {
		char id[32];
		snprintf(id, sizeof id, "s%llu", (unsigned long long)i);
		scene_put(&s, i, id, large);
	}
	reader_close(s.r);
	store_sqlite_close(s.f.store);
	CHECK(stat(s.f.path, &st) == 0);
	scene_open_reader(&s);
	write_junk(s.f.path, st.st_size / 4 / 4096 * 4096, (size_t)st.st_size * 3 / 4 - 4096);
	CHECK_INT(read_scheds(s.r, STR(""), 0, &s.a, &list, &s.why), E_IO);
	CHECK_INT(list.n, 77); /* untouched */
	CHECK(strstr(s.why.text, "malformed") && strstr(s.why.text, s.f.path));
	reader_close(s.r);
	arena_free(&s.a);
	remove_dir(s.f.dir);
}

TEST(a_reader_cannot_write)
{
	struct scene s;
	scene_open(&s);
	CHECK_INT(sqlite3_exec(sqlite_reader_of(s.r)->db, "DELETE FROM hold", NULL, NULL, NULL) & 0xFF,
		  SQLITE_READONLY);
	scene_close(&s);
}
