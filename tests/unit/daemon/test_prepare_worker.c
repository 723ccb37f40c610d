/* The prepare worker with a real store: tasks that are left when it is closed, a full queue, a worker that
 * always has a task, and no free descriptors. */
#include "daemon/prepare/worker.h"
#include "store/open.h"
#include "sys/clock.h"
#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WAIT_US = 20 * 1000000 };

struct fixture {
	char dir[32], path[64];
	struct store *store;
	struct intern *intern;
	struct prepare_worker *worker;
	atomic_uint finished[PREPARE_ZONES + 1]; /* number of finished tasks by kind */
	atomic_uint called;
	_Atomic int error;   /* error of the last finished task */
	atomic_uint outcome; /* of the last finished attempt */
	bool slow;           /* the tasks of schedule 1 take until `open` is posted */
	sem_t open;
	atomic_uint finished_of[5];        /* number of finished attempts by schedule */
	atomic_uint at_once, most_at_once; /* number of tasks of schedule 1 */
};

static void finished(void *ctx, struct prepare_task *t)
{
	struct fixture *f = ctx;
	if (f->slow && t->req.sid == 1) {
		unsigned n = ++f->at_once;
		if (n > f->most_at_once)
			f->most_at_once = n;
		sem_wait(&f->open);
		f->at_once--;
	}
	f->error = t->error;
	f->outcome = t->outcome;
	f->finished[t->kind]++;
	if (t->kind == PREPARE_LAUNCH && t->req.sid < ARRAY_LEN(f->finished_of))
		f->finished_of[t->req.sid]++;
	prepare_task_free(t);
}

static void zones_read(void *ctx)
{
	(void)ctx;
}

static bool wait_for(atomic_uint *count, unsigned n)
{
	for (int64_t end = clock_boot().us + WAIT_US; *count < n && clock_boot().us < end;)
		usleep(1000);
	return *count >= n;
}

static void ask_store(struct fixture *f, const struct st_req *r)
{
	struct st_ack ack;
	struct pollfd p = { f->store->ops->fd(f->store), POLLIN, 0 };
	CHECK_INT(f->store->ops->submit(f->store, r), OK);
	while (!f->store->ops->collect(f->store, &ack, 1))
		poll(&p, 1, 1000);
	CHECK_INT(ack.res, ST_OK);
}

static void put_document(struct fixture *f, uint64_t sid, const char *document)
{
	struct st_req r = { .op = ST_PUT,
			    .lane = LANE_USER,
			    .tag = sid,
			    .sid = sid,
			    .row = { .sid = sid },
			    .at = { 1 },
			    .id = { &"s1s2s3s4"[2 * (sid - 1)], 2 },
			    .document = str_of(document) };
	ask_store(f, &r);
}

static void put_run(struct fixture *f, uint64_t run, uint64_t sid)
{
	struct st_req r = { .op = ST_OCC, .lane = LANE_CLAIM, .tag = 100 + run, .sid = sid, .rev = 1 };
	r.run = (struct run_row){
		.run = run, .sid = sid, .rev = 1, .state = RUN_CLAIMED, .kind = KIND_TIMER, .nominal = { 1 }
	};
	ask_store(f, &r);
}

static const struct token_key token_key;

static void set_up(struct fixture *f)
{
	struct why why;
	memset(f, 0, sizeof *f);
	sem_init(&f->open, 0, 0);
	strcpy(f->dir, "/tmp/rota-prepare-XXXXXX");
	CHECK(mkdtemp(f->dir) != NULL);
	CHECK(store_open(f->dir, &f->store, &why) == OK);
	CHECK(intern_new(&f->intern) == OK);
	for (unsigned kind = 0; kind < NAME_KINDS; kind++)
		intern_add_numbers(f->intern, (enum name_kind)kind, 1, 1000);
	CHECK(prepare_open(&(struct prepare_options){ .store = f->store,
						      .place = { .socket = "", .token_key = &token_key },
						      .defaults = { .when = { .zone_name = STR("UTC") } },
						      .intern = f->intern,
						      .finished = finished,
						      .zones_read = zones_read,
						      .ctx = f },
			   &f->worker, &why) == OK);
}

