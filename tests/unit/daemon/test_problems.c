/* Which failures become problems, under which keys, and when the problems are closed. The prepare worker and
 * the store are real; the test checks the requests to the store and does not carry them out. */
#include "daemon/problems.h"
#include "store/open.h"
#include "test.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

enum { SENT_MAX = 64 };

struct fixture {
	char dir[32], path[64];
	struct store *store;
	struct intern *intern;
	struct prepare_worker *worker;
	struct problems *problems;
	pthread_mutex_t lock;
	struct {
		uint8_t act;
		char key[64], subject[64], text[256];
	} sent[SENT_MAX];
	unsigned n, seen;
	uint64_t removed; /* a schedule of which the store has no row any more */
};

static void copy(char *to, size_t size, struct str s)
{
	snprintf(to, size, "%.*s", STR_ARG(s));
}

static void send(void *ctx, const struct st_req *r)
{
	struct fixture *f = ctx;
	pthread_mutex_lock(&f->lock);
	if (f->n < SENT_MAX) {
		f->sent[f->n].act = r->problem.act;
		copy(f->sent[f->n].key, sizeof f->sent[0].key, r->problem.key);
		copy(f->sent[f->n].subject, sizeof f->sent[0].subject, r->problem.subject);
		copy(f->sent[f->n].text, sizeof f->sent[0].text, r->problem.text);
	}
	f->n++;
	pthread_mutex_unlock(&f->lock);
}

static void drop_task(void *ctx, struct prepare_task *t)
{
	(void)ctx;
	prepare_task_free(t);
}

static void set_up(struct fixture *f)
{
	struct why why;
	*f = (struct fixture){ .dir = "/tmp/rota-problems-XXXXXX" };
	pthread_mutex_init(&f->lock, NULL);
	CHECK(mkdtemp(f->dir) != NULL);
	CHECK(store_open(f->dir, &f->store, &why) == OK);
	CHECK(intern_new(&f->intern) == OK);
	CHECK(intern_load(f->intern, NAME_OTHER, 3, STR("agent:desk")) == OK);
	CHECK(prepare_open(
		      &(struct prepare_options){
			      .store = f->store, .place = { .socket = "" }, .finished = drop_task, .ctx = f },
		      &f->worker, &why) == OK);
	CHECK(problems_new(
		      &(struct problems_config){
			      .prepare = f->worker, .intern = f->intern, .ctx = f, .send = send },
		      &f->problems) == OK);
}

static void tear_down(struct fixture *f)
{
	prepare_close(f->worker);
	problems_free(f->problems);
	intern_free(f->intern);
	store_close(f->store);
	static const char *const files[] = { "rota.db", "rota.db-wal", "rota.db-shm" };
	for (unsigned i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(f->path, sizeof f->path, "%s/%s", f->dir, files[i]);
		unlink(f->path);
	}
	rmdir(f->dir);
	pthread_mutex_destroy(&f->lock);
}

/* The number of requests that were sent since the last call. Waits up to two seconds for `want` of them. */
static unsigned sent_since(struct fixture *f, unsigned want)
{
	unsigned n = 0;
	for (unsigned ms = 0; ms < 2000; ms++) {
		pthread_mutex_lock(&f->lock);
		n = f->n - f->seen;
		pthread_mutex_unlock(&f->lock);
		if (want && n >= want)
			break;
		if (!want && ms >= 30)
			break;
		usleep(1000);
	}
	f->seen += n;
	return n;
}

static void check_one(struct fixture *f, int line, uint8_t act, const char *key)
{
	if (!CHECK_INT_AT(line, sent_since(f, 1), 1))
		return;
	CHECK_INT_AT(line, f->sent[f->seen - 1].act, act);
	CHECK_STR_AT(line, f->sent[f->seen - 1].key, key);
}
#define ONE(act, key) check_one(&f, __LINE__, act, key)
#define NOTHING()     CHECK_INT(sent_since(&f, 0), 0)

