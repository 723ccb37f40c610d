/* The checker's findings, clocks, excuses, commands and replies. */
#include "check/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *check_time_text(struct wall at)
{
	static char text[8][40];
	static unsigned turn;
	char *z = text[turn++ % 8];
	if (at.us == INT64_MAX)
		return "never";
	int64_t s = wall_seconds(at), day = floor_div(s, DAY);
	struct date d = date_of(day);
	s -= day * DAY;
	snprintf(z, sizeof text[0], "%04d-%02u-%02u %02d:%02d:%02d.%03d", d.year, d.month, d.day,
		 (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60),
		 (int)(floor_div(at.us, 1000) - wall_seconds(at) * 1000));
	return z;
}

void check_fail(struct check *c, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (c->failures++ == 0)
		snprintf(c->first, sizeof c->first, "%s", text);
	if (c->want && strstr(text, c->want)) {
		c->found = true;
		c->failures = CHECK_FAILURES_MAX;
	} else if (c->want && c->failures > CHECK_FAILURES_MAX / 2 && c->others++ < 1000) {
		c->failures = CHECK_FAILURES_MAX / 2; /* below the maximum, so that the check does not end */
	}
	unsigned i = 0;
	while (i < CHECK_KINDS_MAX && c->kind[i] && c->kind[i] != fmt)
		i++;
	bool known = i == CHECK_KINDS_MAX || c->kind[i];
	if (!known)
		c->kind[i] = fmt;
	if (!c->quiet && (!known || c->w->verbose))
		printf("seed %llu, %s (t %.6f): %s\n", (unsigned long long)c->w->seed,
		       check_time_text(world_wall(c->w)), (double)c->w->t / 1e6, text);
}

unsigned check_failures(const struct check *c)
{
	return c->failures;
}

const char *check_first_finding(const struct check *c)
{
	return c->first;
}

void check_expect_finding(struct check *c, const char *text)
{
	c->want = text;
}

bool check_has_finding(const struct check *c)
{
	return c->found;
}

void check_set_quiet(struct check *c)
{
	c->quiet = true;
}

static void add_piece(struct check *c)
{
	ADD_ROOM(c->piece, c->piece_room, c->pieces);
	c->piece[c->pieces++] = (struct clock_piece){ c->w->t, world_wall(c->w).us };
}

struct check *check_new(struct world *w)
{
	struct check *c = must_realloc(NULL, sizeof *c);
	const struct port_timing *f = &w->timing;
	*c = (struct check){ .w = w };
	c->slack = SECONDS(1) + 8 * (f->commit.hi + f->answer.hi) + f->wake.hi;
	c->catch_up_start =
		must_realloc(NULL, (2 * w->config.catch_up_per_second + 1) * sizeof *c->catch_up_start);
	add_piece(c);
	return c;
}

void check_free(struct check *c)
{
	for (size_t i = 0; i < c->scheds; i++) {
		free(c->sched[i].version);
		free(c->sched[i].stretch);
		free(c->sched[i].end);
		free(c->sched[i].lost);
	}
	free(c->sched);
	free(c->run);
	free(c->alive);
	free(c->command);
	free(c->piece);
	free(c->excuse);
	free(c->hold);
	free(c->repeated);
	free(c->catch_up_start);
	map_free(&c->sched_of);
	map_free(&c->run_of);
	map_free(&c->first_started);
	free(c);
}

/* --- lookups --- */

struct check_sched *check_find_sched(const struct check *c, uint64_t sid)
{
	uint32_t i;
	return number_map_get(&c->sched_of, sid, &i) ? &c->sched[i] : NULL;
}

const struct version *check_version(const struct check_sched *sched, uint32_t rev)
{
	for (unsigned i = sched ? sched->versions : 0; i-- > 0;)
		if (sched->version[i].rev == rev)
			return &sched->version[i];
	return NULL;
}

bool check_follows(const struct version *v, uint8_t outcome)
{
	bool good = outcome == OUTCOME_DONE || outcome == OUTCOME_NO_WORK;
	return v->flags & SCHED_ENABLED &&
	       (v->rules.policy.after == AFTER_ANY || good == (v->rules.policy.after == AFTER_DONE));
}

struct check_run *check_find_run(const struct check *c, uint64_t run)
{
	uint32_t i;
	return number_map_get(&c->run_of, run, &i) ? &c->run[i] : NULL;
}

const struct zone *check_zone(const struct check *c, const struct rules *r)
{
	return c->w->zones[r->policy.zone < WORLD_ZONES ? r->policy.zone : 0];
}

const struct policy *check_latest_policy(const struct check *c, const struct check_run *v)
{
	const struct check_sched *sched = check_find_sched(c, v->row.sid);
	const struct version *now = check_version(sched, sched->known_rev);
	return now ? &now->rules.policy : &v->rules.policy;
}

