#include "daemon/notify/notifier.h"

#include "base/hash.h"
#include "base/json.h"
#include "daemon/daemon.h"
#include "daemon/notify/delivery.h"
#include "daemon/notify/message.h"
#include "exec/rundir.h"
#include "exec/runner.h"
#include "runfile/walk.h"
#include "sys/clock.h"
#include "sys/thread.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

/* One that is being delivered: to the runner, and then to the store. */
enum phase { FREE, RUNNING, OVER /* its end is to be recorded */, TOLD /* and answered */ };
struct errand {
	struct notifier *post;
	enum phase phase;
	atomic_bool answered;
	struct arena arena; /* of the row, and of what is executed */
	struct message_row row;
	struct launch launch;
	struct st_req end;
	struct buf said;
};

/* A receiver that failed is not asked by the next message at once. */
struct line {
	uint64_t line;
	struct boot until;
};

struct notifier {
	struct notifier_options options;
	struct reader *reader;
	struct runner *runner;
	int bell;
	pthread_t thread;
	bool started;
	atomic_bool stop, news, changed;
	struct errand errand[POST_AT_ONCE];
	struct line line[POST_LINES_MAX];
	unsigned lines;
	struct {
		bool under_way;
		atomic_bool answered;
		atomic_uint
			refused;  /* so often in a row: then one by one, and then without what is refused */
		struct boot next; /* not before: what comes in a storm is gathered */
		struct arena arena;
	} tell;
	struct arena settings; /* of the next two */
	struct config_notify config;
	const char *origin;
	atomic_bool told_gone; /* there may be problems of receivers that were gone */
	struct wall next;      /* when something is to be tried; WALL_NEVER: nothing waits */
	bool look;             /* something may be due */
	bool again;            /* something has to be tried again in a moment */
};

static uint32_t chance(void)
{
	uint32_t n = 0;
	return getrandom(&n, sizeof n, 0) == sizeof n ? n : UINT32_MAX;
}

static void ring(struct notifier *p)
{
	uint64_t one = 1;
	if (write(p->bell, &one, sizeof one) < 0)
		return; /* it has been rung, then */
}

void notifier_config_changed(struct notifier *p)
{
	if (!atomic_exchange(&p->changed, true))
		ring(p);
}

void notifier_happened(void *notifier, const struct pump_fact *f, const struct st_ack *ack)
{
	struct notifier *p = notifier;
	(void)ack;
	if (f->news && f->res == ST_OK && !atomic_exchange(&p->news, true))
		ring(p);
	/* A document may have changed a receiver that was gone. */
	if ((f->op == ST_PUT || f->op == ST_DROP) && atomic_load(&p->told_gone))
		notifier_config_changed(p);
}

/* --- who is told --- */

enum err notifier_config(struct reader *reader, const struct config_notify *config, struct arena *a,
			 struct config_notify *ret, const char **origin, struct why *why)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct state_row row = { 0 };
	struct val v;
	if (config) {
		notify_write(config, &text);
		*ret = *config;
		*origin =
			arena_printf(a, "file.%016llx", (unsigned long long)fnv1a(FNV_START, buf_str(&text)));
		return *origin && !text.failed ? OK : E_NOMEM;
	}
	*ret = (struct config_notify){ 0 };
	enum err e = read_state(reader, STR(NOTIFIER_STATE_KEY), a, &row, why);
	struct key_reader r = { row.text, a, why, NULL };
	if (!e && row.text.n)
		e = json_read(row.text, a, &v, why);
	if (!e && row.text.n)
		e = notify_read(&r, &v, ret);
	*origin = arena_printf(a, "set.%u", row.rev);
	return e ? e : *origin ? OK : E_NOMEM;
}

/* What cannot be read now stays as it was. */
static void read_config(struct notifier *p)
{
	struct arena a = { 0 };
	struct config_notify config;
	const char *origin;
	struct why why;
	if (notifier_config(p->reader, p->options.config, &a, &config, &origin, &why)) {
		arena_free(&a);
		atomic_store(&p->changed, true);
		p->again = true;
		return;
	}
	arena_free(&p->settings);
	p->settings = a;
	p->config = config;
	p->origin = origin;
}

/* --- receivers that are gone --- */

#define GONE_KEY "notify:"

