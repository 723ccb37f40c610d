/* The mailbox: its bound, its order, room that is reserved for other senders, and waiting for room. */
#include "sys/mailbox.h"
#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { BOX = 4, MANY = 10000 };

static unsigned calls;
static unsigned long last_arg;

static void count_call(void *arg)
{
	unsigned long number = (unsigned long)arg;
	CHECK(number > last_arg); /* mail is taken out in the order in which it was put in */
	last_arg = number;
	calls++;
}

static bool rings(struct mailbox *m)
{
	struct pollfd p = { .fd = mailbox_fd(m), .events = POLLIN };
	return poll(&p, 1, 0) == 1;
}

static struct mailbox *new_box(void)
{
	struct mailbox *m = NULL;
	CHECK_INT(mailbox_new(BOX, &m), OK);
	calls = 0;
	last_arg = 0;
	return m;
}

TEST(a_full_box_refuses_more)
{
	struct mailbox *m = new_box();
	CHECK(!rings(m));
	for (unsigned long i = 1; i < BOX; i++)
		CHECK_INT(mailbox_put(m, count_call, (void *)i), OK);
	CHECK(rings(m));
	CHECK_INT(mailbox_put_reserving(m, 1, count_call, NULL), E_LIMIT);
	CHECK_INT(mailbox_put(m, count_call, (void *)(unsigned long)BOX), OK);
	CHECK_INT(mailbox_put(m, count_call, NULL), E_LIMIT);
	mailbox_run(m);
	CHECK_INT(calls, BOX);
	CHECK(!rings(m));
	mailbox_free(m);
}

static void *put_many(void *arg)
{
	for (unsigned long i = 1; i <= MANY; i++)
		CHECK_INT(mailbox_put_wait(arg, count_call, (void *)i), OK);
	return NULL;
}

TEST(a_thread_waits_for_room)
{
	struct mailbox *m = new_box();
	pthread_t putter;
	CHECK(pthread_create(&putter, NULL, put_many, m) == 0);
	while (calls < MANY) {
		struct pollfd p = { .fd = mailbox_fd(m), .events = POLLIN };
		if (!CHECK_INT(poll(&p, 1, 20000), 1))
			break;
		mailbox_run(m);
	}
	pthread_join(putter, NULL);
	mailbox_free(m);
}

struct waiting {
	struct mailbox *box;
	atomic_int result; /* -1: still waiting */
};

static void *put_one(void *arg)
{
	struct waiting *w = arg;
	w->result = (int)mailbox_put_wait(w->box, count_call, NULL);
	return NULL;
}

TEST(closing_ends_the_waiting)
{
	struct waiting w = { .box = new_box(), .result = -1 };
	pthread_t putter;
	for (unsigned long i = 1; i <= BOX; i++)
		CHECK_INT(mailbox_put(w.box, count_call, (void *)i), OK);
	CHECK(pthread_create(&putter, NULL, put_one, &w) == 0);
	usleep(20000);
	CHECK_INT(w.result, -1);
	mailbox_close(w.box);
	pthread_join(putter, NULL);
	CHECK_INT(w.result, E_GONE);
	CHECK_INT(mailbox_put_wait(w.box, count_call, NULL), E_GONE);
	mailbox_run(w.box); /* mail that is in the mailbox can still be taken out */
	CHECK_INT(calls, BOX);
	CHECK(rings(w.box) == false);
	mailbox_free(w.box);
}
