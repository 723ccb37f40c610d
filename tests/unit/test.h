#pragma once
/* The test harness. A file of tests is a program:
 *
 *	TEST(parse_errors_say_where) { ... CHECK_STR(got, "want"); ... }
 *
 * All TESTs run in one process, in the order of their definition. A failed check prints its place and its
 *values and makes its test fail; the test goes on. The program ends with "N passed, N failed" and exits 1 if
 *any test failed. Arguments are prefixes of the names of tests to run. In tables of cases, give each row its
 *line and use the _AT forms. */
#include "base/attr.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

struct test {
	const char *name;
	void (*run)(void);
	struct test *next;
};
void test_register(struct test *t);

#define TEST(fn)                                                                                             \
	static void fn(void);                                                                                \
	__attribute__((constructor)) static void fn##_register(void)                                         \
	{                                                                                                    \
		static struct test t = { #fn, fn, NULL };                                                    \
		test_register(&t);                                                                           \
	}                                                                                                    \
	static void fn(void)

/* Each function returns whether the check passed. */
bool check_true(const char *file, int line, bool got, const char *what);
bool check_int(const char *file, int line, long long got, long long want, const char *what);
bool check_str(const char *file, int line, struct str got, struct str want, const char *what);

#define CHECK_AT(line, cond)          check_true(__FILE__, line, (cond), #cond)
#define CHECK_INT_AT(line, got, want) check_int(__FILE__, line, (long long)(got), (long long)(want), #got)
#define CHECK_STR_AT(line, got, want) check_str(__FILE__, line, str_of(got), str_of(want), #got)
#define CHECK(cond)                   CHECK_AT(__LINE__, cond)
#define CHECK_INT(got, want)          CHECK_INT_AT(__LINE__, got, want)
#define CHECK_STR(got, want)          CHECK_STR_AT(__LINE__, got, want)

/* Names the case that the next failures belong to; NULL: none. */
void test_case(const char *fmt, ...) printf_like(1, 2);

/* Seconds UTC of "2026-03-08T07:00:00", by libc. */
int64_t test_utc(const char *text);

/* Repeatable random numbers (splitmix64). */
uint64_t test_random(uint64_t *state);