/* Not before: who looks for such problems would find none, and look no more. */
static void gone_said(void *arg, const struct st_ack *ack)
{
	struct notifier *p = arg;
	(void)ack;
	atomic_store(&p->told_gone, true);
}

static void say_gone(struct notifier *p, const struct message_row *n)
{
	_cleanup_(buf_free) struct buf key = { 0 }, name = { 0 }, text = { 0 };
	struct st_req r = { .op = ST_PROBLEM, .lane = LANE_FINISH, .at = clock_wall() };
	r.news = 1u << NEWS_OPENED;
	message_receiver(n, &name);
	buf_addf(&key, GONE_KEY "%.*s", STR_ARG(n->origin));
	buf_addf(&text,
		 "the %s answered 410 Gone: it is told nothing any more, until what names it is changed",
		 buf_str(&name).p);
	r.problem = (struct problem_change){
		.act = PROBLEM_OPEN, .key = buf_str(&key), .subject = STR("notify"), .text = buf_str(&text)
	};
	/* No room: it is said when the next one is not sent. */
	if (key.failed || text.failed || daemon_send(p->options.daemon, &r, gone_said, p))
		return;
}

/* Does what named it stand as it was? */
static bool stands(struct notifier *p, struct arena *a, struct str origin)
{
	unsigned long long sid;
	unsigned rev;
	struct read_sched s;
	struct why why;
	const char *text = arena_dup(a, origin);
	if (text && sscanf(text, "s%llu.%u/", &sid, &rev) == 2) {
		enum err e = read_sched(p->reader, sid, a, &s, &why);
		return e == OK ? s.dropped.us == INT64_MAX && s.row.rev == rev : e != E_NOTFOUND;
	}
	size_t n = strlen(p->origin);
	return !text || (!strncmp(text, p->origin, n) && text[n] == '/');
}

static void close_gone(struct notifier *p)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct read_problems list;
	struct why why;
	bool left = false;
	uint64_t before = 0;
	do {
		if (read_problems(p->reader, false, before, 0, &a, &list, &why))
			return;
		for (unsigned i = 0; i < list.n; i++) {
			const struct problem_row *row = &list.item[i];
			struct st_req r = { .op = ST_PROBLEM, .lane = LANE_FINISH, .at = clock_wall() };
			before = row->number;
			if (!str_starts(row->key, STR(GONE_KEY)))
				continue;
			if (stands(p, &a, str_from(row->key, sizeof GONE_KEY - 1))) {
				left = true;
				continue;
			}
			r.news = 1u << NEWS_CLOSED;
			r.problem = (struct problem_change){ .act = PROBLEM_CLOSE, .number = row->number };
			left |= daemon_send(p->options.daemon, &r, NULL, NULL) != OK;
		}
	} while (list.n && list.more);
	atomic_store(&p->told_gone, left);
}

/* --- news to notices --- */

static void told(void *arg, const struct st_ack *ack)
{
	struct notifier *p = arg;
	atomic_store(&p->tell.refused, ack->res == ST_OK ? 0 : atomic_load(&p->tell.refused) + 1);
	atomic_store(&p->tell.answered, true);
	ring(p);
}

/* As many as have room, at least one; *upto is the last. E_LIMIT: not even one. */
static enum err make_notices(struct notifier *p, const struct read_news *news, struct message_list *list,
			     uint64_t *upto, struct why *why)
{
	const struct message_source source = { p->reader, daemon_runs_dir(p->options.daemon), &p->config,
					       p->origin };
	enum err e = OK;
	for (unsigned i = 0; i < news->n && !e; i++) {
		e = message_add(&source, &news->item[i], list, why);
		if (!e)
			*upto = news->item[i].number;
	}
	return e == E_LIMIT && *upto ? OK : e;
}

/* Who wants no more is told no more; that it was not told is on record. */
static void leave_out(struct notifier *p, struct message_list *list)
{
	struct why why;
	bool gone;
	for (unsigned i = 0; i < list->n; i++) {
		struct message_row *n = &list->item[i];
		if (n->state != MESSAGE_WAITING || n->kind == MESSAGE_TEST ||
		    read_receiver_gone(p->reader, n->origin, &gone, &why) || !gone)
			continue;
		n->state = MESSAGE_GIVEN_UP;
		n->result = STR("not sent: it has answered 410 Gone before");
		say_gone(p, n);
	}
}

