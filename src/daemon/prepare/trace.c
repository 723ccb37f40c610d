/* Reads a traceparent, and writes one with a new span id. */
#include "daemon/prepare/trace.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* version "-" trace "-" parent "-" flags; hex digits are lower case, and ids are not all zeros. */
enum { TRACE_AT = 3, TRACE_DIGITS = 32, PARENT_AT = 36, PARENT_DIGITS = 16, FLAGS_AT = 53 };

static bool is_id(const char *p, size_t n)
{
	return strspn(p, "0123456789abcdef") >= n && strspn(p, "0") < n;
}

static bool is_trace(const char *p)
{
	return strlen(p) == TRACE_SIZE - 1 && !strncmp(p, "00-", TRACE_AT) &&
	       is_id(p + TRACE_AT, TRACE_DIGITS) && p[PARENT_AT - 1] == '-' &&
	       is_id(p + PARENT_AT, PARENT_DIGITS) && p[FLAGS_AT - 1] == '-' &&
	       strspn(p + FLAGS_AT, "0123456789abcdef") == 2;
}

static void write_id(char *to, size_t digits)
{
	unsigned char byte[TRACE_DIGITS / 2];
	size_t n = digits / 2;
	if (getrandom(byte, n, 0) != (ssize_t)n)
		memset(byte, 0, n); /* never happens for up to 256 bytes: see getrandom(2) */
	byte[0] |= 1;               /* not all zeros */
	for (size_t i = 0; i < n; i++) {
		to[2 * i] = "0123456789abcdef"[byte[i] >> 4];
		to[2 * i + 1] = "0123456789abcdef"[byte[i] & 15];
	}
}

void trace_child(const char *parent, char ret[TRACE_SIZE])
{
	bool continues = parent && is_trace(parent);
	memcpy(ret, continues ? parent : "00-00000000000000000000000000000000-0000000000000000-01",
	       TRACE_SIZE);
	if (!continues)
		write_id(ret + TRACE_AT, TRACE_DIGITS);
	write_id(ret + PARENT_AT, PARENT_DIGITS);
}
