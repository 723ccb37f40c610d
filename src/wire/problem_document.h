#pragma once
/* Writes and reads errors as RFC 9457 problem documents (problem+json). The daemon writes them; the command
 * line reads them and prints their text. Pure.
 *
 *	{"type":"about:blank","title":"not found","status":404,"detail":"no schedule is called 'x'",
 *	 "code":"not_found"}
 *
 * `code` is the name in err_table; `line` and `column` are present if the error has a position. */
#include "base/buf.h"
#include "base/err.h"

#define PROBLEM_DOCUMENT_TYPE "application/problem+json"

/* Appends the document and returns its HTTP status: `status` or, if that is 0, the status in err_table. */
int problem_document_write(enum err e, int status, const struct why *w, struct str source, struct buf *out);

/* Returns the error in an answer with this status, OK if the status is below 400, and appends the error's
 * text to `text`. If the body is not a problem document, error and text come from the status alone. */
enum err problem_document_read(int status, struct str body, struct buf *text);
