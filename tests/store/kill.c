/* A process is killed by SIGKILL during its work, many times. Afterwards every answered request must be in
 * the database, and the database must be sound. A child process submits requests and writes the tags of the
 * answers into a pipe until it is killed. */
#include "fixture.h"
#include "requests.h"
#include "test.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLS = 20, AHEAD = 200 };

static void keep_last_run(void *ctx, const struct load_item *item)
{
	if (item->kind == LOAD_DONE)
		*(uint64_t *)ctx = item->done.last_run;
}

/* Request n: schedule n / 2 + 1 if n is odd, else run n / 2 of schedule n / 2. */
static struct st_req request(uint64_t n)
{
	static char id[32]; /* the store copies it when the request is submitted */
	struct st_req r;
	if (n % 2) {
		r = req_put(n / 2 + 1, 0, 10);
		snprintf(id, sizeof id, "id-%llu", (unsigned long long)r.sid);
		r.id = str_of(id);
		r.document = STR("a document that takes some room in its page, as they do");
		r.lane = LANE_CLAIM;
	} else {
		r = moving(req_occ(n / 2, 1, n / 2, 100), 200, 100);
	}
	r.tag = n;
	return r;
}

static void run_child(const char *path, int pipe)
{
	static const struct store_tuning small = {
		.group = 64, .checkpoint = 64, .wal_lull = 128, .lull_ms = 1, .wal_max = 400
	};
	struct store *s;
	struct why why;
	uint64_t last = 0, under_way = 0;
	if (store_sqlite_open_tuned(path, &small, &s, &why) != OK ||
	    store_sqlite_ops.load(s, keep_last_run, &last) != OK)
		_exit(1);
	for (uint64_t next = 2 * last + 1;;) {
		for (; under_way < AHEAD; under_way++, next++) {
			struct st_req r = request(next);
			if (store_sqlite_ops.submit(s, &r) != OK)
				_exit(1);
		}
		struct st_ack ack;
		if (collect_answers(&store_sqlite_ops, s, &ack, 1) != 1 || ack.res != ST_OK)
			_exit(1);
		under_way--;
		if (write(pipe, &ack.tag, sizeof ack.tag) != sizeof ack.tag)
			_exit(1);
	}
}

/* Starts a child, kills it after `after` microseconds, and returns the largest tag that it answered. */
static uint64_t run_and_kill(const char *path, useconds_t after, unsigned *answers)
{
	int fd[2];
	uint64_t tag, largest = 0;
	if (pipe(fd) != 0)
		abort();
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		close(fd[0]);
		run_child(path, fd[1]);
	}
	close(fd[1]);
	/* The time begins with the first answer. Otherwise the first kills would only happen while the
	 * database is opened. */
	bool first = true;
	while (read(fd[0], &tag, sizeof tag) == sizeof tag) {
		largest = tag > largest ? tag : largest;
		++*answers;
		if (first) {
			usleep(after);
			CHECK_INT(kill(pid, SIGKILL), 0);
		}
		first = false;
	}
	int status;
	waitpid(pid, &status, 0);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	close(fd[0]);
	return largest;
}

/* Tags are answered in order: all up to the largest must be stored. */
static void check_rows(const char *path, uint64_t largest)
{
	static const char *const sql =
		"SELECT (SELECT count(*) FROM schedule WHERE sid <= ?1),"
		" (SELECT count(*) FROM document WHERE sid <= ?1 AND id = 'id-' || sid),"
		" (SELECT count(*) FROM run JOIN schedule USING (sid) WHERE run <= ?2 AND high = 100),"
		" (SELECT count(*) FROM schedule WHERE high = 100) - (SELECT count(*) FROM run)";
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	sqlite3_bind_int64(s, 1, (int64_t)(largest + 1) / 2);
	sqlite3_bind_int64(s, 2, (int64_t)largest / 2);
	CHECK_INT(sqlite3_step(s), SQLITE_ROW);
	CHECK_INT(sqlite3_column_int64(s, 0), (largest + 1) / 2);
	CHECK_INT(sqlite3_column_int64(s, 1), (largest + 1) / 2);
	CHECK_INT(sqlite3_column_int64(s, 2), largest / 2);
	CHECK_INT(sqlite3_column_int64(s, 3),
		  0); /* each run has moved its schedule, and each move has its run */
	sqlite3_finalize(s);
	sqlite3_close(db);
}

TEST(killed_many_times)
{
	char dir[64], path[80];
	uint64_t seed = 1, largest = 0;
	unsigned answers = 0;
	make_dir(dir, sizeof dir);
	snprintf(path, sizeof path, "%s/db", dir);
	for (unsigned i = 0; i < KILLS; i++) {
		test_case("kill %u", i);
		uint64_t answered = run_and_kill(path, (useconds_t)(test_random(&seed) % 30000), &answers);
		largest = answered > largest ? answered : largest;
		CHECK(answered > 0);
		CHECK(database_is_sound(path));
		check_rows(path, largest);
	}
	if (getenv("SHOW"))
		printf("%u answers, %d kills\n", answers, KILLS);
	remove_dir(dir);
}
