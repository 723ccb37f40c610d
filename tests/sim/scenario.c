/* The rig of the scenarios: scripts, commands, and rows written as text. */
#include "scenario.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

struct scripted_run {
	uint64_t sid;
	struct process_plan plan;
	bool used;
};

struct scripted_answer {
	uint64_t sid;
	enum rn_ask ask;
	bool yes;
	enum reason reason;
};

struct scenario_rig {
	struct world w;
	struct workload workload;
	const char *name;
	struct wall start;
	unsigned slots;
	bool open, verbose, failed;
	struct scripted_run run[64];
	unsigned runs;
	struct scripted_answer answer[32];
	unsigned answers;
};

static struct scenario *first, **last = &first;

void scenario_register(struct scenario *s)
{
	*last = s;
	last = &s->next;
}

const struct scenario *scenario_first(void)
{
	return first;
}

/* --- scripts --- */

static struct process_plan plan_process(struct world *w, const struct rn_req *start)
{
	struct scenario_rig *s = w->workload->self;
	struct scripted_run *found = NULL;
	for (unsigned i = 0; i < s->runs && !w->draining; i++) {
		if (s->run[i].sid != start->sid)
			continue;
		found = &s->run[i];
		if (!found->used)
			break;
	}
	if (!found)
		return lasting(SECONDS(1));
	found->used = true;
	return found->plan;
}

static bool answer_precondition(struct world *w, const struct rn_req *ask, uint16_t *reason)
{
	struct scenario_rig *s = w->workload->self;
	bool yes = true;
	for (unsigned i = 0; i < s->answers; i++)
		if (s->answer[i].sid == ask->sid && s->answer[i].ask == ask->ask) {
			yes = s->answer[i].yes;
			*reason = yes ? REASON_NONE : (uint16_t)s->answer[i].reason;
		}
	return yes || w->draining;
}

static void no_incident(struct world *w, uint64_t a, uint64_t b)
{
	(void)w, (void)a, (void)b;
}

void script_run(struct scenario_rig *s, uint64_t sid, struct process_plan plan)
{
	assert(s->runs < ARRAY_LEN(s->run));
	if (!plan.kill_takes)
		plan.kill_takes = 10000;
	s->run[s->runs++] = (struct scripted_run){ sid, plan, false };
}

void script_answer(struct scenario_rig *s, uint64_t sid, enum rn_ask ask, bool yes, enum reason reason)
{
	assert(s->answers < ARRAY_LEN(s->answer));
	s->answer[s->answers++] = (struct scripted_answer){ sid, ask, yes, reason };
}

/* --- set-up --- */

/* "08:10" or "08:10:30.5" of the present day, or with "MM-DD " before it. */
struct wall at(struct scenario_rig *s, const char *when)
{
	unsigned month, day, hour, minute, n;
	double second = 0;
	int64_t base = floor_div(wall_seconds(s->open ? world_wall(&s->w) : s->start), DAY) * DAY;
	if (sscanf(when, "%u-%u %u:%u:%lf", &month, &day, &hour, &minute, &second) >= 4)
		base = seconds_of(2026, month, day, 0, 0, 0);
	else {
		n = (unsigned)sscanf(when, "%u:%u:%lf", &hour, &minute, &second);
		assert(n >= 2);
	}
	return (struct wall){ (base + hour * 3600 + minute * 60) * USEC + (int64_t)(second * 1e6) };
}

void start_at(struct scenario_rig *s, const char *when)
{
	assert(!s->open);
	s->start = at(s, when);
}

void set_slots(struct scenario_rig *s, unsigned n)
{
	assert(!s->open);
	s->slots = n;
}

struct world *rig_world(struct scenario_rig *s)
{
	enum { PORT = 10000 };
	if (s->open)
		return &s->w;
	s->workload = (struct workload){ plan_process, answer_precondition, no_incident, s };
	world_open(&s->w, &(struct world_options){ .seed = 1,
						   .start = s->start,
						   .slots = s->slots,
						   .catch_up_per_second = 50,
						   .timing = { .commit = { PORT, PORT },
							       .answer = { PORT, PORT },
							       .launch = { PORT, PORT },
							       .report = { PORT, PORT },
							       .ask = { PORT, PORT } },
						   .workload = &s->workload,
						   .verbose = s->verbose });
	s->open = true;
	return &s->w;
}

/* --- commands --- */

static void fail(struct scenario_rig *s, int line, const char *what)
{
	printf("scenario %s, line %d: %s\n", s->name, line, what);
	s->failed = true;
}

struct reply send_command(struct scenario_rig *s, struct command c)
{
	struct world *w = rig_world(s);
	uint64_t tag = world_command(w, c);
	struct reply none = { .tag = tag, .code = 99 }, r = none;
	for (unsigned i = 0; i < 2000 && !check_reply_of(w->check, tag, &r); i++)
		world_run(w, w->t + 1000);
	return r;
}

uint64_t add_schedule(struct scenario_rig *s, struct spec spec)
{
	struct reply r = send_command(s, spec_command(&spec, 0));
	if (r.code != REPLY_OK || !r.sid)
		fail(s, 0, "a schedule could not be added");
	return r.sid;
}

void change_schedule(struct scenario_rig *s, uint64_t sid, struct spec spec)
{
	/* After REPLY_BUSY the command is sent again, as the daemon does. */
	for (unsigned i = 0; i < 10; i++) {
		struct reply r = send_command(s, spec_command(&spec, sid));
		if (r.code == REPLY_OK)
			return;
		world_run(&s->w, s->w.t + 50000);
	}
	fail(s, 0, "a schedule could not be changed");
}

void run_until(struct scenario_rig *s, const char *when)
{
	world_run_until_wall(rig_world(s), at(s, when));
}

