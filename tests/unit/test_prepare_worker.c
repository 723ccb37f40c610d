/* The desk on a bad day: too much to do, too few descriptors, told to stop. A real store behind it. */
#include "daemon/prepare/worker.h"
#include "store/sqlite/store.h"
#include "sys/clock.h"
#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATIENCE_US = 20 * 1000000 };

struct fixture {
	char dir[32], path[64];
	struct store *store;
	struct intern *names;
	struct prepare_worker *desk;
	atomic_uint done, compiled, answered, called;
	_Atomic int error; /* of the last that was compiled */
};

static void done(void *ctx, struct prepare_task *j)
{
	((struct fixture *)ctx)->done++;
	prepare_task_free(j);
}

static void compiled(void *ctx, uint64_t sid, enum err e, const struct rules *rules)
{
	struct fixture *f = ctx;
	(void)sid;
	(void)rules;
	f->error = e;
	f->compiled++;
}

static void answered(void *ctx, const struct rn_report *says, struct str words)
{
	(void)says;
	(void)words;
	((struct fixture *)ctx)->answered++;
}

static void zones_read(void *ctx)
{
	(void)ctx;
}

static bool await(atomic_uint *what, unsigned n)
{
	for (int64_t end = clock_boot().us + PATIENCE_US; *what < n && clock_boot().us < end;)
		usleep(1000);
	return *what >= n;
}

static void put(struct fixture *f, uint64_t sid, const char *document)
{
	struct st_ack ack;
	struct pollfd p = { store_sqlite_ops.fd(f->store), POLLIN, 0 };
	struct st_req r = { .op = ST_PUT,
			    .lane = LANE_USER,
			    .tag = sid,
			    .sid = sid,
			    .row = { .sid = sid },
			    .at = { 1 },
			    .id = { &"s1s2s3"[2 * (sid - 1)], 2 },
			    .document = str_of(document) };
	CHECK_INT(store_sqlite_ops.submit(f->store, &r), OK);
	while (!store_sqlite_ops.collect(f->store, &ack, 1))
		poll(&p, 1, 1000);
	CHECK_INT(ack.res, ST_OK);
}

static void set_up(struct fixture *f)
{
	struct why why;
	memset(f, 0, sizeof *f);
	strcpy(f->dir, "/tmp/rota-desk-XXXXXX");
	CHECK(mkdtemp(f->dir) != NULL);
	snprintf(f->path, sizeof f->path, "%s/rota.db", f->dir);
	CHECK(store_sqlite_open(f->path, &f->store, &why) == OK);
	CHECK(intern_new(&f->names) == OK);
	CHECK(prepare_open(&(struct prepare_options){ .store = f->store,
						      .place = { .socket = "" },
						      .defaults = { .when = { .zone_name = STR("UTC") } },
						      .names = f->names,
						      .done = done,
						      .compiled = compiled,
						      .zones_read = zones_read,
						      .answered = answered,
						      .ctx = f },
			   &f->desk, &why) == OK);
}

static void tear_down(struct fixture *f)
{
	prepare_close(f->desk);
	intern_free(f->names);
	store_sqlite_close(f->store);
	static const char *const files[] = { "rota.db", "rota.db-wal", "rota.db-shm" };
	for (unsigned i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(f->path, sizeof f->path, "%s/%s", f->dir, files[i]);
		unlink(f->path);
	}
	rmdir(f->dir);
}

/* --- told to stop --- */

struct parcel {
	struct fixture *f;
};

static void take(struct reader *reader, void *arg)
{
	struct parcel *p = arg;
	(void)reader;
	p->f->called++;
	free(p);
}

struct door {
	sem_t reached, open;
};

static void wait_at(struct reader *reader, void *arg)
{
	struct door *d = arg;
	(void)reader;
	sem_post(&d->reached);
	sem_wait(&d->open);
}

static void *open_soon(void *arg)
{
	usleep(100000); /* sooner, and there is nothing to be seen: the desk does it all before it closes */
	sem_post(&((struct door *)arg)->open);
	return NULL;
}

