/* Templates: text without {{ stays unchanged; every error has a place; text appended to a valid template is
 * appended to its result. */
#include "base/buf.h"
#include "base/json.h"
#include "core/expr/template.h"
#include "fuzz.h"
#include "zoneinfo.h"

static const char context[] = "{\"user\":{\"name\":\"Ann\",\"tags\":[\"a\",null,1.5]},\"variables\":{\"v\":"
			      "\"{{ date }}\"},\"date\":"
			      "\"2026-11-16\",\"n\":-7}";

static enum err render(struct str text, const struct expr_env *env, struct arena *a, struct buf *out,
		       struct why *why)
{
	const struct template *t;
	enum err e = template_compile(text, NULL, a, &t, why);
	return e ? e : template_render(t, env, a, out, why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct str names[] = { STR("user"), STR("date"), STR("variables") };
	struct str text = { (const char *)data, size }, found;
	struct arena a = { 0 };
	struct buf out = { 0 }, twice = { 0 }, longer = { 0 };
	struct val v;
	struct why why = { .at = WHY_NOWHERE };
	enum err e = json_read(str_of(context), &a, &v, NULL);
	assert(e == OK);
	struct expr_env env = { .find = expr_find_in,
				.self = &v,
				.now = wall_of(1794751200),
				.zones = test_zones(),
				.zone = test_zone("Europe/Berlin") };
	e = render(text, &env, &a, &out, &why);
	if (e)
		assert(why.text[0] && why.at <= size);
	if (!memmem(data, size, "{{", 2))
		assert(e || str_eq(buf_str(&out), text));
	if (!e && size && data[size - 1] != '{') {
		buf_add(&longer, text);
		buf_add(&longer, STR(" {{ user }}."));
		enum err again = render(buf_str(&longer), &env, &a, &twice, &why);
		assert(again || (str_starts(buf_str(&twice), buf_str(&out)) &&
				 str_eq(str_from(buf_str(&twice), out.n), STR(" Ann."))));
	}
	struct expr_names known = { names, ARRAY_LEN(names) };
	if (template_looks_like(text, &known, &found))
		assert(str_starts(found, STR("{{")) && str_eq(str_from(found, found.n - 2), STR("}}")));
	/* A variable is a template without the name `variables`. */
	struct val_pair pair = { .key = STR("it"), .value = { .kind = VAL_STR, .str = text } };
	struct val variables = { .kind = VAL_MAP, .map = { &pair, 1 } }, done;
	if (!template_variables(&variables, &env, &a, &done, &why))
		assert(e || str_eq(val_get(&done, STR("it"))->str, buf_str(&out)));
	buf_free(&out);
	buf_free(&twice);
	buf_free(&longer);
	arena_free(&a);
	return 0;
}