static void tear_down(struct fixture *f)
{
	prepare_close(f->worker);
	intern_free(f->intern);
	store_close(f->store);
	static const char *const files[] = { "rota.db", "rota.db-wal", "rota.db-shm" };
	for (unsigned i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(f->path, sizeof f->path, "%s/%s", f->dir, files[i]);
		unlink(f->path);
	}
	rmdir(f->dir);
	sem_destroy(&f->open);
}

/* --- closing --- */

struct counted_call {
	struct fixture *f;
};

static void count_call(struct reader *reader, void *arg)
{
	struct counted_call *c = arg;
	(void)reader;
	c->f->called++;
	free(c);
}

/* A call that blocks the worker. */
struct gate {
	sem_t reached, open;
};

static void wait_at_gate(struct reader *reader, void *arg)
{
	struct gate *g = arg;
	(void)reader;
	sem_post(&g->reached);
	sem_wait(&g->open);
}

static void *open_gate_later(void *arg)
{
	usleep(100000); /* waits until the worker is being closed; otherwise the worker would do all tasks
			   before */
	sem_post(&((struct gate *)arg)->open);
	return NULL;
}

TEST(closing_frees_the_tasks_that_are_left)
{
	struct fixture f;
	pthread_t opener;
	struct gate gate;
	set_up(&f);
	sem_init(&gate.reached, 0, 0);
	sem_init(&gate.open, 0, 0);
	CHECK(prepare_call(f.worker, wait_at_gate, &gate) == OK);
	sem_wait(&gate.reached);
	for (unsigned i = 0; i < 8; i++) {
		struct rn_req r = { .run = i + 1, .sid = 1, .attempt = 1 };
		struct counted_call *c = malloc(sizeof *c);
		struct prepare_task *t = calloc(1, sizeof *t);
		CHECK(c && t);
		c->f = &f;
		t->req = r;
		CHECK_INT(prepare_call(f.worker, count_call, c), OK);
		CHECK_INT(prepare_retry(f.worker, t), OK);
		CHECK_INT(prepare_launch(f.worker, &r), OK);
		CHECK_INT(prepare_answer(f.worker, &r), OK);
		CHECK_INT(prepare_rules(f.worker, 1), OK);
		CHECK_INT(prepare_zones_changed(f.worker), OK);
	}
	CHECK(pthread_create(&opener, NULL, open_gate_later, &gate) == 0);
	tear_down(&f); /* the sanitizer finds memory that is not freed */
	CHECK_INT(f.called, 8);
	pthread_join(opener, NULL);
	sem_destroy(&gate.reached);
	sem_destroy(&gate.open);
}

/* --- room --- */

static void post_semaphore(struct reader *reader, void *arg)
{
	(void)reader;
	sem_post(arg);
}

/* An attempt that finds no room counts as failed. */
TEST(calls_and_questions_leave_room_for_attempts)
{
	struct fixture f;
	struct gate gate;
	sem_t called;
	unsigned calls = 0, questions = 0;
	set_up(&f);
	f.slow = true;
	sem_init(&gate.reached, 0, 0);
	sem_init(&gate.open, 0, 0);
	sem_init(&called, 0, 0);
	CHECK(prepare_call(f.worker, wait_at_gate, &gate) == OK);
	sem_wait(&gate.reached);
	/* Other threads answer questions meanwhile: the first one waits, and the others of its schedule after
	 * it. */
	CHECK_INT(prepare_answer(f.worker, &(struct rn_req){ .run = 1, .sid = 1 }), OK);
	questions++;
	CHECK(wait_for(&f.at_once, 1));
	while (questions < 50 && prepare_answer(f.worker, &(struct rn_req){ .run = 1, .sid = 1 }) == OK)
		questions++;
	CHECK_INT(questions, 50);
	while (calls < PREPARE_TASKS_MAX && prepare_call(f.worker, post_semaphore, &called) == OK)
		calls++;
	CHECK(calls < PREPARE_TASKS_MAX);
	CHECK_INT(prepare_answer(f.worker, &(struct rn_req){ .run = 1, .sid = 1 }), E_BUSY);
	for (unsigned i = 0; i < LAUNCHES_MAX; i++)
		CHECK(prepare_launch(f.worker, &(struct rn_req){ .run = i + 1, .sid = 1, .attempt = 1 }) ==
		      OK);
	sem_post(&gate.open);
	for (unsigned i = 0; i < questions + LAUNCHES_MAX; i++)
		sem_post(&f.open);
	while (calls--)
		sem_wait(&called);
	while (prepare_call(f.worker, post_semaphore, &called) == E_BUSY)
		usleep(1000);
	sem_wait(&called);
	CHECK(wait_for(&f.finished[PREPARE_ANSWER], questions));
	tear_down(&f);
	sem_destroy(&gate.reached);
	sem_destroy(&gate.open);
	sem_destroy(&called);
}

