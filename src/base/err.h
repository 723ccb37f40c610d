#pragma once
/* One error type. A function that can fail returns `enum err` and leaves its outputs untouched when it does;
 * what a person should read goes into a `struct why`. Libraries return, mains print. */
#include "base/attr.h"
#include "base/limits.h"
#include "base/str.h"

enum err {
	OK = 0,
	E_INPUT,    /* what was given is wrong: expression, argument, document */
	E_NOTFOUND, /* asked for, and not there */
	E_LIMIT,    /* a named limit was reached */
	E_NOMEM,
	E_IO, /* a file or device said no */
	ERR_COUNT
};

struct err_info {
	const char *name;
	int exit_code;
};
/* The one table that says how each error shows on each surface. */
extern const struct err_info err_table[ERR_COUNT];

/* What went wrong and where: `at` is a byte offset into the text that was parsed; text has no final full
 * stop. */
struct why {
	size_t at;
	char text[WHY_TEXT_MAX];
};

/* Fills `w` (which may be NULL) and returns `e`, so that a parser can `return why_set(...)`. Too long a text
 * is cut. */
enum err why_set(struct why *w, enum err e, size_t at, const char *fmt, ...) printf_like(4, 5);

/* Where byte `at` of `text` is for a person: both count from 1, columns in characters of UTF-8. */
struct place {
	unsigned line, column;
};
struct place place_of(struct str text, size_t at);
