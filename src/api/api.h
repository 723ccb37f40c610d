#pragma once
/* The daemon's side of the operations: requests come in by HTTP, are matched with the table's rows, handled,
 * and answered in JSON. All of it on the HTTP thread; what only the engine can do is sent to it, and its
 * answer comes back here. */
#include "api/call.h"
#include "core/doc/config/config.h"
#include "daemon/daemon.h"
#include "http/server.h"
#include "store/sqlite/read/reader.h"

struct api_options {
	struct daemon *daemon;
	const struct config *config; /* outlives it */
	const char *socket;
};

struct api;
must_check enum err api_open(const struct api_options *o, struct api **ret, struct why *why);
/* Takes no more requests, and then has the daemon stop, which answers those it has. Any thread. */
void api_stop(struct api *a);
void api_close(struct api *a);
void api_zones_changed(struct api *a);

/* --- for handlers --- */

struct reader *api_reader(struct api *a);
struct daemon *api_daemon(struct api *a);
const struct config *api_config(struct api *a);
struct wall api_now(void);
/* What documents are read with: zones, the zone where none is said, calendars, default timeouts. */
struct doc_env api_doc_env(const struct api_call *call, struct api *a);

/* Answers a call that was put off: with call->answer, or with the error and call->why. */
void api_finish(struct api_call *call, enum err e);
/* The call has a stream for an answer, which is another's: it needs nothing any more. api_finish does it,
 * too. */
void api_leave(struct api_call *call);
/* Sends a command to the engine and puts the call off. `then` is called with the reply, on this thread, and
 * either finishes the call or has it wait for more. */
typedef void api_then(struct api_call *call, struct api *a, const struct reply *r);
must_check enum err api_order(struct api_call *call, struct api *a, const struct command *c, api_then *then);
/* Sends a request to the store and puts the call off, as api_order does with a command. E_BUSY: too many
 * requests, or the store cannot write: then call->why says so. */
typedef void api_sent_then(struct api_call *call, struct api *a, const struct st_ack *ack);
must_check enum err api_send(struct api_call *call, struct api *a, const struct st_req *r,
			     api_sent_then *then);
/* What a reply other than REPLY_OK means for the person who asked. */
must_check enum err api_refusal(struct api_call *call, const struct reply *r, const char *what);

/* The store fails: call->why says how. api_order and api_refusal see to it by themselves. */
bool api_cannot_write(struct api_call *call, struct api *a);

/* Calls fn(arg) on this thread, in a later turn; any thread. What a call needs until its answer is in its
 * arena, so that it goes with the request if the answer never comes. */
must_check enum err api_post(struct api *a, void (*fn)(void *arg), void *arg);
/* The same for what answers a call: there is room for it, or nobody to be answered. */
void api_answer(struct api *a, void (*fn)(void *arg), void *arg);
/* The schedule an argument names, exactly or by the beginning of its id. */
must_check enum err api_sched(struct api_call *call, struct api *a, struct str name, struct read_sched *ret);
/* The same for its history: one that was removed is still told of, by its whole id. */
must_check enum err api_sched_ever(struct api_call *call, struct api *a, struct str name,
				   struct read_sched *ret);
/* What is said of a run in words, why it did not run or failed; none where it did, or is not over. */
must_check enum err api_words(struct api_call *call, struct api *a, const struct run_row *run,
			      struct str *ret);
/* A time of an argument: "now", a duration that has passed since ("1d"), or a date and time, in the machine's
 * zone where none is said. */
must_check enum err api_time(struct api_call *call, const char *what, struct str text, struct wall *ret);
/* What the argument --note says; p NULL: nothing. */
must_check enum err api_note(struct api_call *call, struct str *ret);
/* How many schedules are on their way that runs make. */
unsigned *api_granting(struct api *a);
/* A run has said something of itself: those who follow are told. */
void api_reported(struct api *a, const struct run_row *run, unsigned kind, struct str text);
/* A descriptor that is kept for who must be told apart when there are no others: given up, and taken again.
 */
bool api_spare_give(struct api *a); /* false: there is none */
void api_spare_take(struct api *a);
/* Who asks, by name. */
struct str api_person(struct api_call *call, struct api *a);
/* What `pause --all` did; row.reason 0: nothing is paused by it. */
must_check enum err api_paused_all(struct api_call *call, struct api *a, struct read_hold *ret);
/* "r7" or "7". */
must_check enum err api_run_number(struct api_call *call, struct str text, uint64_t *ret);
