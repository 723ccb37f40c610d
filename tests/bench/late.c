/* The peer of the daemon's lateness: a heap of times, one timer, and for all that is due one transaction with
 * the two writes of a claim. Prints milliseconds from due to durable, and its CPU time.
 *
 * usage: bench_late SCHEDULES SECONDS DATABASE [PERIOD]     (each is due once in PERIOD seconds, default 60)
 */
#include "core/engine/heap.h"
#include "sys/clock.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

static void must(int rc, sqlite3 *db)
{
	if (rc != SQLITE_OK && rc != SQLITE_DONE) {
		fprintf(stderr, "bench_late: %s\n", sqlite3_errmsg(db));
		exit(1);
	}
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	if (argc != 4 && argc != 5)
		return 2;
	unsigned n = (unsigned)atoi(argv[1]), seconds = (unsigned)atoi(argv[2]);
	int64_t period = (argc > 4 ? atoi(argv[4]) : 60) * USEC;
	sqlite3 *db;
	sqlite3_stmt *insert, *update;
	struct heap heap = { 0 };
	must(sqlite3_open(argv[3], &db), db);
	must(sqlite3_exec(
		     db,
		     "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
		     "CREATE TABLE schedule (sid INTEGER PRIMARY KEY, next INTEGER, high INTEGER, rules "
		     "BLOB);"
		     "CREATE TABLE run (run INTEGER PRIMARY KEY, sid INTEGER, nominal INTEGER, state INTEGER,"
		     " claimed INTEGER); CREATE UNIQUE INDEX run_occurrence ON run (sid, nominal); BEGIN",
		     NULL, NULL, NULL),
	     db);
	must(sqlite3_prepare_v2(db, "INSERT INTO run (sid, nominal, state, claimed) VALUES (?1, ?2, 3, ?3)",
				-1, &insert, NULL),
	     db);
	must(sqlite3_prepare_v2(db, "UPDATE schedule SET next = ?2, high = ?3 WHERE sid = ?1", -1, &update,
				NULL),
	     db);
	if (!heap_reserve(&heap, n))
		return 1;
	for (unsigned i = 0; i < n; i++) {
		char *sql = sqlite3_mprintf("INSERT INTO schedule VALUES (%u, 0, 0, zeroblob(144))", i + 1);
		must(sqlite3_exec(db, sql, NULL, NULL, NULL), db);
		sqlite3_free(sql);
	}
	must(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), db);
	int64_t start = clock_wall().us + USEC, end = start + (int64_t)seconds * USEC;
	for (unsigned i = 0; i < n; i++)
		heap_put(&heap, i, start + (int64_t)i * period / n);
	size_t done = 0, room = (size_t)((double)n * seconds * USEC / (double)period) + 2 * n;
	double *late = malloc(room * sizeof *late);
	int64_t *due = malloc(room * sizeof *due);
	int timer = timerfd_create(CLOCK_REALTIME, 0);
	struct rusage before, after;
	getrusage(RUSAGE_SELF, &before);
	while (late && due && heap.entry[0].key < end) {
		uint64_t fired;
		struct itimerspec at = { .it_value = { heap.entry[0].key / USEC,
						       heap.entry[0].key % USEC * 1000 } };
		timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
		if (read(timer, &fired, sizeof fired) < 0)
			return 1;
		size_t first = done;
		int64_t now = clock_wall().us;
		must(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), db);
		for (; heap.entry[0].key <= now && done < room; done++) {
			uint32_t item = heap.entry[0].item;
			due[done] = heap.entry[0].key;
			sqlite3_bind_int64(insert, 1, item + 1);
			sqlite3_bind_int64(insert, 2, due[done]);
			sqlite3_bind_int64(insert, 3, now);
			must(sqlite3_step(insert), db);
			sqlite3_reset(insert);
			sqlite3_bind_int64(update, 1, item + 1);
			sqlite3_bind_int64(update, 2, due[done] + period);
			sqlite3_bind_int64(update, 3, due[done]);
			must(sqlite3_step(update), db);
			sqlite3_reset(update);
			heap_put(&heap, item, due[done] + period);
		}
		must(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), db);
		now = clock_wall().us;
		for (; first < done; first++)
			late[first] = (double)(now - due[first]) / 1000;
	}
	getrusage(RUSAGE_SELF, &after);
	double cpu = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec -
			      before.ru_stime.tv_sec) +
		     (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec -
			      before.ru_stime.tv_usec) /
			     1e6;
	if (!done)
		return 1;
	qsort(late, done, sizeof *late, compare_doubles);
	printf("{\"triggers\": %zu, \"p50\": %.3f, \"p99\": %.3f, \"max\": %.3f, \"cpu\": %.4f}\n", done,
	       late[done / 2], late[done * 99 / 100], late[done - 1], cpu);
	return 0;
}