/* --- rows as text --- */

struct row_text {
	struct wall from, to;
	const struct run_row *run; /* may be NULL */
	uint8_t state;
	uint16_t reason;
};

static int by_from(const void *a, const void *b)
{
	const struct row_text *x = a, *y = b;
	if (x->from.us != y->from.us)
		return x->from.us < y->from.us ? -1 : 1;
	return (x->run != NULL) - (y->run != NULL);
}

static void add_time(struct buf *b, struct scenario_rig *s, struct wall t)
{
	int64_t day = floor_div(wall_seconds(t), DAY), sec = wall_seconds(t) - day * DAY;
	if (day != floor_div(wall_seconds(s->start), DAY)) {
		struct date d = date_of(day);
		buf_addf(b, "%02u-%02u ", d.month, d.day);
	}
	buf_addf(b, "%02d:%02d", (int)(sec / 3600), (int)(sec / 60 % 60));
	if (sec % 60)
		buf_addf(b, ":%02d", (int)(sec % 60));
}

static bool is_refused(const struct row_text *l)
{
	return l->state == RUN_SKIPPED || l->state == RUN_MISSED;
}

static void add_run(struct buf *b, struct scenario_rig *s, const struct run_row *r)
{
	static const char *const kinds[] = { "", "catch_up ", "after ", "backfill ", "manual " };
	static const char *const states[] = { "pending", "claimed", "retrying", "", "skipped", "missed" };
	buf_addf(b, "%s", kinds[r->kind]);
	add_time(b, s, r->nominal);
	buf_addf(b, " %s", r->state == RUN_FINISHED ? outcome_words[r->outcome] : states[r->state]);
	if (r->reason)
		buf_addf(b, "/%s", reason_words[r->reason]);
	if (r->attempt > 1)
		buf_addf(b, " #%u", r->attempt);
	if (r->started.us && r->attempt) {
		buf_addc(b, ' ');
		add_time(b, s, r->started);
		if (r->state == RUN_FINISHED) {
			buf_addc(b, '-');
			add_time(b, s, r->ended);
		}
	}
	if (r->state == RUN_RETRYING) {
		buf_addf(b, " again ");
		add_time(b, s, r->retry_at);
	}
	if (r->missed)
		buf_addf(b, " missed %u", r->missed);
	if (r->replaced)
		buf_addf(b, " was %s", states[r->replaced - 1]);
}

static void add_rows(struct buf *b, struct scenario_rig *s, const struct row_text *l, size_t n)
{
	for (size_t i = 0; i < n;) {
		if (i)
			buf_addf(b, "; ");
		if (!is_refused(&l[i])) {
			add_run(b, s, l[i++].run);
			continue;
		}
		size_t k = i + 1;
		while (k < n && is_refused(&l[k]) && l[k].state == l[i].state && l[k].reason == l[i].reason)
			k++;
		add_time(b, s, l[i].from);
		if (l[k - 1].to.us == INT64_MAX) {
			buf_addf(b, "..");
		} else if (l[k - 1].to.us != l[i].from.us) {
			buf_addf(b, "..");
			add_time(b, s, l[k - 1].to);
		}
		buf_addf(b, " %s/%s", l[i].state == RUN_MISSED ? "missed" : "skipped",
			 reason_words[l[i].reason]);
		i = k;
	}
}

void expect_rows_at(struct scenario_rig *s, int line, uint64_t sid, const char *text)
{
	const struct model *rows = rig_world(s)->rows;
	const struct model_sched *sched = model_sched(rows, sid);
	size_t most = model_runs(rows) + (sched ? sched->ranges : 0), n = 0;
	struct row_text *l = must_realloc(NULL, most * sizeof *l);
	for (size_t i = 0; i < model_runs(rows); i++) {
		const struct run_row *r = model_run_at(rows, i);
		if (r && r->sid == sid)
			l[n++] = (struct row_text){ r->nominal, r->nominal, r, r->state, r->reason };
	}
	for (unsigned i = 0; sched && i < sched->ranges; i++) {
		const struct range_row *g = &sched->range[i];
		l[n++] = (struct row_text){ g->first, g->last, NULL, g->state, g->reason };
	}
	if (n)
		qsort(l, n, sizeof *l, by_from);
	struct buf b = { 0 };
	add_rows(&b, s, l, n);
	if (!str_eq(buf_str(&b), str_of(text))) {
		printf("scenario %s, line %d: sid %llu has\n\t%.*s\nexpected was\n\t%s\n", s->name, line,
		       (unsigned long long)sid, STR_ARG(buf_str(&b)), text);
		s->failed = true;
	}
	buf_free(&b);
	free(l);
}

void expect_true_at(struct scenario_rig *s, int line, bool is, const char *what)
{
	if (!is)
		fail(s, line, what);
}

bool scenario_run(const struct scenario *x, bool verbose)
{
	struct scenario_rig s = { .name = x->name,
				  .start = wall_of(seconds_of(2026, 3, 5, 8, 0, 0)),
				  .slots = 16,
				  .verbose = verbose };
	x->run(&s);
	struct world *w = rig_world(&s);
	/* The checker's rules apply too. Holds are released, so that everything can come to an end. */
	for (size_t i = model_holds(w->rows); w->engine && i-- > 0;)
		world_command(w,
			      (struct command){ .kind = CMD_RELEASE, .key = model_hold_at(w->rows, i)->key });
	if (world_drain(w, DAYS(2)))
		check_account(w->check);
	bool ok = !s.failed && check_failures(w->check) == 0;
	if (!ok && check_failures(w->check))
		printf("scenario %s: %u findings of the checker\n", x->name, check_failures(w->check));
	world_close(w);
	return ok;
}
