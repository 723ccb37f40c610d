/* Templates and variables: rendering, errors with their places, limits. */
#include "base/buf.h"
#include "base/json.h"
#include "core/expr/template.h"
#include "test.h"
#include "zoneinfo.h"

static struct arena arena;
static struct why why;
static char shown[4096];

static const char context[] =
	"{\"user\":{\"name\":\"Ann\",\"tags\":[1,\"a\"]},\"date\":\"2026-11-16\","
	"\"variables\":{\"a\":1},\"price\":3.0,\"none\":null,\"agent\":{\"user\":{\"name\":\"Ann\"}}}";

static struct expr_env environment(struct val *v)
{
	enum err e = json_read(str_of(context), &arena, v, NULL);
	assert(e == OK);
	return (struct expr_env){ .find = expr_find_in,
				  .self = v,
				  .now = { 1794751200 * USEC + 250000 }, /* 2026-11-15T14:00:00.25Z */
				  .zones = test_zones(),
				  .zone = test_zone("Asia/Kolkata") };
}

static const char *rendered(const char *text)
{
	struct val v;
	const struct template *t;
	struct buf out = { 0 };
	arena_reset(&arena);
	why = (struct why){ 0 };
	struct expr_env env = environment(&v);
	enum err e = template_compile(str_of(text), NULL, &arena, &t, &why);
	if (!e)
		e = template_render(t, &env, &arena, &out, &why);
	snprintf(shown, sizeof shown, "%s", e ? why.text : buf_str(&out).p);
	buf_free(&out);
	return shown;
}

