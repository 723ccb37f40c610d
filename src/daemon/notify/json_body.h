#pragma once
/* The body of a message: one flat JSON map. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/time.h"

/* Opens the map with "id", "type", "time" and "text"; body_close appends the final brace. */
void body_open(struct buf *out, unsigned kind, struct str text);
/* These append nothing if the text or the time is empty. */
void body_add_text(struct buf *out, const char *name, struct str text);
void body_add_time(struct buf *out, const char *name, struct wall t);
/* A copy of the finished map; p NULL: no memory. */
struct str body_close(struct buf *out, struct arena *a);
