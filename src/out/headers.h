#pragma once
/* The headers of a request: which are valid, and which may be sent to another origin. Pure. */
#include "out/out.h"

/* E_INPUT: a name or a value is not valid in HTTP, or the header is set by rota. */
must_check enum err headers_check(const struct out_request *r, struct why *why);
/* Whether a header may be sent to another origin: only those that are known not to be secret. */
bool header_is_harmless(struct str name);
bool headers_have(const struct out_request *r, struct str name);
