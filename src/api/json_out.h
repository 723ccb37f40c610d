#pragma once
/* Writes times, schedules, runs and problems as JSON. */
#include "base/json.h"
#include "port/read.h"

struct api;

void json_write_time(struct buf *out, struct wall t); /* RFC 3339, or null */
/* JSON of the store, as it is; null if it is not valid, because another program may have written the
 * database. */
void json_write_stored(struct buf *out, struct str text);
void json_add_time(struct buf *out, const char *name, struct wall t); /* ,"name":"…" */
/* `all`: the hold of `pause --all`; `blocked`: why the schedule cannot run, or empty; `whole`: if it is not
 * NULL, the document and this count of avoided model calls are added. */
void json_write_schedule(struct buf *out, struct api *api, const struct read_sched *s,
			 const struct read_hold *all, struct str blocked, const struct read_avoided *whole);
/* Adds the zone in force, and whether the document names it or it is that of the configuration. */
void json_add_zone(struct buf *out, struct api *api, const struct sched_row *row);
/* How many whole seconds after its due time the run was claimed; 0: in time, or a person asked for the run.
 */
int64_t run_lateness(const struct run_row *r);
/* `id`: the id of the run's schedule. */
void json_write_run(struct buf *out, const struct run_row *r, struct str id);
/* The same without the last brace. */
void json_open_run(struct buf *out, const struct run_row *r, struct str id);
/* Adds the run that took the place of its pending retry, if there is one. */
void json_add_superseded(struct buf *out, struct reader *reader, const struct run_row *r);
/* Writes the items of a list of runs, and reads the ids of their schedules. */
void json_write_runs(struct buf *out, struct reader *reader, const struct read_runs *page, struct arena *a);
void json_write_problem(struct buf *out, const struct problem_row *p);
