#pragma once
/* A schedule that is added or changed: its document is read, compared with the stored one, and sent to the
 * engine. For add, edit and apply. Everything lives in the call's arena. */
#include "api/documents.h"

struct schedule_change {
	struct schedule_doc doc;
	struct str text; /* canonical */
	const struct doc_warning *warning;
	unsigned warnings;
	struct source_row source; /* where the document comes from; from.p NULL: stays as it is */
	bool exists;              /* there is a schedule with this id */
	struct read_sched old;    /* the existing schedule, if `exists` is true */
	bool bulk;                /* one of many: requests of other callers are carried out first */
};

/* Reads one document, a map inside call->source. `fresh`: as in doc_env. */
must_check enum err schedule_change_read(struct api_call *call, struct api *api, const struct val *document,
					 bool fresh, struct schedule_change *ret);
/* The same for a new schedule whose expression, if it names no zone, is read in `zone`; empty: in the zone of
 * the configuration. */
must_check enum err schedule_change_read_in(struct api_call *call, struct api *api,
					    const struct val *document, struct str zone,
					    struct schedule_change *ret);
/* Looks up the schedule with the id of the document: sets `exists` and `old`. */
must_check enum err schedule_change_find(struct api_call *call, struct api *api, struct schedule_change *c);
/* Whether the schedule exists and has exactly this document. */
bool schedule_change_is_none(const struct schedule_change *c);
/* E_INPUT: the schedule would follow itself by way of schedules in the store. A new schedule cannot follow
 * itself, because it has no followers yet. */
must_check enum err schedule_change_check_leaders(struct api_call *call, struct api *api,
						  const struct schedule_change *c);
/* Replaces *s, a schedule that follows another, by the schedule it follows. If that one was pruned,
 * row.after becomes 0. *steps counts the calls, up to FOLLOW_CHAIN_MAX. */
must_check enum err schedule_find_leader(struct api_call *call, struct api *api, struct read_sched *s,
					 unsigned *steps);
/* Sends the change to the engine and defers the call. E_NOTFOUND: the schedule to be followed does not exist.
 */
must_check enum err schedule_change_send(struct api_call *call, struct api *api,
					 const struct schedule_change *c, api_command_fn *then);
/* Writes the schedule as the caller gets it, with its next three runs: {"id":…,"result":…}. */
must_check enum err schedule_change_write_json(struct api_call *call, struct api *api,
					       const struct schedule_change *c, const char *result);
