/* YAML as values. */
#include "base/json.h"
#include "host/yaml.h"
#include "test.h"

static struct arena arena;
static struct why why;

static enum err read_n(struct str text, struct val *v)
{
	arena_reset(&arena);
	why = (struct why){ 0 };
	return yaml_read(text, &arena, v, &why);
}

static enum err read(const char *text, struct val *v)
{
	return read_n(str_of(text), v);
}

/* Values are compared as JSON. */
TEST(values)
{
	static const struct {
		int line;
		const char *in, *out;
	} rows[] = {
		{ __LINE__, "", "[]" },
		{ __LINE__, "# nothing\n", "[]" },
		{ __LINE__, "---\n", "[null]" },
		{ __LINE__, "a: 1\n---\nb: 2\n...\n---\n- c\n", "[{\"a\":1},{\"b\":2},[\"c\"]]" },
		{ __LINE__,
		  "\xEF\xBB\xBF"
		  "a: 1",
		  "[{\"a\":1}]" },
		{ __LINE__, "%YAML 1.2\n---\na: 1", "[{\"a\":1}]" },
		{ __LINE__, "[yes, no, on, off, y, n]", "[[\"yes\",\"no\",\"on\",\"off\",\"y\",\"n\"]]" },
		{ __LINE__, "[12:30, 1:2:3, 2026-11-16, 1_000]",
		  "[[\"12:30\",\"1:2:3\",\"2026-11-16\",\"1_000\"]]" },
		{ __LINE__, "[true, True, TRUE, false, tRUE]", "[[true,true,true,false,\"tRUE\"]]" },
		{ __LINE__, "[~, null, Null, NULL, nULL, '']", "[[null,null,null,null,\"nULL\",\"\"]]" },
		{ __LINE__, "[0, -1, +7, 010, 0o17, 0xfF, 0b1, -0x1]",
		  "[[0,-1,7,10,15,255,\"0b1\",\"-0x1\"]]" },
		{ __LINE__, "[9223372036854775807, -9223372036854775808, 9223372036854775808]",
		  "[[9223372036854775807,-9223372036854775808,9.223372036854776e+18]]" },
		{ __LINE__, "[1.5, .5, 2., -1e3, 1e-7, 1.e1, ., 1e, e1, +.5e+2]",
		  "[[1.5,0.5,2.0,-1000.0,1e-07,10.0,\".\",\"1e\",\"e1\",50.0]]" },
		{ __LINE__, "['1', \"true\", '~', \"a\\tb\\u00e9\"]",
		  "[[\"1\",\"true\",\"~\",\"a\\u0009b\xC3\xA9\"]]" },
		{ __LINE__, "a: |\n  x\n   y\nb: >-\n  p\n  q\n", "[{\"a\":\"x\\n y\\n\",\"b\":\"p q\"}]" },
		{ __LINE__, "{b: 1, a: {d: [], c: {}}}", "[{\"a\":{\"c\":{},\"d\":[]},\"b\":1}]" },
		{ __LINE__, "1: x\ntrue: y\n", "[{\"1\":\"x\",\"true\":\"y\"}]" },
		{ __LINE__, "a: &x 1\n", "[{\"a\":1}]" },
		{ __LINE__, "a: b # c\r\nd: e\r\n", "[{\"a\":\"b\",\"d\":\"e\"}]" },
		{ __LINE__, "{\"a\":[1,\"\\/\"]}", "[{\"a\":[1,\"/\"]}]" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct val v = { 0 };
		struct buf out = { 0 };
		CHECK_INT_AT(rows[i].line, read(rows[i].in, &v), OK);
		json_write(&out, &v);
		CHECK_STR_AT(rows[i].line, out.p, rows[i].out);
		buf_free(&out);
	}
}

TEST(positions_are_bytes)
{
	const char *text = "# \xC3\xA9\xF0\x9F\x98\x80\nk\xC3\xA9y: v\xC3\xA9\nlist:\n  - \"one\"\r\n  - "
			   "2\n--- {b: 3}\n";
	struct val v;
	CHECK_INT(read(text, &v), OK);
	const struct val *map = &v.list.item[0], *two = val_get(&v.list.item[1], STR("b"));
	CHECK_INT(map->map.pair[0].at, strstr(text, "k\xC3\xA9y") - text);
	CHECK_INT(map->map.pair[0].value.at, strstr(text, "v\xC3\xA9") - text);
	CHECK_INT(map->map.pair[1].at, strstr(text, "list") - text);
	CHECK_INT(map->map.pair[1].value.list.item[0].at, strstr(text, "\"one\"") - text);
	CHECK_INT(map->map.pair[1].value.list.item[1].at, strstr(text, "2") - text);
	CHECK_INT(two->at, strstr(text, "3}") - text);
}

TEST(errors_say_where)
{
	static const struct {
		int line;
		const char *in;
		unsigned at_line, column;
		const char *text;
	} rows[] = {
		{ __LINE__, "a: 1\nb: 2\na: 3\n", 3, 1, "key \"a\" is given twice" },
		{ __LINE__, "a: &x [1]\nb: *x\n", 2, 4,
		  "YAML aliases such as *x are not supported; if this is text, put it in quotes" },
		{ __LINE__, "expression: */5 * * * *\n", 1, 13,
		  "text that begins with '*' must be in quotes" },
		{ __LINE__, "expression: @every 10m\n", 1, 13,
		  "text that begins with '@' must be in quotes" },
		{ __LINE__, "a:\n\tb: 1\n", 2, 1, "a tab cannot indent or begin a value; use spaces" },
		{ __LINE__, "a: !!str 1\n", 1, 4,
		  "YAML tags are not supported; if this is text, put it in quotes" },
		{ __LINE__, "a: !x {}\n", 1, 4, "YAML tags are not supported" },
		{ __LINE__, "a: .inf\n", 1, 4,
		  "the number .inf is not supported; if this is text, put it in quotes" },
		{ __LINE__, "a: 1e999\n", 1, 4, "this number is too large; if it is text, put it in quotes" },
		{ __LINE__, "a: \"\\0\"\n", 1, 4, "a string may not contain U+0000" },
		{ __LINE__, "? [a]\n: b\n", 1, 3, "a key must be a single text, and must not be empty" },
		{ __LINE__, "{\"\": b}\n", 1, 2, "a key must be a single text, and must not be empty" },
		{ __LINE__, "a: b: c\n", 1, 5, "mapping values are not allowed in this context" },
		{ __LINE__, "a: [1\n", 2, 1,
		  "while parsing a flow sequence, did not find expected ',' or ']'" },
		{ __LINE__, "a: \"x\n", 2, 1,
		  "while scanning a quoted scalar, found unexpected end of stream" },
		{ __LINE__, "a: \xFF\n", 1, 4, "byte 0xff is not valid UTF-8" },
		{ __LINE__, "\xC3\xA9: \x07\n", 1, 4, "control characters are not allowed" },
		{ __LINE__, "a: \"\\ud800\"\n", 1, 7,
		  "while parsing a quoted scalar, found invalid Unicode character escape code" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct val v = { .at = 99 };
		CHECK_INT_AT(rows[i].line, read(rows[i].in, &v), E_INPUT);
		struct place p = place_of(str_of(rows[i].in), why.at);
		CHECK_INT_AT(rows[i].line, p.line, rows[i].at_line);
		CHECK_INT_AT(rows[i].line, p.column, rows[i].column);
		CHECK_STR_AT(rows[i].line, why.text, rows[i].text);
		CHECK_INT_AT(rows[i].line, v.at, 99); /* untouched */
	}
}

TEST(limits)
{
	struct val v;
	struct buf text = { 0 };
	for (unsigned n = JSON_DEPTH_MAX + 1; n <= JSON_DEPTH_MAX + 2; n++) {
		text.n = 0;
		for (unsigned i = 0; i < n; i++)
			buf_addc(&text, '[');
		for (unsigned i = 0; i < n; i++)
			buf_addc(&text, ']');
		CHECK_INT(read_n(buf_str(&text), &v), n > JSON_DEPTH_MAX + 1 ? E_LIMIT : OK);
	}
	for (unsigned n = JSON_KEYS_MAX; n <= JSON_KEYS_MAX + 1; n++) {
		text.n = 0;
		for (unsigned i = 0; i < n; i++)
			buf_addf(&text, "%u: 1\n", i);
		CHECK_INT(read_n(buf_str(&text), &v), n > JSON_KEYS_MAX ? E_LIMIT : OK);
	}
	buf_free(&text);
	static char big[YAML_BYTES_MAX + 1];
	CHECK_INT(read_n((struct str){ big, sizeof big }, &v), E_LIMIT);
}

/* Texts that are known to make YAML parsers slow or large; the test has a timeout. */
TEST(repeated_pieces)
{
	static const char *const pieces[] = { "[",      "{",    "- ", "? ",   "a: ",  "&a ",  "*a ",    "!a ",
					      "{a: ",   "[a, ", "\"", "\n- ", "\n? ", "\n",   "--- ",   "|\n",
					      "- - - ", "{\"",  ": ", "%a\n", "#",    "[[],", "{a: b, " };
	struct buf text = { 0 };
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		struct val v;
		text.n = 0;
		while (text.n < 100000)
			buf_add(&text, str_of(pieces[i]));
		enum err e = read_n(buf_str(&text), &v);
		test_case("%s", pieces[i]);
		CHECK(e == OK || why.text[0]);
	}
	test_case(NULL);
	buf_free(&text);
	arena_free(&arena);
}
