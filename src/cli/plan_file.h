#pragma once
/* Org files that verbs read and write, and the time and zone of these verbs. */
#include "cli/call.h"
#include "core/org/org.h"

/* Reads a file into the call's arena. Errors of its text get their place by call->source. E_IO or E_NOTFOUND:
 * it cannot be read. */
must_check enum err plan_file_read(struct cli_call *call, struct str path, struct org *ret);
/* Returns e. A message without a position in the text gets the name of the plan in front. */
enum err plan_failure(struct cli_call *call, enum err e, const char *where);
/* Replaces the text of a file at once, with the same mode. A symbolic link stays one: its target is replaced.
 */
must_check enum err plan_file_write(struct cli_call *call, const char *path, struct str text);

/* The failure of a check: exit code 1 means that there is no work, so all other failures get another one. */
enum err plan_check_failure(enum err e);

/* The zone of --tz, else of the configuration, else of this machine; the time of --now, else of the clock. */
struct plan_clock {
	const struct zone *zone;
	struct str zone_name;
	int64_t now;
};
must_check enum err plan_clock(struct cli_call *call, struct plan_clock *ret);
/* "[2026-11-18 Wed 09:00]", in the arena; NULL: out of memory. */
const char *plan_stamp(struct cli_call *call, const struct plan_clock *clock);
