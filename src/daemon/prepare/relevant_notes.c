/* Finds the words of a schedule, ranks its agent's notes by them, and picks the best and the newest. */
#include "daemon/prepare/relevant_notes.h"

#include "sys/clock.h"

/* Adds a text without its templates: {{ }} contains names of values, which do not say what the schedule is
 * about. */
static void add_plain(struct buf *out, struct str text)
{
	while (text.n) {
		const char *open = memmem(text.p, text.n, "{{", 2);
		size_t plain = open ? (size_t)(open - text.p) : text.n;
		buf_add(out, str_sub(text, 0, plain));
		buf_addc(out, ' ');
		text = str_from(text, plain);
		const char *close = text.n ? memmem(text.p, text.n, "}}", 2) : NULL;
		text = close ? str_from(text, (size_t)(close - text.p) + 2) : (struct str){ 0 };
	}
}

/* Writes the words to search for. Only the first READ_QUERY_WORDS are used, so name and tags come first. */
static void write_query(const struct schedule_doc *d, struct buf *out)
{
	add_plain(out, d->name.n ? d->name : d->id);
	for (unsigned i = 0; i < d->tags; i++)
		add_plain(out, d->tag[i]);
	add_plain(out, d->action.message);
	add_plain(out, d->description);
	add_plain(out, d->action.input);
}

struct picked {
	struct scope_note *note;
	unsigned n;
	size_t bytes;
};

/* Whether a note with the same text is picked already. */
static bool is_picked(const struct picked *t, struct str text)
{
	for (unsigned i = 0; i < t->n; i++)
		if (str_eq(t->note[i].row.text, text))
			return true;
	return false;
}

static void pick_notes(struct picked *t, const struct read_memories *list, unsigned most)
{
	for (unsigned i = 0; i < list->n && t->n < most; i++) {
		const struct read_memory *m = &list->item[i];
		size_t bytes = m->row.text.n + m->row.tags.n;
		if (t->bytes + bytes > RELEVANT_NOTES_BYTES || is_picked(t, m->row.text))
			continue;
		t->bytes += bytes;
		t->note[t->n++] = (struct scope_note){ m->row, m->schedule };
	}
}

/* E_BUSY: ranking took too long, or no time is left for it. */
static enum err rank_notes(struct reader *r, struct notes_pace *pace, struct str agent, struct str query,
			   struct arena *a, struct read_memories *ret, struct why *why)
{
	/* Reads more notes than are picked, because some may have the same text. */
	const unsigned most = 2 * RELEVANT_NOTES_MAX;
	struct boot from = clock_boot();
	if (from.us - pace->since.us >= USEC)
		*pace = (struct notes_pace){ .since = from };
	if (pace->spent >= RELEVANT_NOTES_MS_MAX * INT64_C(1000))
		return E_BUSY;
	enum err e = read_memories_about(r, agent, query, RELEVANT_NOTES_LEAST, most, a, ret, why);
	pace->spent += clock_boot().us - from.us;
	return e;
}

/* The agent's newest notes: those that were read with the attempt, if that was asked for this agent. */
static enum err find_newest(struct reader *r, const struct read_attempt *read, struct str agent,
			    struct arena *a, struct read_memories *ret, struct why *why)
{
	*ret = read->notes;
	return read->has_notes && str_eq(read->agent.name, agent)
		       ? OK
		       : read_memories(r, agent, 0, 0, RELEVANT_NOTES_NEWEST, a, ret, why);
}

enum err relevant_notes_find(struct reader *r, const struct read_attempt *read, struct notes_pace *pace,
			     struct arena *a, struct run_scope *s, struct why *why)
{
	_cleanup_(buf_free) struct buf query = { 0 };
	struct read_memories newest = { 0 }, best = { 0 };
	struct picked t = { .note = NULL };
	if (!s->doc->agent.n)
		return OK;
	enum err e = find_newest(r, read, s->doc->agent, a, &newest, why);
	if (e || !newest.n)
		return e;
	write_query(s->doc, &query);
	t.note = arena_alloc(a, RELEVANT_NOTES_MAX * sizeof *t.note);
	if (!t.note || query.failed)
		return E_NOMEM;
	e = rank_notes(r, pace, s->doc->agent, buf_str(&query), a, &best, why);
	if (e == E_BUSY)
		e = read_memories_with(r, s->doc->agent, buf_str(&query), 2 * RELEVANT_NOTES_MAX, a, &best,
				       why);
	if (e && e != E_BUSY)
		return e;
	pick_notes(&t, &best, RELEVANT_NOTES_MAX);
	pick_notes(&t, &newest, RELEVANT_NOTES_NEWEST);
	s->note = t.note;
	s->notes = t.n;
	return OK;
}
