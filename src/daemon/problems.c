/* Decides which facts and failures open, repeat and close problems, and writes their texts. */
#include "daemon/problems.h"

#include "base/map.h"
#include "daemon/notify/message.h"
#include "port/read.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum problem_cause {
	BY_NOTHING,
	BY_FAILURE,
	BY_PAUSE,
	BY_HOLD,
	BY_HOOK,
	BY_CLOCK,
	BY_CLOCK_STEP,
	BY_STORE,
	BY_RUNNER,
	PROBLEM_CAUSES
};

/* The key of a problem in the store; %llu is its subject: a schedule (hook: 0 is the configuration), or the
 * key of a hold. */
static const char *const keys[PROBLEM_CAUSES] = {
	[BY_NOTHING] = "",
	[BY_FAILURE] = "schedule:%llu:failed",
	[BY_PAUSE] = "schedule:%llu:paused",
	[BY_HOLD] = "held:%llu",
	[BY_HOOK] = "hook:%llu",
	[BY_CLOCK] = "clock",
	[BY_CLOCK_STEP] = "clock:step",
	[BY_STORE] = "store",
	[BY_RUNNER] = "runner",
};

enum { KEY_BYTES = 64, CAUSE_BITS = 4 };
static_assert(PROBLEM_CAUSES <= 1 << CAUSE_BITS, "a cause fits beside its subject");

struct problems {
	struct problems_config config;
	struct map open;               /* the open problems, by key_of */
	struct map failing;            /* the schedules for which a hook of the configuration has failed */
	struct problem_update *queued; /* changes that the prepare worker had no room for, in order */
	struct problem_update **last;
	unsigned openings; /* number of openings in `queued`, at most PROBLEMS_QUEUED_MAX. The number of
			      closings needs no limit: it is at most the number of open problems */
};

/* A problem to be opened, reported again or closed, on its way to the prepare worker and the store. */
struct problem_update {
	struct problems *problems;
	uint8_t act, cause;
	uint64_t subject; /* a schedule, or the key of a hold; 0: none */
	struct wall at;
	struct run_row run; /* BY_FAILURE */
	uint32_t failures;  /* BY_PAUSE */
	uint16_t reason;    /* BY_HOLD */
	char *text;         /* all other causes */
	struct problem_update *next;
};

static uint64_t key_of(enum problem_cause cause, uint64_t subject)
{
	return subject << CAUSE_BITS | cause;
}

enum err problems_new(const struct problems_config *c, struct problems **ret)
{
	struct problems *p = calloc(1, sizeof *p);
	if (!p)
		return E_NOMEM;
	p->config = *c;
	p->last = &p->queued;
	*ret = p;
	return OK;
}

static void update_free(struct problem_update *u)
{
	free(u->text);
	free(u);
}

void problems_free(struct problems *p)
{
	if (!p)
		return;
	while (p->queued) {
		struct problem_update *u = p->queued;
		p->queued = u->next;
		update_free(u);
	}
	map_free(&p->open);
	map_free(&p->failing);
	free(p);
}

static void load_open(struct problems *p, const struct problem_row *row)
{
	char text[KEY_BYTES], written[KEY_BYTES];
	snprintf(text, sizeof text, "%.*s", STR_ARG(row->key));
	for (unsigned c = 1; c < PROBLEM_CAUSES; c++) {
		unsigned long long subject = 0;
		/* Scanning ignores what follows the number, so the key is written again and compared. */
		if (strchr(keys[c], '%') && sscanf(text, keys[c], &subject) != 1)
			continue;
		snprintf(written, sizeof written, keys[c], subject);
		if (!strcmp(text, written) && !map_put(&p->open, key_of((enum problem_cause)c, subject), 1))
			return; /* out of memory: the problem is closed only after it was reported once more
				 */
	}
}

void problems_load(struct problems *p, const struct load_item *item)
{
	if (item->kind == LOAD_PROBLEM)
		load_open(p, &item->problem);
}

/* --- texts, on a thread of the prepare worker --- */

struct problem_text {
	struct buf subject, text;
};

static void write_schedule_id(struct reader *reader, uint64_t sid, struct buf *out)
{
	struct arena a = { 0 };
	struct read_sched s;
	struct why why;
	if (read_sched(reader, sid, &a, &s, &why) == OK && s.id.n)
		buf_add(out, s.id);
	else
		buf_addf(out, "schedule number %llu", (unsigned long long)sid);
	arena_free(&a);
}

static void write_failed(const struct problem_update *u, struct problem_text *t)
{
	const struct run_row *r = &u->run;
	buf_addf(&t->text, "%s ", buf_str(&t->subject).p);
	message_write_outcome(r, &t->text);
	message_write_hint(r, &t->text);
}

