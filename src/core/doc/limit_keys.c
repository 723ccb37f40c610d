/* What an agent may use up, and what it may do to schedules. */
#include "core/doc/internal.h"
#include "core/doc/text_position.h"
#include "core/when/dur.h"

/* --- budget: 0.50 USD, 20000 tokens --- */

enum { MICROS = 1000000, DECIMALS = 6 };
#define DOLLARS_MAX INT64_C(1000000)
#define TOKENS_MAX  INT64_C(1000000000000)

/* A number with at most six decimals, in millionths. */
static bool read_micros(struct str s, int64_t *ret)
{
	const char *dot = memchr(s.p, '.', s.n);
	size_t whole = dot ? (size_t)(dot - s.p) : s.n;
	struct str fraction = dot ? str_from(s, whole + 1) : (struct str){ 0 };
	uint64_t n, part = 0;
	if (!str_number(str_sub(s, 0, whole), DOLLARS_MAX, &n) || fraction.n > DECIMALS ||
	    (dot && !str_number(fraction, MICROS, &part)))
		return false;
	for (size_t i = fraction.n; i < DECIMALS; i++)
		part *= 10;
	*ret = (int64_t)(n * MICROS + part);
	return *ret <= DOLLARS_MAX * MICROS;
}

static enum err set_amount(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_amount *a = (struct doc_amount *)(void *)((char *)into + k->to);
	struct str rest = v->kind == VAL_STR ? v->str : STR("");
	struct str number = str_token(&rest), unit = str_token(&rest);
	uint64_t tokens = 0;
	bool usd = str_ieq(unit, STR("USD")), good = !str_trim(rest).n && number.n;
	a->tokens = !usd;
	if (good && usd) {
		good = read_micros(number, &a->n);
	} else if (good && (str_eq(unit, STR("tokens")) || str_eq(unit, STR("token")))) {
		good = str_number(number, TOKENS_MAX, &tokens);
		a->n = (int64_t)tokens;
	} else {
		good = false;
	}
	if (good && a->n > 0)
		return OK;
	return why_set(r->why, E_INPUT, v->at,
		       "%s must be an amount above 0, such as 0.50 USD or 20000 tokens", k->name);
}

static void write_amount(const struct doc_amount *a, struct buf *out)
{
	if (!a->n)
		return;
	if (a->tokens) {
		buf_addf(out, "\"%lld tokens\"", (long long)a->n);
		return;
	}
	int64_t part = a->n % MICROS;
	int digits = DECIMALS;
	for (; part && part % 10 == 0; digits--)
		part /= 10;
	if (part)
		buf_addf(out, "\"%lld.%0*lld USD\"", (long long)(a->n / MICROS), digits, (long long)part);
	else
		buf_addf(out, "\"%lld USD\"", (long long)(a->n / MICROS));
}

static void write_per_run(const void *from, struct buf *out)
{
	write_amount(&((const struct doc_budget *)from)->run, out);
}

static void write_per_day(const void *from, struct buf *out)
{
	write_amount(&((const struct doc_budget *)from)->day, out);
}

enum { AMOUNT = STRING | KEY_KIND(VAL_INT) | KEY_KIND(VAL_FLOAT) };

static const struct key budget_keys[] = {
	{ "per_run", KEY_OTHER, .to = offsetof(struct doc_budget, run), .kinds = AMOUNT, .set = set_amount,
	  .write = write_per_run },
	{ "per_day", KEY_OTHER, .to = offsetof(struct doc_budget, day), .kinds = AMOUNT, .set = set_amount,
	  .write = write_per_day },
	{ 0 },
};

/* "0.50 USD per run, 5 USD per day", or "0.50 USD/run". */
static enum err read_budget(struct key_reader *r, const char *name, const struct val *v, struct doc_budget *b)
{
	struct str rest = v->str;
	while (rest.p) {
		const char *comma = memchr(rest.p, ',', rest.n);
		struct str part = str_trim(comma ? str_sub(rest, 0, (size_t)(comma - rest.p)) : rest);
		rest = comma ? str_from(rest, (size_t)(comma + 1 - rest.p)) : (struct str){ 0 };
		struct val amount = { .kind = VAL_STR,
				      .at = (uint32_t)inside(r->source, v, (size_t)(part.p - v->str.p)) };
		const char *slash = memchr(part.p, '/', part.n), *per = memmem(part.p, part.n, " per ", 5);
		size_t end = (size_t)((slash ? slash : per ? per : part.p) - part.p);
		struct str each = slash ? str_trim(str_from(part, end + 1))
				  : per ? str_trim(str_from(part, end + 5))
					: STR("");
		bool run = str_eq(each, STR("run")), day = str_eq(each, STR("day"));
		amount.str = str_sub(part, 0, end);
		if ((!run && !day) || (run ? b->run.n : b->day.n))
			return why_set(r->why, E_INPUT, amount.at,
				       "%s is an amount per run, per day or both, such as 0.50 USD per run, "
				       "5 USD per day",
				       name);
		enum err e = keys_set(r, b, &budget_keys[day], &amount);
		if (e)
			return e;
	}
	return OK;
}

