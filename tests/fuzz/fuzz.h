#pragma once
/* What a fuzz target promises beside not crashing is asserted in it; a broken promise aborts. */
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
