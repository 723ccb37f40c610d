/* Conditions: an expression that compiles has a value that can be written as JSON, or an error with a
 * position. The result is the same every time, also in brackets and as a branch of `?:`. */
#include "base/buf.h"
#include "base/json.h"
#include "core/expr/expr.h"
#include "fuzz.h"
#include "zoneinfo.h"

static const char context[] =
	"{\"user\":{\"name\":\"Ann\",\"age\":41,\"tags\":[\"a\",\"b\",null,1.5]},\"variables\":{},\"date\":"
	"\"2026-11-16\",\"previous\":{\"outcome\":\"done\",\"result\":\"\\u00fcber\"},\"x\":[[1,2],[3,4]],"
	"\"n\":-7}";

/* Appends "value" or "error at place: text" of the expression `before` `text` `after`. */
static void add_outcome(const char *before, struct str text, const char *after, struct buf *out)
{
	struct arena a = { 0 };
	struct buf all = { 0 };
	struct val v;
	struct why why = { .at = WHY_NOWHERE };
	const struct expr *expr;
	struct expr_value value;
	buf_add(&all, str_of(before));
	buf_add(&all, text);
	buf_add(&all, str_of(after));
	enum err e = json_read(str_of(context), &a, &v, NULL);
	assert(e == OK);
	struct expr_env env = { .find = expr_find_in,
				.self = &v,
				.now = wall_of(1794751200), /* 2026-11-15T14:00:00Z */
				.zones = test_zones() };
	bool compiled = false;
	e = expr_compile(buf_str(&all), NULL, &a, &expr, &why);
	if (!e) {
		compiled = true;
		e = expr_eval(expr, &env, &a, &value, &why);
	}
	if (!e)
		e = expr_write(&value, NULL, &a, out, &why);
	if (e) {
		size_t shift = strlen(before);
		assert(why.text[0] && e == (compiled ? E_VALUE : e));
		assert(why.at <= all.n || (compiled && why.at == WHY_NOWHERE));
		out->n = 0;
		if (why.at == WHY_NOWHERE)
			shift = 0;
		buf_addf(out, "%s at %zu: %s", err_table[e].name, why.at - shift, why.text);
	} else {
		struct val again;
		enum err read = json_read(buf_str(out), &a, &again, &why);
		assert(read == OK || read == E_LIMIT || strstr(why.text, "U+0000"));
	}
	struct why held;
	if (compiled && !expr_holds(expr, &env, &a, &held))
		assert(held.text[0] || str_eq(buf_str(out), STR("false")));
	arena_free(&a);
	buf_free(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct buf plain = { 0 }, again = { 0 }, inside = { 0 }, chosen = { 0 };
	add_outcome("", text, "", &plain);
	add_outcome("", text, "", &again);
	assert(str_eq(buf_str(&plain), buf_str(&again)));
	/* Only expressions that compile are compared, because the messages differ in brackets, and only if
	 * they are not near a limit. */
	bool near = size + 20 > CEL_BYTES_MAX || str_starts(buf_str(&plain), STR("limit"));
	if (!near && !str_starts(buf_str(&plain), STR("bad_input"))) {
		add_outcome("(", text, "\n)", &inside);
		add_outcome("true ? (", text, "\n) : 0", &chosen);
		assert(str_starts(buf_str(&inside), STR("limit")) ||
		       str_eq(buf_str(&plain), buf_str(&inside)));
		assert(str_starts(buf_str(&chosen), STR("limit")) ||
		       str_eq(buf_str(&plain), buf_str(&chosen)));
	}
	buf_free(&plain);
	buf_free(&again);
	buf_free(&inside);
	buf_free(&chosen);
	return 0;
}
