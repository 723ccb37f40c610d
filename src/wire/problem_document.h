#pragma once
/* Errors as RFC 9457 problem documents, both ways: what HTTP carries is what the command line prints. Pure.
 *
 *	{"type":"about:blank","title":"not found","status":404,"detail":"no schedule is called 'x'",
 *	 "code":"not_found"}
 *
 * `code` is the name in err_table; `line` and `column` are there where the error has a place. */
#include "base/buf.h"
#include "base/err.h"

#define PROBLEM_DOCUMENT_TYPE "application/problem+json"

/* Appends the document; `status` is 0 for the table's. The status that was written is returned. */
int problem_document_write(enum err e, int status, const struct why *w, struct str source, struct buf *out);

/* The error in an answer of this status, OK below 400; its text is appended to `text`. A body that is no
 * problem document (a proxy's, say) is told by its status alone. */
enum err problem_document_read(int status, struct str body, struct buf *text);
