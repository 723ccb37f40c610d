#pragma once
/* Who the caller is, and what it may request.
 *
 *   caller                               may request
 *   ------------------------------------------------------------------------------------------------------
 *   another user                         nothing (routes.c)
 *   a person: the daemon's own user or   every operation. Each row of the table names the least role that
 *   root, outside of runs                may request it (enum op_role), but everybody who can use the
 *                                        socket is an admin
 *   a hook, a process that delivers a    nothing
 *   message, or whose shim was killed
 *   a run                                by `within` of the row (enum op_within):
 *     WITHIN_NOT                           nothing
 *     WITHIN_OWN_RUN                       operations whose argument `run` is the run itself
 *     WITHIN_OWN_AGENT                     operations on its own agent's state and memory, and reading the
 *                                          user's profile
 *     WITHIN_GRANTED                       to add, edit and remove schedules as its own schedule grants it
 *                                          (grants.h)
 *
 * A caller is a run if it is a descendant of that run's shim, or if it sends the run's token. Agents that run
 * as the same user are not a security boundary: these checks keep honest programs from doing what they were
 * not asked to do, and tell them why a request is refused. */
#include "api/api.h"

/* Judges a request by its headers, before its body is read: refuses tokens that are not valid, and operations
 * that no run may request. Reads no file, so it may be called on the HTTP thread; what needs the store or a
 * run file is judged by the functions below. `op` may be NULL. */
must_check enum err rights_check_headers(struct api *a, const struct http_request *r, const struct op *op,
					 struct why *why);
/* The run that sent the request, in r's arena; NULL: a person. E_DENIED: the caller is not allowed to request
 * anything. A wrong or outdated token is always an error, even if the caller would be a person without it.
 * E_BUSY: the caller could not be identified now. */
must_check enum err rights_identify(struct api *a, struct http_request *r, const struct run_row **ret,
				    struct why *why);
/* Judges by the operation and the arguments of the path alone. E_DENIED: the caller may not request the
 * operation; call->why says what it may. */
must_check enum err rights_check_operation(struct api_call *call, struct api *a);
/* Judges by all arguments, likewise. For a run that leaves the argument `agent` out, sets it to the run's own
 * agent. */
must_check enum err rights_check_arguments(struct api_call *call, struct api *a);
