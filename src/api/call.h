#pragma once
/* One request for an operation, in the daemon: its arguments, and the answer that is being made. It lives in
 * the arena of its HTTP request. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/val.h"
#include "op/op.h"

struct http_request;
struct run_row;
struct zone_files;
struct zoneinfo;

struct api_call {
	struct op_args args;
	struct arena *arena;
	struct why *why;
	struct str source;            /* the text that why->at points into */
	struct val body;              /* the whole body, for members that are no arguments */
	struct buf answer;            /* JSON */
	const struct run_row *within; /* the run that asks, with the attempt that does; NULL: a person */
	bool later;                   /* api_finish will answer it */
	int status;                   /* of HTTP, where it is not 200 */
	struct http_request *request;
	void *ctx;                     /* the handler's */
	const void *about;             /* set before api_order, and again when that order is answered */
	struct zoneinfo *zones;        /* valid until the call is answered */
	struct zone_files *zone_files; /* what keeps `zones` valid; NULL: released */
};