static void write_paused(const struct problem_update *u, struct problem_text *t)
{
	buf_addf(&t->text, "%s failed %u times in a row and was paused; `rota resume %s` resumes it",
		 buf_str(&t->subject).p, u->failures, buf_str(&t->subject).p);
}

static void write_held(const struct problem_update *u, struct problem_text *t)
{
	buf_addf(&t->text, "%s is blocked (%s): none of its runs start until it is released",
		 buf_str(&t->subject).p, reason_words[u->reason]);
}

static void write_hook(const struct problem_update *u, struct problem_text *t)
{
	buf_addf(&t->text, "%s failed: %s",
		 u->subject ? "the hook of the schedule" : "a hook of the configuration",
		 u->text ? u->text : "out of memory");
}

static void write_given(const struct problem_update *u, struct problem_text *t)
{
	buf_add(&t->text, str_of(u->text ? u->text : "out of memory"));
}

static void (*const writers[PROBLEM_CAUSES])(const struct problem_update *u, struct problem_text *t) = {
	[BY_FAILURE] = write_failed, [BY_PAUSE] = write_paused, [BY_HOLD] = write_held,
	[BY_HOOK] = write_hook,      [BY_CLOCK] = write_given,  [BY_CLOCK_STEP] = write_given,
	[BY_STORE] = write_given,    [BY_RUNNER] = write_given,
};

static void write_subject(struct reader *reader, const struct problem_update *u, struct buf *out)
{
	if (u->cause == BY_HOOK && !u->subject)
		buf_add(out, STR("hooks of the configuration"));
	else if (u->cause == BY_FAILURE || u->cause == BY_PAUSE || u->cause == BY_HOOK)
		write_schedule_id(reader, u->subject, out);
	else if (u->cause == BY_HOLD)
		buf_add(out, intern_text(u->problems->config.intern, (uint32_t)u->subject));
	else
		buf_add(out, str_of(keys[u->cause]));
}

static void send_update(struct reader *reader, void *arg)
{
	struct problem_update *u = arg;
	struct problems *p = u->problems;
	struct problem_text t = { 0 };
	char key[KEY_BYTES];
	struct st_req r = {
		.op = ST_PROBLEM, .lane = LANE_FINISH, .at = u->at, .problem = { .act = u->act }
	};
	if (!reader) {
		update_free(u);
		return;
	}
	r.news = (uint8_t)(1u << (u->act == PROBLEM_OPEN ? NEWS_OPENED : NEWS_CLOSED));
	snprintf(key, sizeof key, keys[u->cause], (unsigned long long)u->subject);
	r.problem.key = str_of(key);
	if (u->act == PROBLEM_OPEN) {
		write_subject(reader, u, &t.subject);
		writers[u->cause](u, &t);
		r.problem.subject = buf_str(&t.subject);
		r.problem.text = buf_str(&t.text);
	}
	p->config.send(p->config.ctx, &r);
	buf_free(&t.subject);
	buf_free(&t.text);
	update_free(u);
}

/* --- on the daemon's thread --- */

bool problems_flush(struct problems *p)
{
	for (struct problem_update *u; (u = p->queued);) {
		struct problem_update *next = u->next; /* the worker may free `u` at once */
		bool opens = u->act == PROBLEM_OPEN;
		if (prepare_call(p->config.prepare, send_update, u))
			return false;
		p->openings -= opens;
		p->queued = next;
	}
	p->last = &p->queued;
	return true;
}

/* False: there is no room or no memory. The change is dropped; it is made when its cause occurs again. */
static bool queue_update(struct problems *p, const struct problem_update *what)
{
	bool opens = what->act == PROBLEM_OPEN;
	struct problem_update *u = opens && p->openings == PROBLEMS_QUEUED_MAX ? NULL : malloc(sizeof *u);
	if (!u)
		return false;
	p->openings += opens;
	*u = *what;
	u->problems = p;
	u->at = clock_wall();
	u->text = what->text ? strdup(what->text) : NULL;
	u->next = NULL;
	*p->last = u;
	p->last = &u->next;
	problems_flush(p);
	return true;
}

static bool is_open(const struct problems *p, enum problem_cause cause, uint64_t subject)
{
	return map_get(&p->open, key_of(cause, subject)) != MAP_NONE;
}

static void open_problem(struct problems *p, struct problem_update u)
{
	uint64_t key = key_of((enum problem_cause)u.cause, u.subject);
	bool was_open = is_open(p, (enum problem_cause)u.cause, u.subject);
	u.act = PROBLEM_OPEN;
	if (map_put(&p->open, key, 1) && !queue_update(p, &u) && !was_open)
		map_remove(&p->open, key);
}

static void close_problem(struct problems *p, enum problem_cause cause, uint64_t subject)
{
	if (!is_open(p, cause, subject))
		return;
	if (queue_update(p, &(struct problem_update){
				    .act = PROBLEM_CLOSE, .cause = (uint8_t)cause, .subject = subject }))
		map_remove(&p->open, key_of(cause, subject));
}

