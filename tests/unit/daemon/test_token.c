/* Tokens of runs: their form, invalid tokens, and the key. */
#include "daemon/token.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool reads(const struct token_key *key, const char *text, uint64_t run, unsigned attempt)
{
	uint64_t r = 77;
	unsigned a = 77;
	bool good = token_read(key, str_of(text), &r, &a);
	return good ? r == run && a == attempt : r == 77 && a == 77 && run == 0;
}

TEST(tokens_are_written_and_read)
{
	struct token_key key = { { 1, 2, 3 } }, other = { { 1, 2, 4 } };
	char text[TOKEN_SIZE];
	static const struct {
		uint64_t run;
		unsigned attempt;
	} rows[] = { { 1, 1 }, { 12, 3 }, { INT64_MAX, UINT16_MAX } };
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		CHECK(token_write(&key, rows[i].run, rows[i].attempt, text));
		CHECK(reads(&key, text, rows[i].run, rows[i].attempt));
		CHECK(reads(&other, text, 0, 0));
	}
	/* The hash that Python's hmac computes for the key 0102030000… and the text r12.3. */
	CHECK(token_write(&key, 12, 3, text) && str_starts(str_of(text), STR("r12.3.")) &&
	      strlen(text) == 6 + 64);
	CHECK(!strcmp(text + 6, "bf8a78308b509858aaeb94b82018f994192df31396857de46c821469482138dd"));
}

TEST(every_other_text_is_refused)
{
	struct token_key key = { { 9 } };
	char text[TOKEN_SIZE], wrong[TOKEN_SIZE + 1];
	CHECK(token_write(&key, 12, 1, text));
	for (size_t i = 0; text[i]; i++) {
		memcpy(wrong, text, sizeof text);
		wrong[i] = (char)(text[i] == '1' ? '2' : '1');
		CHECK(reads(&key, wrong, 0, 0));
		memcpy(wrong, text, i);
		wrong[i] = 0;
		CHECK(reads(&key, wrong, 0, 0));
	}
	static const char *const rows[] = { "",           "r",        ".",
					    "r.",         "r..",      "r1",
					    "r1.1",       "r1.1.",    "12.1.ab",
					    "r0x1.1.ab",  "r-1.1.ab", "r99999999999999999999.1.ab",
					    "r1.99999.ab" };
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
		CHECK(reads(&key, rows[i], 0, 0));
	/* The same number with a leading zero is refused. */
	snprintf(wrong, sizeof wrong, "r012%s", text + 3);
	CHECK(reads(&key, wrong, 0, 0));
}

TEST(the_key_of_an_earlier_version_is_used)
{
	char dir[] = "/tmp/rota-token-XXXXXX", path[64];
	struct token_key first = { { 0 } }, second = { { 0 } }, stored = { { 7, 8, 9 } };
	CHECK(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/token.key", dir);
	/* Without a file, each call makes a new key. */
	CHECK(token_key_new(dir, &first, NULL) == OK && token_key_new(dir, &second, NULL) == OK);
	CHECK(memcmp(&first, &second, sizeof first) != 0);
	FILE *f = fopen(path, "w");
	CHECK(f && fwrite(stored.bytes, sizeof stored.bytes, 1, f) == 1 && fclose(f) == 0);
	CHECK(token_key_new(dir, &first, NULL) == OK && !memcmp(&first, &stored, sizeof first));
	/* A broken file is no key. */
	CHECK(truncate(path, 7) == 0 && token_key_new(dir, &first, NULL) == OK);
	CHECK(memcmp(&first, &stored, sizeof first) != 0);
	token_key_remove_file(dir);
	CHECK(access(path, F_OK) < 0);
	token_key_remove_file(dir);
	CHECK(rmdir(dir) == 0);
}
