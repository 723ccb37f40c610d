#pragma once
/* Errors as RFC 9457 problem documents (problem+json), written and read: the command line prints the text
 * that the daemon wrote. Pure.
 *
 *	{"type":"about:blank","title":"not found","status":404,"detail":"no schedule is called 'x'",
 *	 "code":"not_found"}
 *
 * `code` is the name in err_table; `line` and `column` are present if the error has a position. */
#include "base/buf.h"
#include "base/err.h"

#define PROBLEM_DOCUMENT_TYPE "application/problem+json"

/* Appends the document and returns its status: `status`, or that of err_table if `status` is 0. */
int problem_document_write(enum err e, int status, const struct why *w, struct str source, struct buf *out);

/* The error in an answer of this status, OK below 400; its text is appended to `text`. If the body is not a
 * problem document, error and text come from the status alone. */
enum err problem_document_read(int status, struct str body, struct buf *text);
