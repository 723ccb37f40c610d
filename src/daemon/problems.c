#include "daemon/problems.h"

#include "base/map.h"
#include "daemon/notify/message.h"
#include "store/sqlite/read/reader.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum cause { BAD_NONE, BAD_FAILED, BAD_PAUSED, BAD_HELD, BAD_CLOCK, BAD_STEP, BAD_STORE, BAD_RUNNER, BADS };

/* The key of each in the store; %llu is what it is about. */
static const char *const keys[BADS] = {
	[BAD_NONE] = "",
	[BAD_FAILED] = "schedule:%llu:failed",
	[BAD_PAUSED] = "schedule:%llu:paused",
	[BAD_HELD] = "held:%llu",
	[BAD_CLOCK] = "clock",
	[BAD_STEP] = "clock:step",
	[BAD_STORE] = "store",
	[BAD_RUNNER] = "runner",
};

enum { KEY_BYTES = 64, BAD_BITS = 3 };
static_assert(BADS <= 1 << BAD_BITS, "a cause fits beside what it is about");

struct problems {
	struct problems_config config;
	struct map open;     /* by cause and what it is about */
	struct saying *late; /* what the desk had no room for, in order */
	struct saying **last;
	unsigned openings; /* among them, PROBLEMS_QUEUED_MAX at most; closings are as many as there are
			      problems open */
};

/* Something to be said to the store, on its way to the desk and back. */
struct saying {
	struct problems *problems;
	uint8_t act, cause;
	uint64_t about; /* a schedule, or the key of a hold */
	struct wall at;
	struct run_row run;
	uint32_t failures;
	uint16_t reason;
	char *text; /* CLOCK, STEP, STORE, RUNNER */
	struct saying *next;
};

static uint64_t key_of(enum cause cause, uint64_t about)
{
	return about << BAD_BITS | cause;
}

enum err problems_new(const struct problems_config *c, struct problems **ret)
{
	struct problems *p = calloc(1, sizeof *p);
	if (!p)
		return E_NOMEM;
	p->config = *c;
	p->last = &p->late;
	*ret = p;
	return OK;
}

static void saying_free(struct saying *s)
{
	free(s->text);
	free(s);
}

void problems_free(struct problems *p)
{
	if (!p)
		return;
	while (p->late) {
		struct saying *s = p->late;
		p->late = s->next;
		saying_free(s);
	}
	map_free(&p->open);
	free(p);
}

static void load_open(struct problems *p, const struct problem_row *row)
{
	char text[KEY_BYTES], again[KEY_BYTES];
	snprintf(text, sizeof text, "%.*s", STR_ARG(row->key));
	for (unsigned c = 1; c < BADS; c++) {
		unsigned long long about = 0;
		/* The end of a key counts, too, which scanning does not look at. */
		if (strchr(keys[c], '%') && sscanf(text, keys[c], &about) != 1)
			continue;
		snprintf(again, sizeof again, keys[c], about);
		if (!strcmp(text, again) && !map_put(&p->open, key_of((enum cause)c, about), 1))
			return; /* it stays open until somebody says it again */
	}
}

void problems_load(struct problems *p, const struct load_item *item)
{
	if (item->kind == LOAD_PROBLEM)
		load_open(p, &item->problem);
}

/* --- in words, on the desk's thread --- */

/* What each is about, by its name, and the sentence for people. */
struct words {
	struct buf subject, text;
};

static void schedule_name(struct reader *reader, uint64_t sid, struct buf *out)
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

static void say_failed(const struct saying *s, struct words *w)
{
	const struct run_row *r = &s->run;
	buf_addf(&w->text, "%s ", buf_str(&w->subject).p);
	message_write_outcome(r, &w->text);
	message_write_hint(r, &w->text);
}

static void say_paused(const struct saying *s, struct words *w)
{
	buf_addf(&w->text, "%s failed %u times in a row and was paused; `rota resume %s` lets it go on",
		 buf_str(&w->subject).p, s->failures, buf_str(&w->subject).p);
}

static void say_held(const struct saying *s, struct words *w)
{
	buf_addf(&w->text, "%s is blocked (%s): nothing of it runs until it is freed", buf_str(&w->subject).p,
		 reason_words[s->reason]);
}

static void say_text(const struct saying *s, struct words *w)
{
	buf_add(&w->text, str_of(s->text ? s->text : "out of memory"));
}

static void (*const say[BADS])(const struct saying *s, struct words *w) = {
	[BAD_FAILED] = say_failed, [BAD_PAUSED] = say_paused, [BAD_HELD] = say_held,   [BAD_CLOCK] = say_text,
	[BAD_STEP] = say_text,     [BAD_STORE] = say_text,    [BAD_RUNNER] = say_text,
};

static void name_subject(struct reader *reader, const struct saying *s, struct buf *out)
{
	if (s->cause == BAD_FAILED || s->cause == BAD_PAUSED)
		schedule_name(reader, s->about, out);
	else if (s->cause == BAD_HELD)
		buf_add(out, intern_text(s->problems->config.intern, (uint32_t)s->about));
	else
		buf_add(out, str_of(keys[s->cause]));
}

