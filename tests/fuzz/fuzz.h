#pragma once
/* Fuzz targets assert their promises, so that a broken one aborts. */
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
