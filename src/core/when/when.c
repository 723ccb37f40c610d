/* Compiles a when expression: its zone first, then its form, then its directives. */
#include "core/when/when.h"
#include "base/hash.h"
#include "core/when/civil.h"
#include "core/when/dur.h"
#include "core/when/iso.h"
#include "core/when/phrase/phrase.h"

#include <stdio.h>

/* A compilation in progress. */
struct compiler {
	const struct when_env *env;
	struct arena *arena;
	struct when *w;
	struct why *why;
	const struct when_parts *parts;
	enum ace_key part; /* the part with the error; ACE_KEYS: the form */
	bool local_at;     /* the form is a one-shot without offset */
	int64_t at;        /* with local_at: its local time, as written */
};

/* Notes which part an error is about: its place counts from the beginning of that part. */
static enum err in_part(struct compiler *p, enum ace_key part, enum err e)
{
	if (e)
		p->part = part;
	return e;
}

static enum err refuse(struct compiler *p, enum ace_key part, const char *text)
{
	return in_part(p, part, why_set(p->why, E_INPUT, 0, "%s", text));
}

void when_warn(struct when *w, const char *text)
{
	if (text && w->warnings < WARNINGS_MAX)
		w->warning[w->warnings++] = text;
}

static void add_warning(struct compiler *p, const char *text)
{
	when_warn(p->w, text);
}

static bool is_given(const struct when *w, enum ace_key key)
{
	return w->written.value[key].p;
}

/* Reads FROM or UNTIL (`end`). UNTIL a date without a time includes that whole day. */
static enum err read_bound(struct compiler *p, struct str v, bool end, int64_t *ret)
{
	struct iso t;
	enum err e = iso_parse(v, &t, p->why);
	if (e)
		return e;
	if (end && !t.has_time)
		t.local += DAY;
	int64_t at = iso_utc(&t, p->w->zone, NULL) + (t.micros > 0);
	if (end && at > SECONDS_MAX)
		at = RULE_UNTIL_NEVER; /* UNTIL 9999-12-31 */
	else if (at < SECONDS_MIN || at > SECONDS_MAX)
		return why_set(p->why, E_INPUT, 0, "the time is out of range 0001-9999");
	*ret = at;
	return OK;
}

/* --- the forms --- */

/* If a match of either day field is enough and one field matches every day, the other field has no effect. */
static void warn_of_useless_day_field(struct compiler *p, const struct cron *c)
{
	bool either = !(c->flags & (CRON_MDAY_STAR | CRON_WDAY_STAR));
	if (either && (c->mday == CRON_ALL_MDAYS || c->wday == CRON_ALL_WDAYS))
		add_warning(p, "neither day field begins with *, so a match of either is enough; one of them "
			       "matches "
			       "every day, so the other restricts nothing");
}

static enum err read_cron(struct compiler *p, struct str form)
{
	p->w->rule.kind = RULE_CRON;
	enum err e = cron_parse(form, p->env->id, &p->w->rule.cron, p->why);
	if (!e)
		warn_of_useless_day_field(p, &p->w->rule.cron);
	if (!e && p->w->rule.cron.flags & CRON_HASHED && !p->env->id.n)
		add_warning(
			p,
			"H depends on the schedule's id, and none is given: the real times will differ (use "
			"--id)");
	return e;
}

static enum err read_every(struct compiler *p, struct str form)
{
	struct str rest = form;
	str_token(&rest);
	struct str dur = str_trim(rest);
	int64_t seconds = 0;
	enum err e = dur_parse(dur, &seconds, p->why);
	if (e) {
		if (p->why)
			p->why->at += (size_t)(dur.p - form.p);
		return e;
	}
	if (seconds < 1)
		return why_set(p->why, E_INPUT, (size_t)(dur.p - form.p),
			       "an interval is out of range 1s-%dd", (int)(DURATION_SECONDS_MAX / DAY));
	p->w->rule.kind = RULE_EVERY;
	p->w->rule.every.interval = seconds;
	return OK;
}

