/* Problems of targets of events: one for a target that fails or is gone, and one for events that it can never
 * get. */
#include "daemon/notify/event_targets.h"

#include "core/doc/target.h"
#include "core/when/iso.h"
#include "sys/clock.h"

#include <stdio.h>
#include <string.h>

#define KEY_PREFIX "events:"
#define KEY_GAP    ":gap"

/* The key of a target's problem: "events:" and what follows in the key of its state. */
static void write_key(const struct event_target *t, const char *end, char ret[64])
{
	snprintf(ret, 64, KEY_PREFIX "%s%s", t->key + sizeof EVENT_STATE_KEY - 1, end);
}

static void send_problem(struct notifier *n, struct st_req *r)
{
	if (daemon_send(n->options.daemon, r, NULL, NULL))
		n->retry = true; /* it is reported with the next failure, or closed with the next success */
}

static void open_problem(struct event_target *t, const char *end, struct buf *text)
{
	char key[64];
	_cleanup_(buf_free) struct buf subject = { 0 };
	struct st_req r = { .op = ST_PROBLEM, .lane = LANE_FINISH, .at = clock_wall() };
	r.news = 1u << NEWS_OPENED;
	write_key(t, end, key);
	buf_addf(&subject, "events to %.*s", STR_SHORT(target_host(t->config->url)));
	r.problem = (struct problem_change){
		.act = PROBLEM_OPEN, .key = str_of(key), .subject = buf_str(&subject), .text = buf_str(text)
	};
	if (!text->failed && !subject.failed)
		send_problem(t->notifier, &r);
}

void event_problem_failing(struct event_target *t, const char *why)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	char since[ISO_SIZE];
	struct str host = target_host(t->config->url);
	if (t->has_problem && t->phase != TARGET_GONE)
		return; /* it is open already */
	iso_format_utc(wall_seconds(t->failing_since), since);
	if (t->phase == TARGET_GONE)
		buf_addf(&text, "the webhook at %.*s gets no more events until rota is started again: %s",
			 STR_SHORT(host), why);
	else
		buf_addf(&text,
			 "the webhook at %.*s has got no events since %s: %s; they wait for it as long as "
			 "they are "
			 "kept (kept_events_days)",
			 STR_SHORT(host), since, why);
	open_problem(t, "", &text);
	t->has_problem = true;
}

void event_problem_gap(struct event_target *t, uint64_t from, uint64_t to)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	buf_addf(&text,
		 "events %llu to %llu were removed for their age (kept_events_days) before the webhook at "
		 "%.*s got "
		 "them",
		 (unsigned long long)from, (unsigned long long)to, STR_SHORT(target_host(t->config->url)));
	open_problem(t, KEY_GAP, &text);
}

void event_problem_close(struct event_target *t)
{
	char key[64];
	struct st_req r = { .op = ST_PROBLEM, .lane = LANE_FINISH, .at = clock_wall() };
	if (!t->has_problem && !t->problem_unknown)
		return;
	t->has_problem = t->problem_unknown = false;
	r.news = 1u << NEWS_CLOSED;
	write_key(t, "", key);
	r.problem = (struct problem_change){ .act = PROBLEM_CLOSE, .key = str_of(key) };
	send_problem(t->notifier, &r);
}

/* Whether the problem is that of a target of the configuration. */
static bool is_of_target(const struct notifier *n, struct str key)
{
	for (unsigned i = 0; i < n->events.n; i++) {
		char own[64];
		write_key(&n->events.target[i], "", own);
		if (str_starts(key, str_of(own)))
			return true;
	}
	return false;
}

void event_problems_check(struct notifier *n)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct read_problems list;
	struct why why;
	uint64_t before = 0;
	do {
		if (read_problems(n->reader, false, before, 0, &a, &list, &why)) {
			n->retry = true;
			return;
		}
		for (unsigned i = 0; i < list.n; i++) {
			const struct problem_row *row = &list.item[i];
			struct st_req r = { .op = ST_PROBLEM, .lane = LANE_FINISH, .at = clock_wall() };
			bool gap =
				row->key.n > sizeof KEY_GAP - 1 &&
				str_eq(str_from(row->key, row->key.n - (sizeof KEY_GAP - 1)), STR(KEY_GAP));
			before = row->number;
			if (!str_starts(row->key, STR(KEY_PREFIX)) ||
			    (is_of_target(n, row->key) && !(gap && row->acked.us != INT64_MAX)))
				continue;
			r.news = 1u << NEWS_CLOSED;
			r.problem = (struct problem_change){ .act = PROBLEM_CLOSE, .number = row->number };
			send_problem(n, &r);
		}
	} while (list.n && list.more);
	n->events.problems_checked = true;
}
