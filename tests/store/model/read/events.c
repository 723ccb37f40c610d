/* The log of events. */
#include "model/read/inner.h"

static bool is_wanted(const struct event_row *e, const struct event_filter *f)
{
	return e->number > f->after && (!f->types || f->types >> e->type & 1) &&
	       (!f->sid || e->sid == f->sid);
}

/* The model searches all of the log for each answer. */
enum err model_read_events(struct reader *r, const struct event_filter *f, struct arena *a,
			   struct read_events *ret, struct why *why)
{
	const struct model *m = model_of(r);
	unsigned most = f->limit && f->limit < READ_LIST_MAX ? f->limit : READ_LIST_MAX;
	(void)why;
	*ret = (struct read_events){ .item = arena_alloc(a, most * sizeof *ret->item),
				     .searched = m->last_event,
				     .oldest = m->events ? m->event[0].row.number : m->last_event + 1,
				     .last = m->last_event };
	for (unsigned i = 0; i < m->events && ret->n < most; i++) {
		if (!is_wanted(&m->event[i].row, f))
			continue;
		ret->item[ret->n] = m->event[i].row;
		ret->item[ret->n].text = copy_text(a, m->event[i].row.text);
		ret->searched = ret->item[ret->n++].number;
	}
	if (ret->n < most)
		ret->searched = m->last_event;
	return OK;
}