/* A hook of the configuration works for this schedule. It may still fail for others. */
static void config_hook_works(struct problems *p, uint64_t sid)
{
	if (sid)
		map_remove(&p->failing, sid);
	if (!p->failing.n)
		close_problem(p, BY_HOOK, 0);
}

void problems_hook(struct problems *p, uint64_t sid, enum rn_ask ask, struct str words)
{
	char text[HOOK_WORDS_BYTES * 2];
	uint64_t subject = ask == ASK_HOOK ? sid : 0;
	if (!words.p && subject) {
		close_problem(p, BY_HOOK, subject);
	} else if (!words.p) {
		config_hook_works(p, sid);
	} else if (sid && (subject || map_put(&p->failing, sid, 1))) {
		snprintf(text, sizeof text, "%.*s", STR_ARG(words));
		open_problem(p,
			     (struct problem_update){ .cause = BY_HOOK, .subject = subject, .text = text });
	}
}

/* A run has ended finally. It is no problem if a person stopped it, if the next run replaced it, or if its
 * schedule was removed meanwhile. */
static void run_ended(struct problems *p, const struct pump_fact *f, bool removed)
{
	const struct run_row *r = &f->run;
	bool bad = r->outcome == OUTCOME_FAILED || r->outcome == OUTCOME_KILLED;
	bool wanted = r->reason == REASON_CANCELLED || r->reason == REASON_REPLACED;
	if (r->outcome == OUTCOME_DONE || r->outcome == OUTCOME_NO_WORK)
		close_problem(p, BY_FAILURE, f->sid);
	else if (bad && !wanted && !removed)
		open_problem(p, (struct problem_update){ .cause = BY_FAILURE, .subject = f->sid, .run = *r });
}

/* To be called when a schedule was changed: opens a problem if its failures paused it, closes the problem if
 * it was resumed. */
static void schedule_changed(struct problems *p, const struct sched_row *row)
{
	struct rules rules;
	rules_read(row, &rules);
	unsigned most = rules.policy.max_failures;
	if (!(row->flags & SCHED_PAUSED))
		close_problem(p, BY_PAUSE, row->sid);
	else if (most && row->failures >= most && !is_open(p, BY_PAUSE, row->sid))
		open_problem(p, (struct problem_update){
					.cause = BY_PAUSE, .subject = row->sid, .failures = row->failures });
}

void problems_happened(void *ctx, const struct pump_fact *f, const struct st_ack *ack)
{
	struct problems *p = ctx;
	bool blocks = f->hold.key && (f->hold.reason == REASON_AUTH || f->hold.reason == REASON_BILLING ||
				      f->hold.reason == REASON_BLOCKED);
	if (f->res != ST_OK)
		return;
	switch ((enum st_op)f->op) {
	case ST_OCC:
	case ST_FINISH:
		if (f->run.state == RUN_FINISHED)
			run_ended(p, f, !ack->has_row);
		break;
	case ST_PUT:
		if (ack->has_row)
			schedule_changed(p, &ack->row);
		break;
	case ST_DROP:
		close_problem(p, BY_FAILURE, f->sid);
		close_problem(p, BY_PAUSE, f->sid);
		close_problem(p, BY_HOOK, f->sid);
		if (map_get(&p->failing, f->sid) != MAP_NONE)
			config_hook_works(p, f->sid);
		break;
	case ST_HOLD:
		if (blocks)
			open_problem(p, (struct problem_update){ .cause = BY_HOLD,
								 .subject = f->hold.key,
								 .reason = f->hold.reason });
		else
			close_problem(p, BY_HOLD, f->hold.key);
		break;
	default:
		break;
	}
}

/* Opens the problem when the part begins to fail, not again while it fails, and closes it when the part
 * recovers. */
static void check_part(struct problems *p, enum problem_cause cause, const char *text)
{
	if (!text)
		close_problem(p, cause, 0);
	else if (!is_open(p, cause, 0))
		open_problem(p, (struct problem_update){ .cause = (uint8_t)cause, .text = (char *)text });
}

bool problems_check(struct problems *p, const struct health *h)
{
	check_part(
		p, BY_CLOCK,
		h->clock_held
			? "the clock is far ahead of the last record and is not trusted: nothing comes due "
			  "until it is set back, or until `rota clock` accepts it"
			: NULL);
	if (h->clock_stepped) /* a second step reports an open problem again */
		open_problem(
			p, (struct problem_update){ .cause = BY_CLOCK_STEP, .text = (char *)h->clock_step });
	else
		check_part(p, BY_CLOCK_STEP, h->clock_step);
	check_part(p, BY_STORE, h->store);
	check_part(p, BY_RUNNER, h->runner);
	return h->clock_held || h->store || h->runner;
}
