#pragma once
/* A request as rota-out reads it: the JSON of port/out.h. Pure. */
#include "base/val.h"
#include "out/out.h"

/* What `ret` points to is in `a` or in `text`. No error has a value of the request in it. */
must_check enum err out_request_read(struct str text, struct arena *a, struct out_request *ret,
				     struct why *why);
