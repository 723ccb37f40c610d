/* JSON: parsing, errors with their places, limits, writing. */
#include "base/json.h"
#include "test.h"

static struct arena arena;
static struct why why;

static enum err parse_json(const char *text, struct val *v)
{
	arena_reset(&arena);
	why = (struct why){ 0 };
	return json_read(str_of(text), &arena, v, &why);
}

TEST(values_and_their_places)
{
	struct val v;
	const char *text = " {\"a\": [1, -2.5, true, null, \"x\\u00e9\\ud83d\\ude00\\n\"], \"b\":{}} ";
	CHECK_INT(parse_json(text, &v), OK);
	CHECK_INT(v.kind, VAL_MAP);
	CHECK_INT(v.at, 1);
	CHECK_INT(v.map.n, 2);
	CHECK_INT(v.map.pair[1].at, strstr(text, "\"b\"") - text);
	const struct val *a = val_get(&v, STR("a"));
	CHECK_INT(a->list.n, 5);
	CHECK_INT(a->list.item[0].integer, 1);
	CHECK(a->list.item[1].real == -2.5);
	CHECK_INT(a->list.item[1].at, 11);
	CHECK(a->list.item[2].kind == VAL_BOOL && a->list.item[2].boolean);
	CHECK_INT(a->list.item[3].kind, VAL_NULL);
	CHECK(str_eq(a->list.item[4].str, STR("x\xC3\xA9\xF0\x9F\x98\x80\n")));
	CHECK(!val_get(&v, STR("c")));
	CHECK(!val_get(a, STR("a")));
}

TEST(integers_stay_integers)
{
	struct val v;
	CHECK(!parse_json("9223372036854775807", &v) && v.kind == VAL_INT && v.integer == INT64_MAX);
	CHECK(!parse_json("-9223372036854775808", &v) && v.kind == VAL_INT && v.integer == INT64_MIN);
	CHECK(!parse_json("9223372036854775808", &v) && v.kind == VAL_FLOAT);
	CHECK(!parse_json("0", &v) && v.kind == VAL_INT && v.integer == 0);
	CHECK(!parse_json("1e2", &v) && v.kind == VAL_FLOAT && v.real == 100);
	CHECK(!parse_json("0.0001", &v) && v.kind == VAL_FLOAT);
}

TEST(lists_of_any_length)
{
	struct buf text = { 0 };
	buf_addc(&text, '[');
	for (unsigned i = 0; i < 1000; i++)
		buf_addf(&text, "%s%u", i ? "," : "", i);
	buf_addc(&text, ']');
	struct val v;
	CHECK_INT(parse_json(text.p, &v), OK);
	CHECK_INT(v.list.n, 1000);
	for (unsigned i = 0; i < v.list.n; i++)
		if (v.list.item[i].integer != i)
			CHECK_INT(v.list.item[i].integer, i);
	buf_free(&text);
}

TEST(refusals_say_where)
{
	static const struct {
		int line;
		const char *in;
		size_t at;
	} rows[] = {
		{ __LINE__, "", 0 },
		{ __LINE__, "{", 1 },
		{ __LINE__, "[1,]", 3 },
		{ __LINE__, "[1 2]", 3 },
		{ __LINE__, "{\"a\":1,}", 7 },
		{ __LINE__, "{a:1}", 1 },
		{ __LINE__, "{\"a\" 1}", 5 },
		{ __LINE__, "{\"a\":1,\"a\":2}", 7 },
		{ __LINE__, "\"abc", 0 },
		{ __LINE__, "\"\\x\"", 2 },
		{ __LINE__, "\"\\ud800\"", 1 },
		{ __LINE__, "\"\\ud800\\u0041\"", 1 },
		{ __LINE__, "\"\\ud800\\ue000\"", 1 },
		{ __LINE__, "\"\\u12g4\"", 5 },
		{ __LINE__, "\"\\u0000\"", 1 },
		{ __LINE__, "\"\x01\"", 1 },
		{ __LINE__, "\"\xFF\"", 1 },
		{ __LINE__, "01", 0 },
		{ __LINE__, "1.", 0 },
		{ __LINE__, "1e", 0 },
		{ __LINE__, "-", 0 },
		{ __LINE__, "1e999", 0 },
		{ __LINE__, "tru", 0 },
		{ __LINE__, "nullx", 4 },
		{ __LINE__, "1 2", 2 },
		{ __LINE__, "'a'", 0 },
		{ __LINE__, "\"\\", 0 },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct val v = { .kind = VAL_LIST, .at = 99 };
		CHECK_INT_AT(rows[i].line, parse_json(rows[i].in, &v), E_INPUT);
		CHECK_INT_AT(rows[i].line, why.at, rows[i].at);
		CHECK_INT_AT(rows[i].line, v.at, 99); /* untouched */
	}
}

