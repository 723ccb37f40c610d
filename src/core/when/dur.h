#pragma once
/* Durations: 90s 10m 2h 3d 1w, stackable from large to small (1h30m). Pure. */
#include "base/buf.h"
#include "base/err.h"

must_check enum err dur_parse(struct str text, int64_t *seconds, struct why *why);
/* The shortest such text: 5400 is 1h30m. */
void dur_format(int64_t seconds, struct buf *out);
