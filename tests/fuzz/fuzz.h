#pragma once
/* Fuzz targets assert the promises of the tested code, so that the program aborts if a promise is broken. */
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
