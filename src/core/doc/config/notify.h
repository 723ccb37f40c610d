#pragma once
/* Who is told, in documents and in the configuration: targets and their keys. Pure. */
#include "core/doc/doc.h"
#include "core/doc/keys.h"

/* What the targets of the configuration hear of. */
enum notify_event {
	NOTIFY_SUCCESS,
	NOTIFY_FAILURE,
	NOTIFY_MISSED,
	NOTIFY_RECOVERED,
	NOTIFY_PROBLEM,
	NOTIFY_EVENTS
};
extern const char *const notify_event_words[NOTIFY_EVENTS + 1]; /* ends with NULL */

struct config_notify {
	unsigned events; /* bits, 1 << enum notify_event */
	struct doc_target *to;
	unsigned targets;
};

must_check enum err notify_read_targets(struct key_reader *r, const struct val *list, struct doc_target **ret,
					unsigned *n);
/* As JSON, with its secret; of several, nothing if there are none. */
void notify_write_target(const struct doc_target *t, struct buf *out);
void notify_write_targets(const struct doc_target *to, unsigned n, struct buf *out);

/* {events: [failure, problem], to: [{type: webhook, url: …}, …]} */
must_check enum err notify_read(struct key_reader *r, const struct val *map, struct config_notify *ret);
void notify_write(const struct config_notify *n, struct buf *out);
/* The same for people to see, by their names alone. */
void notify_show(const struct config_notify *n, struct buf *out);
/* "webhook at https://example.org", "command mail", "desktop": no path, no arguments, no secret. */
void notify_name(const struct doc_target *t, struct buf *out);
/* Of an address: up to its host. */
struct str notify_host(struct str url);

/* What a document as the store has it says of who is told. `ping` has no text where it says nothing. */
must_check enum err notify_read_document(struct str document, struct arena *a, struct doc_notification *ret,
					 struct str *ping, struct why *why);
