#pragma once
/* Classes of characters as Emacs's regular expressions have them: [[:alnum:]], and white space (\s-). */
#include "base/str.h"

/* The character at `at`, and its length in *n. A byte that is not valid UTF-8 is a character by itself, which
 * belongs to no class: CHAR_INVALID. */
#define CHAR_INVALID UINT32_MAX
uint32_t char_at(struct str s, size_t at, unsigned *n);
bool char_is_alnum(uint32_t c);
bool char_is_space(uint32_t c);
/* The length of the run of characters at `at` that are not white space. */
size_t word_length(struct str s, size_t at);