enum err set_budget(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_budget *b = (struct doc_budget *)(void *)((char *)into + k->to);
	enum err e = v->kind == VAL_STR ? read_budget(r, k->name, v, b)
					: keys_read(r, k->name, budget_keys, b, v, NULL);
	if (!e && !b->run.n && !b->day.n)
		return why_set(r->why, E_INPUT, v->at, "budget needs per_run or per_day");
	if (!e)
		doc_need(r, DOC_NEEDS_BUDGET, v->at);
	return e;
}

void budget_write(const struct doc_budget *b, struct buf *out)
{
	if (!b->run.n && !b->day.n)
		return;
	buf_addc(out, '{');
	keys_write(budget_keys, b, true, out);
	buf_addc(out, '}');
}

void write_budget(const void *from, struct buf *out)
{
	budget_write(&((const struct schedule_doc *)from)->budget, out);
}

/* --- next_check: 5m..2h --- */

/* One end of it, between these bytes. */
static enum err read_end(struct key_reader *r, const struct val *v, size_t from, size_t to, int64_t *ret)
{
	struct str s = str_trim(str_sub(v->str, from, to));
	enum err e = dur_parse(s, ret, r->why);
	if (e && e != E_NOMEM && r->why)
		r->why->at = inside(r->source, v, (size_t)(s.p - v->str.p) + r->why->at);
	return e;
}

enum err set_next_check(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_bounds *b = (struct doc_bounds *)(void *)((char *)into + k->to);
	size_t at = 0;
	while (at + 1 < v->str.n && !(v->str.p[at] == '.' && v->str.p[at + 1] == '.'))
		at++;
	if (at + 1 >= v->str.n)
		return why_set(r->why, E_INPUT, v->at, "%s must be two durations such as 5m..2h", k->name);
	enum err e = read_end(r, v, 0, at, &b->least);
	if (!e)
		e = read_end(r, v, at + 2, v->str.n, &b->most);
	if (!e && (b->least < 1 || b->most < b->least))
		e = why_set(r->why, E_INPUT, v->at,
			    "%s must be two durations such as 5m..2h, the smaller first", k->name);
	if (!e)
		doc_need(r, DOC_NEEDS_NEXT_CHECK, v->at);
	return e;
}

void next_check_write(const struct doc_bounds *b, struct buf *out)
{
	if (!b->most)
		return;
	buf_addc(out, '"');
	dur_format(b->least, out);
	buf_add(out, STR(".."));
	dur_format(b->most, out);
	buf_addc(out, '"');
}

void write_next_check(const void *from, struct buf *out)
{
	next_check_write(&((const struct schedule_doc *)from)->next_check, out);
}

/* --- grants --- */

enum { GRANT_INTERVAL = 900 };

static const struct key grants_keys[] = {
	{ "schedules", KEY_NUMBER, .to = IN_DOC(grants.schedules), .least = 1, .most = GRANTS_MAX },
	{ "interval", KEY_DURATION, .to = IN_DOC(grants.interval), .least = 60, .most = DURATION_SECONDS_MAX,
	  .usual = GRANT_INTERVAL },
	{ 0 },
};

enum err set_grants(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct schedule_doc *d = into;
	d->grants.interval = GRANT_INTERVAL;
	enum err e = keys_read(r, k->name, grants_keys, into, v, NULL);
	if (!e && !d->grants.schedules)
		return why_set(r->why, E_INPUT, v->at, "grants needs schedules, how many it may create");
	if (!e)
		doc_need(r, DOC_NEEDS_GRANT, v->at);
	return e;
}

void write_grants(const void *from, struct buf *out)
{
	const struct schedule_doc *d = from;
	if (!d->grants.schedules)
		return;
	buf_addc(out, '{');
	keys_write(grants_keys, from, true, out);
	buf_addc(out, '}');
}
