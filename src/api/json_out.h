#pragma once
/* Schedules, runs and problems as JSON. */
#include "base/json.h"
#include "store/sqlite/read/reader.h"

void json_write_time(struct buf *out, struct wall t);                 /* RFC 3339, or null */
void json_add_time(struct buf *out, const char *name, struct wall t); /* ,"name":"…" */
/* `all`: what is paused by `pause --all`; `blocked`: by what, if at all; whole: with its
 * document and what its checks saved; NULL: without. */
void json_write_schedule(struct buf *out, const struct read_sched *s, const struct read_hold *all,
			 struct str blocked, const struct read_avoided *whole);
/* `id` is that of its schedule. */
void json_write_run(struct buf *out, const struct run_row *r, struct str id);
void json_open_run(struct buf *out, const struct run_row *r, struct str id); /* without its last brace */
/* Items of a list, each with the id of its schedule. */
void json_write_runs(struct buf *out, struct reader *reader, const struct read_runs *page, struct arena *a);
void json_write_problem(struct buf *out, const struct problem_row *p);
