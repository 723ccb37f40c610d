/* The expression language: values, errors with their places, conditions, limits. */
#include "base/buf.h"
#include "base/json.h"
#include "core/expr/expr.h"
#include "test.h"
#include "zoneinfo.h"

static struct arena arena;
static struct why why;
static char shown[4096];

static const char context[] = "{\"user\":{\"name\":\"Ann\",\"age\":41,\"nick\":null},\"run\":{\"attempt\":2},"
			      "\"list\":[1,2.5,\"x\",true],\"price\":1.0}";

static struct expr_env environment(struct val *v)
{
	enum err e = json_read(str_of(context), &arena, v, NULL);
	assert(e == OK);
	return (struct expr_env){ .find = expr_find_in,
				  .self = v,
				  .now = { 1794751200 * USEC + 250000 }, /* 2026-11-15T14:00:00.25Z */
				  .zones = test_zones() };
}

/* The value as JSON, or the error. */
static const char *evaluated(const char *text)
{
	struct val v;
	const struct expr *e;
	struct expr_value value;
	struct buf out = { 0 };
	arena_reset(&arena);
	why = (struct why){ 0 };
	struct expr_env env = environment(&v);
	enum err err = expr_compile(str_of(text), NULL, &arena, &e, &why);
	if (!err)
		err = expr_eval(e, &env, &arena, &value, &why);
	if (!err)
		err = expr_write(&value, NULL, &arena, &out, &why);
	snprintf(shown, sizeof shown, "%s", err ? why.text : buf_str(&out).p);
	buf_free(&out);
	return shown;
}