static void end_run(struct fixture *f, uint64_t sid, enum outcome outcome, enum reason reason)
{
	struct pump_fact fact = { .op = ST_FINISH,
				  .sid = sid,
				  .run = { .run = 9,
					   .sid = sid,
					   .state = RUN_FINISHED,
					   .attempt = 2,
					   .outcome = (uint8_t)outcome,
					   .reason = (uint16_t)reason,
					   .exit_code = 4 } };
	problems_happened(f->problems, &fact, &(struct st_ack){ .has_row = f->removed != sid });
}

TEST(a_run_that_fails_finally)
{
	struct fixture f;
	set_up(&f);
	end_run(&f, 7, OUTCOME_DONE, REASON_NONE);
	end_run(&f, 7, OUTCOME_KILLED, REASON_CANCELLED);
	end_run(&f, 7, OUTCOME_KILLED, REASON_REPLACED);
	problems_happened(f.problems,
			  &(struct pump_fact){ .op = ST_FINISH,
					       .sid = 7,
					       .run = { .state = RUN_RETRYING, .outcome = OUTCOME_FAILED } },
			  &(struct st_ack){ 0 });
	NOTHING();
	end_run(&f, 7, OUTCOME_FAILED, REASON_EXIT);
	ONE(PROBLEM_OPEN, "schedule:7:failed");
	CHECK_STR(f.sent[0].text,
		  "schedule number 7 failed with exit code 4 after 2 attempts; `rota logs r9` "
		  "shows what it printed");
	end_run(&f, 7, OUTCOME_FAILED, REASON_DEFINITION);
	ONE(PROBLEM_OPEN, "schedule:7:failed");
	CHECK_STR(f.sent[f.seen - 1].text,
		  "schedule number 7 failed (definition) after 2 attempts; `rota show r9` says why");
	end_run(&f, 7, OUTCOME_KILLED, REASON_TIMEOUT);
	ONE(PROBLEM_OPEN, "schedule:7:failed");
	end_run(&f, 8, OUTCOME_DONE, REASON_NONE); /* a run of another schedule succeeds */
	NOTHING();
	end_run(&f, 7, OUTCOME_NO_WORK, REASON_NONE);
	ONE(PROBLEM_CLOSE, "schedule:7:failed");
	end_run(&f, 7, OUTCOME_DONE, REASON_NONE);
	NOTHING();
	tear_down(&f);
}

TEST(a_schedule_paused_by_its_failures)
{
	struct fixture f;
	set_up(&f);
	struct rules rules = { .policy = { .max_failures = 3 } };
	struct st_ack ack = { .has_row = true, .row = { .sid = 5, .flags = SCHED_ENABLED | SCHED_PAUSED } };
	const struct pump_fact put = { .op = ST_PUT, .sid = 5 };
	memcpy(ack.row.rules, &rules, sizeof rules);
	problems_happened(f.problems, &put, &ack); /* a person pauses the schedule */
	NOTHING();
	ack.row.failures = 3;
	problems_happened(f.problems, &put, &ack);
	ONE(PROBLEM_OPEN, "schedule:5:paused");
	problems_happened(f.problems, &put, &ack); /* an edit while the schedule is paused */
	NOTHING();
	ack.row.flags = SCHED_ENABLED;
	problems_happened(f.problems, &put, &ack);
	ONE(PROBLEM_CLOSE, "schedule:5:paused");
	tear_down(&f);
}

TEST(a_removed_schedule_has_no_problems)
{
	struct fixture f;
	set_up(&f);
	end_run(&f, 5, OUTCOME_FAILED, REASON_LOST);
	ONE(PROBLEM_OPEN, "schedule:5:failed");
	problems_happened(f.problems, &(struct pump_fact){ .op = ST_DROP, .sid = 5 }, &(struct st_ack){ 0 });
	ONE(PROBLEM_CLOSE, "schedule:5:failed");
	f.removed = 5;
	/* The last run of the schedule ends after the schedule was removed. */
	end_run(&f, 5, OUTCOME_FAILED, REASON_EXIT);
	NOTHING();
	tear_down(&f);
}

