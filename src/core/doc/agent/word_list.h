#pragma once
/* Lists and maps of an agent that may also be written as one line: words with spaces between them, with
 * quotes as in a shell. Nothing is expanded. Pure. */
#include "core/doc/agent/agent.h"
#include "core/doc/keys.h"

/* Reads a list of strings, or the words of a string, each with its position. `what` names the list in
 * messages. `names`: the words are names; commas separate them, too, and none may be empty. */
must_check enum err word_list_read(struct key_reader *r, const char *what, const struct val *v, bool names,
				   struct val *list);
/* Reads words of the form NAME=VALUE as a map. */
must_check enum err word_list_read_map(struct key_reader *r, const char *what, const struct val *v,
				       struct val *map);
/* Copies the strings of a list. */
must_check enum err word_list_copy(struct key_reader *r, const struct val *list, struct word_list *ret);
/* For rows of tables whose field is a struct word_list. */
key_write word_list_write;