unsigned check_asks(const struct check *c, const struct policy *p)
{
	return p->preconditions | (unsigned)c->w->config.has_hook << ASK_CONFIG_HOOK;
}

unsigned check_preconditions(const struct check *c, const struct check_run *v)
{
	const struct check_sched *sched = check_find_sched(c, v->row.sid);
	unsigned common = v->rules.policy.preconditions;
	for (unsigned i = 0; i < sched->versions; i++)
		if (sched->version[i].rev >= v->row.rev)
			common &= sched->version[i].rules.policy.preconditions;
	return common;
}

bool check_is_held(const struct check *c, uint32_t key)
{
	for (size_t i = 0; key && !c->clock_steps && i < c->holds; i++)
		if (c->hold[i].key == key && c->hold[i].to == INT64_MAX &&
		    world_wall(c->w).us < c->hold[i].until.us)
			return true;
	return false;
}

/* --- excuses for lateness --- */

static void add_excuse(struct check *c, int64_t from, int64_t to, unsigned kind)
{
	/* Overlapping excuses become one. Excuses are reported nearly in the order in which they begin, so
	 * only the last one is compared. */
	struct excuse *last = c->excuses ? &c->excuse[c->excuses - 1] : NULL;
	if (last && from <= last->to) {
		last->kinds |= kind;
		if (from < last->from)
			last->from = from;
		if (to > last->to)
			last->to = to;
		return;
	}
	ADD_ROOM(c->excuse, c->excuse_room, c->excuses);
	c->excuse[c->excuses++] = (struct excuse){ from, to, kind };
}

