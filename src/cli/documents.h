#pragma once
/* Documents on the command line's side: read from files, checked before anything is asked of the daemon, so
 * that what is wrong is told with its file, line and column, and so is what is only doubtful: on standard
 * error. */
#include "base/map.h"
#include "cli/call.h"

struct docs_list {
	struct docs_item {
		struct str id, text; /* canonical */
		const char *file;
		unsigned line; /* in it */
	} * item;
	unsigned n, room;
	struct map by_id; /* hashes of ids */
};

struct docs {
	struct docs_list schedules, agents;
	bool may_be_empty; /* a directory without documents is no mistake: what came from it goes */
};
/* Says so, after as many as are told. */
void docs_more_warnings(void);
void docs_free(struct docs *d); /* what is not in the call's arena */

/* Appends the schedules and agents of a file. On failure call->source and source_name say where why->at
 * points. `found`: nobody named it, it is in a directory of documents; an org file that is no agent is left
 * alone then. */
must_check enum err docs_file(struct cli_call *call, const char *path, bool found, struct docs *into);
/* The same of every *.yaml, *.yml, *.json and *.org of a directory, by name. All that is refused is told on
 * standard error; the error is that something was. One id may be there once, in all of the files, and so may
 * an agent's name. */
must_check enum err docs_path(struct cli_call *call, const char *path, struct docs *ret);

/* Is this the name of a file of documents? Hidden ones are not. */
bool docs_is_document(const char *name);

/* An expression alone; its errors have a place in it. */
must_check enum err docs_check_expression(struct cli_call *call, struct str text);
/* A document that was made of arguments, so that its errors have no place. */
must_check enum err docs_check_text(struct cli_call *call, struct str text);
