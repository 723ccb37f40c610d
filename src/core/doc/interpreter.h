#pragma once
/* Programs that execute text of their arguments or of their input: shells, languages, and programs that pass
 * words on to a shell. Templates must not be expanded in such text, because a value could then become code.
 * Pure.
 *
 * In doubt a word counts as program text: an option with the right letter counts wherever it stands, and all
 * words after it count, too. So does a word that chooses the program which a wrapper such as nice starts, and
 * one that could become an option of a program that reads options behind other words; the word -- before it
 * keeps it from becoming one. The environment is the safe way to pass a value, except for variables that are
 * executed themselves. */
#include "base/str.h"

struct program_text {
	unsigned from;   /* the first word that may be program text; `n` of the words: there is none */
	struct str name; /* of the interpreter */
};
/* Words with {{ count as words that may have any content, options included. */
struct program_text interpreter_arguments(const struct str *word, unsigned n);

/* Is the value of this environment variable executed by programs that have it: BASH_ENV, GIT_SSH_COMMAND? */
bool interpreter_is_code_variable(struct str name);

/* Does one of the programs read its program from standard input? */
bool interpreter_reads_input(const struct str *word, unsigned n, struct str *name);
/* The same for a command line of a shell, and whether an interpreter would execute the words that are
 * appended to it. Both only look for words: they do not parse the shell's language. */
bool interpreter_line_reads_input(struct str line, struct str *name);
bool interpreter_line_executes_next(struct str line, struct str *name);
