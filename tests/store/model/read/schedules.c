/* Schedules and their documents. */
#include "model/read/inner.h"

static struct read_sched answer_of(const struct model_sched *s, struct arena *a)
{
	struct read_sched ret = { .row = s->row,
				  .put_at = s->put_at,
				  .dropped = s->dropped ? s->dropped_at : WALL_NEVER,
				  .id = copy_text(a, s->id),
				  .document = copy_text(a, s->document),
				  .source = { copy_text(a, s->source.from), s->source.line },
				  .note = copy_text(a, s->note) };
	for (unsigned i = 0; i < s->ranges; i++)
		if (same_wall(s->range[i].last, WALL_NEVER)) {
			ret.open = true;
			ret.range = s->range[i];
		}
	return ret;
}

enum err model_read_sched(struct reader *r, uint64_t sid, struct arena *a, struct read_sched *ret,
			  struct why *why)
{
	const struct model_sched *s = find_sched(model_of(r), sid);
	if (!s)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no such schedule");
	*ret = answer_of(s, a);
	return OK;
}

enum err model_read_id(struct reader *r, uint64_t sid, struct arena *a, struct str *ret, struct why *why)
{
	const struct model_sched *s = find_sched(model_of(r), sid);
	(void)why;
	*ret = s ? copy_text(a, s->id) : (struct str){ 0 };
	return OK;
}

/* The oldest replaced version whose last rev is this one or later; if there is none, the current document. */
enum err model_read_document_of(struct reader *r, uint64_t sid, uint32_t rev, struct arena *a,
				struct str *ret, struct why *why)
{
	const struct model_sched *s = find_sched(model_of(r), sid);
	struct str text = s ? s->document : (struct str){ 0 };
	uint32_t of = UINT32_MAX;
	for (unsigned i = 0; s && i < s->versions; i++)
		if (s->version[i].rev >= rev && s->version[i].rev < of) {
			of = s->version[i].rev;
			text = s->version[i].text.p ? s->version[i].text : s->document;
		}
	if (!text.p)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no such document");
	*ret = copy_text(a, text);
	return OK;
}

enum err model_read_document_at(struct reader *r, uint64_t sid, struct wall at, struct arena *a,
				struct str *ret, struct why *why)
{
	const struct model_sched *s = find_sched(model_of(r), sid);
	uint32_t rev = UINT32_MAX;
	for (unsigned i = 0; s && i < s->versions; i++)
		if (s->version[i].at.us >= at.us && s->version[i].rev < rev)
			rev = s->version[i].rev;
	return model_read_document_of(r, sid, rev, a, ret, why);
}

enum err model_read_sched_removed(struct reader *r, struct str id, struct arena *a, struct read_sched *ret,
				  struct why *why)
{
	const struct model *m = model_of(r);
	const struct model_sched *last = NULL;
	for (unsigned i = 0; i < m->scheds; i++) {
		const struct model_sched *s = &m->sched[i];
		if (s->dropped && s->id.p && str_eq(s->id, id) && (!last || s->row.sid > last->row.sid))
			last = s;
	}
	if (!last)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there never was a schedule '%.*s'",
			       STR_SHORT(id));
	*ret = answer_of(last, a);
	return OK;
}

/* --- lists --- */

static int by_id(const void *a, const void *b)
{
	const struct model_sched *x = *(const struct model_sched *const *)a,
				 *y = *(const struct model_sched *const *)b;
	return compare_texts(x->id, y->id);
}

static int by_source(const void *a, const void *b)
{
	const struct model_sched *x = *(const struct model_sched *const *)a,
				 *y = *(const struct model_sched *const *)b;
	int order = compare_texts(x->source.from, y->source.from);
	return order ? order : by_id(a, b);
}

enum err model_read_sched_named(struct reader *r, struct str text, struct arena *a, struct read_match *ret,
				struct why *why)
{
	const struct model *m = model_of(r);
	struct row_set found = { 0 };
	struct read_match match = { 0 };
	for (unsigned i = 0; i < m->scheds && text.n; i++) {
		const struct model_sched *s = &m->sched[i];
		if (!s->dropped && s->id.p && str_eq(s->id, text)) {
			found.n = 0;
			rows_add(&found, s);
			break;
		}
		if (!s->dropped && s->id.p && str_starts(s->id, text))
			rows_add(&found, s);
	}
	match.more = rows_page(&found, READ_CANDIDATES_MAX, by_id);
	match.n = found.n;
	for (unsigned i = 0; i < found.n; i++)
		match.id[i] = copy_text(a, ((const struct model_sched *)found.row[i])->id);
	if (match.n == 1)
		match.sched = answer_of(found.row[0], a);
	rows_free(&found);
	if (!match.n)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no schedule '%.*s'", STR_SHORT(text));
	*ret = match;
	return OK;
}

static enum err answer_page(struct row_set *found, unsigned limit,
			    int (*compare)(const void *a, const void *b), struct arena *a,
			    struct read_scheds *ret)
{
	size_t bytes = 0;
	ret->more = rows_page(found, limit, compare);
	ret->item = arena_alloc(a, (found->n + 1) * sizeof *ret->item);
	for (ret->n = 0; ret->n < found->n; ret->n++) {
		const struct model_sched *s = found->row[ret->n];
		bytes += s->document.n;
		if (ret->n && bytes > READ_BYTES_MAX) {
			ret->more = true;
			break;
		}
		ret->item[ret->n] = answer_of(s, a);
	}
	rows_free(found);
	return OK;
}

static enum err list_by_id(struct reader *r, bool noted, struct str after, unsigned limit, struct arena *a,
			   struct read_scheds *ret)
{
	const struct model *m = model_of(r);
	struct row_set found = { 0 };
	for (unsigned i = 0; i < m->scheds; i++) {
		const struct model_sched *s = &m->sched[i];
		if (!s->dropped && s->id.p && compare_texts(s->id, after) > 0 && (!noted || s->note.p))
			rows_add(&found, s);
	}
	return answer_page(&found, limit, by_id, a, ret);
}

enum err model_read_scheds(struct reader *r, struct str after, unsigned limit, struct arena *a,
			   struct read_scheds *ret, struct why *why)
{
	(void)why;
	return list_by_id(r, false, after, limit, a, ret);
}

enum err model_read_scheds_noted(struct reader *r, struct str after, unsigned limit, struct arena *a,
				 struct read_scheds *ret, struct why *why)
{
	(void)why;
	return list_by_id(r, true, after, limit, a, ret);
}

static bool is_from(struct str source, struct str from)
{
	bool below = from.n && from.p[from.n - 1] == '/';
	return source.n && (below ? str_starts(source, from) : str_eq(source, from));
}

enum err model_read_scheds_from(struct reader *r, struct str from, const struct read_sched *after,
				unsigned limit, struct arena *a, struct read_scheds *ret, struct why *why)
{
	const struct model *m = model_of(r);
	struct row_set found = { 0 };
	(void)why;
	for (unsigned i = 0; i < m->scheds; i++) {
		const struct model_sched *s = &m->sched[i];
		int order = after ? compare_texts(s->source.from, after->source.from) : 1;
		bool later = order > 0 || (order == 0 && compare_texts(s->id, after->id) > 0);
		if (!s->dropped && s->id.p && later && is_from(s->source.from, from))
			rows_add(&found, s);
	}
	return answer_page(&found, limit, by_source, a, ret);
}
