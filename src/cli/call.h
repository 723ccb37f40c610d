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
	const char *zone_why;    /* add: why the schedule got its zone; NULL: the arguments name it */
};

/* Returns the call for another row: arguments that both rows have are copied. */
struct cli_call cli_call_as(const struct cli_call *call, enum op_id id);
/* Puts the name of an option before the text of error `e` of its value, and returns `e`. */
enum err cli_option_error(struct cli_call *call, const char *option, enum err e);
/* The settings, from this call's flags, the environment and the configuration file. On failure call->source
 * and source_name are set. */
must_check enum err cli_settings(struct cli_call *call, struct settings *ret);
/* The same for verbs that only read expressions: they work without a home directory. */
must_check enum err cli_expression_settings(struct cli_call *call, struct settings *ret);
/* The zone of expressions that name none, for verbs that a person types: that of the configuration, else that
 * of this machine. Documents use UTC instead of the latter. */
struct default_zone {
	struct str name;
	const char *why; /* why it is used: "the zone of this machine" */
};
struct default_zone cli_default_zone(struct cli_call *call, const struct config *c);
/* "2026-11-16T14:00:00Z" for people, in this machine's zone; NULL stays NULL. */
const char *cli_time(struct cli_call *call, const char *iso);
