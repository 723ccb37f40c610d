/* The keys for limits of an agent: `budget` (money or tokens), `next_check` and `grants` (changes to
 * schedules). */
#include "core/doc/internal.h"
#include "core/doc/text_position.h"
#include "core/when/dur.h"

/* --- budget: 0.50 USD, 20000 tokens --- */

enum { MICROS = 1000000, DECIMALS = 6 };
#define DOLLARS_MAX INT64_C(1000000)
#define TOKENS_MAX  INT64_C(1000000000000)

/* Reads a number with at most six decimals as millionths. */
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
	struct doc_amount *a = KEY_FIELD(struct doc_amount, into, k);
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

static void write_amount(const void *from, const struct key *k, struct buf *out)
{
	const struct doc_amount *a = KEY_CONST_FIELD(struct doc_amount, from, k);
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

/* A bare number is refused, too, but by set_amount, whose message has an example. */
enum { AMOUNT = STRING | KEY_KIND(VAL_INT) | KEY_KIND(VAL_FLOAT) };

static const struct key budget_keys[] = {
	{ "per_run", KEY_OTHER, .offset = offsetof(struct doc_budget, run), .kinds = AMOUNT,
	  .set = set_amount, .write = write_amount },
	{ "per_day", KEY_OTHER, .offset = offsetof(struct doc_budget, day), .kinds = AMOUNT,
	  .set = set_amount, .write = write_amount },
	{ 0 },
};

/* Reads "0.50 USD per run, 5 USD per day", or "0.50 USD/run". */
static enum err read_budget_text(struct key_reader *r, const char *name, const struct val *v,
				 struct doc_budget *b)
{
	struct str rest = v->str;
	while (rest.p) {
		const char *comma = memchr(rest.p, ',', rest.n);
		struct str part = str_trim(comma ? str_sub(rest, 0, (size_t)(comma - rest.p)) : rest);
		rest = comma ? str_from(rest, (size_t)(comma + 1 - rest.p)) : (struct str){ 0 };
		struct val amount = { .kind = VAL_STR,
				      .at = (uint32_t)text_position(r->source, v,
								    (size_t)(part.p - v->str.p)) };
		const char *slash = memchr(part.p, '/', part.n), *per = memmem(part.p, part.n, " per ", 5);
		size_t end = (size_t)((slash ? slash : per ? per : part.p) - part.p);
		struct str each = slash ? str_trim(str_from(part, end + 1))
				  : per ? str_trim(str_from(part, end + 5))
					: STR("");
		bool run = str_eq(each, STR("run")), day = str_eq(each, STR("day"));
		amount.str = str_sub(part, 0, end);
		if ((!run && !day) || (run ? b->run.n : b->day.n))
			return why_set(r->why, E_INPUT, amount.at,
				       "%s must be an amount per run, an amount per day, or both, such as "
				       "0.50 USD per run, 5 USD per day",
				       name);
		enum err e = keys_set(r, b, &budget_keys[day], &amount);
		if (e)
			return e;
	}
	return OK;
}

enum err set_budget(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_budget *b = KEY_FIELD(struct doc_budget, into, k);
	enum err e = v->kind == VAL_STR ? read_budget_text(r, k->name, v, b)
					: keys_read(r, k->name, budget_keys, b, v, NULL);
	if (!e && !b->run.n && !b->day.n)
		return why_set(r->why, E_INPUT, v->at, "%s needs per_run, per_day or both", k->name);
	if (!e)
		doc_note_unsupported(r, DOC_UNSUPPORTED_BUDGET, v->at);
	return e;
}

void write_budget(const void *from, const struct key *k, struct buf *out)
{
	keys_write_map(budget_keys, KEY_CONST_FIELD(struct doc_budget, from, k), out);
}

/* --- next_check: 5m..2h --- */

/* Reads bytes [from, to) of the value as a duration. */
static enum err read_part(struct key_reader *r, const struct val *v, size_t from, size_t to, int64_t *ret)
{
	struct str s = str_trim(str_sub(v->str, from, to));
	enum err e = dur_parse(s, ret, r->why);
	if (e && r->why)
		r->why->at += (size_t)(s.p - v->str.p);
	return keys_error_in(r, v, e);
}

static enum err bad_next_check(struct key_reader *r, const struct key *k, const struct val *v)
{
	return why_set(r->why, E_INPUT, v->at, "%s must be two durations, the shorter first, such as 5m..2h",
		       k->name);
}

enum err set_next_check(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_next_check *n = KEY_FIELD(struct doc_next_check, into, k);
	const char *dots = memmem(v->str.p, v->str.n, "..", 2);
	if (!dots)
		return bad_next_check(r, k, v);
	size_t at = (size_t)(dots - v->str.p);
	enum err e = read_part(r, v, 0, at, &n->least);
	if (!e)
		e = read_part(r, v, at + 2, v->str.n, &n->most);
	if (!e && (n->least < 1 || n->most < n->least))
		return bad_next_check(r, k, v);
	return e;
}

void write_next_check(const void *from, const struct key *k, struct buf *out)
{
	const struct doc_next_check *n = KEY_CONST_FIELD(struct doc_next_check, from, k);
	if (!n->most)
		return;
	buf_addc(out, '"');
	dur_format(n->least, out);
	buf_add(out, STR(".."));
	dur_format(n->most, out);
	buf_addc(out, '"');
}

/* --- grants: {schedules: 3, interval: 15m} --- */

enum { GRANT_INTERVAL = 900, GRANT_INTERVAL_MIN = 60 }; /* seconds */

static const struct key grants_keys[] = {
	{ "schedules", KEY_NUMBER, .offset = IN_SCHEDULE(grants.schedules), .least = 1, .most = GRANTS_MAX },
	{ "interval", KEY_DURATION, .offset = IN_SCHEDULE(grants.interval), .least = GRANT_INTERVAL_MIN,
	  .most = DURATION_SECONDS_MAX, .default_value = GRANT_INTERVAL },
	{ 0 },
};

enum err set_grants(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct schedule_doc *d = into;
	keys_set_defaults(grants_keys, d);
	enum err e = keys_read(r, k->name, grants_keys, into, v, NULL);
	if (!e && !d->grants.schedules)
		return why_set(r->why, E_INPUT, v->at,
			       "%s needs the key 'schedules', how many schedules its runs may create",
			       k->name);
	return e;
}

void write_grants(const void *from, const struct key *k, struct buf *out)
{
	(void)k;
	if (((const struct schedule_doc *)from)->grants.schedules)
		keys_write_map(grants_keys, from, out);
}