static enum err read_at(struct compiler *p, struct str form)
{
	struct iso t;
	enum zone_fit fit = ZONE_ONCE;
	enum err e = iso_parse(form, &t, p->why);
	if (e)
		return e;
	p->w->rule.kind = RULE_AT;
	p->local_at = !t.has_offset;
	p->at = t.local + (t.micros > 0);
	p->w->rule.at = iso_utc(&t, p->w->zone, &fit) + (t.micros > 0);
	if (p->w->rule.at < SECONDS_MIN || p->w->rule.at > SECONDS_MAX)
		return why_set(p->why, E_INPUT, 0, "the time is out of range 0001-9999");
	if (t.micros)
		add_warning(p, "times are whole seconds: the fraction was rounded up");
	if (fit != ZONE_ONCE)
		add_warning(p, arena_printf(p->arena, "%.*s %s in %.*s: %s", STR_SHORT(form),
					    fit == ZONE_GAP ? "does not exist" : "happens twice",
					    STR_ARG(p->w->zone_name),
					    fit == ZONE_GAP ? "read with the offset before the clock change"
							    : "the first of the two is used"));
	return OK;
}

static enum err read_org(struct compiler *p, struct str form)
{
	bool day_off;
	p->w->rule.kind = RULE_ORG;
	enum err e = org_parse(form, &p->w->rule.org, &day_off, p->why);
	if (e)
		return e;
	if (day_off)
		add_warning(
			p,
			arena_printf(p->arena,
				     "the name of the day in '%.*s' does not fit the date; the date is used",
				     STR_SHORT(form)));
	if (p->w->rule.org.style == ORG_RESTART)
		add_warning(
			p,
			"'.+' counts from the end of each run: these times assume that every run ends when "
			"it is due");
	return OK;
}

static enum err read_phrase(struct compiler *p, struct str form);

/* How each form begins. The first row of `forms` that fits reads the text; all other texts are phrases. */
static bool begins_org(struct str s)
{
	return s.p[0] == '<' || s.p[0] == '[';
}

static bool begins_every(struct str s)
{
	struct str rest = s, word = str_token(&rest);
	if (str_ieq(word, STR("@every")))
		return true;
	/* EVERY 10m; but EVERY 10 MINUTES is a phrase in capitals */
	struct str dur = str_token(&rest);
	size_t n = 0;
	while (n < dur.n && is_digit(dur.p[n]))
		n++;
	return str_eq(word, STR("EVERY")) && n > 0 && n < dur.n && memchr("smhdw", dur.p[n], 5) &&
	       (n + 1 == dur.n || !is_alpha(dur.p[n + 1]));
}

/* A number may also begin a phrase: 1st monday of the month, 9am every day, 24 december 2026 at 9. */
static bool begins_counted(struct str word, struct str next)
{
	static const char *const ends[] = { "st", "nd", "rd", "th", "am", "pm" };
	for (unsigned i = 0; i < ARRAY_LEN(ends) && word.n > 2; i++)
		if (str_ieq(str_from(word, word.n - 2), str_of(ends[i])))
			return true;
	bool letters = next.n > 1;
	for (size_t i = 0; i < next.n; i++)
		letters &= is_alpha(next.p[i]);
	return letters || memchr(word.p, ':', word.n);
}

static bool begins_cron(struct str s)
{
	struct str rest = s, word = str_token(&rest);
	if (memchr("*@?/,-#", s.p[0], 7) || memchr(s.p, '*', s.n))
		return true;
	if (is_digit(s.p[0]))
		return !begins_counted(word, str_token(&rest));
	/* H 9 * * *: the only cron expression that begins with a letter */
	return to_upper(s.p[0]) == 'H' && (word.n == 1 || word.p[1] == '/' || word.p[1] == '(');
}

static bool fits_any(struct str s)
{
	(void)s;
	return true;
}

