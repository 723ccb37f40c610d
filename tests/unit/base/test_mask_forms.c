/* The forms of secrets, and masking with them. */
#include "base/buf.h"
#include "base/limits.h"
#include "runfile/mask_forms.h"
#include "runfile/redact.h"
#include "test.h"

#include <string.h>

static void append(void *ctx, const char *p, size_t n)
{
	buf_add(ctx, (struct str){ p, n });
}

static void expect(int line, const char *secret, const char *text, const char *want)
{
	struct mask_forms m = { 0 };
	struct redact r;
	struct buf out = { 0 };
	CHECK_AT(line, mask_forms_add(&m, secret, strlen(secret)));
	CHECK_INT_AT(line, redact_init(&r, m.item, m.n), 0);
	redact(&r, text, strlen(text), append, &out);
	redact_end(&r, append, &out);
	CHECK_STR_AT(line, buf_str(&out).p, want);
	buf_free(&out);
	redact_free(&r);
	mask_forms_free(&m);
}

TEST(forms_are_masked)
{
	static const struct {
		int line;
		const char *secret, *text, *want;
	} rows[] = {
		{ __LINE__, "hunter22", "a hunter22 b", "a [redacted] b" },
		{ __LINE__, "hunter22", "hunter2", "hunter2" },
		{ __LINE__, "two words  ", "<two words>", "<[redacted]>" },
		{ __LINE__, "ab12\ncd34\nef56", "<ab12cd34ef56> <ab12 cd34 ef56> <ab12\\ncd34\\nef56>",
		  "<[redacted]> <[redacted]> <[redacted]>" },
		{ __LINE__, "line one is long\nx\nline three", "line three, line one is long, x",
		  "[redacted], [redacted], x" },
		{ __LINE__, "b\xc3\xa4r/\"k\"", "\"b\\u00e4r\\/\\\"k\\\"\" \"b\\u00E4r/\\\"k\\\"\"",
		  "\"[redacted]\" \"[redacted]\"" },
		{ __LINE__, "\xf0\x9f\x94\x91key", "\\ud83d\\udd11key", "[redacted]" },
		{ __LINE__, "a b/c&d", "a%20b%2Fc%26d a+b%2fc%26d a%20b/c%26d",
		  "[redacted] [redacted] [redacted]" },
		{ __LINE__, "secret",
		  "c2VjcmV0 eHNlY3JldA== eHlzZWNyZXQ=", "[redacted] eH[redacted]A== eHl[redacted]Q=" },
		{ __LINE__, "\xfb\xff\xfe\xfb\xff\xfe", "+//++//+ -__--__-", "[redacted] [redacted]" },
		{ __LINE__, "hunter22", "68756e7465723232 68756E7465723232 0x68756e7465723232a",
		  "[redacted] [redacted] 0x[redacted]a" },
		/* base32 of "hunter22", "xhunter22", "xyhunter22", "xyzhunter22" and "wxyzhunter22" */
		{ __LINE__, "hunter22",
		  "NB2W45DFOIZDE=== nb2w45dfoizde===", "[redacted]E=== [redacted]e===" },
		{ __LINE__, "hunter22", "PBUHK3TUMVZDEMQ= PB4WQ5LOORSXEMRS",
		  "PB[redacted]Q= PB4W[redacted]" },
		{ __LINE__, "hunter22", "PB4XU2DVNZ2GK4RSGI====== O54HS6TIOVXHIZLSGIZA====",
		  "PB4XU[redacted]I====== O54HS6T[redacted]A====" },
		{ __LINE__, "abc", "abc", "abc" }, /* too short to be masked */
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
		expect(rows[i].line, rows[i].secret, rows[i].text, rows[i].want);
}

TEST(forms_are_bounded)
{
	/* The longest value, with the shortest lines that are masked, and bytes that all become escapes. */
	char *value = malloc(SECRET_BYTES_MAX);
	CHECK(value != NULL);
	for (size_t i = 0; i < SECRET_BYTES_MAX; i++)
		value[i] = i % 9 == 8 ? '\n' : (char)(1 + i % 8);
	struct mask_forms m = { 0 };
	CHECK(mask_forms_add(&m, value, SECRET_BYTES_MAX));
	CHECK(m.n <= MASK_FORMS_MAX && m.bytes <= MASK_BYTES_MAX);
	/* Another hundred of them do not fit. */
	bool good = true;
	for (unsigned i = 0; i < 100 && good; i++)
		good = mask_forms_add(&m, value, SECRET_BYTES_MAX);
	CHECK(!good && m.n <= MASK_FORMS_MAX && m.bytes <= MASK_BYTES_MAX);
	mask_forms_free(&m);
	free(value);
}
