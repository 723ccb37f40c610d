#pragma once
/* Timestamps of tasks: the instants they mean, and how Emacs moves them when a repeating task is done. Unlike
 * schedules (core/when/orgtime.h), months overflow as in Emacs: one month after January 31 is March 3. */
#include "base/buf.h"
#include "core/when/orgtime.h"

struct task_time {
	int64_t local;  /* seconds of local time */
	bool timed;     /* it has a time of day, else it means the whole day */
	bool active;    /* <...> */
	uint16_t count; /* of the repeater; 0: none */
	uint8_t unit;   /* enum org_unit */
	uint8_t style;  /* enum org_style */
};

/* Reads a timestamp of a planning line. False: its date or time does not exist. */
bool task_time_read(struct str text, struct task_time *ret);
/* The instant at which it arrives: its time, or the beginning of its day. */
int64_t task_time_begin(const struct task_time *t, const struct zone *z);
/* The instant at which it has passed: its time, or the end of its day. */
int64_t task_time_end(const struct task_time *t, const struct zone *z);
/* The first time of the series after the instant `now`; false: there is none. */
bool task_time_next(const struct task_time *t, const struct zone *z, int64_t now, int64_t *ret);

/* Is there a timestamp with a repeater at the front of `text`, which begins with '<'? *length is its length.
 */
bool stamp_repeats(struct str text, size_t *length, struct task_time *ret);
/* Appends the timestamp `text` as Emacs writes it when its task is done at `now`. */
void stamp_write_next(struct str text, const struct zone *z, int64_t now, struct buf *out);
/* Appends "2026-11-18 Wed", and " 09:00" if it is timed. */
void stamp_write_date(int64_t local, bool timed, struct buf *out);