static void tell_store(struct reader *reader, void *arg)
{
	struct saying *s = arg;
	struct problems *p = s->problems;
	struct words w = { 0 };
	char key[KEY_BYTES];
	struct st_req r = {
		.op = ST_PROBLEM, .lane = LANE_FINISH, .at = s->at, .problem = { .act = s->act }
	};
	if (!reader) {
		saying_free(s);
		return;
	}
	r.news = (uint8_t)(1u << (s->act == PROBLEM_OPEN ? NEWS_OPENED : NEWS_CLOSED));
	snprintf(key, sizeof key, keys[s->cause], (unsigned long long)s->about);
	r.problem.key = str_of(key);
	if (s->act == PROBLEM_OPEN) {
		name_subject(reader, s, &w.subject);
		say[s->cause](s, &w);
		r.problem.subject = buf_str(&w.subject);
		r.problem.text = buf_str(&w.text);
	}
	p->config.send(p->config.ctx, &r);
	buf_free(&w.subject);
	buf_free(&w.text);
	saying_free(s);
}

/* --- on the daemon's thread --- */

/* What the desk takes may be gone at once. */
bool problems_flush(struct problems *p)
{
	for (struct saying *s; (s = p->late);) {
		struct saying *next = s->next;
		bool opens = s->act == PROBLEM_OPEN;
		if (prepare_call(p->config.prepare, tell_store, s))
			return false;
		p->openings -= opens;
		p->late = next;
	}
	p->last = &p->late;
	return true;
}

/* False: it is not said, as if it had not been noticed; when it happens again it is. */
static bool put(struct problems *p, const struct saying *what)
{
	bool opens = what->act == PROBLEM_OPEN;
	struct saying *s = opens && p->openings == PROBLEMS_QUEUED_MAX ? NULL : malloc(sizeof *s);
	if (!s)
		return false;
	p->openings += opens;
	*s = *what;
	s->problems = p;
	s->at = clock_wall();
	s->text = what->text ? strdup(what->text) : NULL;
	s->next = NULL;
	*p->last = s;
	p->last = &s->next;
	problems_flush(p);
	return true;
}

static bool is_open(const struct problems *p, enum cause cause, uint64_t about)
{
	return map_get(&p->open, key_of(cause, about)) != MAP_NONE;
}

static void open_it(struct problems *p, struct saying s)
{
	uint64_t key = key_of((enum cause)s.cause, s.about);
	bool again = is_open(p, (enum cause)s.cause, s.about);
	s.act = PROBLEM_OPEN;
	if (map_put(&p->open, key, 1) && !put(p, &s) && !again)
		map_remove(&p->open, key);
}

static void close_it(struct problems *p, enum cause cause, uint64_t about)
{
	if (!is_open(p, cause, about))
		return;
	if (put(p, &(struct saying){ .act = PROBLEM_CLOSE, .cause = (uint8_t)cause, .about = about }))
		map_remove(&p->open, key_of(cause, about));
}

/* A run has ended for good. What a person ended, or what made room for the next, is nobody's problem; nor is
 * what outlived its schedule, which has no row any more. */
static void ended(struct problems *p, const struct pump_fact *f, bool removed)
{
	const struct run_row *r = &f->run;
	bool bad = r->outcome == OUTCOME_FAILED || r->outcome == OUTCOME_KILLED;
	bool wanted = r->reason == REASON_CANCELLED || r->reason == REASON_REPLACED;
	if (r->outcome == OUTCOME_DONE || r->outcome == OUTCOME_NO_WORK)
		close_it(p, BAD_FAILED, f->sid);
	else if (bad && !wanted && !removed)
		open_it(p, (struct saying){ .cause = BAD_FAILED, .about = f->sid, .run = *r });
}

/* Paused by itself, or going on again. */
static void changed(struct problems *p, const struct sched_row *row)
{
	struct rules rules;
	memcpy(&rules, row->rules, sizeof rules);
	unsigned most = rules.policy.max_failures;
	if (!(row->flags & SCHED_PAUSED))
		close_it(p, BAD_PAUSED, row->sid);
	else if (most && row->failures >= most && !is_open(p, BAD_PAUSED, row->sid))
		open_it(p,
			(struct saying){ .cause = BAD_PAUSED, .about = row->sid, .failures = row->failures });
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
			ended(p, f, !ack->has_row);
		break;
	case ST_PUT:
		if (ack->has_row)
			changed(p, &ack->row);
		break;
	case ST_DROP:
		close_it(p, BAD_FAILED, f->sid);
		close_it(p, BAD_PAUSED, f->sid);
		break;
	case ST_HOLD:
		if (blocks)
			open_it(p, (struct saying){ .cause = BAD_HELD,
						    .about = f->hold.key,
						    .reason = f->hold.reason });
		else
			close_it(p, BAD_HELD, f->hold.key);
		break;
	default:
		break;
	}
}

/* Said once, however long it lasts. */
static void look_at(struct problems *p, enum cause cause, const char *text)
{
	if (!text)
		close_it(p, cause, 0);
	else if (!is_open(p, cause, 0))
		open_it(p, (struct saying){ .cause = (uint8_t)cause, .text = (char *)text });
}

bool problems_check(struct problems *p, const struct health *h)
{
	look_at(p, BAD_CLOCK,
		h->clock_held ? "the clock ran far ahead and is not believed: nothing comes due until it is "
				"back, or until `rota clock` accepts it"
			      : NULL);
	if (h->clock_stepped) /* said again if it is open */
		open_it(p, (struct saying){ .cause = BAD_STEP, .text = (char *)h->clock_step });
	else
		look_at(p, BAD_STEP, h->clock_step);
	look_at(p, BAD_STORE, h->store);
	look_at(p, BAD_RUNNER, h->runner);
	return h->clock_held || h->store || h->runner;
}
