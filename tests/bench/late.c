/* The peer of the benchmark of the daemon's lateness: a heap of times, one timer, and one transaction with
 * the two writes of a claim for all entries that are due. Prints the milliseconds from due to durable, and
 * the CPU time.
 *
 * usage: bench_late SCHEDULES SECONDS DATABASE [PERIOD]     (each is due once in PERIOD seconds, default 60)
 * */
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

struct peer {
	sqlite3 *db;
	sqlite3_stmt *insert, *update;
	struct heap heap;
	int64_t period;
	double *late; /* lateness of each trigger in ms */
	int64_t *due;
	size_t triggers, room;
};

static void open_database(struct peer *p, const char *path, unsigned n)
{
	must(sqlite3_open(path, &p->db), p->db);
	must(sqlite3_exec(
		     p->db,
		     "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
		     "CREATE TABLE schedule (sid INTEGER PRIMARY KEY, next INTEGER, high INTEGER, rules "
		     "BLOB);"
		     "CREATE TABLE run (run INTEGER PRIMARY KEY, sid INTEGER, nominal INTEGER, state INTEGER,"
		     " claimed INTEGER); CREATE UNIQUE INDEX run_occurrence ON run (sid, nominal); BEGIN",
		     NULL, NULL, NULL),
	     p->db);
	must(sqlite3_prepare_v2(p->db,
				"INSERT INTO run (sid, nominal, state, claimed) VALUES (?1, ?2, 3, ?3)", -1,
				&p->insert, NULL),
	     p->db);
	must(sqlite3_prepare_v2(p->db, "UPDATE schedule SET next = ?2, high = ?3 WHERE sid = ?1", -1,
				&p->update, NULL),
	     p->db);
	for (unsigned i = 0; i < n; i++) {
		char *sql = sqlite3_mprintf("INSERT INTO schedule VALUES (%u, 0, 0, zeroblob(144))", i + 1);
		must(sqlite3_exec(p->db, sql, NULL, NULL, NULL), p->db);
		sqlite3_free(sql);
	}
	must(sqlite3_exec(p->db, "COMMIT", NULL, NULL, NULL), p->db);
}

static void write_claim(struct peer *p, uint32_t item, int64_t due, int64_t now)
{
	sqlite3_bind_int64(p->insert, 1, item + 1);
	sqlite3_bind_int64(p->insert, 2, due);
	sqlite3_bind_int64(p->insert, 3, now);
	must(sqlite3_step(p->insert), p->db);
	sqlite3_reset(p->insert);
	sqlite3_bind_int64(p->update, 1, item + 1);
	sqlite3_bind_int64(p->update, 2, due + p->period);
	sqlite3_bind_int64(p->update, 3, due);
	must(sqlite3_step(p->update), p->db);
	sqlite3_reset(p->update);
}

/* Claims all due entries in one transaction, and records how late each entry was when the transaction was
 * durable. */
static void claim_due(struct peer *p)
{
	size_t first = p->triggers;
	int64_t now = clock_wall().us;
	must(sqlite3_exec(p->db, "BEGIN IMMEDIATE", NULL, NULL, NULL), p->db);
	for (; p->heap.entry[0].key <= now && p->triggers < p->room; p->triggers++) {
		uint32_t item = p->heap.entry[0].item;
		int64_t due = p->due[p->triggers] = p->heap.entry[0].key;
		write_claim(p, item, due, now);
		heap_put(&p->heap, item, due + p->period);
	}
	must(sqlite3_exec(p->db, "COMMIT", NULL, NULL, NULL), p->db);
	now = clock_wall().us;
	for (; first < p->triggers; first++)
		p->late[first] = (double)(now - p->due[first]) / 1000;
}

static double cpu_seconds(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	if (argc != 4 && argc != 5)
		return 2;
	unsigned n = (unsigned)atoi(argv[1]), seconds = (unsigned)atoi(argv[2]);
	struct peer p = { .period = (argc > 4 ? atoi(argv[4]) : 60) * USEC };
	p.room = (size_t)((double)n * seconds * USEC / (double)p.period) + 2 * n;
	p.late = malloc(p.room * sizeof *p.late);
	p.due = malloc(p.room * sizeof *p.due);
	if (!p.late || !p.due || !heap_reserve(&p.heap, n))
		return 1;
	open_database(&p, argv[3], n);
	int64_t start = clock_wall().us + USEC, end = start + (int64_t)seconds * USEC;
	for (unsigned i = 0; i < n; i++)
		heap_put(&p.heap, i, start + (int64_t)i * p.period / n);
	int timer = timerfd_create(CLOCK_REALTIME, 0);
	double before = cpu_seconds();
	while (p.heap.entry[0].key < end) {
		uint64_t fired;
		struct itimerspec at = { .it_value = { p.heap.entry[0].key / USEC,
						       p.heap.entry[0].key % USEC * 1000 } };
		timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
		if (read(timer, &fired, sizeof fired) < 0)
			return 1;
		claim_due(&p);
	}
	double cpu = cpu_seconds() - before;
	if (!p.triggers)
		return 1;
	qsort(p.late, p.triggers, sizeof *p.late, compare_doubles);
	printf("{\"triggers\": %zu, \"p50\": %.3f, \"p99\": %.3f, \"max\": %.3f, \"cpu\": %.4f}\n",
	       p.triggers, p.late[p.triggers / 2], p.late[p.triggers * 99 / 100], p.late[p.triggers - 1],
	       cpu);
	return 0;
}
