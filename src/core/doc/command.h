#pragma once
/* Commands in documents: a string is a command line for the shell, a list is a program with its arguments.
 * Pure. */
#include "core/doc/doc.h"
#include "core/doc/keys.h"

/* `what` names the command in messages. */
must_check enum err command_read(struct key_reader *r, const char *what, const struct val *v,
				 struct doc_command *ret);
/* Sets `text` and `text_end` by the words of the command. */
void command_mark_text(struct doc_command *c);
/* Writes nothing if there is no command. */
void command_write(const struct doc_command *c, struct buf *out);

/* For rows of tables whose field is a struct doc_command. */
key_set command_set_field;
key_write command_write_field;
enum { COMMAND_KINDS = KEY_KIND(VAL_STR) | KEY_KIND(VAL_LIST) };
