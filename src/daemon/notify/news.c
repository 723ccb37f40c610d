/* Turns news into messages: in one transaction, the store replaces a batch of rows of news by the messages
 * about them. */
#include "daemon/notify/internal.h"

#include "port/read.h"
#include "sys/clock.h"

static void batch_answered(void *ctx, const struct st_ack *ack)
{
	struct notifier *n = ctx;
	atomic_store(&n->batch.refused, ack->res == ST_OK ? 0 : atomic_load(&n->batch.refused) + 1);
	atomic_store(&n->batch.answered, true);
	notifier_wake(n);
}

/* Composes as many messages as fit into one request, at least those about one row of news; *upto is the
 * number of the last row. E_LIMIT: the messages about the first row alone do not fit. */
static enum err compose_batch(struct notifier *n, const struct read_news *news, struct message_list *list,
			      uint64_t *upto, struct why *why)
{
	const struct message_source source = { n->reader, daemon_runs_dir(n->options.daemon), &n->config,
					       n->origin };
	enum err e = OK;
	for (unsigned i = 0; i < news->n && !e; i++) {
		e = message_add_news(&source, &news->item[i], list, why);
		if (!e)
			*upto = news->item[i].number;
	}
	return e == E_LIMIT && *upto ? OK : e;
}

/* Messages to receivers that are gone are recorded, but not sent. */
static void give_up_gone(struct notifier *n, struct message_list *list)
{
	struct why why;
	bool gone;
	for (unsigned i = 0; i < list->n; i++) {
		struct message_row *m = &list->item[i];
		if (m->state != MESSAGE_WAITING || m->kind == MESSAGE_TEST ||
		    read_receiver_gone(n->reader, m->origin, &gone, &why) || !gone)
			continue;
		m->state = MESSAGE_GIVEN_UP;
		m->result = STR(RESULT_GONE);
		gone_report(n, m);
	}
}

static enum err send_batch(struct notifier *n, const struct read_news *news, unsigned refused)
{
	struct message_list list = { .arena = &n->batch.arena };
	struct st_req r = { .op = ST_MESSAGES, .lane = LANE_FINISH, .at = clock_wall() };
	struct why why;
	list.item = arena_alloc(list.arena, STORE_MESSAGES_MAX * sizeof *list.item);
	enum err e = list.item ? compose_batch(n, news, &list, &r.messages.news_upto, &why) : E_NOMEM;
	if (e)
		return e;
	give_up_gone(n, &list);
	e = message_join_digests(&list);
	if (e)
		return e;
	for (unsigned i = 0; i < list.n; i++)
		list.item[i].silent = list.item[i].kind == NEWS_PING; /* a ping is no event */
	r.messages.message = list.item;
	/* A message that the store refuses again and again must not block all other messages, so its row of
	 * news is removed without a message. */
	r.messages.n = refused < 2 ? list.n : 0;
	atomic_store(&n->batch.answered, false);
	return daemon_send(n->options.daemon, &r, batch_answered, n);
}

void news_take(struct notifier *n)
{
	struct read_news news = { 0 };
	struct why why;
	if (n->batch.under_way && !atomic_load(&n->batch.answered))
		return;
	if (n->batch.under_way)
		n->check_due = true; /* the messages of this batch are in the store */
	n->batch.under_way = false;
	arena_reset(&n->batch.arena);
	if (clock_boot().us < n->batch.next.us) {
		n->retry |= atomic_load(&n->has_news);
		return;
	}
	if (!atomic_exchange(&n->has_news, false))
		return;
	unsigned refused = atomic_load(&n->batch.refused);
	enum err e = read_news(n->reader, refused ? 1 : NEWS_AT_ONCE, &n->batch.arena, &news, &why);
	if (!e && !news.n) {
		n->check_due = true; /* other threads add messages, too */
		return;
	}
	if (!e)
		e = send_batch(n, &news, refused);
	n->batch.under_way = !e;
	if (e || !news.more)
		n->batch.next.us = clock_boot().us + NOTIFY_RETRY_MS * INT64_C(1000);
	/* Reads the news again later, because more news may have been written meanwhile, or because reading
	 * failed. */
	atomic_store(&n->has_news, true);
	n->retry |= e != OK;
}