/* --- never idle --- */

struct endless_calls {
	struct fixture *f;
	int64_t until;
	sem_t ended;
};

static void call_again(struct reader *reader, void *arg)
{
	struct endless_calls *b = arg;
	if (!reader || b->f->finished[PREPARE_LAUNCH] || clock_boot().us > b->until ||
	    prepare_call(b->f->worker, call_again, b))
		sem_post(&b->ended);
}

TEST(a_worker_that_is_never_idle_retries_postponed_tasks)
{
	struct fixture f;
	set_up(&f);
	struct endless_calls b = { .f = &f, .until = clock_boot().us + WAIT_US };
	struct prepare_task *t = calloc(1, sizeof *t);
	sem_init(&b.ended, 0, 0);
	CHECK_INT(prepare_call(f.worker, call_again, &b), OK);
	CHECK(t && prepare_retry(f.worker, t) == OK);
	sem_wait(&b.ended);
	CHECK_INT(f.finished[PREPARE_LAUNCH], 1);
	tear_down(&f);
	sem_destroy(&b.ended);
}

/* --- slow schedules --- */

TEST(a_schedule_that_takes_long_does_not_delay_others)
{
	enum { SLOW = 20 };
	struct fixture f;
	set_up(&f);
	f.slow = true;
	for (unsigned i = 0; i < SLOW; i++)
		CHECK_INT(prepare_launch(f.worker, &(struct rn_req){ .run = i + 1, .sid = 1, .attempt = 1 }),
			  OK);
	for (uint64_t sid = 2; sid <= 4; sid++)
		CHECK_INT(prepare_launch(f.worker,
					 &(struct rn_req){ .run = 100 + sid, .sid = sid, .attempt = 1 }),
			  OK);
	for (unsigned sid = 2; sid <= 4; sid++)
		CHECK(wait_for(&f.finished_of[sid], 1));
	CHECK_INT(f.finished_of[1], 0);
	for (unsigned i = 0; i < SLOW; i++)
		sem_post(&f.open);
	CHECK(wait_for(&f.finished_of[1], SLOW));
	CHECK_INT(f.most_at_once, 1);
	tear_down(&f);
}

/* --- without descriptors --- */

static void put_schedule(struct fixture *f, uint64_t sid, const char *zone)
{
	char document[200];
	snprintf(document, sizeof document,
		 "{\"id\":\"s%u\",\"expression\":\"0 8 * * *\",\"timezone\":\"%s\","
		 "\"action\":{\"type\":\"event\",\"name\":\"x\"}}",
		 (unsigned)sid, zone);
	put_document(f, sid, document);
}

