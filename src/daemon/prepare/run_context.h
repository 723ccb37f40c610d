#pragma once
/* What a run's condition, templates and program are told: gathered from the store. For the desk's thread. */
#include "core/doc/run_scope.h"
#include "store/sqlite/read/reader.h"

struct notes_pace;
struct zoneinfo;

/* Whom it is about. */
struct context_source {
	struct reader *reader;
	const struct zone_source *zones;
	const struct schedule_doc *doc;
	const struct run_row *run;
	uint16_t attempt;
	const char *runs; /* where runs leave their answers */
	struct notes_pace *pace;
	bool without_memory; /* nobody looks at the agent's notes, and ranking them is work */
};

/* The names in scope, and what they are looked up by; it points into itself and into the arena. E_VALUE: a
 * variable has no value. */
struct run_context {
	struct val scope;
	struct scope_view view;
	struct expr_env env;
};
must_check enum err run_context(const struct context_source *g, struct arena *a, struct run_context *ret,
				struct why *why);
