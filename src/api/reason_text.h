#pragma once
/* Reasons as people read them. */
#include "core/model.h"

/* "exit" is "the command ended with an error"; NULL: no such reason. */
const char *words_reason(const char *word);