/* Zone files cannot be opened, which must not be taken for an error of the schedule. */
TEST(without_descriptors_tasks_wait)
{
	struct fixture f;
	struct rlimit was, few;
	set_up(&f);
	put_schedule(&f, 1, "UTC");
	put_schedule(&f, 2, "Europe/Berlin");
	put_schedule(&f, 3, "Europe/Paris");
	put_run(&f, 1, 3);
	CHECK_INT(prepare_rules(f.worker, 1), OK); /* SQLite opens its files when they are needed */
	CHECK(wait_for(&f.finished[PREPARE_RULES], 1));
	CHECK_INT(f.error, OK);
	getrlimit(RLIMIT_NOFILE, &was);
	few = was;
	few.rlim_cur = (rlim_t)dup(STDOUT_FILENO);
	close((int)few.rlim_cur);

	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	CHECK_INT(prepare_rules(f.worker, 2), OK);
	usleep(300000);
	CHECK_INT(f.finished[PREPARE_RULES], 1);
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
	CHECK(wait_for(&f.finished[PREPARE_RULES], 2));
	CHECK_INT(f.error, OK);

	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	CHECK_INT(prepare_answer(f.worker, &(struct rn_req){ .op = RN_ASK, .run = 1, .sid = 3, .rev = 1 }),
		  OK);
	usleep(300000);
	CHECK_INT(f.finished[PREPARE_ANSWER], 0);
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
	CHECK(wait_for(&f.finished[PREPARE_ANSWER], 1));

	/* Questions that are postponed are bounded, too. */
	unsigned questions = 0;
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	put_schedule(&f, 4, "Europe/Rome");
	put_run(&f, 2, 4);
	for (int64_t end = clock_boot().us + 1000000; clock_boot().us < end;)
		questions += prepare_answer(f.worker, &(struct rn_req){ .run = 2, .sid = 4, .rev = 1 }) == OK;
	CHECK(questions > 0 && questions <= PREPARE_TASKS_MAX);
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
	CHECK(wait_for(&f.finished[PREPARE_ANSWER], 1 + questions));
	tear_down(&f);
}

/* --- one read --- */

static const struct read_ops *real_reads;
static const struct store_ops *real_store;
static struct read_ops few_reads;
static struct store_ops few_ops;
static atomic_uint attempts_read;

static enum err count_attempt(struct reader *r, const struct attempt_request *q, struct arena *a,
			      struct read_attempt *ret, struct why *why)
{
	attempts_read++;
	CHECK(str_eq(q->agent, STR("desk")));
	return real_reads->attempt(r, q, a, ret, why);
}

/* A reader that has no other questions: the worker would crash if it asked one. */
static enum err open_few_reads(void *store, struct reader **ret, struct why *why)
{
	enum err e = real_store->reader(store, ret, why);
	if (e)
		return e;
	real_reads = (*ret)->ops;
	few_reads = (struct read_ops){ .close = real_reads->close,
				       .sched = real_reads->sched,
				       .attempt = count_attempt };
	(*ret)->ops = &few_reads;
	return OK;
}

TEST(one_read_brings_all_that_an_attempt_needs)
{
	struct fixture f;
	struct why why;
	uint32_t agent;
	set_up(&f);
	put_document(&f, 1,
		     "{\"id\":\"s1\",\"expression\":\"0 8 * * *\",\"agent\":\"desk\","
		     "\"action\":{\"type\":\"command\",\"command\":\"true\"}}");
	put_run(&f, 1, 1);
	struct doc_names names = intern_for_documents(f.intern);
	CHECK_INT(names.name(names.self, DOC_AGENT, STR("desk"), &agent), OK);
	prepare_close(f.worker);
	real_store = f.store->ops;
	few_ops = *real_store;
	few_ops.reader = open_few_reads;
	f.store->ops = &few_ops;
	CHECK_INT(prepare_open(
			  &(struct prepare_options){
				  .store = f.store,
				  .place = { .socket = "", .runs = f.dir, .token_key = &token_key },
				  .defaults = { .when = { .zone_name = STR("UTC") } },
				  .intern = f.intern,
				  .finished = finished,
				  .zones_read = zones_read,
				  .ctx = &f },
			  &f.worker, &why),
		  OK);
	struct rn_req r = { .op = RN_START, .run = 1, .sid = 1, .rev = 1, .attempt = 1, .agent = agent };
	CHECK_INT(prepare_launch(f.worker, &r), OK);
	CHECK(wait_for(&f.finished[PREPARE_LAUNCH], 1));
	CHECK_INT(f.outcome, OUTCOME_NONE);
	CHECK_INT(attempts_read, 1);
	tear_down(&f);
}