static const struct {
	bool (*fits)(struct str form);
	enum err (*read)(struct compiler *p, struct str form);
	unsigned words; /* how many words may be in capitals; a later one is meant as a directive */
} forms[] = {
	{ begins_org, read_org, WHEN_BYTES_MAX },
	{ begins_every, read_every, 2 },
	{ iso_looks_like, read_at, 1 },
	{ begins_cron, read_cron, 5 },
	{ fits_any, read_phrase, WHEN_BYTES_MAX },
};

static enum err read_form(struct compiler *p, struct str form)
{
	unsigned i = 0;
	while (!forms[i].fits(form))
		i++;
	enum err e = ace_refuse_strays(form, forms[i].words, p->why);
	return e ? e : forms[i].read(p, form);
}

/* The phrase gives a value that a directive gives, too. */
static enum err refuse_second(struct compiler *p, size_t at, const char *what, enum ace_key key)
{
	struct str first = p->w->written.value[key];
	struct place place = p->parts->place(p->parts->self, key);
	return why_set(p->why, E_INPUT, at, "%s is given twice: here and by '%.*s' at line %u, column %u",
		       what, STR_SHORT(first), place.line, place.column);
}

static enum err read_phrase(struct compiler *p, struct str form)
{
	struct phrase_env env = { p->env->now, p->env->zones, p->w->zone };
	struct phrase phrase;
	enum err e = phrase_parse(form, &env, &phrase, p->why);
	if (e)
		return e;
	if (phrase.zone) {
		if (is_given(p->w, ACE_TZ))
			return refuse_second(p, phrase.zone_at, "the zone", ACE_TZ);
		p->w->zone = phrase.zone;
		p->w->zone_name = phrase.zone_name;
		p->w->zone_given = true;
	}
	if (phrase.until[0]) {
		if (is_given(p->w, ACE_UNTIL))
			return refuse_second(p, phrase.until_at, "the end", ACE_UNTIL);
		e = read_bound(p, str_of(phrase.until), true, &p->w->rule.until);
		if (e)
			return e;
	}
	if (phrase.no_time)
		add_warning(p, "no time of day is given: 00:00 is used");
	p->w->relative = phrase.relative;
	p->w->phrase = true;
	char *text = arena_dup(p->arena, str_of(phrase.form));
	if (!text)
		return E_NOMEM;
	e = read_form(p, str_of(text));
	if (e && p->why)
		p->why->at = 0; /* an error in the derived form is about the whole phrase */
	return e;
}

/* --- the directives --- */

static enum err read_positive(struct compiler *p, struct str v, int64_t *ret)
{
	int64_t seconds = 0;
	enum err e = dur_parse(v, &seconds, p->why);
	if (!e && seconds < 1)
		return why_set(p->why, E_INPUT, 0, "a duration is out of range 1s-%dd here",
			       (int)(DURATION_SECONDS_MAX / DAY));
	if (!e)
		*ret = seconds;
	return e;
}

static enum err set_window(struct compiler *p, struct str v)
{
	return read_positive(p, v, &p->w->window);
}

static enum err set_timeout(struct compiler *p, struct str v)
{
	return read_positive(p, v, &p->w->timeout);
}

static enum err set_jitter(struct compiler *p, struct str v)
{
	int64_t seconds = 0;
	enum err e = read_positive(p, v, &seconds);
	if (e)
		return e;
	p->w->rule.jitter = (uint32_t)seconds;
	p->w->rule.spread = hash_field(p->env->id, STR("jitter"));
	if (!p->env->id.n)
		add_warning(
			p,
			"JITTER depends on the schedule's id, and none is given: the real times will differ "
			"(use --id)");
	return OK;
}

