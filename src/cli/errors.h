#pragma once
/* Errors and warnings on the command line: one line each, with the position, and without control sequences.
 */
#include "base/err.h"
#include "sys/print.h"

/* `source` is the text that why->at points into, source_name the file it was read from or NULL. */
void print_error(FILE *to, enum err e, const struct why *why, struct str source, const char *source_name);
/* "rota: FILE: warning: TEXT, at line 3, column 5" */
void print_warning(FILE *to, const struct why *why, struct str source, const char *source_name);