TEST(depth_is_bounded)
{
	char deep[JSON_DEPTH_MAX * 4];
	memset(deep, '[', sizeof deep);
	deep[sizeof deep - 1] = 0;
	struct val v;
	CHECK_INT(parse_json(deep, &v), E_LIMIT);
}

TEST(keys_are_bounded)
{
	struct buf text = { 0 };
	struct val v;
	for (unsigned n = JSON_KEYS_MAX; n <= JSON_KEYS_MAX + 1; n++) {
		text.n = 0;
		for (unsigned i = 0; i < n; i++)
			buf_addf(&text, "%s\"%u\":1", i ? "," : "{", i);
		buf_addc(&text, '}');
		CHECK_INT(parse_json(text.p, &v), n > JSON_KEYS_MAX ? E_LIMIT : OK);
	}
	buf_free(&text);
	static char big[JSON_BYTES_MAX + 1];
	CHECK_INT(json_read((struct str){ big, sizeof big }, &arena, &v, &why), E_LIMIT);
}

/* A duplicate key is found with any number of keys, wherever the two are. */
TEST(keys_given_twice)
{
	static const struct {
		unsigned n, first, again;
	} rows[] = { { 2, 0, 1 },       { 16, 0, 15 },     { 17, 3, 16 },
		     { 17, 15, 16 },    { 33, 0, 32 },     { 500, 499, 0 },
		     { 500, 250, 251 }, { 4096, 1, 4095 }, { 4096, 4094, 4095 } };
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf text = { 0 };
		struct val v;
		unsigned a = rows[i].first, b = rows[i].again, last = a > b ? a : b;
		size_t at = 0;
		for (unsigned k = 0; k < rows[i].n; k++) {
			buf_addc(&text, k ? ',' : '{');
			at = k == last ? text.n : at;
			buf_addf(&text, "\"k%u\":%u", k == b ? a : k, k);
		}
		buf_addc(&text, '}');
		CHECK_INT(parse_json(text.p, &v), E_INPUT);
		CHECK_INT(why.at, at);
		CHECK_STR(why.text, arena_printf(&arena, "key \"k%u\" is given twice", a));
		buf_free(&text);
	}
}

/* The order of the input does not matter. */
TEST(maps_are_written_sorted)
{
	for (unsigned n = 0; n <= 300; n += n < 40 ? 1 : 65) {
		struct buf text = { 0 }, out = { 0 };
		struct val v;
		for (unsigned k = 0; k < n; k++)
			buf_addf(&text, "%s\"%03u\":0", k ? "," : "{", k * 7 % 1000);
		buf_add(&text, n ? STR("}") : STR("{}"));
		CHECK_INT(parse_json(text.p, &v), OK);
		json_write(&out, &v);
		CHECK_INT(out.n, text.n);
		for (unsigned k = 1; k < n; k++)
			CHECK(memcmp(out.p + 8 * (k - 1) + 2, out.p + 8 * k + 2, 3) < 0);
		buf_free(&text);
		buf_free(&out);
	}
}

TEST(written_strings_are_escaped)
{
	struct buf out = { 0 };
	json_write_str(&out, STR("a\"b\\c\n\t\x1b\x7f\xC3\xA9\0\xFF\xE2\x82"));
	CHECK_STR(out.p, "\"a\\\"b\\\\c\\n\\u0009\\u001b\\u007f\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
			 "\xEF\xBF\xBD\"");
	struct val v;
	CHECK_INT(parse_json(out.p, &v), OK);
	buf_free(&out);
	arena_free(&arena);
}
