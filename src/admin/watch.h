#pragma once
/* Watches a directory of documents while the daemon runs. A separate thread reads changed files and applies
 * them over the socket, as `rota apply` does; if a file is moved or removed, its schedules and agents are
 * moved or removed, too. A file with errors leaves its last good version in force, and is a problem until it
 * is corrected. A file that is open for writing is applied when it is closed. */
#include "cli/call.h"
#include "daemon/daemon.h"

struct watch;

/* `call` is the call of `rota serve`, whose settings are used. Calls daemon_documents_applied after the first
 * round. */
must_check enum err watch_open(struct cli_call *call, const char *dir, struct daemon *daemon,
			       struct watch **ret, struct why *why);
void watch_close(struct watch *w); /* NULL is fine */
