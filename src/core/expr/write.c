/* Values as JSON and as text. */
#include "base/buf.h"
#include "base/json.h"
#include "core/expr/code.h"

static void add_base64(struct str s, struct buf *out)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (size_t i = 0; i < s.n; i += 3) {
		uint32_t v = 0;
		for (size_t k = 0; k < 3; k++)
			v = v << 8 | (i + k < s.n ? (unsigned char)s.p[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			buf_addc(out, i + k > s.n ? '=' : digit[v >> (18 - 6 * k) & 63]);
	}
}

/* Appends a value that is a string in JSON, without quotes; false: it is not a string there. */
static bool add_as_string(const struct expr_value *v, const struct zone *zone, struct buf *out)
{
	switch (v->kind) {
	case EXPR_STRING:
		buf_add(out, v->str);
		return true;
	case EXPR_BYTES:
		add_base64(v->str, out);
		return true;
	case EXPR_TIMESTAMP:
	case EXPR_DURATION:
		expr_time_text(v, zone, out);
		return true;
	case EXPR_DOUBLE:
		if (v->real - v->real == 0)
			return false;
		buf_add(out, v->real != v->real ? STR("NaN")
			     : v->real < 0      ? STR("-Infinity")
						: STR("Infinity"));
		return true;
	default:
		return false;
	}
}

/* --- the cost --- */

/* Subtracts the cost of writing v from the budget before anything is written: the same value may be in a list
 * many times, and sorting a map takes quadratic time. */
static bool pay_for(struct expr_budget *budget, const struct expr_value *v)
{
	bool text = v->kind == EXPR_STRING || v->kind == EXPR_BYTES;
	bool list = v->kind == EXPR_LIST, map = v->kind == EXPR_MAP;
	size_t steps = 1 + (text ? v->str.n / 64 : map ? (size_t)v->n * v->n / 32 : 0);
	size_t bytes = (text ? v->str.n : 0) + (list || map ? 2 : 0) + 2;
	if (steps > budget->steps || bytes > budget->bytes)
		return false;
	budget->steps -= steps;
	budget->bytes -= bytes;
	bool paid = true;
	for (unsigned i = 0; paid && list && i < v->n; i++) {
		struct expr_value item = expr_item(v, i);
		paid = pay_for(budget, &item);
	}
	for (unsigned i = 0; paid && map && i < v->n; i++) {
		struct expr_pair p = expr_pair(v, i);
		paid = pay_for(budget, &p.key) && pay_for(budget, &p.value);
	}
	return paid;
}

/* --- JSON --- */

static enum err write_json(const struct expr_value *v, const struct zone *zone, struct arena *a,
			   struct buf *out, struct why *why);

struct json_pair {
	struct str key;
	const struct expr_value *value;
};

/* Sorts by insertion: a map that an expression built is small. */
static enum err write_map(const struct expr_value *v, const struct zone *zone, struct arena *a,
			  struct buf *out, struct why *why)
{
	struct json_pair *row = arena_alloc(a, (v->n + 1) * sizeof *row);
	for (unsigned i = 0; row && i < v->n; i++) {
		const struct expr_value *k = &v->pair[i].key;
		_cleanup_(buf_free) struct buf text = { 0 };
		struct json_pair r = { k->str, &v->pair[i].value };
		if (k->kind != EXPR_STRING) { /* 1, 2u, true: in quotes */
			enum err e = write_json(k, zone, a, &text, why);
			char *copy = e || text.failed ? NULL : arena_dup(a, buf_str(&text));
			if (!copy)
				return E_NOMEM;
			r.key = (struct str){ copy, text.n };
		}
		unsigned at = i;
		for (; at > 0 && str_cmp(row[at - 1].key, r.key) >= 0; at--)
			row[at] = row[at - 1];
		row[at] = r;
		if (at < i && str_eq(row[at + 1].key, r.key))
			return why_set(why, E_VALUE, WHY_NOWHERE, "two keys of a map are \"%.*s\" in JSON",
				       STR_SHORT(r.key));
	}
	if (!row)
		return E_NOMEM;
	buf_addc(out, '{');
	enum err e = OK;
	for (unsigned i = 0; !e && i < v->n; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		json_write_exact(out, row[i].key);
		buf_addc(out, ':');
		e = write_json(row[i].value, zone, a, out, why);
	}
	buf_addc(out, '}');
	return e;
}

static enum err write_list(const struct expr_value *v, const struct zone *zone, struct arena *a,
			   struct buf *out, struct why *why)
{
	enum err e = OK;
	buf_addc(out, '[');
	for (unsigned i = 0; !e && i < v->n; i++) {
		struct expr_value item = expr_item(v, i);
		buf_add(out, i ? STR(",") : STR(""));
		e = write_json(&item, zone, a, out, why);
	}
	buf_addc(out, ']');
	return e;
}

static enum err write_json(const struct expr_value *v, const struct zone *zone, struct arena *a,
			   struct buf *out, struct why *why)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (v->kind == EXPR_STRING) {
		json_write_exact(out, v->str);
		return OK;
	}
	if (add_as_string(v, zone, &text)) {
		json_write_str(out, buf_str(&text));
		return text.failed ? E_NOMEM : OK;
	}
	struct val plain = { 0 };
	switch (v->kind) {
	case EXPR_LIST:
	case EXPR_MAP:
		if (!v->val)
			return (v->kind == EXPR_LIST ? write_list : write_map)(v, zone, a, out, why);
		plain = *v->val;
		break;
	case EXPR_UINT:
		buf_addf(out, "%llu", (unsigned long long)v->whole);
		return OK;
	case EXPR_BOOL:
		plain = (struct val){ .kind = VAL_BOOL, .boolean = v->boolean };
		break;
	case EXPR_INT:
		plain = (struct val){ .kind = VAL_INT, .integer = v->integer };
		break;
	case EXPR_DOUBLE:
		plain = (struct val){ .kind = VAL_FLOAT, .real = v->real };
		break;
	default:
		assert(v->kind == EXPR_NULL);
	}
	json_write(out, &plain);
	return OK;
}

enum err expr_write_on_budget(const struct expr_value *v, bool as_text, const struct zone *zone,
			      struct arena *a, struct expr_budget *budget, struct buf *out, struct why *why)
{
	if (!pay_for(budget, v))
		return why_set(why, E_VALUE, WHY_NOWHERE,
			       "the value is too large to be written: at most %d steps and %d MiB",
			       CEL_STEPS_MAX, RENDER_BYTES_MAX >> 20);
	return as_text && add_as_string(v, zone, out) ? OK : write_json(v, zone, a, out, why);
}

enum err expr_write(const struct expr_value *v, const struct zone *zone, struct arena *a, struct buf *out,
		    struct why *why)
{
	struct expr_budget budget = { CEL_STEPS_MAX, SIZE_MAX };
	return expr_write_on_budget(v, false, zone, a, &budget, out, why);
}