static enum err set_retry(struct compiler *p, struct str v)
{
	struct str rest = v, count = str_token(&rest), word = str_token(&rest);
	uint64_t n;
	if (!str_number(count, RETRY_MAX, &n))
		return why_set(p->why, E_INPUT, 0, "RETRY %.*s is out of range 0-%d", STR_SHORT(count),
			       RETRY_MAX);
	p->w->retry.max_attempts = (unsigned)n;
	p->w->retry.backoff = BACKOFF_EXPONENTIAL;
	p->w->retry.initial_delay = 60;
	if (word.n && is_alpha(word.p[0])) {
		unsigned kind = 0;
		enum err e = word_find(backoff_words, word, "backoff", &kind, p->why);
		if (e) {
			if (p->why)
				p->why->at += (size_t)(word.p - v.p);
			return e;
		}
		p->w->retry.backoff = (enum backoff)kind;
		word = str_token(&rest);
	}
	struct str stray = str_trim(rest);
	enum err e = word.n ? read_positive(p, word, &p->w->retry.initial_delay) : OK;
	if (!e && stray.n) {
		word = stray;
		e = why_set(p->why, E_INPUT, 0,
			    "'%.*s' does not belong here: RETRY n [fixed|linear|exponential] [duration]",
			    STR_SHORT(stray));
	}
	if (e && p->why)
		p->why->at += (size_t)(word.p - v.p);
	return e;
}

static enum err set_from(struct compiler *p, struct str v)
{
	return read_bound(p, v, false, &p->w->rule.from);
}

static enum err set_until(struct compiler *p, struct str v)
{
	return read_bound(p, v, true, &p->w->rule.until);
}

static enum err set_missed(struct compiler *p, struct str v)
{
	unsigned n = 0;
	enum err e = word_find(missed_words, v, "missed-run policy", &n, p->why);
	p->w->missed = (enum missed)n;
	return e;
}

static enum err set_overlap(struct compiler *p, struct str v)
{
	unsigned n = 0;
	enum err e = word_find(overlap_words, v, "overlap policy", &n, p->why);
	p->w->overlap = (enum overlap)n;
	return e;
}

static enum err check_is_cron(struct compiler *p, const char *name)
{
	if (p->w->rule.kind == RULE_CRON)
		return OK;
	return why_set(p->why, E_INPUT, 0,
		       "%s can be used only with cron expressions: other forms name one instant each", name);
}

static enum err set_gap(struct compiler *p, struct str v)
{
	static const char *const words[] = { [GAP_SHIFT] = "shift", [GAP_SKIP] = "skip", NULL };
	unsigned n = 0;
	enum err e = word_find(words, v, "GAP", &n, p->why);
	if (!e)
		e = check_is_cron(p, "GAP");
	if (!e)
		p->w->rule.cron.gap = (uint8_t)n;
	return e;
}

static enum err set_fold(struct compiler *p, struct str v)
{
	static const char *const words[] = {
		[FOLD_FIRST] = "first", [FOLD_SECOND] = "second", [FOLD_BOTH] = "both", NULL
	};
	unsigned n = 0;
	enum err e = word_find(words, v, "FOLD", &n, p->why);
	if (!e)
		e = check_is_cron(p, "FOLD");
	if (!e)
		p->w->rule.cron.fold = (uint8_t)n;
	return e;
}

static enum err find_calendar(struct compiler *p, struct str name)
{
	const struct calendars *c = p->env->calendars;
	if (c && c->find(c->self, name, &p->w->except))
		return OK;
	return why_set(p->why, E_INPUT, 0,
		       "'%.*s' is neither a date such as 2026-12-25 nor a calendar of the configuration",
		       STR_SHORT(name));
}

/* Inserts a day into the sorted list, unless it is there already. */
static void insert_day(int32_t *days, unsigned *n, int32_t day)
{
	unsigned at = *n;
	while (at > 0 && days[at - 1] >= day)
		at--;
	if (at < *n && days[at] == day)
		return;
	memmove(days + at + 1, days + at, (*n - at) * sizeof *days);
	days[at] = day;
	++*n;
}

