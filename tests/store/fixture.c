/* Opens, closes and asks a store under test, and makes files for it. */
#include "fixture.h"
#include "dump.h"
#include "test.h"

#include <dirent.h>
#include <poll.h>
#include <sqlite3.h>
#include <unistd.h>

const char *fixture_name(enum fixture_kind kind)
{
	static const char *const names[] = { [FIXTURE_MODEL] = "model", [FIXTURE_SQLITE] = "sqlite" };
	return names[kind];
}

static void open_sqlite(struct fixture *f)
{
	struct why why = { 0 };
	struct store *s = NULL;
	if (store_sqlite_open(f->path, &s, &why) != OK) {
		printf("%s\n", why.text);
		abort();
	}
	f->store = s;
}

void fixture_open(struct fixture *f, enum fixture_kind kind)
{
	*f = (struct fixture){ .kind = kind };
	f->ops = kind == FIXTURE_MODEL ? &model_store_ops : &store_sqlite_ops;
	if (kind == FIXTURE_MODEL) {
		f->store = model_store_new(model_new());
		return;
	}
	make_dir(f->dir, sizeof f->dir);
	snprintf(f->path, sizeof f->path, "%s/db", f->dir);
	open_sqlite(f);
}

void fixture_reopen(struct fixture *f)
{
	if (f->kind == FIXTURE_MODEL) {
		struct model_store *old = f->store;
		struct model *model = model_clone(old->model);
		model_forget_numbers(model);
		f->store = model_store_new(model);
		model_store_free(old);
	} else {
		store_sqlite_close(f->store);
		open_sqlite(f);
	}
}

void fixture_close(struct fixture *f)
{
	if (f->kind == FIXTURE_MODEL) {
		model_store_free(f->store);
		return;
	}
	store_sqlite_close(f->store);
	remove_dir(f->dir);
}

unsigned collect_answers(const struct store_ops *ops, void *store, struct st_ack *ret, unsigned n)
{
	unsigned got = 0;
	while (got < n) {
		struct pollfd p = { .fd = ops->fd(store), .events = POLLIN };
		if (p.fd >= 0 && poll(&p, 1, 10000) != 1)
			break;
		unsigned some = ops->collect(store, ret + got, n - got);
		if (!some && p.fd < 0)
			break;
		got += some;
	}
	return got;
}

struct st_ack fixture_ask(struct fixture *f, struct st_req r)
{
	struct st_ack ack = { 0 };
	r.tag = ++f->tags;
	if (!CHECK(f->ops->submit(f->store, &r) == OK) ||
	    !CHECK_INT(collect_answers(f->ops, f->store, &ack, 1), 1)) {
		printf("the store does not answer\n");
		abort();
	}
	CHECK_INT(ack.tag, r.tag);
	CHECK_INT(ack.op, r.op);
	return ack;
}

void fixture_dump(struct fixture *f, struct buf *out)
{
	if (f->kind == FIXTURE_MODEL)
		dump_model(((struct model_store *)f->store)->model, out);
	else
		dump_sqlite(f->path, out);
}

/* --- files --- */

bool database_is_sound(const char *path)
{
	sqlite3 *db = open_database(path);
	sqlite3_stmt *s = NULL;
	bool ok = sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &s, NULL) == SQLITE_OK &&
		  sqlite3_step(s) == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(s, 0), "ok") == 0;
	if (!ok)
		printf("%s: %s\n", path,
		       s && sqlite3_column_text(s, 0) ? (const char *)sqlite3_column_text(s, 0)
						      : sqlite3_errmsg(db));
	sqlite3_finalize(s);
	/* The pragma does not compare the full-text index with the notes. */
	bool same = sqlite3_exec(
			    db, "INSERT INTO memory_words (memory_words, rank) VALUES ('integrity-check', 1)",
			    NULL, NULL, NULL) == SQLITE_OK;
	if (!same)
		printf("%s: %s\n", path, sqlite3_errmsg(db));
	sqlite3_close(db);
	return ok && same;
}

void run_sql(const char *path, const char *text)
{
	sqlite3 *db = NULL;
	char *message = NULL;
	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	if (!CHECK_INT(sqlite3_exec(db, text, NULL, NULL, &message), SQLITE_OK))
		printf("%s\n", message);
	sqlite3_free(message);
	sqlite3_close(db);
}

int64_t select_number(const char *path, const char *sql)
{
	sqlite3 *db = open_database(path);
	sqlite3_stmt *s = NULL;
	int64_t n = -1;
	CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	if (CHECK_INT(sqlite3_step(s), SQLITE_ROW))
		n = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
	return n;
}

void make_dir(char *ret, size_t size)
{
	const char *tmp = getenv("TMPDIR");
	snprintf(ret, size, "%s/rota-store-XXXXXX", tmp && strlen(tmp) < 32 ? tmp : "/tmp");
	if (!mkdtemp(ret)) {
		perror(ret);
		exit(1);
	}
}

void remove_dir(const char *dir)
{
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d));)
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(dir);
}
