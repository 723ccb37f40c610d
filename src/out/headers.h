#pragma once
/* The headers of a request: which may be asked for, and which are sent where. Pure. */
#include "out/out.h"

/* E_INPUT: a name or a value that HTTP does not have, or one that is ours to set. */
must_check enum err headers_check(const struct out_request *r, struct why *why);
/* Whether a header goes with a redirect to another origin: only those that are known to hold no secret. */
bool header_is_harmless(struct str name);
/* True: the request has a header of that name. */
bool headers_have(const struct out_request *r, struct str name);
