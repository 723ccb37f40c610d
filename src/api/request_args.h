#pragma once
/* The arguments of a request. Each has one place: in the path, in the query (GET, DELETE) or in the body
 * (other methods), as its row says. One that is given twice, in another place, with a value of another kind,
 * or that the row does not have, is an error: if it were ignored, the request would do something else than
 * was asked for. */
#include "api/call.h"
#include "http/server.h"

/* Reads the arguments of the path. */
must_check enum err request_args_read_path(struct api_call *call, const struct http_request *r);
/* Reads the others: fills call->args, call->body and call->source. E_INPUT, with a position in the body if
 * the error is in there. */
must_check enum err request_args_read(struct api_call *call, const struct http_request *r);
