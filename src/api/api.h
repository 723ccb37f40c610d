#pragma once
/* The daemon's HTTP API. A request is matched with a row of the table of operations (routes.h), its caller is
 * identified and checked (rights.h), and a handler (handlers/) answers it in JSON.
 *
 * The HTTP thread hands requests over and sends answers; everything else runs on the operations thread
 * (operations.h), except functions marked otherwise. Handlers read the store themselves. Work that only the
 * engine or the store's writer can do is sent to them, and the call continues on the operations thread when
 * the answer arrives (call.h). While the operations thread hangs, requests are refused with 503. */
#include "api/call.h"
#include "core/doc/config/config.h"
#include "daemon/daemon.h"
#include "http/server.h"
#include "port/read.h"

struct api_options {
	struct daemon *daemon;
	const struct config *config; /* must outlive the api */
	const char *socket;
};

struct api;
must_check enum err api_open(const struct api_options *o, struct api **ret, struct why *why);
/* Stops accepting requests, lets the daemon answer the requests it has, then stops the daemon. Any thread. */
void api_stop(struct api *a);
void api_close(struct api *a);
/* Reads the zone files again. Any thread. */
void api_zones_changed(struct api *a);

/* --- for the files of api/ --- */

struct reader *api_reader(struct api *a);
struct daemon *api_daemon(struct api *a);
const struct config *api_config(struct api *a);
struct operations *api_operations(struct api *a);
struct events *api_events(struct api *a);
struct zone_files *api_zone_files(struct api *a); /* the latest ones */
/* The settings for reading documents: zones, the default zone, calendars, default timeouts. */
struct doc_env api_doc_env(const struct api_call *call, struct api *a);
/* Counts the new schedules that runs have sent to the engine and that it has not answered yet. The handler
 * that sends them updates the counter. */
unsigned *api_granted_pending(struct api *a);
/* Schedules that runs have added and removed again; they count until then (api/grants.h). */
struct granted_removals {
	struct {
		uint64_t maker; /* the schedule of the run */
		struct wall until;
	} item[GRANT_REMOVALS_MAX];
};
struct granted_removals *api_granted_removals(struct api *a);
/* Identifying a caller needs a file descriptor. One is kept in reserve; it can be closed for this purpose
 * when the process has no other descriptor left. */
bool api_close_spare_fd(struct api *a); /* false: there was none */
void api_open_spare_fd(struct api *a);
/* The user name of the caller. */
struct str api_caller_name(struct api_call *call, struct api *a);

/* --- arguments and lookups that several handlers share (args.c) --- */

/* Finds a schedule by its id or by the beginning of its id. */
must_check enum err api_find_schedule(struct api_call *call, struct api *a, struct str name,
				      struct read_sched *ret);
/* The same, but also finds a removed schedule, by its whole id. */
must_check enum err api_find_schedule_or_removed(struct api_call *call, struct api *a, struct str name,
						 struct read_sched *ret);
/* Reads a time: "now", a duration before now ("1d"), or a date and time, which is in the machine's zone
 * unless it names another. `what` names the argument in errors. */
must_check enum err api_read_time(struct api_call *call, const char *what, struct str text, struct wall *ret);
/* E_INPUT: the text cannot be the name of an agent. */
must_check enum err api_check_agent_name(struct api_call *call, struct str name);
/* Reads the argument --note; p is NULL if it was not given. */
must_check enum err api_read_note(struct api_call *call, struct str *ret);
/* Reads "r7" or "7". */
must_check enum err api_read_run_number(struct api_call *call, struct str text, uint64_t *ret);
/* Reads the argument `before`, from which a list continues with smaller numbers; 0 if it was not given. `of`
 * names the numbered thing in errors. */
must_check enum err api_read_before(struct api_call *call, const char *of, uint64_t *ret);
/* The recorded text that explains why a run did not run or failed; empty if it succeeded or has not ended. */
must_check enum err api_run_detail(struct api_call *call, struct api *a, const struct run_row *run,
				   struct str *ret);
/* The hold that `pause --all` has set; row.reason is 0 if there is none. */
must_check enum err api_read_pause_all(struct api_call *call, struct api *a, struct read_hold *ret);
