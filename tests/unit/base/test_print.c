/* The printer of everything that a person sees: formats, and the characters that it escapes. */
#include "sys/print.h"
#include "test.h"

#include <stdlib.h>

#define PRINTED(...)                                                                                         \
	({                                                                                                   \
		char *text = NULL;                                                                           \
		size_t n = 0;                                                                                \
		FILE *to = open_memstream(&text, &n);                                                        \
		__VA_ARGS__;                                                                                 \
		fclose(to);                                                                                  \
		text;                                                                                        \
	})

static void check_printed(int line, char *got, const char *want)
{
	if (!CHECK_AT(line, strcmp(got, want) == 0))
		printf("'%s', not '%s'\n", got, want);
	free(got);
}

TEST(formats_are_those_of_printf)
{
	check_printed(__LINE__,
		      PRINTED(print(to, "a %s b %5s|%-5s|%.*s|%.2s%%", "x", "y", "z", 2, "abc", "def")),
		      "a x b     y|z    |ab|de%");
	check_printed(__LINE__,
		      PRINTED(print(to, "%d %u %x %lld %llu %zu %ld", -1, 4000000000u, 255u, -5ll, 7ull,
				    (size_t)9, -3l)),
		      "-1 4000000000 ff -5 7 9 -3");
	check_printed(__LINE__, PRINTED(print(to, "%4d|%-4u|%04d|%02x|%g|%c", 7, 8u, 9, 10u, 0.5, 'c')),
		      "   7|8   |0009|0a|0.5|c");
	check_printed(__LINE__, PRINTED(print(to, "%-6s|%6s", "aä\x1b", "ä")), "aä\\x1b|     ä");
}

TEST(texts_cannot_control_a_terminal)
{
	static const struct {
		int line;
		const char *in, *out;
	} rows[] = {
		{ __LINE__, "plain ä € 😀 \xE2\x80\x8D",
		  "plain ä € 😀 \xE2\x80\x8D" }, /* a joiner of emoji stays */
		{ __LINE__, "\x1b[31m", "\\x1b[31m" },
		{ __LINE__, "a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd" },
		{ __LINE__, "\x7f", "\\x7f" },
		{ __LINE__, "\xC2\x9B", "\\xc2\\x9b" },          /* C1 */
		{ __LINE__, "\xC2\xA0", "\xC2\xA0" },            /* the first character after C1 */
		{ __LINE__, "\x9B", "\\x9b" },                   /* not UTF-8 */
		{ __LINE__, "\xE2\x80\xAE", "\\xe2\\x80\\xae" }, /* right-to-left override */
		{ __LINE__, "\xE2\x81\xA6\xE2\x81\xA9", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9" }, /* isolates */
		{ __LINE__, "\xE2\x80\xA8\xE2\x80\xA9", "\\xe2\\x80\\xa8\\xe2\\x80\\xa9" }, /* separators */
		{ __LINE__, "\xE2\x80\x8E\xD8\x9C", "\\xe2\\x80\\x8e\\xd8\\x9c" },          /* marks */
		{ __LINE__, "\xF3\xA0\x81\x81", "\\xf3\\xa0\\x81\\x81" },                   /* a tag */
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		check_printed(rows[i].line, PRINTED(print(to, "%s", rows[i].in)), rows[i].out);
		check_printed(rows[i].line, PRINTED(print_text(to, str_of(rows[i].in))), rows[i].out);
	}
}

TEST(lines_stay_where_they_may)
{
	check_printed(__LINE__, PRINTED(print_lines(to, STR("a\n\tb\x1b\n"))), "a\n\tb\\x1b\n");
	check_printed(__LINE__, PRINTED(print_indented(to, STR("a\nb\r\nc\n"), 2)), "a\n  b\n  c");
	check_printed(__LINE__, PRINTED(print_for_program(to, STR("\x1b"))), "\x1b");
}

TEST(json_stays_json)
{
	check_printed(__LINE__,
		      PRINTED(print_json(to, STR("{\"a\":\"\xC2\x9B\xE2\x80\xAE\x7f\xF3\xA0\x81\x81ä\"}\n"))),
		      "{\"a\":\"\\u009b\\u202e\\u007f\\udb40\\udc41ä\"}\n");
}
