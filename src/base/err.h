#pragma once
/* One error type. A function that can fail returns `enum err`, leaves its outputs untouched when it fails,
 * and writes the message for people into a `struct why`. Libraries return errors; only programs print them.
 */
#include "base/attr.h"
#include "base/limits.h"
#include "base/str.h"

enum err {
	OK = 0,
	E_INPUT,    /* an expression, argument or document is wrong */
	E_NOTFOUND, /* the thing asked for does not exist */
	E_CONFLICT, /* the current state forbids the operation */
	E_LIMIT,    /* a named limit was reached */
	E_BUSY,     /* not possible now; the same request may succeed later */
	E_DENIED,   /* the caller does not have the right */
	E_GONE,     /* the other side went away: a client, or a daemon in the middle of an answer */
	E_TIMEOUT,  /* the operation took too long */
	E_VALUE,    /* an expression has no value: an operand has the wrong type, a field is missing */
	E_NODAEMON, /* no daemon answers */
	E_NOMEM,    /* out of memory */
	E_IO,       /* a file or device failed */
	ERR_COUNT
};

struct err_info {
	const char *name;  /* for programs */
	const char *title; /* for people, if there is no message */
	int exit_code;     /* 1 failed, 2 bad input, 69 no daemon, 75 try again, 77 not permitted */
	int http_status;
};
/* How each error appears to each kind of caller. */
extern const struct err_info err_table[ERR_COUNT];
/* The error with this name; E_IO if there is none. */
enum err err_named(struct str name);

/* What went wrong and where: `at` is a byte offset into the text that was parsed, or WHY_NOWHERE. The text
 * does not end in a full stop. */
#define WHY_NOWHERE SIZE_MAX
struct why {
	size_t at;
	char text[WHY_TEXT_MAX];
};

/* Writes the message into `w` (which may be NULL) and has the value `e`, so that a parser can `return
 * why_set(...)`. A text that is too long is cut. A macro, so that static analysis sees the value. */
#define why_set(w, e, at, ...) (why_write((w), (at), __VA_ARGS__), (e))
void why_write(struct why *w, size_t at, const char *fmt, ...) printf_like(3, 4);

/* Line and column of byte `at` of `text`. Both count from 1; a column is one UTF-8 character. */
struct place {
	unsigned line, column;
};
struct place place_of(struct str text, size_t at);

struct buf;
/* Appends the text, and its place in `source` if it has one: "…, at column 5". */
void why_describe(const struct why *w, struct str source, struct buf *out);
/* Appends the message of an error as every caller gets it: the text of `w` (which may be NULL) if there is
 * one, else the title of `e`. */
void err_describe(enum err e, const struct why *w, struct str source, struct buf *out);