static void take_news(struct notifier *p)
{
	struct read_news news;
	struct message_list list = { .arena = &p->tell.arena };
	struct st_req r = { .op = ST_MESSAGES, .lane = LANE_FINISH, .at = clock_wall() };
	struct why why;
	if (p->tell.under_way && !atomic_load(&p->tell.answered))
		return;
	if (p->tell.under_way)
		p->look = true; /* there are fresh ones */
	p->tell.under_way = false;
	arena_reset(&p->tell.arena);
	if (clock_boot().us < p->tell.next.us) {
		p->again |= atomic_load(&p->news);
		return;
	}
	if (!atomic_exchange(&p->news, false))
		return;
	list.item = arena_alloc(list.arena, STORE_MESSAGES_MAX * sizeof *list.item);
	unsigned refused = atomic_load(&p->tell.refused);
	enum err e = list.item ? read_news(p->reader, refused ? 1 : NEWS_AT_ONCE, list.arena, &news, &why)
			       : E_NOMEM;
	if (!e && !news.n) {
		p->look = true;
		return;
	}
	if (!e)
		e = make_notices(p, &news, &list, &r.messages.news_upto, &why);
	if (!e) {
		leave_out(p, &list);
		e = message_join(&list);
	}
	r.messages.message = list.item;
	r.messages.n =
		refused < 2 ? list.n : 0; /* what the store never takes must not keep all others waiting */
	atomic_store(&p->tell.answered, false);
	if (!e)
		e = daemon_send(p->options.daemon, &r, told, p);
	p->tell.under_way = !e;
	if (e || !news.more)
		p->tell.next.us = clock_boot().us + POST_PAUSE_MS * INT64_C(1000);
	/* Once more, for those that came meanwhile, or because it did not work. */
	atomic_store(&p->news, true);
	p->again |= e != OK;
}

/* --- one attempt --- */

static void hold_line(struct notifier *p, uint64_t line, int64_t us)
{
	struct boot now = clock_boot();
	struct line *to = NULL;
	for (unsigned i = 0; i < p->lines; i++)
		if (p->line[i].line == line || p->line[i].until.us <= now.us)
			to = &p->line[i];
	if (!to && p->lines < POST_LINES_MAX)
		to = &p->line[p->lines++];
	if (to)
		*to = (struct line){ line, { now.us + us } };
}

/* Longer, and one address that fails for hours would keep all others of its host from being told. */
enum { HOLD_LINE_US = POST_HOLD_SECONDS * USEC };

static void over(struct errand *e, enum message_state state, unsigned attempts, int64_t delay_us,
		 const char *said)
{
	struct wall now = clock_wall();
	if (said) {
		e->said.n = 0;
		buf_addf(&e->said, "%s", said);
	}
	e->end = (struct st_req){ .op = ST_DELIVERY, .lane = LANE_FINISH, .at = now };
	e->end.delivery =
		(struct message_row){ .number = e->row.number,
				      .sid = e->row.sid,
				      .run = e->row.run,
				      .kind = e->row.kind,
				      .state = (uint8_t)state,
				      .attempts = attempts,
				      .next = { state == MESSAGE_WAITING ? now.us + delay_us : 0 },
				      .result = !e->said.failed ? buf_str(&e->said) : (struct str){ 0 } };
	e->phase = OVER;
	if (state == MESSAGE_WAITING)
		hold_line(e->post, e->row.receiver, delay_us < HOLD_LINE_US ? delay_us : HOLD_LINE_US);
	if (state == MESSAGE_GONE)
		say_gone(e->post, &e->row);
}

static void decide(struct errand *e, struct delivery_decision next, const char *said)
{
	static const enum message_state states[DELIVERY_VERDICTS] = {
		[DELIVERY_DONE] = MESSAGE_DELIVERED,   [DELIVERY_RETRY] = MESSAGE_WAITING,
		[DELIVERY_REFUSED] = MESSAGE_GIVEN_UP, [DELIVERY_EXHAUSTED] = MESSAGE_GIVEN_UP,
		[DELIVERY_GONE] = MESSAGE_GONE,
	};
	over(e, states[next.verdict], e->row.attempts + 1, next.delay_us, said);
}