TEST(what_was_not_done_is_let_go)
{
	struct fixture f;
	pthread_t opener;
	struct door door;
	set_up(&f);
	sem_init(&door.reached, 0, 0);
	sem_init(&door.open, 0, 0);
	CHECK(prepare_call(f.desk, wait_at, &door) == OK);
	sem_wait(&door.reached);
	for (unsigned i = 0; i < 8; i++) {
		struct rn_req r = { .run = i + 1, .sid = 1, .attempt = 1 };
		struct parcel *p = malloc(sizeof *p);
		struct prepare_task *j = calloc(1, sizeof *j);
		CHECK(p && j);
		p->f = &f;
		j->req = r;
		CHECK_INT(prepare_call(f.desk, take, p), OK);
		CHECK_INT(prepare_again(f.desk, j), OK);
		CHECK_INT(prepare_put(f.desk, &r), OK);
		CHECK_INT(prepare_ask(f.desk, &r), OK);
		CHECK_INT(prepare_compile(f.desk, 1), OK);
		CHECK_INT(prepare_zones_changed(f.desk), OK);
	}
	CHECK(pthread_create(&opener, NULL, open_soon, &door) == 0);
	tear_down(&f); /* the sanitizer looks at the rest */
	CHECK_INT(f.called, 8);
	pthread_join(opener, NULL);
	sem_destroy(&door.reached);
	sem_destroy(&door.open);
}

/* --- never idle --- */

struct busy {
	struct fixture *f;
	int64_t until;
	sem_t over;
};

static void once_more(struct reader *reader, void *arg)
{
	struct busy *b = arg;
	if (!reader || b->f->done || clock_boot().us > b->until || prepare_call(b->f->desk, once_more, b))
		sem_post(&b->over);
}

TEST(a_desk_that_is_never_idle_comes_back_to_what_was_put_off)
{
	struct fixture f;
	set_up(&f);
	struct busy b = { .f = &f, .until = clock_boot().us + PATIENCE_US };
	struct prepare_task *j = calloc(1, sizeof *j);
	sem_init(&b.over, 0, 0);
	CHECK_INT(prepare_call(f.desk, once_more, &b), OK);
	CHECK(j && prepare_again(f.desk, j) == OK);
	sem_wait(&b.over);
	CHECK_INT(f.done, 1);
	tear_down(&f);
	sem_destroy(&b.over);
}

/* --- too few descriptors --- */

static void put_in(struct fixture *f, uint64_t sid, const char *zone)
{
	char document[200];
	snprintf(document, sizeof document,
		 "{\"id\":\"s%u\",\"expression\":\"0 8 * * *\",\"timezone\":\"%s\","
		 "\"action\":{\"type\":\"event\",\"name\":\"x\"}}",
		 (unsigned)sid, zone);
	put(f, sid, document);
}

/* Zone files cannot be opened then: that is no fault of the schedule's, which is not told that it is. */
TEST(without_descriptors_it_waits)
{
	struct fixture f;
	struct rlimit was, few;
	set_up(&f);
	put_in(&f, 1, "UTC");
	put_in(&f, 2, "Europe/Berlin");
	put_in(&f, 3, "Europe/Paris");
	CHECK_INT(prepare_compile(f.desk, 1), OK); /* SQLite opens its files when they are needed */
	CHECK(await(&f.compiled, 1));
	CHECK_INT(f.error, OK);
	getrlimit(RLIMIT_NOFILE, &was);
	few = was;
	few.rlim_cur = (rlim_t)dup(STDOUT_FILENO);
	close((int)few.rlim_cur);

	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	CHECK_INT(prepare_compile(f.desk, 2), OK);
	usleep(300000);
	CHECK_INT(f.compiled, 1);
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
	CHECK(await(&f.compiled, 2));
	CHECK_INT(f.error, OK);

	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	CHECK_INT(prepare_ask(f.desk, &(struct rn_req){ .op = RN_ASK, .run = 1, .sid = 3, .rev = 1 }), OK);
	usleep(300000);
	CHECK_INT(f.answered, 0);
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
	CHECK(await(&f.answered, 1));
	tear_down(&f);
}
