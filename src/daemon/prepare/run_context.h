#pragma once
/* The context of a run: the values that the run's condition and templates can use, and that its program gets.
 * They are read from the store, on a thread of the prepare worker. */
#include "core/doc/run_scope.h"
#include "port/read.h"

struct notes_pace;

/* Names a run, and the sources of its context. */
struct context_source {
	struct reader *reader; /* for values that `read` does not have */
	const struct read_attempt
		*read; /* with RELEVANT_NOTES_NEWEST notes, or none if they are not needed */
	const struct zone_source *zones;
	const struct schedule_doc *doc;
	uint16_t attempt;
	const char *runs; /* the directory of run files: results of earlier runs */
	struct notes_pace *pace;
	bool without_notes; /* the agent's notes are not needed */
	bool before_check;  /* the check of the attempt has not ended: no task is claimed yet */
};

/* The names in scope, and the environment in which expressions are evaluated. The struct must not be copied,
 * because it points into itself. It also points into the arena. */
struct run_context {
	struct val scope;
	struct scope_view view;
	struct expr_budget budget; /* for all templates of the attempt, `variables` included */
	struct expr_env env;
};
/* E_VALUE: a variable of the schedule has no value. */
must_check enum err run_context_build(const struct context_source *source, struct arena *a,
				      struct run_context *ret, struct why *why);
