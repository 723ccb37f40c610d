#pragma once
/* Schedules and runs as JSON, one way for all surfaces. */
#include "base/json.h"
#include "store/sqlite/read/reader.h"

struct wall tell_now(void);
void tell_time(struct buf *out, struct wall t);                 /* RFC 3339, or null */
void tell_at(struct buf *out, const char *name, struct wall t); /* ,"name":"…" */
void tell_str(struct buf *out, const char *name, struct str s); /* ,"name":"…" */
void tell_tags(struct buf *out, struct str list);               /* "a,b": ,"tags":["a","b"] */
/* `all`: what is paused by `pause --all`; `blocked`: by what, if at all; whole: with its
 * document and what its checks saved; NULL: without. */
void tell_sched(struct buf *out, const struct read_sched *s, const struct read_hold *all, struct str blocked,
		const struct read_avoided *whole);
/* `id` is that of its schedule. */
void tell_run(struct buf *out, const struct run_row *r, struct str id);
void tell_run_open(struct buf *out, const struct run_row *r, struct str id); /* without its last brace */