TEST(values)
{
	static const struct {
		int line;
		const char *in, *out;
	} rows[] = {
		{ __LINE__, "user.name + '!'", "\"Ann!\"" },
		{ __LINE__, "user['age'] + 1", "42" },
		{ __LINE__, "list", "[1,2.5,\"x\",true]" },
		{ __LINE__, "list + [null]", "[1,2.5,\"x\",true,null]" },
		{ __LINE__, "price", "1.0" },
		{ __LINE__, "price + 1.0", "2.0" },
		{ __LINE__, "0.1 + 0.2", "0.30000000000000004" },
		{ __LINE__, "1e300 * 1e300", "\"Infinity\"" },
		{ __LINE__, "0.0 / 0.0", "\"NaN\"" },
		{ __LINE__, "18446744073709551615u", "18446744073709551615" },
		{ __LINE__, "b'\\xff\\x00a'", "\"/wBh\"" },
		{ __LINE__, "{'b': 1, 'a': {2: [], true: {}}}", "{\"a\":{\"2\":[],\"true\":{}},\"b\":1}" },
		{ __LINE__, "now", "\"2026-11-15T14:00:00.250Z\"" },
		{ __LINE__, "now - duration('1ms1us')", "\"2026-11-15T14:00:00.248999Z\"" },
		{ __LINE__, "duration('-1.5s')", "\"-1.500s\"" },
		{ __LINE__, "duration('1h') + duration('30m')", "\"5400s\"" },
		{ __LINE__, "now.getHours('America/New_York')", "9" },
		{ __LINE__, "now.getDayOfWeek() == 0", "true" },
		{ __LINE__, "has(user.nick) && user.nick == null", "true" },
		{ __LINE__, "has(user.phone)", "false" },
		{ __LINE__, "size('a\xC3\xBC\xF0\x9F\x98\x80')", "3" },
		{ __LINE__, "run.attempt > 1 ? 'again' : 'first'", "\"again\"" },
		{ __LINE__, "false ? 1 : false ? 2 : true ? 3 : 4", "3" },
		{ __LINE__, "(1 / 0 == 0 ? 1 : 2) == 1 || true", "true" },
		{ __LINE__, "1 - 2 - 3 * 4 % 5", "-3" },
		{ __LINE__, "2 + 3 == 5 && !false || nosuch", "true" },
		{ __LINE__, "1 in [3, 2, 1.0] && 'x' in list && 'name' in user", "true" },
		{ __LINE__, "[1, 2] == [1.0, 2u] && [1] != ['1'] && {'a': 1} == {'a': 1u}", "true" },
		{ __LINE__, "1 == '1'", "false" },
		{ __LINE__, ".user.`name` // a comment", "\"Ann\"" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_STR_AT(rows[i].line, evaluated(rows[i].in), rows[i].out);
}

/* An expression without a value has a message and a place. */
TEST(evaluation_errors)
{
	static const struct {
		int line;
		const char *in;
		unsigned at;
		const char *text;
	} rows[] = {
		{ __LINE__, "1 + usr.name", 4, "'usr' is not a name in scope" },
		{ __LINE__, "user.nme", 5, "there is no field 'nme' (near: name)" },
		{ __LINE__, "user['nme']", 4, "there is no field 'nme' (near: name)" },
		{ __LINE__, "user.name.first", 10, "string has no field 'first'; only maps have fields" },
		{ __LINE__, "user.nick.x", 10, "null has no field 'x'; only maps have fields" },
		{ __LINE__, "has(user.phone.home)", 9, "there is no field 'phone'" },
		{ __LINE__, "list[4]", 4, "the index is outside the list, which has 4 items" },
		{ __LINE__, "list[-1]", 4, "the index is outside the list, which has 4 items" },
		{ __LINE__, "list[0.5]", 4, "a list's index must be a whole number" },
		{ __LINE__, "list['x']", 4, "a list's index must be a number, not string" },
		{ __LINE__, "user[1]", 4, "the map has no such key" },
		{ __LINE__, "price * 2", 6,
		  "double * int is not defined; both must be of the same kind: 2.0 is a double, 2 an int, 2u "
		  "a "
		  "uint" },
		{ __LINE__, "'a' + 1", 4,
		  "string + int is not defined; to join text, use a template: {{ a }} {{ b }}" },
		{ __LINE__, "1 < 'a'", 2, "int and string have no order" },
		{ __LINE__, "null < null", 5, "null and null have no order" },
		{ __LINE__, "true && 1", 5, "'&&' needs bools, not int" },
		{ __LINE__, "1 ? 2 : 3", 2, "the condition before '?' must be a bool, not int" },
		{ __LINE__, "!1", 0, "'!' needs a bool, not int" },
		{ __LINE__, "-'a'", 0, "'-' needs an int or a double, not string" },
		{ __LINE__, "1 % 0", 2, "remainder of a division by zero" },
		{ __LINE__, "-9223372036854775808 / -1", 21, "the result does not fit a 64-bit int" },
		{ __LINE__, "3u - 4u", 3, "the result does not fit a 64-bit uint" },
		{ __LINE__, "{1: 2, 1.0: 3}", 0, "a key must be a string, int, uint or bool, not double" },
		{ __LINE__, "{1: 2, 1u: 3}", 0, "a key of the map is given twice" },
		{ __LINE__, "1 in 'abc'", 2, "the right side of 'in' must be a list or a map, not string" },
		{ __LINE__, "size(1)", 0, "size() takes a string, bytes, a list or a map, not int" },
		{ __LINE__, "'a'.contains(1)", 4, "contains() takes strings, not int" },
		{ __LINE__, "'a'.matches('a')", 4, "matches() is part of CEL, but rota does not support it" },
		{ __LINE__, "startsWith('a', 'b')", 0, "startsWith() is called on a value: x.startsWith()" },
		{ __LINE__, "'1h'.duration()", 5, "duration() is not called on a value: duration(x)" },
		{ __LINE__, "sise(list)", 0, "there is no function sise() (near: size)" },
		{ __LINE__, "now.getHours('Europe/Berlim')", 4,
		  "zone 'Europe/Berlim' is not known (near: Europe/Berlin)" },
		{ __LINE__, "now.getHours(1)", 4, "a zone is text such as 'Europe/Berlin', not int" },
		{ __LINE__, "duration('1d')", 0,
		  "'1d' is not a duration such as '1h30m'; units are h m s ms us ns" },
		{ __LINE__, "duration('1h0')", 0,
		  "'1h0' is not a duration such as '1h30m'; units are h m s ms us ns" },
		{ __LINE__, "duration('300000h') * 2", 20, "duration * int is not defined" },
		{ __LINE__, "timestamp('2026-11-16')", 0,
		  "'2026-11-16' is not a time with seconds and offset, such as '2026-11-16T14:00:00Z' or "
		  "'2026-11-16T14:00:00+01:00'" },
		{ __LINE__, "timestamp('2026-13-16T00:00:00Z')", 0, "month 13 is out of range 01-12" },
		{ __LINE__, "timestamp(253402300800)", 0, "the time is out of range 0001-9999" },
		{ __LINE__, "duration('1h').getDate()", 15, "a duration has no getDate()" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CHECK_STR_AT(rows[i].line, evaluated(rows[i].in), rows[i].text);
		CHECK_INT_AT(rows[i].line, why.at, rows[i].at);
	}
	CHECK_STR(evaluated("{1: 2, '1': 3}"), "two keys of a map are \"1\" in JSON");
}

TEST(syntax_errors_say_where)
{
	static const struct {
		int line;
		const char *in;
		unsigned at;
		const char *text;
	} rows[] = {
		{ __LINE__, "", 0, "an expression is missing" },
		{ __LINE__, " // nothing", 11, "an expression is missing" },
		{ __LINE__, "1 +", 3,
		  "expected a value (a name, number, text in quotes, true, false, null, '(', '[' or '{'), "
		  "found "
		  "the end" },
		{ __LINE__, "1 2", 2, "expected an operator or the end, found '2'" },
		{ __LINE__, "a and b", 2, "'and' is not an operator; write '&&'" },
		{ __LINE__, "a = b", 2, "'=' is not an operator; write '=='" },
		{ __LINE__, "a & b", 2, "'&' is not an operator; write '&&'" },
		{ __LINE__, "a # b", 2, "'#' does not belong in an expression" },
		{ __LINE__, "(1", 2, "expected ')' to close '(', found the end" },
		{ __LINE__, "[1, 2", 5, "expected ',' or ']', found the end" },
		{ __LINE__, "{1 2}", 3, "expected ':' after a key, found '2'" },
		{ __LINE__, "a[1", 3, "expected ']' to close '[', found the end" },
		{ __LINE__, "a.1", 1, "expected an operator or the end, found '.1'" },
		{ __LINE__, "a.'x'", 2, "expected the name of a field after '.', found ''x''" },
		{ __LINE__, "a ? b", 5, "expected ':' after the first choice of '?', found the end" },
		{ __LINE__, "size()", 0, "size() takes 1 argument, not 0" },
		{ __LINE__, "'a'.size(1)", 4, "size() takes 0 arguments, not 1" },
		{ __LINE__, "now.getHours('a', 'b')", 4, "getHours() takes 0 or 1 argument, not 2" },
		{ __LINE__, "has(a)", 4, "has() takes a field, such as has(user.name)" },
		{ __LINE__, "has(a ? b : c.d)", 4, "has() takes a field, such as has(user.name)" },
		{ __LINE__, "has(a['b'])", 4, "has() takes a field, such as has(user.name)" },
		{ __LINE__, "'abc", 0, "the text that begins here has no closing '" },
		{ __LINE__, "1 + '''abc'", 4, "the text that begins here has no closing '''" },
		{ __LINE__, "9223372036854775808", 0, "the number does not fit a 64-bit int" },
		{ __LINE__, "1x", 0, "'1x' is not a number such as 12, 0x1f, 12u or 1.5e3" },
		{ __LINE__, "0x", 0, "'0x' is not a number such as 12, 0x1f, 12u or 1.5e3" },
		{ __LINE__, "while", 0, "'while' is a reserved word" },
		{ __LINE__, "'\\q'", 1,
		  "unknown escape; there are \\n \\t \\r \\a \\b \\f \\v \\\\ \\? \\\" \\' \\` \\x41 \\101 "
		  "\\u0041 "
		  "\\U00000041" },
		{ __LINE__, "b'\\u0041'", 2,
		  "unknown escape; there are \\n \\t \\r \\a \\b \\f \\v \\\\ \\? \\\" \\' \\` \\x41 \\101" },
		{ __LINE__, "'\xFF'", 1, "this byte is not valid UTF-8" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct expr *e;
		arena_reset(&arena);
		why = (struct why){ 0 };
		CHECK_INT_AT(rows[i].line, expr_compile(str_of(rows[i].in), NULL, &arena, &e, &why), E_INPUT);
		CHECK_STR_AT(rows[i].line, why.text, rows[i].text);
		CHECK_INT_AT(rows[i].line, why.at, rows[i].at);
	}
}

/* If the names in scope are given, misspelt names are errors of compilation. */
TEST(names_are_checked)
{
	static const struct str known[] = { STR("user"), STR("schedule"), STR("timestamp") };
	const struct expr_names names = { known, ARRAY_LEN(known) };
	static const struct {
		int line;
		const char *in, *text;
	} rows[] = {
		{ __LINE__, "user.name == schedule.id && timestamp < now", "" },
		{ __LINE__, "timestamp(timestamp) < now", "" },
		{ __LINE__, "usr.name", "'usr' is not a name in scope (near: user)" },
		{ __LINE__, "true || shedule.id == ''", "'shedule' is not a name in scope (near: schedule)" },
		{ __LINE__, "elephant", "'elephant' is not a name in scope" },
		{ __LINE__, "user.startswith('a')", "there is no function startswith() (near: startsWith)" },
		{ __LINE__, "user.all(x, x > 0)", "'x' is not a name in scope" },
		{ __LINE__, "string(1)", "string() is part of CEL, but rota does not support it" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct expr *e;
		why = (struct why){ 0 };
		enum err err = expr_compile(str_of(rows[i].in), &names, &arena, &e, &why);
		CHECK_INT_AT(rows[i].line, err, rows[i].text[0] ? E_INPUT : OK);
		CHECK_STR_AT(rows[i].line, why.text, rows[i].text);
	}
}

static bool holds(const char *text)
{
	struct val v;
	const struct expr *e;
	struct expr_env env = environment(&v);
	CHECK_INT(expr_compile(str_of(text), NULL, &arena, &e, &why), OK);
	return expr_holds(e, &env, &arena, &why);
}

TEST(conditions)
{
	CHECK(holds("user.age > 40"));
	CHECK(!holds("user.age > 41"));
	CHECK_STR(why.text, "");
	CHECK(!holds("user.phone == ''"));
	CHECK_STR(why.text, "there is no field 'phone'");
	CHECK_INT(why.at, 5);
	CHECK(!holds("user.age"));
	CHECK_STR(why.text, "a condition must be true or false, not int");
}

/* The text may change after the compilation, and the values from one evaluation to the next. */
TEST(a_compiled_expression_does_not_need_its_text)
{
	char text[] = "run.attempt == n";
	const struct expr *e;
	CHECK_INT(expr_compile(str_of(text), NULL, &arena, &e, &why), OK);
	memset(text, 'x', sizeof text - 1);
	for (int i = 0; i < 3; i++) {
		struct arena scratch = { 0 };
		struct val v;
		char json[64];
		snprintf(json, sizeof json, "{\"run\":{\"attempt\":%d},\"n\":1}", i);
		CHECK_INT(json_read(str_of(json), &scratch, &v, NULL), OK);
		struct expr_env env = { .find = expr_find_in, .self = &v };
		CHECK_INT(expr_holds(e, &env, &scratch, &why), i == 1);
		arena_free(&scratch);
	}
}

static unsigned asked;
static bool find_counted(void *self, struct str name, struct expr_value *ret)
{
	asked++;
	return expr_find_in(self, name, ret);
}

TEST(names_are_looked_up_when_needed)
{
	struct val v;
	const struct expr *e;
	struct expr_value value;
	struct expr_env env = environment(&v);
	env.find = find_counted;
	asked = 0;
	CHECK_INT(expr_compile(STR("false && user.age > 1 || (true ? 1 : run.attempt) == 1"), NULL, &arena,
			       &e, &why),
		  OK);
	CHECK_INT(expr_eval(e, &env, &arena, &value, &why), OK);
	CHECK_INT(asked, 0);
}

/* --- bounds --- */

/* `before`, then `text` n times, then `after`. */
static const char *repeated(const char *before, const char *text, unsigned n, const char *after)
{
	static struct buf all;
	all.n = 0;
	buf_add(&all, str_of(before));
	for (unsigned i = 0; i < n; i++)
		buf_add(&all, str_of(text));
	buf_add(&all, str_of(after));
	return all.p;
}

static enum err compiled(const char *text)
{
	const struct expr *e;
	arena_reset(&arena);
	return expr_compile(str_of(text), NULL, &arena, &e, &why);
}

TEST(bounds_of_the_text)
{
	CHECK_INT(compiled(repeated("1", " ", CEL_BYTES_MAX - 1, "")), OK);
	CHECK_INT(compiled(repeated("1", " ", CEL_BYTES_MAX, "")), E_LIMIT);
	CHECK_INT(compiled(repeated("'", "a", CEL_BYTES_MAX, "'")), E_LIMIT);
	static const struct {
		int line;
		const char *open, *close;
	} deep[] = { { __LINE__, "(", ")" },      { __LINE__, "[", "]" },       { __LINE__, "{1:", "}" },
		     { __LINE__, "a[", "]" },     { __LINE__, "f(", ")" },      { __LINE__, "a.f(", ")" },
		     { __LINE__, "1+(-(", "))" }, { __LINE__, "a?(b):(", ")" }, { __LINE__, "!(1*(", "))" } };
	for (size_t i = 0; i < ARRAY_LEN(deep); i++) {
		unsigned each = strlen(deep[i].close) == 2 ? 2 : 1, fits = (CEL_DEPTH_MAX - 1) / each;
		char *end = arena_dup(&arena, str_of(repeated("1", deep[i].close, fits, "")));
		char *text = strdup(repeated("", deep[i].open, fits, end));
		CHECK_INT_AT(deep[i].line, compiled(text), OK);
		free(text);
		CHECK_INT_AT(deep[i].line, compiled(repeated("", deep[i].open, CEL_DEPTH_MAX, "1")), E_LIMIT);
		CHECK_INT_AT(deep[i].line, compiled(repeated("", deep[i].open, 4000 / 8, "1")), E_LIMIT);
	}
	/* The limit is on depth, not on length. */
	CHECK_STR(evaluated(repeated("1", "+1", 2000, "")), "2001");
	CHECK_STR(evaluated(repeated("", "-", 4000, "1")), "1");
	CHECK_STR(evaluated(repeated("", "!", 4001, "true")), "false");
	CHECK_STR(evaluated(repeated("", "false?1:", 500, "7")), "7");
	CHECK_STR(evaluated(repeated("", "false||", 500, "true")), "true");
	CHECK_STR(evaluated(repeated("size([1", ",1", 2000, "])")), "2001");
}

/* Comparing and joining large values stops when the budget is used up. */
TEST(bounds_of_the_work)
{
	struct arena scratch = { 0 };
	struct buf big = { 0 };
	buf_add(&big, STR("{\"s\":\""));
	for (unsigned i = 0; i < 400000; i++)
		buf_addc(&big, 'a');
	buf_add(&big, STR("\",\"l\":[0"));
	for (unsigned i = 1; i < 20000; i++)
		buf_addf(&big, ",%u", i);
	buf_add(&big, STR("],\"m\":{\"0\":0"));
	for (unsigned i = 1; i < JSON_KEYS_MAX; i++)
		buf_addf(&big, ",\"%u\":%u", i, i);
	buf_add(&big, STR("}}"));
	struct val v;
	CHECK_INT(json_read(buf_str(&big), &scratch, &v, NULL), OK);
	struct expr_env env = { .find = expr_find_in, .self = &v };
	static const struct {
		int line;
		const char *first, *more, *end;
	} rows[] = {
		{ __LINE__, "size(s", "+s", ")" },
		{ __LINE__, "size(l", "+l", ")" },
		{ __LINE__, "[m==m", ",m==m", "]" },
		{ __LINE__, "[-1 in l", ",-1 in l", "]" },
		{ __LINE__, "[l==l", ",l==l", "]" },
		{ __LINE__, "[s.contains('b')", ",s.contains('b')", "]" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *text = repeated(rows[i].first, rows[i].more,
					    4000 / (unsigned)strlen(rows[i].more), rows[i].end);
		struct expr_value value;
		const struct expr *e;
		struct arena a = { 0 };
		if (!CHECK_INT_AT(rows[i].line, expr_compile(str_of(text), NULL, &a, &e, &why), OK))
			continue;
		why.text[0] = 0;
		enum err err = expr_eval(e, &env, &a, &value, &why);
		CHECK_INT_AT(rows[i].line, err, E_VALUE);
		CHECK_STR_AT(rows[i].line, why.text,
			     "the expression needs too much work: at most 1000000 steps and 4 MiB");
		arena_free(&a);
	}
	/* || hides an error of its other side, but not the end of the budget. */
	const struct expr *e;
	const char *text = repeated("[m==m", ",m==m", 600, "] == [] || true");
	CHECK_INT(expr_compile(str_of(text), NULL, &scratch, &e, &why), OK);
	CHECK(!expr_holds(e, &env, &scratch, &why));
	CHECK(strstr(why.text, "too much work"));
	/* This value needs little memory, but its text is long. */
	struct expr_value value;
	struct buf out = { 0 };
	CHECK_INT(expr_compile(STR("[m, m, m]"), NULL, &scratch, &e, &why), OK);
	CHECK_INT(expr_eval(e, &env, &scratch, &value, &why), OK);
	CHECK_INT(expr_write(&value, NULL, &scratch, &out, &why), E_VALUE);
	CHECK_INT(out.n, 0);
	buf_free(&out);
	buf_free(&big);
	arena_free(&scratch);
}
