#pragma once
/* Reasons in words, for people. Pure. */
#include "core/model.h"

/* "exit" gives "its program ended with an error"; NULL: no such reason. */
const char *reason_text(const char *word);