static struct errand *errand_of(struct notifier *p, uint64_t number)
{
	for (unsigned i = 0; i < POST_AT_ONCE; i++)
		if (p->errand[i].phase != FREE && p->errand[i].row.number == number)
			return &p->errand[i];
	return NULL;
}

static void hear(struct notifier *p)
{
	struct rn_report says[16];
	unsigned n;
	while ((n = runner_collect(p->runner, says, ARRAY_LEN(says))))
		for (unsigned i = 0; i < n; i++) {
			struct errand *e = errand_of(p, says[i].run);
			struct delivery_end end;
			if (!e || e->phase != RUNNING || says[i].attempt != e->row.attempts + 1 ||
			    says[i].kind == RN_STARTED || says[i].kind == RN_ALIVE)
				continue;
			delivery_judge(&e->row, &says[i], p->options.dir, chance(), &end);
			buf_free(&e->said);
			e->said = end.said;
			decide(e, end.next, NULL);
		}
}

static void recorded(void *arg, const struct st_ack *ack)
{
	struct errand *e = arg;
	(void)ack;
	atomic_store(&e->answered, true);
	ring(e->post);
}

/* Of all its attempts: what they were is in the store. */
static void remove_files(struct notifier *p, uint64_t number)
{
	static const char *const kinds[] = { "log", "out", "ctx", "box", "run" };
	struct message_row n;
	_cleanup_(arena_free) struct arena a = { 0 };
	struct why why;
	unsigned last = read_notice(p->reader, number, &a, &n, &why) == OK ? n.attempts : 0;
	for (unsigned attempt = last; attempt > 0; attempt--)
		for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
			_cleanup_(buf_free) struct buf path = { 0 };
			runfile_path(&path, p->options.dir, number, attempt, kinds[i]);
			if (path.failed || (unlink(path.p) < 0 && errno == ENOENT && attempt < last &&
					    !strcmp(kinds[i], "run")))
				return; /* those before it went before */
		}
}

static void let_go(struct notifier *p, struct errand *e)
{
	remove_files(p, e->row.number);
	arena_free(&e->arena);
	buf_free(&e->said);
	e->phase = FREE;
	p->look = true;
}

static void record(struct notifier *p)
{
	for (unsigned i = 0; i < POST_AT_ONCE; i++) {
		struct errand *e = &p->errand[i];
		if (e->phase == TOLD && atomic_load(&e->answered))
			let_go(p, e);
		if (e->phase != OVER)
			continue;
		atomic_store(&e->answered, false);
		if (daemon_send(p->options.daemon, &e->end, recorded, e) == OK)
			e->phase = TOLD;
		else
			p->again = true;
	}
}

/* --- what is due --- */

static void want(void *ctx, const struct rn_req *r)
{
	struct notifier *p = ctx;
	struct errand *e = errand_of(p, r->run);
	struct why why = { 0 };
	enum err err = e ? runner_give(p->runner, r->run, r->attempt, &e->launch, &why) : E_NOTFOUND;
	if (err)
		runner_refuse(p->runner, r->run, r->attempt, OUTCOME_FAILED, REASON_LOST);
}

static bool copy_row(struct errand *e, const struct message_row *row)
{
	struct str *texts[] = { &e->row.origin, &e->row.target, &e->row.body };
	e->row = *row;
	e->row.result = (struct str){ 0 };
	for (unsigned i = 0; i < ARRAY_LEN(texts); i++)
		if (!(texts[i]->p = arena_dup(&e->arena, *texts[i])))
			return false;
	return true;
}

/* What became of others meanwhile may make it pointless. */
static const char *why_not(struct notifier *p, const struct message_row *n)
{
	bool yes = false;
	struct why why;
	if (n->kind == NEWS_PING && n->attempts &&
	    read_notice_after(p->reader, n->sid, n->kind, n->number, &yes, &why) == OK && yes)
		return "given up: a later ping has been sent";
	return n->kind != MESSAGE_TEST && read_receiver_gone(p->reader, n->origin, &yes, &why) == OK && yes
		       ? "not sent: it has answered 410 Gone before"
		       : NULL;
}