TEST(a_blocked_agent)
{
	struct fixture f;
	set_up(&f);
	struct pump_fact hold = { .op = ST_HOLD, .hold = { 3, REASON_RATE_LIMITED, WALL_NEVER } };
	problems_happened(f.problems, &hold, &(struct st_ack){ 0 });
	hold.hold = (struct hold_row){ 0, REASON_PAUSED, WALL_NEVER }; /* a person pauses all schedules */
	problems_happened(f.problems, &hold, &(struct st_ack){ 0 });
	NOTHING();
	hold.hold = (struct hold_row){ 3, REASON_AUTH, WALL_NEVER };
	problems_happened(f.problems, &hold, &(struct st_ack){ 0 });
	ONE(PROBLEM_OPEN, "held:3");
	CHECK_STR(f.sent[0].subject, "agent:desk");
	hold.hold.reason = 0;
	problems_happened(f.problems, &hold, &(struct st_ack){ 0 });
	ONE(PROBLEM_CLOSE, "held:3");
	tear_down(&f);
}

TEST(clock_store_and_runner_while_they_fail)
{
	struct fixture f;
	set_up(&f);
	CHECK(!problems_check(f.problems, &(struct health){ 0 }));
	NOTHING();
	CHECK(problems_check(f.problems, &(struct health){ .clock_held = true }));
	ONE(PROBLEM_OPEN, "clock");
	CHECK(problems_check(f.problems, &(struct health){ .clock_held = true, .store = "disk full" }));
	ONE(PROBLEM_OPEN, "store");
	CHECK_STR(f.sent[1].text, "disk full");
	CHECK(problems_check(f.problems, &(struct health){ .store = "disk full", .runner = "no launcher" }));
	CHECK_INT(sent_since(&f, 2), 2);
	CHECK(!problems_check(f.problems, &(struct health){ 0 }));
	CHECK_INT(sent_since(&f, 2), 2);
	tear_down(&f);
}

TEST(problems_of_an_earlier_daemon_are_closed)
{
	struct fixture f;
	set_up(&f);
	static const char *const keys[] = { "schedule:12:failed", "clock", "held:3", "schedule:12:failedx",
					    "a tool's own" };
	for (unsigned i = 0; i < ARRAY_LEN(keys); i++)
		problems_load(f.problems,
			      &(struct load_item){ .kind = LOAD_PROBLEM,
						   .problem = { .number = i + 1, .key = str_of(keys[i]) } });
	f.removed = 13;
	end_run(&f, 13, OUTCOME_FAILED, REASON_EXIT);
	NOTHING();
	problems_check(f.problems, &(struct health){ 0 });
	ONE(PROBLEM_CLOSE, "clock");
	end_run(&f, 12, OUTCOME_DONE, REASON_NONE);
	ONE(PROBLEM_CLOSE, "schedule:12:failed");
	problems_happened(f.problems, &(struct pump_fact){ .op = ST_HOLD, .hold = { .key = 3 } },
			  &(struct st_ack){ 0 });
	ONE(PROBLEM_CLOSE, "held:3");
	tear_down(&f);
}

/* A hook of the configuration that fails for several schedules is one problem, until it works for all. */
TEST(hooks_that_cannot_answer)
{
	struct fixture f;
	const struct str none = { 0 };
	set_up(&f);
	problems_hook(f.problems, 12, ASK_HOOK, none);
	problems_hook(f.problems, 12, ASK_CONFIG_HOOK, none);
	NOTHING();
	problems_hook(f.problems, 12, ASK_HOOK, STR("it took too long"));
	ONE(PROBLEM_OPEN, "hook:12");
	CHECK_STR(f.sent[f.seen - 1].text, "the hook of the schedule failed: it took too long");
	problems_hook(f.problems, 12, ASK_CONFIG_HOOK, STR("not found"));
	ONE(PROBLEM_OPEN, "hook:0");
	CHECK_STR(f.sent[f.seen - 1].subject, "hooks of the configuration");
	problems_hook(f.problems, 13, ASK_CREATE_HOOK, STR("not found"));
	ONE(PROBLEM_OPEN, "hook:0"); /* reported again */
	problems_hook(f.problems, 12, ASK_CONFIG_HOOK, none);
	NOTHING();
	problems_hook(f.problems, 13, ASK_CONFIG_HOOK, none);
	ONE(PROBLEM_CLOSE, "hook:0");
	problems_hook(f.problems, 12, ASK_HOOK, none);
	ONE(PROBLEM_CLOSE, "hook:12");
	/* Removed schedules have no problems. */
	problems_hook(f.problems, 14, ASK_HOOK, STR("not found"));
	ONE(PROBLEM_OPEN, "hook:14");
	problems_hook(f.problems, 14, ASK_CONFIG_HOOK, STR("not found"));
	ONE(PROBLEM_OPEN, "hook:0");
	problems_happened(f.problems, &(struct pump_fact){ .op = ST_DROP, .sid = 14 }, &(struct st_ack){ 0 });
	CHECK_INT(sent_since(&f, 2), 2);
	tear_down(&f);
}

