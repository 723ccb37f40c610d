#pragma once
/* The command line's side of operations that the daemon does: asks for them as the row says, and shows what
 * comes back. */
#include "op/op.h"

/* Arguments become path, query or body; the answer goes to `show`, or is printed as it is with --json. */
must_check enum err remote_run(struct op_call *call);
/* The same with another body (JSON; empty: none), and the answer handed out; lives in the call's arena. */
must_check enum err remote_ask(struct op_call *call, struct str body, struct str *text, struct val *ret);
/* Any request of one's own. */
must_check enum err remote_call(struct op_call *call, const char *method, const char *target, struct str body,
				struct str *text, struct val *ret);
/* A call of another row of the table, with the arguments of the same names. */
struct op_call remote_sub(const struct op_call *call, const char *row);
/* The same as remote_run by another row of the table: arguments of the same names go along, and `param` (may
 * be NULL) becomes `value`. */
must_check enum err remote_row(struct op_call *call, const char *row, const char *param, struct str value);
/* Prints an answer: as JSON, or by `show`. */
void remote_show(struct op_call *call, struct str text, const struct val *answer);
/* For a place in a path or a query. */
void remote_encode(struct buf *out, struct str s);
/* Within a run, what says which it is; NULL: nothing does. */
const char *remote_token(void);
/* Where the daemon is. */
must_check enum err remote_socket(struct op_call *call, const char **ret);
