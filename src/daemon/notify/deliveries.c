/* Delivers the messages that are due: at most DELIVERIES_MAX at a time, and few of them to one receiver. */
#include "daemon/notify/event_targets.h"

#include "core/model.h"
#include "port/read.h"
#include "sys/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static uint32_t random_number(void)
{
	uint32_t n = 0;
	return getrandom(&n, sizeof n, 0) == sizeof n ? n : UINT32_MAX;
}

static struct delivery *find_delivery(struct notifier *n, uint64_t message)
{
	for (unsigned i = 0; i < DELIVERIES_MAX; i++)
		if (n->delivery[i].phase != PHASE_FREE && n->delivery[i].message.number == message)
			return &n->delivery[i];
	return NULL;
}

static struct delivery *free_delivery(struct notifier *n)
{
	for (unsigned i = 0; i < DELIVERIES_MAX; i++)
		if (n->delivery[i].phase == PHASE_FREE)
			return &n->delivery[i];
	return NULL;
}

bool deliveries_have_room(const struct notifier *n)
{
	return free_delivery((struct notifier *)n) != NULL;
}

/* --- receivers --- */

static void pause_receiver(struct notifier *n, uint64_t receiver, int64_t us)
{
	/* A longer pause would let one failing address delay all others of its host for hours. */
	const int64_t most = RECEIVER_PAUSE_SECONDS * USEC;
	struct boot now = clock_boot();
	struct paused_receiver *to = NULL;
	for (unsigned i = 0; i < n->paused_count; i++)
		if (n->paused[i].receiver == receiver || n->paused[i].until.us <= now.us)
			to = &n->paused[i];
	if (!to && n->paused_count < PAUSED_RECEIVERS_MAX)
		to = &n->paused[n->paused_count++];
	if (to)
		*to = (struct paused_receiver){ receiver, { now.us + (us < most ? us : most) } };
}

static unsigned deliveries_to(const struct notifier *n, uint64_t receiver)
{
	unsigned count = 0;
	for (unsigned i = 0; i < DELIVERIES_MAX; i++)
		count += n->delivery[i].phase != PHASE_FREE && n->delivery[i].message.receiver == receiver;
	return count;
}

enum { UNAVAILABLE_MAX = DELIVERIES_MAX + PAUSED_RECEIVERS_MAX };

/* Receivers that are busy or paused; returns how many. */
static unsigned list_unavailable(const struct notifier *n, struct boot now, uint64_t ret[UNAVAILABLE_MAX])
{
	unsigned found = 0;
	for (unsigned i = 0; i < DELIVERIES_MAX; i++) {
		const struct delivery *d = &n->delivery[i];
		if (d->phase != PHASE_FREE &&
		    deliveries_to(n, d->message.receiver) >= DELIVERIES_PER_RECEIVER_MAX)
			ret[found++] = d->message.receiver;
	}
	for (unsigned i = 0; i < n->paused_count; i++)
		if (n->paused[i].until.us > now.us)
			ret[found++] = n->paused[i].receiver;
	return found;
}

/* --- the end of a delivery --- */

static void set_result(struct delivery *d, enum message_state state, unsigned attempts, int64_t delay_us,
		       const char *text)
{
	struct wall now = clock_wall();
	if (text) {
		d->result_text.n = 0;
		buf_addf(&d->result_text, "%s", text);
	}
	d->result = (struct st_req){ .op = ST_DELIVERY, .lane = LANE_FINISH, .at = now };
	d->result.delivery =
		(struct message_row){ .number = d->message.number,
				      .sid = d->message.sid,
				      .run = d->message.run,
				      .kind = d->message.kind,
				      .silent = d->message.kind == NEWS_PING,
				      .state = (uint8_t)state,
				      .attempts = attempts,
				      .next = { state == MESSAGE_WAITING ? now.us + delay_us : 0 },
				      .result = !d->result_text.failed ? buf_str(&d->result_text)
								       : (struct str){ 0 } };
	d->phase = PHASE_ENDED;
	if (state == MESSAGE_WAITING)
		pause_receiver(d->notifier, d->message.receiver, delay_us);
	if (state == MESSAGE_GONE)
		gone_report(d->notifier, &d->message);
}