static void wait_semaphore(struct reader *reader, void *arg)
{
	(void)reader;
	sem_wait(arg);
}

static void post_semaphore(struct reader *reader, void *arg)
{
	(void)reader;
	sem_post(arg);
}

TEST(a_clock_that_was_set)
{
	struct fixture f;
	set_up(&f);
	struct health h = { .clock_step = "ahead", .clock_stepped = true };
	CHECK(!problems_check(f.problems, &h)); /* it is not necessary to check again every second */
	ONE(PROBLEM_OPEN, "clock:step");
	h.clock_stepped = false;
	CHECK(!problems_check(f.problems, &h));
	NOTHING();
	h = (struct health){ .clock_step = "back", .clock_stepped = true };
	CHECK(!problems_check(f.problems, &h));
	ONE(PROBLEM_OPEN, "clock:step");
	CHECK_STR(f.sent[f.seen - 1].text, "back");
	CHECK(!problems_check(f.problems, &(struct health){ 0 }));
	ONE(PROBLEM_CLOSE, "clock:step");
	tear_down(&f);
}

/* However long the prepare worker is stuck, the queue is bounded. Changes that were dropped are reported the
 * next time. */
TEST(a_prepare_worker_that_is_stuck)
{
	struct fixture f;
	sem_t go, gone;
	set_up(&f);
	sem_init(&go, 0, 0);
	sem_init(&gone, 0, 0);
	CHECK(prepare_call(f.worker, wait_semaphore, &go) == OK);
	for (uint64_t sid = 1; sid <= 10 * PROBLEMS_QUEUED_MAX; sid++)
		end_run(&f, sid, OUTCOME_FAILED, REASON_EXIT);
	end_run(&f, 1, OUTCOME_DONE, REASON_NONE);
	end_run(&f, 10 * PROBLEMS_QUEUED_MAX, OUTCOME_DONE, REASON_NONE); /* its problem was never opened */
	sem_post(&go);
	while (!problems_flush(f.problems))
		usleep(1000);
	/* This call is made after all tasks. */
	while (prepare_call(f.worker, post_semaphore, &gone) == E_BUSY)
		usleep(1000);
	sem_wait(&gone);
	unsigned n = sent_since(&f, 1);
	/* The worker may have two full queues: the tasks it works on, and the tasks that came meanwhile. */
	CHECK(n > PROBLEMS_QUEUED_MAX && n <= PROBLEMS_QUEUED_MAX + 2 * PREPARE_TASKS_MAX + 1);
	end_run(&f, 1, OUTCOME_DONE, REASON_NONE);
	end_run(&f, 10 * PROBLEMS_QUEUED_MAX, OUTCOME_DONE, REASON_NONE);
	NOTHING();
	end_run(&f, 10 * PROBLEMS_QUEUED_MAX, OUTCOME_FAILED, REASON_EXIT);
	CHECK_INT(sent_since(&f, 1), 1);
	end_run(&f, 10 * PROBLEMS_QUEUED_MAX, OUTCOME_DONE, REASON_NONE);
	CHECK_INT(sent_since(&f, 1), 1);
	tear_down(&f);
	sem_destroy(&go);
	sem_destroy(&gone);
}
