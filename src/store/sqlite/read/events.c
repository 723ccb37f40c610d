/* Reads the log of events. A row may have several events, which follow each other. */
#include "store/event_cause.h"
#include "store/sqlite/read/query.h"

/* The question, and the answer as far as it is known. */
struct search {
	const struct event_filter *filter;
	unsigned limit;
	struct arena *arena;
	struct read_events found;
};

static bool is_full(const struct search *q)
{
	return q->found.n == q->limit;
}

/* Adds the events of a row that the filter wants. */
static void add_events(struct search *q, const struct event_row *row, unsigned cause)
{
	uint8_t type[EVENTS_OF_CAUSE_MAX];
	unsigned n = event_cause_types(cause, type);
	for (unsigned i = 0; i < n && !is_full(q); i++) {
		bool wanted = !q->filter->types || q->filter->types >> type[i] & 1;
		if (row->number + i <= q->filter->after || !wanted)
			continue;
		struct event_row *to = &q->found.item[q->found.n++];
		*to = *row;
		to->number += i;
		to->type = type[i];
	}
}

/* Searches the rows with numbers from `from` to `upto`. */
static int search_rows(struct sqlite_reader *r, struct search *q, int64_t from, int64_t upto)
{
	sqlite3_stmt *s = r->stmt[READ_EVENTS];
	int rc = SQLITE_ROW;
	/* Each row has an event that is wanted, except for the first ones, which may end before `after`. */
	DB_BIND(s, from, upto, (int64_t)event_causes_with(q->filter->types), (int64_t)q->filter->sid,
		q->limit + EVENTS_OF_CAUSE_MAX);
	while (!is_full(q) && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct event_row row = { 0 };
		unsigned cause;
		if (!event_row_read(s, 0, &row, &cause))
			return db_leave(s, ROW_INVALID);
		if (!query_copy_text(q->arena, &row.text))
			return db_leave(s, SQLITE_NOMEM);
		add_events(q, &row, cause);
	}
	return db_looked(db_leave(s, rc));
}

static int find_number(struct sqlite_reader *r, enum read_statement which, bool *found, int64_t *ret)
{
	return db_first_number(r->stmt[which], SQLITE_OK, found, ret);
}

/* The oldest and the newest number. */
static int read_bounds(struct sqlite_reader *r, struct search *q)
{
	sqlite3_stmt *s = r->stmt[READ_EVENT_LAST];
	int64_t oldest = 0;
	bool found = false;
	int rc = sqlite3_step(s);
	q->found.last = rc == SQLITE_ROW ? last_event_read(s) : 0;
	rc = db_looked(db_leave(s, rc));
	if (rc == SQLITE_OK)
		rc = find_number(r, READ_EVENT_OLDEST, &found, &oldest);
	q->found.oldest = found ? (uint64_t)oldest : q->found.last + 1;
	return rc;
}

static int search_events(struct sqlite_reader *r, struct search *q)
{
	const struct event_filter *f = q->filter;
	struct read_events *found = &q->found;
	int64_t from = 0;
	bool any = false;
	int rc = read_bounds(r, q);
	if (rc != SQLITE_OK || f->after >= found->last) {
		found->searched = found->last;
		return rc;
	}
	DB_BIND(r->stmt[READ_EVENT_FIRST], (int64_t)f->after);
	rc = find_number(r, READ_EVENT_FIRST, &any, &from);
	uint64_t upto = (uint64_t)from + READ_EVENTS_SEARCH;
	if (rc == SQLITE_OK && any)
		rc = search_rows(r, q, from, (int64_t)upto);
	if (is_full(q))
		found->searched = found->item[found->n - 1].number;
	else
		found->searched = any && upto < found->last ? upto : found->last;
	if (found->n && found->item[found->n - 1].number > found->searched)
		found->searched = found->item[found->n - 1].number;
	return rc;
}

enum err sqlite_read_events(struct reader *reader, const struct event_filter *f, struct arena *a,
			    struct read_events *ret, struct why *why)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	struct search q = { .filter = f, .limit = list_limit(f->limit), .arena = a };
	q.found.item = arena_alloc(a, q.limit * sizeof *q.found.item);
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = q.found.item ? search_events(r, &q) : SQLITE_NOMEM;
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = q.found;
	return e;
}