static void set_decision(struct delivery *d, struct delivery_decision decision, const char *text)
{
	static const enum message_state states[DELIVERY_VERDICTS] = {
		[DELIVERY_DONE] = MESSAGE_DELIVERED,   [DELIVERY_RETRY] = MESSAGE_WAITING,
		[DELIVERY_REFUSED] = MESSAGE_GIVEN_UP, [DELIVERY_EXHAUSTED] = MESSAGE_GIVEN_UP,
		[DELIVERY_GONE] = MESSAGE_GONE,
	};
	set_result(d, states[decision.verdict], d->message.attempts + 1, decision.delay_us, text);
}

void deliveries_collect(struct notifier *n)
{
	struct rn_report report[16];
	unsigned count;
	while ((count = runner_collect(n->runner, report, ARRAY_LEN(report))))
		for (unsigned i = 0; i < count; i++) {
			struct delivery *d = find_delivery(n, report[i].run);
			struct event_target *t = event_targets_find(n, report[i].run);
			struct delivery_end end;
			if (t)
				event_target_ended(t, &report[i]);
			if (!d || d->phase != PHASE_RUNNING || report[i].attempt != d->message.attempts + 1 ||
			    report[i].kind == RN_STARTED || report[i].kind == RN_ALIVE)
				continue;
			delivery_judge(&d->message, &report[i], n->options.dir, random_number(), &end);
			buf_free(&d->result_text);
			d->result_text = end.text;
			set_decision(d, end.decision, NULL);
		}
}

static void result_recorded(void *ctx, const struct st_ack *ack)
{
	struct delivery *d = ctx;
	(void)ack;
	atomic_store(&d->recorded, true);
	notifier_wake(d->notifier);
}

/* Removes the files of all attempts, the last first. */
static void remove_files(struct notifier *n, uint64_t message)
{
	static const char *const kinds[] = { "log", "out", "ctx", "box", "run" };
	struct message_row m;
	_cleanup_(arena_free) struct arena a = { 0 };
	struct why why;
	unsigned last = read_message(n->reader, message, &a, &m, &why) == OK ? m.attempts : 0;
	for (unsigned attempt = last; attempt > 0; attempt--)
		for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
			_cleanup_(buf_free) struct buf path = { 0 };
			runfile_path(&path, n->options.dir, message, attempt, kinds[i]);
			if (path.failed || (unlink(path.p) < 0 && errno == ENOENT && attempt < last &&
					    !strcmp(kinds[i], "run")))
				return; /* the files of earlier attempts were removed before */
		}
}

void deliveries_record(struct notifier *n)
{
	for (unsigned i = 0; i < DELIVERIES_MAX; i++) {
		struct delivery *d = &n->delivery[i];
		if (d->phase == PHASE_RECORDING && atomic_load(&d->recorded)) {
			remove_files(n, d->message.number);
			arena_free(&d->arena);
			buf_free(&d->result_text);
			d->phase = PHASE_FREE;
			n->check_due = true;
		}
		if (d->phase != PHASE_ENDED)
			continue;
		atomic_store(&d->recorded, false);
		if (daemon_send(n->options.daemon, &d->result, result_recorded, d) == OK)
			d->phase = PHASE_RECORDING;
		else
			n->retry = true;
	}
}

/* --- the start of a delivery --- */

void deliveries_want(void *ctx, const struct rn_req *r)
{
	struct notifier *n = ctx;
	struct delivery *d = find_delivery(n, r->run);
	struct event_target *t = event_targets_find(n, r->run);
	const struct launch *l = t ? &t->launch : d ? &d->launch : NULL;
	struct why why = { 0 };
	if (!l || runner_give(n->runner, r->run, r->attempt, l, &why))
		runner_refuse(n->runner, r->run, r->attempt, OUTCOME_FAILED, REASON_LOST);
}

static bool copy_message(struct delivery *d, const struct message_row *m)
{
	struct str *texts[] = { &d->message.origin, &d->message.target, &d->message.body };
	d->message = *m;
	d->message.result = (struct str){ 0 };
	for (unsigned i = 0; i < ARRAY_LEN(texts); i++)
		if (!(texts[i]->p = arena_dup(&d->arena, *texts[i])))
			return false;
	return true;
}

/* If it is pointless to send the message now, returns the reason, else NULL. */
static const char *why_pointless(struct notifier *n, const struct message_row *m)
{
	bool yes = false;
	struct why why;
	if (m->kind == NEWS_PING && m->attempts &&
	    read_message_after(n->reader, m->sid, m->kind, m->number, &yes, &why) == OK && yes)
		return "given up: a later ping has been sent";
	return m->kind != MESSAGE_TEST && read_receiver_gone(n->reader, m->origin, &yes, &why) == OK && yes
		       ? RESULT_GONE
		       : NULL;
}

