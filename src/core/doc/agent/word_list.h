#pragma once
/* Lists and maps that may be written as one line of text: words with blanks between them, which quotes keep
 * together as in a shell. Nothing is expanded. Pure. */
#include "core/doc/agent/agent.h"
#include "core/doc/keys.h"

/* A list of strings, or the words of a text, each with its place. `names`: commas part them, too, and none is
 * empty. */
must_check enum err words_of(struct key_reader *r, const char *what, const struct val *v, bool names,
			     struct val *list);
/* NAME=VALUE, as a map. */
must_check enum err words_map(struct key_reader *r, const char *what, const struct val *v, struct val *map);

must_check enum err words_take(struct key_reader *r, const struct val *list, struct agent_words *ret);
void words_write(const struct agent_words *w, struct buf *out); /* nothing if there are none */
