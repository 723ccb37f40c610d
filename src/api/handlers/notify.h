#pragma once
/* The targets of notifications, and the messages that were sent to them. */
#include "api/api.h"

struct schedule_doc;

/* Adds ,"messages":[…] with the messages about a run. */
must_check enum err messages_write_run(struct api_call *call, struct api *api, uint64_t run);
/* Writes the names of the targets that get a message when the schedule fails, as a JSON list. */
void notify_write_names(struct buf *out, struct api_call *call, struct api *api,
			const struct schedule_doc *d);
/* A program that a target needs and that is missing: "notify-send"; NULL: none is. */
const char *notify_missing(struct api_call *call, struct api *api);