TEST(text_with_values)
{
	static const struct {
		int line;
		const char *in, *out;
	} rows[] = {
		{ __LINE__, "", "" },
		{ __LINE__, "no expression, { one brace }, }}", "no expression, { one brace }, }}" },
		{ __LINE__, "Generate a daily summary for {{ date }}",
		  "Generate a daily summary for 2026-11-16" },
		{ __LINE__, "{{user.name}}{{ date }}.", "Ann2026-11-16." },
		{ __LINE__, "{{ user }}", "Ann" },
		{ __LINE__, "{{ agent.user }}", "{\"name\":\"Ann\"}" },
		{ __LINE__, "{{ (user) }}", "Ann" },
		{ __LINE__, "{{ 1 }} {{ 2u }} {{ price }} {{ 1.5e300 }} {{ true }} {{ none }}",
		  "1 2 3.0 1.5e+300 true null" },
		{ __LINE__, "{{ user.tags }} {{ {'b': 1, 'a': 'x'} }}", "[1,\"a\"] {\"a\":\"x\",\"b\":1}" },
		{ __LINE__, "{{ now }} {{ [now] }}",
		  "2026-11-15T19:30:00.250+05:30 [\"2026-11-15T19:30:00.250+05:30\"]" },
		{ __LINE__, "{{ duration('90m') }}", "5400s" },
		{ __LINE__, "{{ '{{' }} and {{ '}}' }}", "{{ and }}" },
		{ __LINE__, "{{ {'a': {'b': 1}}.a.b }}", "1" },
		{ __LINE__, "{{{'a':{'b':1}}}}", "{\"a\":{\"b\":1}}" },
		{ __LINE__, "{{\n  user.name // who\n}}", "Ann" },
		{ __LINE__, "\xC3\xBC {{ '\\u00fc' }}", "\xC3\xBC \xC3\xBC" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_STR_AT(rows[i].line, rendered(rows[i].in), rows[i].out);
}

TEST(errors_say_where)
{
	static const struct {
		int line;
		const char *in;
		unsigned at;
		const char *text;
	} rows[] = {
		{ __LINE__, "a {{ usr }}", 5, "'usr' is not a name in scope" },
		{ __LINE__, "a {{ user.nme }}", 10, "there is no field 'nme' (near: name)" },
		{ __LINE__, "a {{ user.name }} {{ 1 / 0 }}", 23, "division by zero" },
		{ __LINE__, "a {{ }}", 2, "an expression is missing between {{ and }}" },
		{ __LINE__, "a {{ date", 2,
		  "'{{' has no closing '}}'; a literal {{ is written {{ \"{{\" }}" },
		{ __LINE__, "a {{ date }", 10, "expected an operator or '}}', found '}'" },
		{ __LINE__, "a {{ date date }}", 10, "expected an operator or '}}', found 'date }}'" },
		{ __LINE__, "a {{ 1 + }}", 9,
		  "expected a value (a name, number, text in quotes, true, false, null, '(', '[' or '{'), "
		  "found '}'" },
		{ __LINE__, "{{ {1: 2, '1': 3} }}", 4, "two keys of a map are \"1\" in JSON" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CHECK_STR_AT(rows[i].line, rendered(rows[i].in), rows[i].text);
		CHECK_INT_AT(rows[i].line, why.at, rows[i].at);
	}
}

TEST(names_are_checked)
{
	static const struct str known[] = { STR("user"), STR("date"), STR("variables") };
	const struct expr_names names = { known, ARRAY_LEN(known) };
	const struct template *t;
	CHECK_INT(template_compile(STR("{{ date }} {{ user }}"), &names, &arena, &t, &why), OK);
	CHECK_INT(template_compile(STR("on {{ dat }}"), &names, &arena, &t, &why), E_INPUT);
	CHECK_STR(why.text, "'dat' is not a name in scope (near: date)");
	CHECK_INT(why.at, 6);
	/* A text that is not a template, but looks like one. */
	struct str found;
	CHECK(template_looks_like(STR("awk '{{ print }}' {{ date }}"), &names, &found));
	CHECK(str_eq(found, STR("{{ date }}")));
	CHECK(!template_looks_like(STR("awk '{{ print }}' {{ 1 }} {{ dat }} {{"), &names, &found));
}

static enum err variables(const char *json, struct val *ret)
{
	struct val v, given;
	arena_reset(&arena);
	why = (struct why){ 0 };
	struct expr_env env = environment(&v);
	CHECK_INT(json_read(str_of(json), &arena, &given, NULL), OK);
	return template_variables(&given, &env, &arena, ret, &why);
}

TEST(variables_are_templates)
{
	struct val v;
	struct buf out = { 0 };
	CHECK_INT(variables("{\"a\":\"{{ user }}\",\"b\":[1,{\"c\":\"on {{ date }}\"}],\"d\":\"{{ '{{ date "
			    "}}' }}\"}",
			    &v),
		  OK);
	json_write(&out, &v);
	CHECK_STR(out.p, "{\"a\":\"Ann\",\"b\":[1,{\"c\":\"on 2026-11-16\"}],\"d\":\"{{ date }}\"}");
	buf_free(&out);
	CHECK_INT(variables("{\"ok\":1,\"a\":[\"{{ variables.b }}\"],\"b\":\"x\"}", &v), E_VALUE);
	CHECK_STR(why.text, "variable a: 'variables' is not a name in scope, at column 4");
	CHECK_INT(variables("{\"a\":\"{{ 1 + }}\"}", &v), E_INPUT);
	CHECK_INT(why.at, WHY_NOWHERE);
}

/* Renders a template of n equal pieces. */
static enum err render_many(const char *piece, unsigned n, const struct val *scope)
{
	struct arena a = { 0 };
	struct buf text = { 0 }, out = { 0 };
	const struct template *t;
	struct expr_env env = { .find = expr_find_in, .self = (void *)scope };
	why = (struct why){ 0 };
	for (unsigned i = 0; i < n; i++)
		buf_add(&text, str_of(piece));
	enum err e = template_compile(buf_str(&text), NULL, &a, &t, &why);
	if (!e)
		e = template_render(t, &env, &a, &out, &why);
	CHECK(out.n < 2 * RENDER_BYTES_MAX);
	buf_free(&text);
	buf_free(&out);
	arena_free(&a);
	return e;
}

TEST(templates_share_a_budget)
{
	struct arena a = { 0 };
	struct val v;
	const struct template *t;
	struct expr_budget budget = RENDER_BUDGET;
	CHECK_INT(json_read(STR("{\"s\":\"0123456789abcdef\"}"), &a, &v, NULL), OK);
	struct expr_env env = { .find = expr_find_in, .self = &v, .budget = &budget };
	CHECK_INT(template_compile(STR("{{ s + s }} and text"), NULL, &a, &t, &why), OK);
	unsigned n = 0;
	enum err e = OK;
	for (; n < 200000 && !e; n++) {
		struct buf out = { 0 };
		struct arena scratch = { 0 };
		e = template_render(t, &env, &scratch, &out, &why);
		buf_free(&out);
		arena_free(&scratch);
	}
	CHECK_INT(e, E_VALUE);
	CHECK(n > 1000 && n < RENDER_BYTES_MAX / 32);
	arena_free(&a);
}

TEST(bounds)
{
	struct arena a = { 0 };
	struct buf json = { 0 };
	struct val v;
	buf_add(&json, STR("{\"s\":\""));
	for (unsigned i = 0; i < 100000; i++)
		buf_addc(&json, 'a');
	buf_add(&json, STR("\",\"m\":{\"0\":0"));
	for (unsigned i = 1; i < JSON_KEYS_MAX; i++)
		buf_addf(&json, ",\"%u\":0", i);
	buf_add(&json, STR("}}"));
	CHECK_INT(json_read(buf_str(&json), &a, &v, NULL), OK);
	CHECK_INT(render_many("{{ 1 }}", TEMPLATE_EXPRS_MAX, &v), OK);
	CHECK_INT(render_many("{{ 1 }}", TEMPLATE_EXPRS_MAX + 1, &v), E_LIMIT);
	CHECK_INT(render_many("0123456789abcdef", TEMPLATE_BYTES_MAX / 16, &v), OK);
	CHECK_INT(render_many("0123456789abcdef", TEMPLATE_BYTES_MAX / 16 + 1, &v), E_LIMIT);
	CHECK_INT(render_many("{{ s }}", 30, &v), OK);
	CHECK_INT(render_many("{{ s }}", 4000, &v), E_VALUE);
	CHECK(strstr(why.text, "too large to be written"));
	CHECK_INT(render_many("{{ m }}", 1, &v), OK);
	CHECK_INT(render_many("{{ m }}", 2000, &v), E_VALUE);
	CHECK(strstr(why.text, "too large to be written"));
	CHECK_INT(render_many("{{ [m, m, m] }}", 1, &v), E_VALUE);
	CHECK(strstr(why.text, "too large to be written"));
	CHECK_INT(render_many("{{ m == m }}", 2000, &v), E_VALUE);
	CHECK_INT(render_many("{{ s + s }}", 2000, &v), E_VALUE);
	buf_free(&json);
	arena_free(&a);
}
