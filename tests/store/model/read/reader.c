/* The model behind port/read.h: its table, and pages. */
#include "model/read/inner.h"

struct str copy_text(struct arena *a, struct str s)
{
	return (struct str){ s.p ? arena_dup(a, s) : NULL, s.n };
}

/* --- pages --- */

void rows_add(struct row_set *s, const void *row)
{
	ADD_ROOM(s->row, s->room, s->n);
	s->row[s->n++] = row;
}

void rows_free(struct row_set *s)
{
	free(s->row);
}

bool rows_page(struct row_set *s, unsigned limit, int (*compare)(const void *a, const void *b))
{
	unsigned most = limit && limit < READ_LIST_MAX ? limit : READ_LIST_MAX;
	if (s->n)
		qsort(s->row, s->n, sizeof *s->row, compare);
	bool more = s->n > most;
	s->n = more ? most : s->n;
	return more;
}

int compare_texts(struct str a, struct str b)
{
	int order = memcmp(a.p ? a.p : "", b.p ? b.p : "", a.n < b.n ? a.n : b.n);
	return order ? order : compare_numbers(a.n, b.n);
}

/* --- the table --- */

static void close_reader(struct reader *r)
{
	free(r);
}

static const struct read_ops operations = {
	.close = close_reader,
	.sched = model_read_sched,
	.id = model_read_id,
	.document_of = model_read_document_of,
	.document_at = model_read_document_at,
	.sched_removed = model_read_sched_removed,
	.sched_named = model_read_sched_named,
	.scheds = model_read_scheds,
	.scheds_noted = model_read_scheds_noted,
	.scheds_from = model_read_scheds_from,
	.agent = model_read_agent,
	.agents = model_read_agents,
	.state = model_read_state,
	.memory = model_read_memory,
	.memories = model_read_memories,
	.memories_about = model_read_memories_about,
	.memories_with = model_read_memories_with,
	.run = model_read_run,
	.run_text = model_read_run_text,
	.runs = model_read_runs,
	.avoided = model_read_avoided,
	.ranges = model_read_ranges,
	.why = model_read_why,
	.problem = model_read_problem,
	.problems = model_read_problems,
	.holds = model_read_holds,
	.news = model_read_news,
	.message = model_read_message,
	.messages_of = model_read_messages_of,
	.messages = model_read_messages,
	.messages_due = model_read_messages_due,
	.message_next = model_read_message_next,
	.message_after = model_read_message_after,
	.receiver_gone = model_read_receiver_gone,
	.events = model_read_events,
	.attempt = model_read_attempt,
	.old = model_read_old,
	.old_run = model_read_old_run,
};

enum err model_store_reader(void *store, struct reader **ret, struct why *why)
{
	struct model_reader *r = must_realloc(NULL, sizeof *r);
	(void)why;
	*r = (struct model_reader){ .port.ops = &operations, .store = store };
	*ret = &r->port;
	return OK;
}
