#pragma once
/* News to notices: who is told of something, and in which words. A message is one flat map of JSON, whose
 * `text` is for people, so that it can be sent to a chat as it is. */
#include "core/doc/config/notify.h"
#include "core/schedule/rules.h"
#include "store/sqlite/read/reader.h"

/* Kinds of notices beyond enum news_kind: what nothing happened for, and many of them in one. */
enum { MESSAGE_TEST = NEWS_KINDS, MESSAGE_DIGEST };

struct message_source {
	struct reader *reader;
	const char *runs; /* where pings find what a run printed */
	const struct config_notify *config;
	const char *origin; /* of the configuration: changes when it does */
};

/* Room for STORE_MESSAGES_MAX; texts live in the arena. */
struct message_list {
	struct message_row *item;
	unsigned n;
	struct arena *arena;
};

/* Adds those of one row of news; nothing where nobody is told, or what it is about is gone. E_LIMIT: they
 * have no room, and nothing was added. E_IO, E_NOMEM: not now. */
must_check enum err message_add(const struct message_source *s, const struct news_row *news,
				struct message_list *list, struct why *why);
/* One to each target of the configuration, for nothing but to see whether it comes. */
must_check enum err message_add_test(const struct message_source *s, struct message_list *list);
/* Where more than MESSAGES_ALONE go to one target, they become parts of one. */
must_check enum err message_join(struct message_list *list);

/* Where to look for more about a run that failed: "; `rota …`". */
void message_where(const struct run_row *run, struct buf *out);

/* Its receiver; why may be NULL. */
must_check enum err message_target(const struct message_row *n, struct arena *a, struct doc_target *ret,
				   struct why *why);
/* Whom it goes to, as target_write_name has it. */
void message_receiver(const struct message_row *n, struct buf *out);
/* "run.failed"; of a notice's kind. */
const char *message_word(unsigned kind);
extern const char *const message_state_words[MESSAGE_STATES];
