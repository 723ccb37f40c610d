#pragma once
/* Headlines as JSON rows. */
#include "base/buf.h"
#include "core/org/org.h"

/* Appends {"at","repeat","active"} of a timestamp, or null if the text is not one. */
void org_write_stamp(struct str text, struct buf *out);
/* Appends the schedule of a headline: {"cron"} of :SCHEDULE:, else its SCHEDULED timestamp, else null. */
void org_write_schedule(const struct org *o, const struct org_head *h, struct buf *out);
/* Appends {"level","title","state","priority","id","tags","props","scheduled","deadline","schedule","line"}.
 * `file` is added as the key "file" unless it is empty. */
void org_write_row(const struct org *o, const struct org_head *h, struct str file, struct buf *out);