static void start_delivery(struct notifier *n, struct delivery *d, const struct message_row *m)
{
	struct rn_req q = { .op = RN_START, .run = m->number, .attempt = (uint16_t)(m->attempts + 1) };
	struct why why = { 0 };
	if (!copy_message(d, m)) {
		arena_free(&d->arena);
		n->retry = true;
		return;
	}
	d->phase = PHASE_RUNNING;
	const char *pointless = why_pointless(n, &d->message);
	if (pointless) {
		set_result(d, MESSAGE_GIVEN_UP, d->message.attempts, 0, pointless);
		return;
	}
	enum err e = delivery_render(&d->message, &n->options.out, n->options.pass_env, &d->arena, &d->launch,
				     &why);
	if (e == E_IO)
		set_decision(d, delivery_not_started(&d->message, random_number()), why.text);
	else if (e && e != E_NOMEM)
		set_result(d, MESSAGE_GIVEN_UP, d->message.attempts + 1, 0, why.text);
	else if (e || runner_submit(n->runner, &q)) {
		arena_free(&d->arena);
		d->phase = PHASE_FREE;
		n->retry = true;
	}
}

/* A message waits while it is being delivered, or while its receiver has the most deliveries allowed. A ping
 * also waits for earlier pings of its schedule: if their order changed, the receiver could take the end of
 * one run for the end of another. */
static bool must_wait(struct notifier *n, const struct message_row *m)
{
	for (unsigned i = 0; i < DELIVERIES_MAX; i++) {
		const struct delivery *d = &n->delivery[i];
		bool ping_before =
			m->kind == NEWS_PING && d->message.kind == NEWS_PING && d->message.sid == m->sid;
		if (d->phase != PHASE_FREE && (d->message.number == m->number || ping_before))
			return true;
	}
	return deliveries_to(n, m->receiver) >= DELIVERIES_PER_RECEIVER_MAX;
}

void deliveries_start_due(struct notifier *n)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	uint64_t number[UNAVAILABLE_MAX];
	struct read_messages due;
	struct why why;
	struct delivery *d;
	if (!n->check_due || !deliveries_have_room(n))
		return;
	n->check_due = false;
	n->next_due = WALL_NEVER;
	struct receiver_list unavailable = { number, list_unavailable(n, clock_boot(), number) };
	if (read_messages_due(n->reader, clock_wall(), unavailable, 2 * DELIVERIES_MAX, &a, &due, &why)) {
		n->retry = n->check_due = true;
		return;
	}
	bool any = false;
	for (unsigned i = 0; i < due.n && (d = free_delivery(n)); i++)
		if (!must_wait(n, &due.item[i])) {
			start_delivery(n, d, &due.item[i]);
			any = true;
		}
	n->check_due = any && due.more; /* the next page may have messages that need not wait */
	if (read_message_next(n->reader, unavailable, &n->next_due, &why))
		n->retry = n->check_due = true;
}

int64_t deliveries_next(const struct notifier *n)
{
	int64_t us = INT64_MAX, wall = clock_wall().us, boot = clock_boot().us;
	if (!deliveries_have_room(n))
		return us;
	if (n->next_due.us != INT64_MAX)
		us = n->next_due.us > wall ? n->next_due.us - wall : 0;
	for (unsigned i = 0; i < n->paused_count; i++)
		if (n->paused[i].until.us > boot && n->paused[i].until.us - boot < us)
			us = n->paused[i].until.us - boot;
	return us;
}

/* --- at the start --- */

/* Files are stale if their message is delivered or given up, was pruned, or is not in a restored store. */
bool deliveries_remove_stale(void *ctx, struct run_files *f)
{
	struct notifier *n = ctx;
	_cleanup_(arena_free) struct arena a = { 0 };
	struct message_row m = { 0 };
	struct why why;
	enum err e = read_message(n->reader, f->run, &a, &m, &why);
	if (e && e != E_NOTFOUND)
		return false;
	if (runfile_any_alive(n->options.dir, f))
		return true;
	for (unsigned i = 0; i < f->files; i++)
		if (!e && m.state == MESSAGE_WAITING && f->file[i].attempt > m.attempts)
			return true; /* the result of this attempt has not been recorded */
	runfile_remove(f, false);
	return true;
}