/* The index of the first excuse that ends at or after `from`; the number of excuses if there is none. */
static size_t first_excuse_after(const struct check *c, int64_t from)
{
	size_t lo = 0, hi = c->excuses;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (c->excuse[mid].to < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

unsigned check_excuse(const struct check *c, int64_t from, int64_t to)
{
	size_t i = first_excuse_after(c, from);
	return i < c->excuses && c->excuse[i].from <= to ? c->excuse[i].kinds : 0;
}

int64_t check_excuse_end(const struct check *c, int64_t t)
{
	size_t i = first_excuse_after(c, t);
	bool over = i < c->excuses && c->excuse[i].from <= t && c->excuse[i].to != INT64_MAX;
	return over ? c->excuse[i].to + 1 : t;
}

int64_t check_true_time(const struct check *c, struct wall at)
{
	for (size_t i = c->pieces; i-- > 0;) {
		int64_t end =
			i + 1 < c->pieces ? c->piece[i].wall + c->piece[i + 1].t - c->piece[i].t : INT64_MAX;
		if (at.us > end)
			return c->piece[i + 1].t; /* the clock was stepped ahead over this time */
		if (at.us >= c->piece[i].wall)
			return c->piece[i].t + (at.us - c->piece[i].wall);
	}
	return c->piece[0].t;
}

bool check_repeated(const struct check *c, struct wall n)
{
	for (size_t i = 0; i < c->repeateds; i++)
		if (n.us > c->repeated[i].from && n.us <= c->repeated[i].to)
			return true;
	return false;
}

/* To be called when the engine is up and the clock is not held: lets the last excuse end soon. */
static void end_excuse(struct check *c)
{
	if (!c->clock_held && c->w->engine && !c->w->fenced && c->excuses &&
	    c->excuse[c->excuses - 1].to == INT64_MAX)
		c->excuse[c->excuses - 1].to =
			(c->w->outage_until > c->w->t ? c->w->outage_until : c->w->t) + c->slack + SECONDS(3);
}

/* A freshly loaded engine must accept the clock unless it is a year after the last record. A clock before the
 * last record is certainly slow, so it may be corrected to any time up to a year after that record. */
static void load_clock(struct check *c)
{
	int64_t last = INT64_MIN;
	for (size_t i = 0; i < model_scheds(c->w->rows); i++) {
		const struct model_sched *s = model_sched_at(c->w->rows, i);
		if (s->dropped)
			continue;
		last = s->row.high.us > last ? s->row.high.us : last;
		last = s->row.changed.us > last ? s->row.changed.us : last;
	}
	c->clock_believed = c->w->wall_ahead;
	c->clock_most = DAYS(1);
	c->clock_held = last != INT64_MIN && world_wall(c->w).us - last >= DAYS(366);
	if (c->clock_held || last > world_wall(c->w).us) {
		c->clock_most = DAYS(366);
		c->clock_believed -= world_wall(c->w).us - last;
	}
}

static void accept_clock(struct check *c)
{
	c->clock_held = false;
	if (c->w->wall_ahead >= c->clock_believed) {
		c->clock_believed = c->w->wall_ahead;
		c->clock_most = DAYS(1);
	}
	end_excuse(c);
}

void observe_up(struct check *c)
{
	/* The engine has just loaded all rows, so it knows them. */
	for (size_t i = 0; i < c->scheds; i++) {
		const struct model_sched *s = model_sched(c->w->rows, c->sched[i].sid);
		if (!s)
			continue; /* pruned, or gone since a restore */
		c->sched[i].known_flags = s->row.flags;
		c->sched[i].known_rev = s->row.rev;
		c->sched[i].known_dropped = s->dropped;
	}
	for (size_t i = 0; i < model_open_runs(c->w->rows); i++) {
		const struct run_row *r = model_open_run_at(c->w->rows, i);
		struct check_run *v = check_find_run(c, r->run);
		if (!v)
			continue;
		v->known_epoch = c->w->epoch;
		v->known_state = r->state;
		v->known_attempt = r->attempt;
		/* The slot of the run now counts for the agent and key of the present rules. */
		const struct policy *p = check_latest_policy(c, v);
		v->agent = v->agent == p->agent ? v->agent : 0;
		v->key = v->key == p->key ? v->key : 0;
	}
	c->all_paused = model_hold(c->w->rows, 0) != NULL;
	c->claims = c->launches = 0;
	load_clock(c);
	end_excuse(c);
}

void observe_down(struct check *c)
{
	add_excuse(c, c->w->t - c->slack, INT64_MAX, EXCUSE_DOWN);
	for (size_t i = 0; i < c->runs; i++)
		c->run[i].launching = c->run[i].ending = false;
}

void observe_outage(struct check *c, int64_t until)
{
	add_excuse(c, c->w->t - c->slack, until + c->slack + SECONDS(3), EXCUSE_STORE);
}

void observe_suspend(struct check *c, int64_t since)
{
	add_excuse(c, since - c->slack, c->w->t + c->slack + SECONDS(3), EXCUSE_SUSPENDED);
}

/* The clock was stepped back: the times after `now` come again, and the present version is responsible for
 * them. */
static void rewind_sched(struct check_sched *sched, struct wall now)
{
	if (!sched->stretches)
		return;
	struct stretch last = sched->stretch[sched->stretches - 1];
	unsigned n = 0;
	for (unsigned i = 0; i < sched->stretches; i++) {
		struct stretch s = sched->stretch[i];
		if (s.to.us > now.us)
			s.to = now;
		if (s.from.us < s.to.us)
			sched->stretch[n++] = s;
	}
	sched->stretches = n;
	if (last.to.us != INT64_MAX)
		return; /* the schedule was removed */
	struct wall changed = sched->version[last.version].changed;
	ADD_ROOM(sched->stretch, sched->stretch_room, sched->stretches);
	sched->stretch[sched->stretches++] =
		(struct stretch){ changed.us > now.us ? changed : now, WALL_NEVER, last.version };
}

void observe_clock_step(struct check *c, int64_t before)
{
	struct wall now = world_wall(c->w);
	add_piece(c);
	c->clock_steps++;
	if (!c->w->engine || c->w->fenced) {
		/* load_clock decides whether this excuse stays. */
		add_excuse(c, c->w->t - c->slack, c->w->t, EXCUSE_CLOCK);
	} else if (c->w->wall_ahead - c->clock_believed >= c->clock_most) {
		c->clock_held = true;
		add_excuse(c, c->w->t - c->slack, INT64_MAX, EXCUSE_CLOCK);
	} else {
		add_excuse(c, c->w->t - c->slack, c->w->t + c->slack + SECONDS(3), EXCUSE_CLOCK);
		accept_clock(c);
	}
	if (now.us >= before)
		return;
	ADD_ROOM(c->repeated, c->repeated_room, c->repeateds);
	c->repeated[c->repeateds++] = (struct repeated_span){ now.us, before };
	for (size_t i = 0; i < c->scheds; i++)
		rewind_sched(&c->sched[i], now);
}

/* --- commands and replies --- */

static const char *const command_words[] = { "put",      "drop", "pause", "resume",    "run",  "stop",
					     "backfill", "free", "clock", "recompile", "check" };

void observe_command(struct check *c, const struct command *cmd)
{
	world_log(c->w, "command %llu %s sid %llu run %llu", (unsigned long long)cmd->tag,
		  command_words[cmd->kind], (unsigned long long)cmd->sid, (unsigned long long)cmd->run);
	ADD_ROOM(c->command, c->command_room, c->commands);
	c->command[c->commands++] = (struct check_command){ .kind = cmd->kind,
							    .epoch = c->w->epoch,
							    .t = c->w->t,
							    .sid = cmd->sid,
							    .run = cmd->run,
							    .key = cmd->key,
							    .to = cmd->to };
	assert(c->commands == cmd->tag);
	struct check_run *v = cmd->kind == CMD_STOP ? check_find_run(c, cmd->run) : NULL;
	if (v)
		v->stopped = true;
	if (cmd->kind == CMD_DROP && cmd->kill && check_find_sched(c, cmd->sid))
		check_find_sched(c, cmd->sid)->killed = true;
	for (size_t i = 0; cmd->kind == CMD_DROP && cmd->kill && i < c->runs; i++)
		if (c->run[i].row.sid == cmd->sid)
			c->run[i].stopped = true;
}

static void check_reply(struct check *c, const struct reply *r, const struct check_command *o)
{
	uint64_t sid = o->sid ? o->sid : r->sid;
	const struct model_sched *s = model_sched(c->w->rows, sid);
	const struct check_sched *sched = check_find_sched(c, sid);
	const struct run_row *run = model_run(c->w->rows, r->run ? r->run : o->run);
	const char *wrong = NULL;
	switch ((enum command_kind)o->kind) {
	case CMD_PUT:
		wrong = !s || !sched || sched->known_rev == 0 ? "the schedule is not in the store" : NULL;
		break;
	case CMD_DROP:
		wrong = !s || !s->dropped || !sched->known_dropped ? "the schedule is still in the store"
								   : NULL;
		break;
	case CMD_PAUSE:
		wrong = o->sid && (!s || !(sched->known_flags & SCHED_PAUSED))
				? "it is not paused in the store"
				: NULL;
		break;
	case CMD_RESUME:
		wrong = o->sid && (!s || sched->known_flags & SCHED_PAUSED)
				? "it is still paused in the store"
				: NULL;
		break;
	case CMD_RUN:
		wrong = !run || run->kind != KIND_MANUAL ? "there is no such run in the store" : NULL;
		break;
	case CMD_STOP: {
		const struct check_run *v = check_find_run(c, o->run);
		bool dying = v && v->kill_epoch == c->w->epoch;
		/* No record: it was refused, and withdrawn after a step back of the clock. */
		wrong = run && run_is_open(run) && !dying ? "the run has not ended, and is not being killed"
							  : NULL;
		break;
	}
	case CMD_RELEASE:
		wrong = model_hold(c->w->rows, o->key) &&
					c->hold_requested[o->key % ARRAY_LEN(c->hold_requested)] <= o->t
				? "it is still held in the store"
				: NULL;
		break;
	case CMD_NEXT_CHECK: {
		bool set = false;
		for (unsigned i = 0; sched && i < sched->versions; i++)
			set |= sched->version[i].gated_until.us == o->to.us;
		wrong = !s || !set ? "its next check in the store is another" : NULL;
		break;
	}
	case CMD_BACKFILL:
	case CMD_CLOCK:
	case CMD_RECOMPILE:
		break;
	}
	if (wrong)
		check_fail(c, "R2: %s of sid %llu was answered OK, but %s", command_words[o->kind],
			   (unsigned long long)sid, wrong);
}

void observe_reply(struct check *c, const struct reply *r)
{
	world_log(c->w, "reply to %llu: %u, sid %llu run %llu", (unsigned long long)r->tag, r->code,
		  (unsigned long long)r->sid, (unsigned long long)r->run);
	if (r->tag == 0 || r->tag > c->commands) {
		check_fail(c, "a reply to an unknown command");
		return;
	}
	struct check_command *o = &c->command[r->tag - 1];
	if (o->replied)
		check_fail(c, "command %llu (%s) was answered twice", (unsigned long long)r->tag,
			   command_words[o->kind]);
	o->replied = true;
	o->reply = *r;
	if (r->code == REPLY_OK)
		check_reply(c, r, o);
	if (r->code == REPLY_OK && o->kind == CMD_CLOCK && c->clock_held)
		accept_clock(c);
}

bool check_clock_is_held(const struct check *c)
{
	return c->clock_held;
}

void check_clock(struct check *c)
{
	bool noticed = c->w->t - c->piece[c->pieces - 1].t > SECONDS(1);
	if (noticed && c->clock_held != engine_counts(c->w->engine).clock_held)
		check_fail(c, "the clock is %sheld, but should%s be", c->clock_held ? "not " : "",
			   c->clock_held ? "" : " not");
}

bool check_reply_of(const struct check *c, uint64_t tag, struct reply *ret)
{
	if (!tag || tag > c->commands || !c->command[tag - 1].replied)
		return false;
	*ret = c->command[tag - 1].reply;
	return true;
}
