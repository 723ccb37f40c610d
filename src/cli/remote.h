#pragma once
/* Requests to the daemon: sends the request of a row of the table of operations, and prints the answer. */
#include "base/val.h"
#include "cli/call.h"

/* Sends the arguments in path, query or body. Prints the answer by the row's function `show` (verbs.h), or
 * unchanged with --json. */
must_check enum err remote_run(struct cli_call *call);
/* Sends the request with this body (JSON; empty: none) and returns the answer, which lives in the call's
 * arena. */
must_check enum err remote_ask(struct cli_call *call, struct str body, struct str *text, struct val *ret);
/* Sends any request. */
must_check enum err remote_call(struct cli_call *call, const char *method, const char *target,
				struct str body, struct str *text, struct val *ret);
/* Does the same as remote_run for another row. Arguments that both rows have are copied, and the argument
 * `param` (may be NULL) is set to `value`. */
must_check enum err remote_run_as(struct cli_call *call, enum op_id id, const char *param, struct str value);
/* Prints an answer by `show`, or unchanged with --json. */
void remote_show(struct cli_call *call, struct str text, const struct val *answer);
/* Appends the path and the query of the call's request. */
void remote_add_target(struct cli_call *call, struct buf *out);
/* Appends a text, percent-encoded for a path or a query. */
void remote_encode(struct buf *out, struct str s);
/* The token of the run this process belongs to; NULL: none. */
const char *remote_token(void);
/* The path of the daemon's socket. */
must_check enum err remote_socket(struct cli_call *call, const char **ret);