static enum err set_except(struct compiler *p, struct str v)
{
	if (!is_digit(v.p[0]))
		return find_calendar(p, v);
	unsigned n = 0, most = 1;
	for (size_t i = 0; i < v.n; i++)
		most += v.p[i] == ',';
	if (most > EXCEPT_DATES_MAX)
		return why_set(p->why, E_LIMIT, 0, "EXCEPT names at most %d dates", EXCEPT_DATES_MAX);
	int32_t *days = arena_alloc(p->arena, most * sizeof *days);
	if (!days)
		return E_NOMEM;
	for (size_t from = 0; from <= v.n;) {
		const char *comma = from < v.n ? memchr(v.p + from, ',', v.n - from) : NULL;
		size_t end = comma ? (size_t)(comma - v.p) : v.n;
		struct str part = str_trim(str_sub(v, from, end));
		struct iso t = { 0 };
		enum err e = memchr(part.p, ' ', part.n)
				     ? why_set(p->why, E_INPUT, 0,
					       "the dates of EXCEPT must be separated by commas: '%.*s'",
					       STR_SHORT(part))
				     : iso_parse(part, &t, p->why);
		if (!e && t.has_time)
			e = why_set(p->why, E_INPUT, 0, "EXCEPT takes whole days such as 2026-12-25");
		if (e) {
			if (p->why)
				p->why->at += (size_t)(part.p - v.p);
			return e;
		}
		insert_day(days, &n, (int32_t)floor_div(t.local, DAY));
		from = end + 1;
	}
	p->w->except = (struct days){ days, n };
	return OK;
}

static enum err (*const setters[ACE_KEYS])(struct compiler *p, struct str value) = {
	[ACE_TZ] = NULL, /* read_zone reads it before anything else */
	[ACE_IF] = NULL, /* kept as text; core/expr compiles it */
	[ACE_WINDOW] = set_window, [ACE_RETRY] = set_retry,     [ACE_FROM] = set_from,
	[ACE_UNTIL] = set_until,   [ACE_JITTER] = set_jitter,   [ACE_TIMEOUT] = set_timeout,
	[ACE_MISSED] = set_missed, [ACE_OVERLAP] = set_overlap, [ACE_EXCEPT] = set_except,
	[ACE_GAP] = set_gap,       [ACE_FOLD] = set_fold,
};

/* --- the whole --- */

static enum err read_zone(struct compiler *p)
{
	struct str name = p->w->written.value[ACE_TZ];
	p->w->zone = p->env->zone;
	p->w->zone_name = p->env->zone_name;
	if (!name.p)
		return OK;
	enum err e = zones_find(p->env->zones, name, &p->w->zone, p->why);
	if (e)
		return in_part(p, ACE_TZ, e);
	p->w->zone_name = name;
	p->w->zone_given = true;
	return OK;
}

/* Checks that need all parts. */
static enum err check_parts_together(struct compiler *p)
{
	struct when *w = p->w;
	if (w->rule.kind == RULE_EVERY && is_given(w, ACE_FROM))
		w->rule.every.anchor = w->rule.from;
	if (w->rule.kind == RULE_ORG && w->rule.org.style == ORG_FUTURE) {
		if (is_given(w, ACE_MISSED) && w->missed != MISSED_SKIP)
			return refuse(p, ACE_MISSED,
				      "the repeater '++' in the timestamp means MISSED skip, and MISSED says "
				      "otherwise");
		w->missed = MISSED_SKIP;
	}
	if (is_given(w, ACE_FROM) && w->rule.until <= w->rule.from)
		return refuse(p, is_given(w, ACE_UNTIL) ? ACE_FROM : ACE_KEYS,
			      "this never fires: UNTIL is not after FROM");
	/* Cron and interval rules without FROM always have a time before UNTIL; all others may have none. */
	struct wall nominal, due;
	struct when_walk walk = when_walk(w, wall_of(SECONDS_MIN));
	bool closed = is_given(w, ACE_FROM) || w->rule.kind == RULE_AT || w->rule.kind == RULE_ORG;
	if (closed && when_walk_next(&walk, &nominal, &due) == E_NOTFOUND)
		return refuse(p, ACE_KEYS,
			      walk.excluded ? "this never fires: EXCEPT excludes all its times"
			      : is_given(w, ACE_FROM)
				      ? "this never fires: it has no time between FROM and UNTIL"
				      : "this never fires: its first time is not before its end");
	return OK;
}

