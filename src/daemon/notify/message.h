#pragma once
/* News to notices: who is told of something, and in which words. A message is one flat map of JSON, whose
 * `text` is for people, so that it can be sent to a chat as it is. */
#include "core/doc/notify.h"
#include "core/schedule/rules.h"
#include "store/sqlite/read/read.h"

/* Kinds of notices beyond enum tell: what nothing happened for, and many of them in one. */
enum { NOTICE_TEST = TELLS, NOTICE_DIGEST };

struct notice_source {
	struct reader *reader;
	const char *runs; /* where pings find what a run printed */
	const struct config_notify *config;
	const char *origin; /* of the configuration: changes when it does */
};

/* Room for STORE_TELL_MAX; texts live in the arena. */
struct notice_list {
	struct notice_row *item;
	unsigned n;
	struct arena *arena;
};

/* Adds those of one row of news; nothing where nobody is told, or what it is about is gone. E_LIMIT: they
 * have no room, and nothing was added. E_IO, E_NOMEM: not now. */
must_check enum err notice_add(const struct notice_source *s, const struct news_row *news,
			       struct notice_list *list, struct why *why);
/* One to each target of the configuration, for nothing but to see whether it comes. */
must_check enum err notice_add_test(const struct notice_source *s, struct notice_list *list);
/* Where more than NOTICES_ALONE go to one target, they become parts of one. */
must_check enum err notice_join(struct notice_list *list);

/* Where to look for more about a run that failed: "; `rota …`". */
void notice_where(const struct run_row *run, struct buf *out);

/* Its receiver; why may be NULL. */
must_check enum err notice_target(const struct notice_row *n, struct arena *a, struct doc_target *ret,
				  struct why *why);
/* Whom it goes to, as notify_name has it. */
void notice_receiver(const struct notice_row *n, struct buf *out);
/* "run.failed"; of a notice's kind. */
const char *notice_word(unsigned kind);
extern const char *const notice_state_words[NOTICE_STATES];
