#pragma once
/* Masks the secrets of a run in the requests that it sends: in all arguments, and in the body, whatever the
 * operation is. So handlers need not know about secrets. */
#include "api/api.h"

/* To be called after the arguments have been read. Does nothing if the caller is a person. E_DENIED, E_BUSY:
 * the secrets of the run are not known now, so the request is refused. */
must_check enum err masking_apply(struct api_call *call, struct api *a);
/* Masks the reports of a run that is alive; of other runs the shim has masked them. */
struct report;
void masking_reports(struct api_call *call, struct api *a, const struct run_row *run, struct report *list,
		     unsigned n);
