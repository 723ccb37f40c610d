#pragma once
/* One request for an operation: its arguments, and the answer that is being written. It lives in the arena of
 * its HTTP request and is used on the operations thread only, until its answer is handed to the HTTP thread.
 *
 * A handler answers at once: it writes JSON to call->answer and returns OK, or it returns an error and
 * explains it in call->why. Or it defers the call by one of the functions below, and a later step calls
 * api_finish. Everything that a deferred call needs is in its arena, so that it is freed with the request
 * even if the daemon stops before the answer comes. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/val.h"
#include "daemon/daemon.h"
#include "op/op.h"

struct api;
struct command;
struct daemon;
struct http_request;
struct reply;
struct run_row;
struct st_ack;
struct st_req;
struct zone_files;
struct zoneinfo;

struct api_call {
	struct api *api;
	struct op_args args;
	struct arena *arena;
	struct why *why;
	struct str source;                /* the text that why->at points into */
	struct val body;                  /* the whole body, for members that are not arguments */
	struct buf answer;                /* JSON */
	const struct run_row *caller_run; /* the run that sent the request, with `attempt` set to the attempt
					     that sent it; NULL: a person */
	bool deferred;                    /* api_finish will answer */
	int status;                       /* HTTP status of the answer; 0: 200 */
	struct http_request *request;
	void *ctx;              /* the handler's state */
	const void *item;       /* the part of ctx that belongs to a command or store request: see below */
	struct zoneinfo *zones; /* valid until the call is answered */
	struct zone_files *zone_files; /* keeps `zones` valid; NULL: released */
	struct api_wait *free_waits;   /* waits that can be used again */
};

/* Answers a deferred call: with call->answer, or with the error and call->why. The call must not be used
 * afterwards. */
void api_finish(struct api_call *call, enum err e);
/* Releases the zone files of a call that is answered by a stream. For other calls api_finish does that. */
void api_release(struct api_call *call);

/* The functions below defer the call. A call may have several commands and store requests under way: when one
 * of them is answered, call->item has the value it had when that one was sent. */

/* Sends a command to the engine. `then` gets the reply and either finishes the call or waits for more. */
typedef void api_command_fn(struct api_call *call, struct api *a, const struct reply *r);
must_check enum err api_command(struct api_call *call, struct api *a, const struct command *c,
				api_command_fn *then);
/* The same for a request to the store. E_BUSY: the store cannot write now. */
typedef void api_store_fn(struct api_call *call, struct api *a, const struct st_ack *ack);
must_check enum err api_store_request(struct api_call *call, struct api *a, const struct st_req *r,
				      api_store_fn *then);
/* Asks the hook before:schedule:create about a change that the calling run makes, likewise. `input` is JSON
 * for the hook. */
typedef void api_hook_fn(struct api_call *call, struct api *a, enum create_answer answer, struct str words);
must_check enum err api_ask_create_hook(struct api_call *call, struct api *a, struct str input,
					api_hook_fn *then);
/* Calls fn(daemon, call->ctx) on the daemon's thread, and `then` afterwards on this one. */
typedef void api_daemon_fn(struct daemon *d, void *ctx);
typedef void api_done_fn(struct api_call *call, struct api *a);
must_check enum err api_ask_daemon(struct api_call *call, struct api *a, api_daemon_fn *fn,
				   api_done_fn *then);
/* Calls fn(call) on this thread after other requests had their turn: for work that takes long. */
must_check enum err api_add_task(struct api_call *call, struct api *a, void (*fn)(void *call));

/* Explains a reply other than REPLY_OK to the caller; `what` says what was not done. */
must_check enum err api_refusal(struct api_call *call, const struct reply *r, const char *what);
