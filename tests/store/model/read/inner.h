#pragma once
/* What the files of the model's reader share. The model answers by looking at every row: no index, no
 * shortcut, so that its answers can be checked by reading. */
#include "model/inner.h"
#include "model/store.h"
#include "port/read.h"

struct model_reader {
	struct reader port; /* first: callers have a pointer to it */
	const struct model_store *store;
};

static inline const struct model *model_of(struct reader *r)
{
	return ((struct model_reader *)r)->store->model;
}

/* A text in the caller's arena; p NULL stays NULL. */
struct str copy_text(struct arena *a, struct str s);

/* Rows that belong to an answer, before they are sorted and cut to a page. */
struct row_set {
	const void **row;
	unsigned n, room;
};
void rows_add(struct row_set *s, const void *row);
void rows_free(struct row_set *s);
/* Sorts the rows and leaves the first `limit`, by the rules of port/read.h. True: there were more. */
bool rows_page(struct row_set *s, unsigned limit, int (*compare)(const void *a, const void *b));

/* Negative, 0 or positive, as memcmp. */
int compare_texts(struct str a, struct str b);
static inline int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* --- the operations --- */

read_sched_fn model_read_sched;
read_id_fn model_read_id;
read_document_of_fn model_read_document_of;
read_document_at_fn model_read_document_at;
read_sched_removed_fn model_read_sched_removed;
read_sched_named_fn model_read_sched_named;
read_scheds_fn model_read_scheds;
read_scheds_noted_fn model_read_scheds_noted;
read_scheds_from_fn model_read_scheds_from;
read_agent_fn model_read_agent;
read_agents_fn model_read_agents;
read_state_fn model_read_state;
read_memory_fn model_read_memory;
read_memories_fn model_read_memories;
read_memories_about_fn model_read_memories_about;
read_memories_with_fn model_read_memories_with;
read_run_fn model_read_run;
read_run_text_fn model_read_run_text;
read_runs_fn model_read_runs;
read_avoided_fn model_read_avoided;
read_ranges_fn model_read_ranges;
read_why_fn model_read_why;
read_problem_fn model_read_problem;
read_problems_fn model_read_problems;
read_holds_fn model_read_holds;
read_news_fn model_read_news;
read_message_fn model_read_message;
read_messages_of_fn model_read_messages_of;
read_messages_fn model_read_messages;
read_messages_due_fn model_read_messages_due;
read_message_next_fn model_read_message_next;
read_message_after_fn model_read_message_after;
read_receiver_gone_fn model_read_receiver_gone;
read_events_fn model_read_events;
read_attempt_fn model_read_attempt;
read_old_fn model_read_old;
read_old_run_fn model_read_old_run;