static void start(struct notifier *p, struct errand *e, const struct message_row *row)
{
	struct rn_req q = { .op = RN_START, .run = row->number, .attempt = (uint16_t)(row->attempts + 1) };
	struct why why = { 0 };
	if (!copy_row(e, row)) {
		arena_free(&e->arena);
		p->again = true;
		return;
	}
	e->phase = RUNNING;
	const char *not = why_not(p, &e->row);
	if (not ) {
		over(e, MESSAGE_GIVEN_UP, e->row.attempts, 0, not );
		return;
	}
	enum err err = delivery_render(&e->row, &p->options.out, &e->arena, &e->launch, &why);
	if (err == E_IO)
		decide(e, delivery_again(&e->row, chance()), why.text);
	else if (err && err != E_NOMEM)
		over(e, MESSAGE_GIVEN_UP, e->row.attempts + 1, 0, why.text);
	else if (err || runner_submit(p->runner, &q)) {
		arena_free(&e->arena);
		e->phase = FREE;
		p->again = true;
	}
}

static unsigned under_way(const struct notifier *p, uint64_t line)
{
	unsigned n = 0;
	for (unsigned i = 0; i < POST_AT_ONCE; i++)
		n += p->errand[i].phase != FREE && p->errand[i].row.receiver == line;
	return n;
}

/* Those that are busy, or were not to be had a moment ago, as a JSON list. */
static void busy_lines(struct notifier *p, struct buf *out, struct boot now)
{
	buf_addc(out, '[');
	for (unsigned i = 0; i < POST_AT_ONCE; i++)
		if (p->errand[i].phase != FREE &&
		    under_way(p, p->errand[i].row.receiver) >= POST_AT_ONCE_OF_LINE)
			buf_addf(out, "%s%llu", out->n > 1 ? "," : "",
				 (unsigned long long)p->errand[i].row.receiver);
	for (unsigned i = 0; i < p->lines; i++)
		if (p->line[i].until.us > now.us)
			buf_addf(out, "%s%llu", out->n > 1 ? "," : "", (unsigned long long)p->line[i].line);
	buf_addc(out, ']');
}

/* Pings of one schedule come in their order, or their receiver takes an end for that of another run. */
static bool must_wait(struct notifier *p, const struct message_row *n)
{
	for (unsigned i = 0; i < POST_AT_ONCE; i++) {
		const struct errand *e = &p->errand[i];
		if (e->phase != FREE &&
		    (e->row.number == n->number ||
		     (n->kind == NEWS_PING && e->row.kind == NEWS_PING && e->row.sid == n->sid)))
			return true;
	}
	return under_way(p, n->receiver) >= POST_AT_ONCE_OF_LINE;
}

static struct errand *free_errand(struct notifier *p)
{
	for (unsigned i = 0; i < POST_AT_ONCE; i++)
		if (p->errand[i].phase == FREE)
			return &p->errand[i];
	return NULL;
}

/* As many as there is room for. When those that must wait may go is known when others are over. */
static void start_due(struct notifier *p)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	_cleanup_(buf_free) struct buf but = { 0 };
	struct read_notices due;
	struct why why;
	struct errand *e;
	if (!p->look || !free_errand(p))
		return;
	p->look = false;
	p->next = WALL_NEVER;
	busy_lines(p, &but, clock_boot());
	if (but.failed ||
	    read_notices_due(p->reader, clock_wall(), buf_str(&but), 2 * POST_AT_ONCE, &a, &due, &why)) {
		p->again = p->look = true;
		return;
	}
	bool begun = false;
	for (unsigned i = 0; i < due.n && (e = free_errand(p)); i++)
		if (!must_wait(p, &due.item[i])) {
			start(p, e, &due.item[i]);
			begun = true;
		}
	p->look = begun && due.more; /* others may be behind those that must wait */
	if (read_notice_next(p->reader, buf_str(&but), &p->next, &why))
		p->again = p->look = true;
}

/* --- the thread --- */

/* No launcher is kept while there is nothing to deliver. */
static void keep_launcher(struct notifier *p)
{
	if (runner_busy(p->runner) && !runner_keep_launcher(p->runner, p->options.launcher))
		p->again = true;
}

