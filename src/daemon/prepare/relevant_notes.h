#pragma once
/* What an agent's notes have to say to a run: those whose words are most like the schedule's, with a bound on
 * their number and their bytes. For the desk's thread. */
#include "core/doc/run_scope.h"
#include "store/sqlite/read/reader.h"

/* How long notes were ranked lately. Whatever else is to be started waits meanwhile, and what one agent has
 * written makes the ranking of all dearer: there is a bound on it. */
struct notes_pace {
	struct boot since; /* of the second that is counted */
	int64_t spent;     /* in it, microseconds */
};

/* Fills in the notes of `s`, of s->doc's agent; without an agent or a note there are none, and it costs one
 * look. Where ranking takes too long, or took too long lately, they are the newest that have any of its words
 * in them. */
must_check enum err relevant_notes(struct reader *r, struct notes_pace *pace, struct arena *a,
				   struct run_scope *s, struct why *why);
