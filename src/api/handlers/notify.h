#pragma once
/* Who is told by the configuration, whether it works, and what came of what was told. */
#include "api/api.h"
#include "store/sqlite/read/reader.h"

struct schedule_doc;

/* A notice as JSON: to whom, how often it was tried, what came of it. One that was joined tells of the whole.
 */
void tell_notice(struct buf *out, struct reader *r, const struct message_row *n);
/* A list of those of a run; ,"notices":[…] */
must_check enum err tell_notices_of(struct api_call *call, struct api *api, uint64_t run);
/* The names of those who are told when a schedule fails, as a JSON list. */
void tell_notified(struct buf *out, struct api_call *call, struct api *api, const struct schedule_doc *d);
/* "ok", or which program is missing that the configuration needs: see `rota doctor`. */
const char *notify_missing(struct api_call *call, struct api *api);
