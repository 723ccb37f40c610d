#pragma once
/* Documents of schedules as the API needs them: changed key by key, read from the store, resolved with their
 * agent, compared. Everything lives in the call's arena. */
#include "api/api.h"

/* Sets a key of a document, or removes it if the value is null. */
void document_set_key(struct api_call *call, struct val *map, const struct val_pair *pair);
/* Copies the document and fills in what it takes from its agent; see turn_resolve. */
must_check enum err document_resolve_agent(struct api_call *call, struct api *api,
					   const struct schedule_doc *d, struct schedule_doc *ret);
/* Reads a stored document, with its agent. */
must_check enum err document_read_stored(struct api_call *call, struct api *api, struct str document,
					 struct schedule_doc *ret);
/* Why a schedule cannot run: something that its document needs is missing; empty: nothing is. */
must_check enum err schedule_blocked(struct api_call *call, struct api *api, const struct read_sched *s,
				     struct str *ret);

/* A key in which two documents differ, with both values in JSON; an empty value: the key is not there. */
struct key_change {
	struct str key, from, to;
};
/* Compares two canonical texts; the first may be empty. Secrets are masked. */
must_check enum err document_diff(struct api_call *call, struct str was, struct str is,
				  struct key_change **ret, unsigned *n);

/* --- where documents come from --- */

/* The source of a schedule is the path of its file, "run SCHEDULE/RUN" if a run made it, or empty: the
 * command line. */
#define SOURCE_BY_RUN "run "
/* E_CONFLICT: `id` is in a file that still exists, and `from`, the source of the change, is not that file. */
must_check enum err source_check(struct api_call *call, const char *what, struct str id,
				 const struct source_row *old, struct str from);
/* Whether there is a file or a symbolic link, even one that leads nowhere, but not a directory. */
bool source_file_exists(struct str path);
