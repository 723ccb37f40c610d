/* Strings, UTF-8, and error messages with their places. */
#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "test.h"

TEST(numbers_are_bounded)
{
	static const struct {
		int line;
		const char *in;
		uint64_t max;
		bool ok;
		uint64_t want;
	} rows[] = {
		{ __LINE__, "0", 9, true, 0 },
		{ __LINE__, "007", 9, true, 7 },
		{ __LINE__, "10", 9, false, 0 },
		{ __LINE__, "18446744073709551615", UINT64_MAX, true, UINT64_MAX },
		{ __LINE__, "18446744073709551616", UINT64_MAX, false, 0 },
		{ __LINE__, "99999999999999999999999", UINT64_MAX, false, 0 },
		{ __LINE__, "", 9, false, 0 },
		{ __LINE__, "-1", 9, false, 0 },
		{ __LINE__, "1x", 99, false, 0 },
		{ __LINE__, "5", 3, false, 0 },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t got = 77;
		CHECK_INT_AT(rows[i].line, str_number(str_of(rows[i].in), rows[i].max, &got), rows[i].ok);
		CHECK_INT_AT(rows[i].line, got, rows[i].ok ? rows[i].want : 77);
	}
}

TEST(lines_and_tokens)
{
	struct str rest = STR("a b\r\n\n  c"), line;
	CHECK(str_line(&rest, &line) && str_eq(line, STR("a b")));
	CHECK(str_line(&rest, &line) && line.n == 0);
	CHECK(str_line(&rest, &line) && str_eq(line, STR("  c")));
	CHECK(!str_line(&rest, &line));
	struct str words = STR("  one\ttwo ");
	CHECK(str_eq(str_token(&words), STR("one")));
	CHECK(str_eq(str_token(&words), STR("two")));
	CHECK_INT(str_token(&words).n, 0);
	CHECK(str_eq(str_trim(STR(" \n x y\t")), STR("x y")));
}

TEST(distance_is_bounded)
{
	CHECK_INT(str_distance(STR("berln"), STR("Berlin"), 3), 1);
	CHECK_INT(str_distance(STR("kitten"), STR("sitting"), 3), 3);
	CHECK_INT(str_distance(STR("abc"), STR("xyz"), 1), 2);
	CHECK_INT(str_distance(STR(""), STR("ab"), 5), 2);
	char longer[200] = { 0 };
	CHECK_INT(str_distance((struct str){ longer, sizeof longer }, STR("a"), 3), 4);
}

TEST(messages_are_cut_and_have_places)
{
	struct why w;
	char text[400];
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = 0;
	CHECK_INT(why_set(&w, E_INPUT, 3, "%s", text), E_INPUT);
	CHECK_INT(strlen(w.text), WHY_TEXT_MAX - 1);
	CHECK_STR(w.text + WHY_TEXT_MAX - 4, "...");
	CHECK_INT(why_set(NULL, E_LIMIT, 0, "nobody asked"), E_LIMIT);
	struct place p = place_of(STR("ab\n\xC3\xA9x"), 5);
	CHECK_INT(p.line, 2);
	CHECK_INT(p.column, 2); /* a letter of two bytes is one column */
	struct buf out = { 0 };
	why_write(&w, 2, "bad");
	why_describe(&w, STR("abc"), &out);
	CHECK_STR(out.p, "bad, at column 3");
	out.n = 0;
	why_describe(&w, STR("a\nbc"), &out);
	CHECK_STR(out.p, "bad, at line 2, column 1");
	out.n = 0;
	w.at = WHY_NOWHERE;
	why_describe(&w, STR("abc"), &out);
	CHECK_STR(out.p, "bad");
	buf_free(&out);
}

TEST(every_error_has_a_row)
{
	for (unsigned e = 0; e < ERR_COUNT; e++) {
		CHECK(err_table[e].name);
		CHECK((err_table[e].exit_code == 0) == (e == OK));
		CHECK(err_table[e].title);
		CHECK_INT(err_named(str_of(err_table[e].name)), e);
		for (unsigned other = 0; other < e; other++)
			CHECK(err_table[other].http_status != err_table[e].http_status);
	}
	CHECK_INT(err_named(STR("nothing we know")), E_IO);
}

TEST(an_error_without_a_message_shows_its_title)
{
	struct buf out = { 0 };
	struct why w = { .at = WHY_NOWHERE };
	err_describe(E_NOMEM, &w, STR(""), &out);
	buf_addc(&out, '|');
	err_describe(E_BUSY, NULL, STR(""), &out);
	buf_addc(&out, '|');
	why_write(&w, 1, "bad");
	err_describe(E_INPUT, &w, STR("abc"), &out);
	CHECK_STR(out.p, "out of memory|busy|bad, at column 2");
	buf_free(&out);
}

TEST(utf8_is_strict)
{
	static const struct {
		int line;
		const char *in;
		unsigned length;
	} rows[] = {
		{ __LINE__, "a", 1 },
		{ __LINE__, "\xC3\xA9", 2 },
		{ __LINE__, "\xE2\x82\xAC", 3 },
		{ __LINE__, "\xF0\x9F\x98\x80", 4 },
		{ __LINE__, "\xC0\xAF", 0 },
		{ __LINE__, "\xE0\x80\x80", 0 },
		{ __LINE__, "\xED\xA0\x80", 0 },
		{ __LINE__, "\xF4\x90\x80\x80", 0 },
		{ __LINE__, "\xC3", 0 },
		{ __LINE__, "\x80", 0 },
		{ __LINE__, "\xFF", 0 },
		{ __LINE__, "", 0 },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_INT_AT(rows[i].line, utf8_length(str_of(rows[i].in)), rows[i].length);
	/* Every character is read back as it was written. */
	for (uint32_t c = 1; c < 0x110000; c += 7) {
		char bytes[4];
		unsigned n = utf8_write(c, bytes);
		if (utf8_length((struct str){ bytes, n }) != (c >= 0xD800 && c < 0xE000 ? 0 : n))
			CHECK_INT(c, 0);
	}
}
