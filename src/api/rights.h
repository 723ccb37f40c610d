#pragma once
/* Who asks, and what they may. By the socket a person is the daemon's own user or root, and is the admin.
 * What descends from a run's shim, or shows a run's token, is that run, and may do what the table's rows
 * allow within a run, about itself only. Agents of the same user are no security boundary: this keeps honest
 * programs from doing what they were not asked to, and says so to them. */
#include "api/api.h"

/* The run that asks, in r's arena; NULL: a person. E_DENIED: nobody who may ask, and nobody is told what; a
 * token that is wrong or outdated is never taken for none. E_BUSY: it cannot be told now. */
must_check enum err rights_who(struct api *a, struct http_request *r, const struct run_row **ret,
			       struct why *why);
/* E_DENIED, with what is permitted instead. Sets what a run may leave out: whose state it means. */
must_check enum err rights_may(struct api_call *call, struct api *a);
