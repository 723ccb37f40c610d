/* The examples of RFC 7396, appendix A. */
#include "base/json.h"
#include "base/merge.h"
#include "test.h"

TEST(examples_of_the_rfc)
{
	static const struct {
		const char *target, *patch, *want;
	} row[] = {
		{ "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}" },
		{ "{\"a\":\"b\"}", "{\"a\":null}", "{}" },
		{ "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}" },
		{ "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}" },
		{ "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}" },
		{ "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}" },
		{ "[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]" },
		{ "{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]" },
		{ "{\"a\":\"foo\"}", "null", "null" },
		{ "{\"a\":\"foo\"}", "\"bar\"", "\"bar\"" },
		{ "{\"e\":null}", "{\"a\":1}", "{\"a\":1,\"e\":null}" },
		{ "[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}" },
		{ "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(row); i++) {
		struct arena a = { 0 };
		struct val target, patch, got;
		struct buf text = { 0 };
		CHECK_INT(json_read(str_of(row[i].target), &a, &target, NULL), OK);
		CHECK_INT(json_read(str_of(row[i].patch), &a, &patch, NULL), OK);
		CHECK_INT(merge_patch(&target, &patch, &a, &got), OK);
		json_write(&text, &got);
		CHECK_STR(text.p, row[i].want);
		buf_free(&text);
		arena_free(&a);
	}
}
