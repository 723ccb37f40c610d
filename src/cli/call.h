#pragma once
/* One call of a verb in the caller's process: its arguments, and where its output goes. */
#include "base/arena.h"
#include "host/settings.h"
#include "host/zoneinfo.h"
#include "op/op.h"
#include "sys/print.h"

struct cli_call {
	struct op_args args;
	bool json;
	struct arena *arena;
	struct zoneinfo *zones;
	FILE *out;
	struct why *why;
	struct str source;       /* the text that why->at points into */
	const char *source_name; /* the file that `source` was read from; NULL: no file */
};

/* Returns the call for another row: arguments that both rows have are copied. */
struct cli_call cli_call_as(const struct cli_call *call, enum op_id id);
/* The settings, from this call's flags, the environment and the configuration file. On failure call->source
 * and source_name are set. */
must_check enum err cli_settings(struct cli_call *call, struct settings *ret);
/* "2026-11-16T14:00:00Z" for people, in this machine's zone; NULL stays NULL. */
const char *cli_time(struct cli_call *call, const char *iso);
