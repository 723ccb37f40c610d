#pragma once
/* The end of what a run printed, as text for others. */
#include "base/buf.h"

/* Appends at most `most` bytes of its log, from the beginning of a line where there is one. Other control
 * characters than tabs and ends of lines become spaces. Nothing where there is no log. */
void runfile_log_tail(const char *runs, uint64_t run, unsigned attempt, size_t most, struct buf *out);