static enum err write_normalized(struct compiler *p)
{
	struct when *w = p->w;
	_cleanup_(buf_free) struct buf out = { 0 };
	char time[ISO_SIZE];
	switch ((enum rule_kind)w->rule.kind) {
	case RULE_CRON:
		cron_format(&w->rule.cron, &out);
		break;
	case RULE_AT:
		/* A local time stays local, so that it follows later changes of its zone. */
		buf_add(&out, str_of(p->local_at ? iso_format_local(p->at, time)
						 : iso_format_utc(w->rule.at, time)));
		break;
	case RULE_EVERY:
		buf_add(&out, STR("@every "));
		dur_format(w->rule.every.interval, &out);
		break;
	case RULE_ORG:
		org_format(&w->rule.org, &out);
		break;
	case RULE_KINDS:
		assert(false);
	}
	char *text = out.failed ? NULL : arena_dup(p->arena, buf_str(&out));
	if (!text)
		return E_NOMEM;
	w->normalized = (struct str){ text, out.n };
	return OK;
}

enum err when_compile(const struct when_parts *parts, const struct when_env *env, struct arena *a,
		      struct when *ret, enum ace_key *part, struct why *why)
{
	struct when w = { .rule = { .from = RULE_FROM_ALWAYS, .until = RULE_UNTIL_NEVER },
			  .written = parts->written };
	struct compiler p = { env, a, &w, why, .parts = parts };
	bool has_form = w.written.form.n > 0;
	enum err e = read_zone(&p);
	if (!e && has_form)
		e = in_part(&p, ACE_KEYS, read_form(&p, w.written.form));
	for (unsigned k = 0; k < ACE_KEYS && !e; k++) {
		struct str v = w.written.value[k];
		if (v.p && setters[k])
			e = in_part(&p, (enum ace_key)k, setters[k](&p, v));
	}
	if (!e && has_form)
		e = check_parts_together(&p);
	if (!e && has_form)
		e = write_normalized(&p);
	if (!e)
		*ret = w;
	else
		*part = p.part;
	return e;
}

/* An expression: all parts are in one text. */
struct expression {
	struct when_parts parts;
	struct str text;
};

static struct place place_in_text(void *self, enum ace_key key)
{
	const struct expression *all = self;
	return place_of(all->text, (size_t)(all->parts.written.value[key].p - all->text.p));
}

enum err when_parse(struct str text, const struct when_env *env, struct arena *a, struct when *ret,
		    struct why *why)
{
	struct expression all = { { .place = place_in_text, .self = &all }, text };
	enum ace_key part = ACE_KEYS;
	enum err e = ace_split(text, &all.parts.written, why);
	if (e)
		return e;
	e = when_compile(&all.parts, env, a, ret, &part, why);
	struct str at = part == ACE_KEYS ? all.parts.written.form : all.parts.written.value[part];
	if (e && e != E_NOMEM && why)
		why->at += (size_t)(at.p - text.p);
	return e;
}

const struct zone *when_zone(struct str text, const struct when_env *env)
{
	struct ace ace;
	const struct zone *z = env->zone;
	struct phrase_env place = { .zones = env->zones, .zone = env->zone };
	if (ace_split(text, &ace, NULL) == OK) {
		struct str name = ace.value[ACE_TZ];
		if (!name.p || zones_find(env->zones, name, &z, NULL) != OK)
			phrase_place(ace.form, &place, &z);
	}
	return z;
}
