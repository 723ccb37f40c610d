#pragma once
/* Durations: 90s 10m 2h 3d 1w, or several together from large to small (1h30m). Pure. */
#include "base/buf.h"
#include "base/err.h"

must_check enum err dur_parse(struct str text, int64_t *seconds, struct why *why);
/* Appends the shortest such text: 1h30m for 5400. */
void dur_format(int64_t seconds, struct buf *out);
