#pragma once
/* The notes of an agent that are relevant to a run: those whose words are most like the words of its
 * schedule. Their number and bytes are bounded. Runs on a thread of the prepare worker. */
#include "core/doc/run_scope.h"
#include "port/read.h"

/* The time that ranking notes has taken within the current second, on one thread. It is bounded, because
 * other tasks may wait for the thread, and because the notes of one agent make ranking slower for all. */
struct notes_pace {
	struct boot since; /* the beginning of the second */
	int64_t spent;     /* microseconds */
};

/* Sets s->note to notes of s->doc's agent; a schedule without an agent has none. If ranking takes too long,
 * or its time for this second is used up, s->note gets the newest notes that contain any of the words. */
must_check enum err relevant_notes_find(struct reader *r, const struct read_attempt *read,
					struct notes_pace *pace, struct arena *a, struct run_scope *s,
					struct why *why);
