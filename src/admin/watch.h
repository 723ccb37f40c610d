#pragma once
/* A directory of documents, kept in force while the daemon runs. A thread of its own reads what has changed
 * and applies it as the command line does, over the socket: what came from a file that was changed, moved or
 * removed follows it. A file that cannot be read, or that is refused, leaves its last good version in force,
 * and is a problem until it is mended. A file that somebody is still writing is left alone until it is
 * closed. */
#include "cli/call.h"
#include "daemon/daemon.h"

struct watch;

/* `call`: of `rota serve`, for its settings. The daemon is told when all has been applied for the first time.
 */
must_check enum err watch_open(struct cli_call *call, const char *dir, struct daemon *daemon,
			       struct watch **ret, struct why *why);
void watch_close(struct watch *w); /* NULL is fine */
