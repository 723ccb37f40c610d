/* Opens a problem for each receiver that answered 410 Gone, and closes it when the document or configuration
 * that names the receiver changes. */
#include "daemon/notify/internal.h"

#include "port/read.h"
#include "sys/clock.h"

#include <stdio.h>
#include <string.h>

#define GONE_KEY "notify:" /* the key of the problem is this prefix and the origin of the messages */

/* Sets the flag when the store has the problem. If it were set earlier, gone_close_changed might not find the
 * problem yet and clear the flag. */
static void problem_opened(void *ctx, const struct st_ack *ack)
{
	struct notifier *n = ctx;
	(void)ack;
	atomic_store(&n->gone_is_reported, true);
}

void gone_report(struct notifier *n, const struct message_row *m)
{
	_cleanup_(buf_free) struct buf key = { 0 }, name = { 0 }, text = { 0 };
	struct st_req r = { .op = ST_PROBLEM, .lane = LANE_FINISH, .at = clock_wall() };
	r.news = 1u << NEWS_OPENED;
	message_receiver_name(m, &name);
	buf_addf(&key, GONE_KEY "%.*s", STR_ARG(m->origin));
	buf_addf(
		&text,
		"the %s answered 410 Gone: it gets no more messages until the document or configuration that "
		"names it is changed",
		buf_str(&name).p);
	r.problem = (struct problem_change){
		.act = PROBLEM_OPEN, .key = buf_str(&key), .subject = STR("notify"), .text = buf_str(&text)
	};
	if (key.failed || text.failed || daemon_send(n->options.daemon, &r, problem_opened, n))
		return; /* out of memory or too many requests: the next message to this receiver is not sent
			   either, and reports it */
}

/* Whether the document or configuration that named the receiver is unchanged. */
static bool is_unchanged(struct notifier *n, struct arena *a, struct str origin)
{
	unsigned long long sid;
	unsigned rev;
	struct read_sched s;
	struct why why;
	const char *text = arena_dup(a, origin);
	if (text && sscanf(text, "s%llu.%u/", &sid, &rev) == 2) {
		enum err e = read_sched(n->reader, sid, a, &s, &why);
		return e == OK ? s.dropped.us == INT64_MAX && s.row.rev == rev : e != E_NOTFOUND;
	}
	size_t length = strlen(n->origin);
	return !text || (!strncmp(text, n->origin, length) && text[length] == '/');
}

void gone_close_changed(struct notifier *n)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct read_problems list;
	struct why why;
	bool left = false;
	uint64_t before = 0;
	do {
		if (read_problems(n->reader, false, before, 0, &a, &list, &why))
			return;
		for (unsigned i = 0; i < list.n; i++) {
			const struct problem_row *row = &list.item[i];
			struct st_req r = { .op = ST_PROBLEM, .lane = LANE_FINISH, .at = clock_wall() };
			before = row->number;
			if (!str_starts(row->key, STR(GONE_KEY)))
				continue;
			if (is_unchanged(n, &a, str_from(row->key, sizeof GONE_KEY - 1))) {
				left = true;
				continue;
			}
			r.news = 1u << NEWS_CLOSED;
			r.problem = (struct problem_change){ .act = PROBLEM_CLOSE, .number = row->number };
			left |= daemon_send(n->options.daemon, &r, NULL, NULL) != OK;
		}
	} while (list.n && list.more);
	atomic_store(&n->gone_is_reported, left);
}
