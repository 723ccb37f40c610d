#pragma once
/* What is executed: a string is a line for the shell, a list is a program with its arguments. Pure. */
#include "core/doc/doc.h"
#include "core/doc/keys.h"

/* `what` is what it is called where it is wrong. */
must_check enum err command_read(struct key_reader *r, const char *what, const struct val *v,
				 struct doc_command *ret);
void command_write(const struct doc_command *c, struct buf *out); /* nothing if there is none */

/* For rows of tables: the value of a key that is a struct doc_command at k->to. */
key_set command_set;
enum { COMMAND_KINDS = KEY_KIND(VAL_STR) | KEY_KIND(VAL_LIST) };
