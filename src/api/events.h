#pragma once
/* What happens, as it happens: a ring of the last events, and the streams of those who follow. Events are
 * told when their cause is durable (a report: when it is in its file); the records of runs and schedules are
 * the truth, this is the news. The HTTP thread's, but for events_add. */
#include "daemon/pump.h"
#include "http/server.h"
#include "runfile/outbox.h"
#include "store/sqlite/read/reader.h"

struct events;
must_check enum err events_new(struct reader *reader, struct events **ret);
void events_free(struct events *e);
/* From the daemon's thread; costs little more than a copy when nobody follows. Who follows and does not keep
 * up with the ring is told how many events were left out, as an event, too. */
void events_add(struct events *e, struct http *http, const struct pump_fact *f);
/* The same of what a run has said of itself: any thread. */
void events_report(struct events *e, struct http *http, const struct run_row *run, enum report_kind kind,
		   struct str text);
/* Streams what comes, after what is still known since `after` (0: nothing of it). */
void events_follow(struct events *e, struct http_request *r, uint64_t after);
/* The last of them, as a JSON list. */
void events_list(struct events *e, unsigned limit, struct buf *out);

struct api;
struct events *api_events(struct api *a);
