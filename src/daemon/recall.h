#pragma once
/* What an agent's notes have to say to a run: those whose words are most like the schedule's, with a bound on
 * their number and their bytes. For the desk's thread. */
#include "core/doc/scope.h"
#include "store/sqlite_read.h"

/* Fills in the notes of `s`, of s->doc's agent; without an agent or a note there are none, and it costs one
 * look. What takes the store too long to rank is the newest instead. */
must_check enum err recall(struct reader *r, struct arena *a, struct scope *s, struct why *why);
