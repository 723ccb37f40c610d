/* Very large documents: each is read or refused with a position, within a memory limit (of the address space)
 * and in time that grows with its size (the test has a timeout). With sanitizers, which are slow and need
 * memory of their own, documents have a tenth of the size, and memory is not limited. */
#include "base/json.h"
#include "core/doc/doc.h"
#include "host/docfile.h"
#include "test.h"
#include "zoneinfo.h"

#include <sys/resource.h>

#ifdef __has_feature
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED 0
#endif
enum { BYTES = SANITIZED ? 1 << 20 : 10 << 20, PIECES = BYTES / 8, SCHEDULES = SANITIZED ? 10000 : 100000 };

static struct why why;
static struct doc_list list;

static void limit_memory(void)
{
	struct rlimit most = { UINT64_C(3) << 30, UINT64_C(3) << 30 };
	if (!SANITIZED)
		CHECK_INT(setrlimit(RLIMIT_AS, &most), 0);
}

static enum err read(const char *name, struct str text)
{
	struct arena a = { 0 };
	struct val v;
	struct doc_env env = { .when = { .now = wall_of(1794751200), /* 2026-11-15T14:00:00Z */
					 .zones = test_zones(),
					 .zone = test_zone("UTC"),
					 .zone_name = STR("UTC") } };
	why = (struct why){ 0 };
	enum err e = docfile_parse(str_of(name), text, &a, &v, &why);
	if (!e)
		e = doc_read(text, &v, &env, &a, &list, &why);
	arena_free(&a);
	return e;
}

/* The text must be read, or refused with a message and a position in it. */
static void check_text(const char *name, const char *what, struct str text)
{
	test_case("%s of '%.20s'", name, what);
	enum err e = read(name, text);
	CHECK(e == OK || ((e == E_INPUT || e == E_LIMIT) && why.text[0] && why.at <= text.n));
}

/* A text that repeats one piece, between a beginning and an end. */
static void check_repeated(const char *name, const char *before, const char *piece, const char *after)
{
	struct buf text = { 0 };
	buf_add(&text, str_of(before));
	while (text.n < PIECES)
		buf_add(&text, str_of(piece));
	buf_add(&text, str_of(after));
	check_text(name, piece, buf_str(&text));
	buf_free(&text);
}

TEST(repeated_pieces)
{
	static const char *const yaml[] = { "[",        "{",      "- ",
					    "? ",       "a: ",    "&a ",
					    "*a ",      "!a ",    "{a: ",
					    "[a, ",     "\"",     "\n- ",
					    "\n? ",     "\n",     "--- ",
					    "|\n",      "- - - ", "{\"",
					    ": ",       "%a\n",   "#",
					    "[[],",     "a\n",    "a, b ",
					    "'",        "\t",     "---\n",
					    "\xc3\xa4", "\xff",   "- a\n",
					    " ",        "a: b\n", "\n\n- a: b\n  c: d\n" };
	static const char *const json[] = { "[",       "{",    "[[],", "{\"a\":",    "\"",
					    "\\u0041", " ",    "1",    "-",          "1,",
					    "[1,1],",  "\xff", "null", "{\"a\":1},", "\xc3\xa4" };
	limit_memory();
	for (size_t i = 0; i < ARRAY_LEN(yaml); i++) {
		check_repeated("x.yaml", "", yaml[i], "");
		check_repeated("x.yaml", "id: ", yaml[i], "\n");
		check_repeated("x.yaml", "data: [", yaml[i], "]\n");
	}
	for (size_t i = 0; i < ARRAY_LEN(json); i++) {
		check_repeated("x.json", "", json[i], "");
		check_repeated("x.json", "[", json[i], "1]");
		check_repeated("x.json", "{\"id\":\"", json[i], "\"}");
	}
	test_case(NULL);
}

TEST(too_many_values)
{
	struct buf text = { 0 };
	buf_addc(&text, '[');
	for (unsigned i = 0; i < JSON_VALUES_MAX; i++)
		buf_add(&text, STR("1,"));
	buf_add(&text, STR("1]"));
	static const char *const names[] = { "x.json", "x.yaml" };
	for (unsigned i = 0; i < 2 - SANITIZED; i++) {
		CHECK_INT(read(names[i], buf_str(&text)), E_LIMIT);
		CHECK_STR(why.text, "there are more than 8388608 values");
	}
	buf_free(&text);
}

/* A few lines that would expand to gigabytes. */
TEST(alias_bomb)
{
	CHECK_INT(read("x.yaml", STR("a: &a [x, x, x, x, x, x, x, x, x]\n"
				     "b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
				     "c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\n"
				     "d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n")),
		  E_INPUT);
	CHECK_STR(why.text, "YAML aliases such as *a are not supported; if this is text, put it in quotes");
}

/* Maps with the most keys that are allowed, and with one more. */
TEST(large_maps)
{
	for (unsigned twice = 0; twice < 2; twice++) {
		struct buf text = { 0 };
		buf_add(&text, STR("{\"schedules\":["));
		for (unsigned n = 0; text.n < BYTES; n++) {
			buf_addf(&text,
				 "%s{\"id\":\"s%u\",\"expression\":\"@daily\",\"action\":{\"type\":\"event\","
				 "\"name\":\"e\",\"data\":{",
				 n ? "," : "", n);
			for (unsigned i = 0; i < JSON_KEYS_MAX; i++)
				buf_addf(&text, "%s\"%u\":1", i ? "," : "", i);
			buf_add(&text, twice ? STR(",\"0\":2}}}") : STR("}}}"));
		}
		buf_add(&text, STR("]}"));
		CHECK_INT(read("x.json", buf_str(&text)), twice ? E_LIMIT : OK);
		CHECK_INT(read("x.yaml", buf_str(&text)), twice ? E_LIMIT : OK);
		buf_free(&text);
	}
}

/* Very many schedules: all valid, or with an error in the last one; as one list, or as one document each. */
TEST(many_schedules)
{
	static const struct {
		const char *name, *first, *before, *after, *last;
	} forms[] = {
		{ "x.yaml", "schedules:\n", "- ", "\n", "" },
		{ "x.yaml", "", "---\n", "\n", "" },
		{ "x.json",
		  "{\"schedules\":[{\"id\":\"a\",\"expression\":\"@daily\",\"action\":{\"type\":\"event\","
		  "\"name\":\"e\"}}",
		  ",", "", "]}" }
	};
	for (size_t f = 0; f < ARRAY_LEN(forms); f++)
		for (unsigned wrong = 0; wrong < 2; wrong++) {
			struct buf text = { 0 };
			buf_add(&text, str_of(forms[f].first));
			for (unsigned i = 0; i < SCHEDULES; i++)
				buf_addf(&text,
					 "%s{\"id\": \"s%u\", \"expression\": \"%u %u * * *\", \"action\": "
					 "{\"type\": "
					 "\"command\", \"command\": \"true\"}, \"%s\": \"5m\"}%s",
					 forms[f].before, i, i % 60, i % 24,
					 wrong && i == SCHEDULES - 1 ? "widnow" : "window", forms[f].after);
			buf_add(&text, str_of(forms[f].last));
			enum err e = read(forms[f].name, buf_str(&text));
			test_case("%s %u", forms[f].name, wrong);
			CHECK_INT(e, wrong ? E_INPUT : OK);
			CHECK_STR(why.text, wrong ? "a schedule has no key 'widnow' (near: window)" : "");
			CHECK(wrong || list.n >= SCHEDULES);
			CHECK(!wrong || why.at > text.n - 40);
			test_case(NULL);
			buf_free(&text);
		}
}
