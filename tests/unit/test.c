/* The test harness: runs the tests, checks, random numbers. */
#include "test.h"

#include <stdarg.h>
#include <time.h>

static struct test *first, **last = &first;
static unsigned failures; /* number of failed checks of the current test */
static char context[512];

void test_register(struct test *t)
{
	*last = t;
	last = &t->next;
}

void test_case(const char *fmt, ...)
{
	context[0] = 0;
	if (!fmt)
		return;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(context, sizeof context, fmt, ap);
	va_end(ap);
}

static void count_failure(const char *file, int line)
{
	failures++;
	printf("%s:%d: ", file, line);
	if (context[0])
		printf("[%s] ", context);
}

bool check_true(const char *file, int line, bool got, const char *what)
{
	if (!got) {
		count_failure(file, line);
		printf("is false: %s\n", what);
	}
	return got;
}

bool check_int(const char *file, int line, long long got, long long want, const char *what)
{
	if (got != want) {
		count_failure(file, line);
		printf("%s is %lld, not %lld\n", what, got, want);
	}
	return got == want;
}

bool check_str(const char *file, int line, struct str got, struct str want, const char *what)
{
	if (!str_eq(got, want)) {
		count_failure(file, line);
		printf("%s is\n\t'%.*s', not\n\t'%.*s'\n", what, STR_ARG(got), STR_ARG(want));
	}
	return str_eq(got, want);
}

int64_t test_utc(const char *text)
{
	struct tm tm = { 0 };
	if (sscanf(text, "%d-%d-%dT%d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
		   &tm.tm_sec) != 6)
		abort();
	tm.tm_year -= 1900;
	tm.tm_mon--;
	return timegm(&tm);
}

uint64_t test_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static bool is_selected(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (str_starts(str_of(name), str_of(argv[i])))
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	unsigned passed = 0, failed = 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (struct test *t = first; t; t = t->next) {
		if (!is_selected(t->name, argc, argv))
			continue;
		failures = 0;
		test_case(NULL);
		t->run();
		printf("%s %s\n", failures ? "FAILED" : "ok", t->name);
		*(failures ? &failed : &passed) += 1;
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
