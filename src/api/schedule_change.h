#pragma once
/* One schedule on its way into the store: read, compared with what is there, sent to the engine. What add,
 * edit and apply have in common on the daemon's side. Everything lives in the call's arena. */
#include "api/api.h"

struct put {
	struct schedule_doc doc;
	struct str text; /* canonical */
	const struct doc_warning *warning;
	unsigned warnings;
	struct source_row source; /* where it stands; from.p NULL: not said */
	bool exists;              /* a living schedule has this id: … */
	struct read_sched old;    /* … this one */
	bool bulk;                /* one of many: others go before it */
};

/* Reads one document, a map; call->source is what its places count in. `fresh`: as doc_env says. */
must_check enum err put_read(struct api_call *call, struct api *api, const struct val *document, bool fresh,
			     struct put *ret);
/* Sets a key of a document, or removes it: a null. */
void put_key(struct api_call *call, struct val *map, const struct val_pair *pair);
/* What a run made comes from "run SCHEDULE/RUN", where a file's comes from its path. */
#define PUT_BY_RUN "run "
/* Looks whether there is such a schedule. */
must_check enum err put_look(struct api_call *call, struct api *api, struct put *p);
/* Refuses to change what a file has from anywhere but that file; `from`: where it is to stand, empty for the
 * command line. A file that is there no more has nothing. */
must_check enum err put_check_source(struct api_call *call, const char *what, struct str id,
				     const struct source_row *old, struct str from);
/* Is there a file, or a link, be it one that leads nowhere now? A directory in its place is none. */
bool put_file_is_there(struct str path);
/* It is there, and as it should be. */
bool put_same(const struct put *p);
/* Refuses one that would follow itself, by the leaders that are in the store. One that is new has no
 * followers. */
must_check enum err put_check_line(struct api_call *call, struct api *api, const struct put *p);
/* *ret follows another, and becomes that one; one of which nothing is known any more ends the line. *steps
 * counts them, to FOLLOW_CHAIN_MAX. */
must_check enum err put_follow(struct api_call *call, struct api *api, struct read_sched *ret,
			       unsigned *steps);
/* Puts the call off until the engine has answered. E_NOTFOUND: it follows a schedule that is not there. */
must_check enum err put_order(struct api_call *call, struct api *api, const struct put *p, api_then *then);

/* The same document with what its agent says where it says nothing; see turn_resolve. */
must_check enum err put_settle(struct api_call *call, struct api *api, const struct schedule_doc *d,
			       struct schedule_doc *ret);
/* What a stored document says, with its agent. */
must_check enum err put_stored(struct api_call *call, struct api *api, struct str document,
			       struct schedule_doc *ret);
/* What keeps the schedule from running, of what its document needs; empty: nothing. */
must_check enum err put_blocked(struct api_call *call, struct api *api, const struct read_sched *s,
				struct str *ret);

/* A key of the documents that differs, with both values in JSON; an empty one: it is not there. */
struct put_change {
	struct str key, from, to;
};
/* Between two canonical texts; the first may be empty. */
must_check enum err put_changes(struct api_call *call, struct str was, struct str is, struct put_change **ret,
				unsigned *n);

/* Everything that matters of the schedule, and the next three runs: {"id":…,"result":…}. */
must_check enum err put_tell(struct api_call *call, struct api *api, const struct put *p, const char *result);
