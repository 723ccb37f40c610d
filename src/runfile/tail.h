#pragma once
/* The end of a file that an attempt left: what it reported, what it answered. */
#include "base/arena.h"
#include "base/err.h"

/* At most so many bytes. Nothing if there is no such file, or what is there is none. */
must_check enum err runfile_tail(const char *runs, uint64_t run, unsigned attempt, const char *kind,
				 size_t most, struct arena *a, struct str *ret, struct why *why);
