#pragma once
/* The one printer of everything that a person sees: the output of the command line, its errors, and the
 * daemon's messages. Names, reports and messages come from documents, files, runs and receivers; they must
 * not be able to control a terminal or to look like a line of rota's own. What may not be shown
 * (base/printable.h) is written as \xNN, byte by byte. */
#include "base/str.h"

#include <stdio.h>

/* Like fprintf for %s, %d, %u, %x, %g, %c and %%, with width, precision and l, ll, z. The texts of %s are
 * escaped, newlines and tabs, too; the format itself is not. */
void printf_like(2, 3) print(FILE *to, const char *format, ...);
/* Prints one text, escaped in the same way. */
void print_text(FILE *to, struct str s);
/* The number of characters that print_text writes. */
size_t print_width(struct str s);
/* A text of several lines, such as a log: newlines and tabs stay. */
void print_lines(FILE *to, struct str s);
/* The same as part of rota's own output: further lines are indented, so that none looks like a line of rota's
 * own. */
void print_indented(FILE *to, struct str s, unsigned indent);
/* Text that another program may read, such as a rendered template: unchanged, unless `to` is a terminal. */
void print_for_program(FILE *to, struct str s);
/* JSON: characters that may not be shown, which can only be inside of strings, are written as \uNNNN. */
void print_json(FILE *to, struct str s);
