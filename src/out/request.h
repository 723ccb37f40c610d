#pragma once
/* Reads the JSON request of rota-out (port/out.h). Pure. */
#include "base/val.h"
#include "out/out.h"

/* `ret` points into `a` and `text`. No error contains a value of the request, which may be a secret. */
must_check enum err out_request_read(struct str text, struct arena *a, struct out_request *ret,
				     struct why *why);
