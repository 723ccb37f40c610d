#pragma once
/* Finds the handler for an HTTP request and calls it. */
#include "api/api.h"

/* Answers a request, now or later: checks that the caller may use this daemon, finds the row of the table
 * whose method and route match, reads the arguments from path, query and body, checks the caller's rights,
 * and calls the handler. `ctx` is the api. */
void routes_handle(void *ctx, struct http_request *r);
