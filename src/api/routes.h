#pragma once
/* Finds the handler for an HTTP request and calls it. */
#include "api/api.h"

/* The owner of a connection: one key per run, one per user; restricted if its process descends from the
 * daemon. Runs on the HTTP thread, like all functions here. */
struct http_owner routes_owner(void *ctx, const struct http_peer *peer);
/* Refuses other users, operations that no run may request if the caller is a run, and bodies that are too
 * large for the operation. */
enum err routes_admit(void *ctx, const struct http_request *r, size_t *body_most, struct why *why);
/* Hands a request over to the operations thread, which finds the row of the table whose method and route
 * match, reads the arguments from path, query and body, checks the caller's rights, and calls the handler.
 * Answers at once if the caller may not use this daemon, or the operations thread hangs. `ctx` is the api. On
 * the HTTP thread. */
void routes_handle(void *ctx, struct http_request *r);
/* Refuses the requests that wait while the operations thread hangs. On the HTTP thread. */
void routes_watch(void *ctx, struct http *h);
