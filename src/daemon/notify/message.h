#pragma once
/* Messages: which targets get a message about a row of news, and its content. The body is one flat JSON map
 * whose `text` is a sentence for people, so that chat services accept it unchanged. */
#include "core/doc/config/notify.h"
#include "core/schedule/rules.h"
#include "port/read.h"

/* Kinds of messages beyond enum news_kind: tests, and digests of several messages. */
enum { MESSAGE_TEST = NEWS_KINDS, MESSAGE_DIGEST };

struct message_source {
	struct reader *reader;
	const char *runs; /* the directory of logs, for pings */
	const struct config_notify *config;
	const char *origin; /* the origin of the configuration: see notifier_config */
};

/* Room for STORE_MESSAGES_MAX; texts live in the arena. */
struct message_list {
	struct message_row *item;
	unsigned n;
	struct arena *arena;
};

/* --- compose.c --- */

/* Adds the messages about one row of news; none if there is no target, or if its subject no longer exists.
 * E_LIMIT: no room, nothing was added. E_IO, E_NOMEM: try again later. */
must_check enum err message_add_news(const struct message_source *s, const struct news_row *news,
				     struct message_list *list, struct why *why);
/* Adds a test message to each target of the configuration. */
must_check enum err message_add_test(const struct message_source *s, struct message_list *list);

/* --- digest.c --- */

/* Joins messages to one target in a digest if there are more than DIGEST_ABOVE. */
must_check enum err message_join_digests(struct message_list *list);

/* --- message.c --- */

/* "failed with exit code 3 after 2 attempts" */
void message_write_outcome(const struct run_row *run, struct buf *out);
/* "; `rota logs r7` shows …": where to find more about a failed run. */
void message_write_hint(const struct run_row *run, struct buf *out);

/* Reads the target of a message. `why` may be NULL. */
must_check enum err message_target(const struct message_row *m, struct arena *a, struct doc_target *ret,
				   struct why *why);
/* Writes the name of the receiver for people, without secrets: see target_write_name. */
void message_receiver_name(const struct message_row *m, struct buf *out);
/* "run.failed" */
const char *message_kind_word(unsigned kind);
extern const char *const message_state_words[MESSAGE_STATES];

/* The result of a message whose receiver is gone. */
#define RESULT_GONE "not sent: the receiver has answered 410 Gone before"