/* How long there is nothing to do, in milliseconds; -1: until the bell rings. */
static int patience(struct notifier *p)
{
	int64_t us = INT64_MAX, now = clock_wall().us;
	struct boot boot = clock_boot();
	bool room = free_errand(p);
	if (p->look && room)
		return 0;
	if (p->again)
		return POST_PAUSE_MS;
	if (room && p->next.us != INT64_MAX && p->next.us - now < us)
		us = p->next.us > now ? p->next.us - now : 0;
	for (unsigned i = 0; i < p->lines && room; i++)
		if (p->line[i].until.us > boot.us && p->line[i].until.us - boot.us < us)
			us = p->line[i].until.us - boot.us;
	/* What waits because others are under way is looked at when they are over: of times that have passed
	 * there is nothing to wait for. */
	if (us <= 0)
		us = POST_PAUSE_MS * 1000;
	return us == INT64_MAX ? -1 : us > INT64_C(3600000000) ? 3600000 : (int)(us / 1000 + 1);
}

static void turn(struct notifier *p)
{
	p->again = false;
	if (atomic_exchange(&p->changed, false)) {
		read_config(p);
		if (p->origin && atomic_load(&p->told_gone))
			close_gone(p);
		p->look = true;
	}
	keep_launcher(p);
	hear(p);
	record(p);
	if (p->origin) /* else nobody knows yet who is told */
		take_news(p);
	start_due(p);
	keep_launcher(p);
}

/* Files that no notice will be looked for by: of one that is over, or gone, or of a store that was brought
 * back. */
static bool sweep(void *ctx, struct run_files *f)
{
	struct notifier *p = ctx;
	_cleanup_(arena_free) struct arena a = { 0 };
	struct message_row n = { 0 };
	struct why why;
	enum err e = read_notice(p->reader, f->run, &a, &n, &why);
	if (e && e != E_NOTFOUND)
		return false;
	if (runfile_any_alive(p->options.dir, f))
		return true;
	for (unsigned i = 0; i < f->files; i++)
		if (!e && n.state == MESSAGE_WAITING && f->file[i].attempt > n.attempts)
			return true; /* it is taken up again */
	runfile_remove(f, false);
	return true;
}

static void *work(void *arg)
{
	struct notifier *p = arg;
	struct why why;
	uint64_t times;
	if (runfile_walk(p->options.dir, 0, sweep, p, &why))
		p->again = true; /* they are in nobody's way */
	while (!atomic_load(&p->stop)) {
		struct pollfd fds[] = { { .fd = p->bell, .events = POLLIN },
					{ .fd = runner_fd(p->runner), .events = POLLIN } };
		turn(p);
		int n = poll(fds, ARRAY_LEN(fds), patience(p));
		if (n > 0 && fds[0].revents && read(p->bell, &times, sizeof times) < 0)
			times = 0; /* another turn does no harm */
		p->look |= n == 0;
	}
	return NULL;
}

enum err notifier_open(const struct notifier_options *o, struct notifier **ret, struct why *why)
{
	struct notifier *p = calloc(1, sizeof *p);
	if (!p)
		return E_NOMEM;
	p->options = *o;
	p->look = true;
	atomic_store(&p->told_gone, true);
	p->next = WALL_NEVER;
	atomic_store(&p->news, true);
	atomic_store(&p->changed, true);
	for (unsigned i = 0; i < POST_AT_ONCE; i++)
		p->errand[i].post = p;
	p->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct runner_config c = { .place = { .runs = o->dir, .flush = true }, .ctx = p, .want = want };
	enum err e = p->bell < 0 ? why_set(why, E_IO, WHY_NOWHERE, "no bell for the post") : OK;
	if (!e)
		e = runner_open(&c, &p->runner, why);
	if (!e)
		e = daemon_reader(o->daemon, &p->reader, why);
	if (!e)
		e = thread_start(&p->thread, work, p);
	p->started = !e;
	if (e)
		notifier_close(p);
	else
		*ret = p;
	return e;
}

void notifier_close(struct notifier *p)
{
	if (!p)
		return;
	atomic_store(&p->stop, true);
	if (p->bell >= 0)
		ring(p);
	if (p->started)
		pthread_join(p->thread, NULL);
	for (unsigned i = 0; i < POST_AT_ONCE; i++) {
		arena_free(&p->errand[i].arena);
		buf_free(&p->errand[i].said);
	}
	runner_close(p->runner);
	reader_close(p->reader);
	arena_free(&p->tell.arena);
	arena_free(&p->settings);
	if (p->bell >= 0)
		close(p->bell);
	free(p);
}
