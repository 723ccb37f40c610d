#pragma once
/* Changes documents of schedules key by key, reads them from the store, resolves them with their agent, and
 * compares them. All results live in the call's arena. */
#include "api/api.h"

/* Sets a key of a document, or removes it if the value is null. */
void document_set_key(struct api_call *call, struct val *map, const struct val_pair *pair);
/* Copies the document and fills in the values that come from its agent; see turn_resolve. */
must_check enum err document_resolve_agent(struct api_call *call, struct api *api,
					   const struct schedule_doc *d, struct schedule_doc *ret);
/* Reads a stored document, with its agent. */
must_check enum err document_read_stored(struct api_call *call, struct api *api, struct str document,
					 struct schedule_doc *ret);
/* The reason why a schedule cannot run: the thing that its document needs and that is missing. Empty: nothing
 * is missing. */
must_check enum err schedule_blocked(struct api_call *call, struct api *api, const struct read_sched *s,
				     struct str *ret);

/* A key in which two documents differ, with both values in JSON; an empty value: the document does not have
 * the key. */
struct key_change {
	struct str key, from, to;
};
/* Compares two canonical texts; the first may be empty. Secrets are masked. */
must_check enum err document_diff(struct api_call *call, struct str was, struct str is,
				  struct key_change **ret, unsigned *n);

/* --- where documents come from --- */

/* The source of a schedule is the path of its file, "run SCHEDULE/RUN" if a run made it, or empty: the
 * command line. */
/* E_CONFLICT: `id` is defined in a file that still exists, and the change comes from elsewhere (`from`). */
must_check enum err source_check(struct api_call *call, const char *what, struct str id,
				 const struct source_row *old, struct str from);
/* Whether the path is a file or a symbolic link, even a dangling one; false for a directory. */
bool source_file_exists(struct str path);
