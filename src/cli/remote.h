#pragma once
/* The command line's side of operations that the daemon does: asks for them as the row says, and shows what
 * comes back. */
#include "base/val.h"
#include "cli/call.h"

/* Arguments become path, query or body; the answer goes to `show`, or is printed as it is with --json. */
must_check enum err remote_run(struct cli_call *call);
/* The same with another body (JSON; empty: none), and the answer handed out; lives in the call's arena. */
must_check enum err remote_ask(struct cli_call *call, struct str body, struct str *text, struct val *ret);
/* Any request of one's own. */
must_check enum err remote_call(struct cli_call *call, const char *method, const char *target,
				struct str body, struct str *text, struct val *ret);
/* remote_run for another row: arguments that both rows have are copied, and `param` (may be NULL) becomes
 * `value`. */
must_check enum err remote_run_as(struct cli_call *call, enum op_id id, const char *param, struct str value);
/* Prints an answer: as JSON, or by `show`. */
void remote_show(struct cli_call *call, struct str text, const struct val *answer);
/* For a place in a path or a query. */
void remote_encode(struct buf *out, struct str s);
/* Within a run, what says which it is; NULL: nothing does. */
const char *remote_token(void);
/* Where the daemon is. */
must_check enum err remote_socket(struct cli_call *call, const char **ret);
