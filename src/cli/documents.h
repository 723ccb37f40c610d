#pragma once
/* Reads documents from files, and checks documents before they are sent to the daemon, so that errors and
 * warnings can name file, line and column. Warnings are printed on standard error. */
#include "base/map.h"
#include "cli/call.h"

struct document_list {
	struct document {
		struct str id, text; /* text: canonical JSON */
		const char *file;
		unsigned line;
	} * item;
	unsigned n, room;
	struct map by_id; /* hashes of ids */
};

struct documents {
	struct document_list schedules, agents;
	bool may_be_empty; /* a directory without documents is not an error (--prune) */
};
/* Prints that further warnings were left out. */
void documents_warn_of_more(void);
void documents_free(struct documents *d); /* frees the lists; their texts are in the call's arena */

/* Appends the schedules and agents of a file. On failure why->at points into call->source, the text of
 * call->source_name. `listed`: the file was found in a directory; in that case an org file that is not an
 * agent is ignored. */
must_check enum err documents_read_file(struct cli_call *call, const char *path, bool listed,
					struct documents *into);
/* Does the same for a file, or for every *.yaml, *.yml, *.json and *.org of a directory in the order of their
 * names. Errors of files in a directory are printed on standard error, and the returned error counts them.
 * Ids of schedules and names of agents must be unique in all of the files. */
must_check enum err documents_read(struct cli_call *call, const char *path, struct documents *ret);

/* True for the file names *.yaml, *.yml, *.json and *.org that do not begin with a dot. */
bool documents_is_name(const char *name);

/* Checks an expression that a person has typed, with its condition; call->source is its text. *zone becomes
 * the default zone, with which it was read unless it names one. */
must_check enum err documents_check_expression(struct cli_call *call, struct str text,
					       struct default_zone *zone, struct when *ret);
/* Checks a document made of arguments; errors have no position. */
must_check enum err documents_check_text(struct cli_call *call, struct str text);
