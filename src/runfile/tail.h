#pragma once
/* The end of a file that an attempt left behind. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* The last `most` bytes of a file of this kind, unchanged. Empty if there is no such file, or it is not a
 * regular file. */
must_check enum err runfile_tail(const char *runs, uint64_t run, unsigned attempt, const char *kind,
				 size_t most, struct arena *a, struct str *ret, struct why *why);
/* Appends the end of the log as text to be shown: at most `most` bytes, from the beginning of a line if there
 * is one, with control characters other than tab and newline replaced by spaces. Appends nothing if there is
 * no log, or it cannot be read. */
void runfile_log_tail(const char *runs, uint64_t run, unsigned attempt, size_t most, struct buf *out);
