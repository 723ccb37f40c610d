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
	E_CONFLICT, /* what is there forbids it */
	E_LIMIT,    /* a named limit was reached */
	E_BUSY,     /* not now: the same may work later */
	E_DENIED,   /* this caller may not */
	E_GONE,     /* it was there, and is no more: a client, a daemon in the middle of an answer */
	E_TIMEOUT,
	E_VALUE,    /* an expression has no value: an operand does not fit, a field is missing */
	E_NODAEMON, /* nobody to ask */
	E_NOMEM,
	E_IO, /* a file or device said no */
	ERR_COUNT
};

struct err_info {
	const char *name;  /* the word for programs */
	const char *title; /* for people, where nothing better is known */
	int exit_code;     /* 1 did not succeed, 2 bad input, 69 no daemon, 75 try again, 77 not permitted */
	int http_status;
};
/* The one table that says how each error shows on each surface. */
extern const struct err_info err_table[ERR_COUNT];
/* The error of that name; E_IO where there is none. */
enum err err_named(struct str name);

/* What went wrong and where: `at` is a byte offset into the text that was parsed, or WHY_NOWHERE; text has no
 * final full stop. */
#define WHY_NOWHERE SIZE_MAX
struct why {
	size_t at;
	char text[WHY_TEXT_MAX];
};

/* Fills `w` (which may be NULL) and is `e`, so that a parser can `return why_set(...)`. Too long a text is
 * cut. A macro, so that the analyser sees the value. */
#define why_set(w, e, at, ...) (why_write((w), (at), __VA_ARGS__), (e))
void why_write(struct why *w, size_t at, const char *fmt, ...) printf_like(3, 4);

/* Where byte `at` of `text` is for a person: both count from 1, columns in characters of UTF-8. */
struct place {
	unsigned line, column;
};
struct place place_of(struct str text, size_t at);

struct buf;
/* The text, and its place in `source` where it has one: "…, at column 5". */
void why_describe(const struct why *w, struct str source, struct buf *out);
/* What every surface says of an error: the text of `w` (which may be NULL), or the table's. */
void err_describe(enum err e, const struct why *w, struct str source, struct buf *out);
