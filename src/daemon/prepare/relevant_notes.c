#include "daemon/prepare/relevant_notes.h"

#include "sys/clock.h"

/* A text without what stands in {{ }}: that is names, not what it is about. */
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

/* Only so many words are looked for: those that name it come first. */
static void write_matter(const struct schedule_doc *d, struct buf *out)
{
	add_plain(out, d->name.n ? d->name : d->id);
	for (unsigned i = 0; i < d->tags; i++)
		add_plain(out, d->tag[i]);
	add_plain(out, d->action.message);
	add_plain(out, d->description);
	add_plain(out, d->action.input);
}

struct taken {
	struct scope_note *note;
	unsigned n;
	size_t bytes;
};

/* The same text once, whoever wrote it again. */
static bool is_taken(const struct taken *t, struct str text)
{
	for (unsigned i = 0; i < t->n; i++)
		if (str_eq(t->note[i].row.text, text))
			return true;
	return false;
}

static void take(struct taken *t, const struct read_memories *list, unsigned most)
{
	for (unsigned i = 0; i < list->n && t->n < most; i++) {
		const struct read_memory *m = &list->item[i];
		size_t bytes = m->row.text.n + m->row.tags.n;
		if (t->bytes + bytes > RELEVANT_NOTES_BYTES || is_taken(t, m->row.text))
			continue;
		t->bytes += bytes;
		t->note[t->n++] = (struct scope_note){ m->row, m->schedule };
	}
}

/* E_BUSY: there is no time for it. */
static enum err rank(struct reader *r, struct notes_pace *pace, struct str agent, struct str matter,
		     struct arena *a, struct read_memories *ret, struct why *why)
{
	/* More than are taken: some may say the same. */
	const unsigned most = 2 * RELEVANT_NOTES_MAX;
	struct boot from = clock_boot();
	if (from.us - pace->since.us >= USEC)
		*pace = (struct notes_pace){ .since = from };
	if (pace->spent >= RELEVANT_NOTES_MS_MAX * INT64_C(1000))
		return E_BUSY;
	enum err e = read_memories_about(r, agent, matter, RELEVANT_NOTES_LEAST, most, a, ret, why);
	pace->spent += clock_boot().us - from.us;
	return e;
}

enum err relevant_notes(struct reader *r, struct notes_pace *pace, struct arena *a, struct run_scope *s,
			struct why *why)
{
	_cleanup_(buf_free) struct buf matter = { 0 };
	struct read_memories newest = { 0 }, best = { 0 };
	struct taken t = { .note = NULL };
	if (!s->doc->agent.n)
		return OK;
	enum err e = read_memories(r, s->doc->agent, 0, 0, RELEVANT_NOTES_NEWEST, a, &newest, why);
	if (e || !newest.n)
		return e;
	write_matter(s->doc, &matter);
	t.note = arena_alloc(a, RELEVANT_NOTES_MAX * sizeof *t.note);
	if (!t.note || matter.failed)
		return E_NOMEM;
	e = rank(r, pace, s->doc->agent, buf_str(&matter), a, &best, why);
	if (e == E_BUSY)
		e = read_memories_with(r, s->doc->agent, buf_str(&matter), 2 * RELEVANT_NOTES_MAX, a, &best,
				       why);
	if (e && e != E_BUSY)
		return e;
	take(&t, &best, RELEVANT_NOTES_MAX);
	take(&t, &newest, RELEVANT_NOTES_NEWEST);
	s->note = t.note;
	s->notes = t.n;
	return OK;
}
