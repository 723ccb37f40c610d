/* Changes of a headline as a list of replacements, and the text with them. */
#include "core/org/edit.h"
#include "core/org/element.h"
#include "core/org/line.h"

#include <stdlib.h>

struct edit {
	const struct org *org;
	const struct org_head *head;
	struct arena *arena;
	struct org_patch *patch;
	unsigned n;
	bool ended;  /* the last line of the file got its missing line end */
	bool failed; /* out of memory */
};

static void replace(struct edit *e, struct org_span span, struct str text)
{
	struct org_patch *all = arena_grow(e->arena, e->patch, e->n, sizeof *all);
	if (!all) {
		e->failed = true;
		return;
	}
	e->patch = all;
	e->patch[e->n++] = (struct org_patch){ span, text };
}

static void insert(struct edit *e, uint32_t at, struct str text)
{
	replace(e, (struct org_span){ at, at }, text);
}

/* Inserts a text from arena_printf; NULL: out of memory. */
static void insert_text(struct edit *e, uint32_t at, const char *text)
{
	e->failed |= !text;
	if (text)
		insert(e, at, str_of(text));
}

/* --- state --- */

static void change_state(struct edit *e, struct str state)
{
	const struct org_head *h = e->head;
	if (h->keyword != ORG_NONE) {
		replace(e, h->state, state);
		return;
	}
	struct str line = line_until(e->org, h->at, h->body);
	uint32_t at = h->at + (uint32_t)skip_blanks(line, h->level);
	insert(e, at, state);
	insert(e, at, STR(" "));
}

/* --- properties --- */

/* A line for a drawer, with the spacing that Emacs uses. */
static const char *property_text(struct edit *e, struct str indent, const struct org_set *s)
{
	const char *key = arena_printf(e->arena, ":%s:", s->key);
	return key ? arena_printf(e->arena, "%.*s%-10s %.*s%s", STR_ARG(indent), key, STR_ARG(s->value),
				  e->org->eol)
		   : NULL;
}

/* Replaces the value of a property, and leaves the blanks before it. */
static void set_value(struct edit *e, const struct org_property *p, struct str value)
{
	uint32_t at = (uint32_t)(p->key.p + p->key.n + 1 - e->org->text.p);
	if (p->value.n)
		replace(e, span_of(e->org, p->value), value);
	else
		insert_text(e, at, arena_printf(e->arena, " %.*s", STR_ARG(value)));
}

static bool is_removed(const struct org_change *c, struct str key)
{
	for (unsigned i = 0; i < c->sets; i++)
		if (c->set[i].remove && str_ieq(key, str_of(c->set[i].key)))
			return true;
	return false;
}

/* The number of properties that the change does not remove, and of those it does. */
static unsigned count_left(const struct edit *e, const struct org_change *c, unsigned *removed)
{
	struct org_property p;
	unsigned left = 0;
	*removed = 0;
	for (uint32_t at = 0; org_property_next(e->org, e->head, &at, &p);)
		is_removed(c, p.key) ? ++*removed : ++left;
	return left;
}

static void remove_properties(struct edit *e, const struct org_change *c)
{
	struct org_property p;
	for (uint32_t at = 0; org_property_next(e->org, e->head, &at, &p);)
		if (is_removed(c, p.key))
			replace(e, p.line, STR(""));
}

static struct str indent_at(const struct org *o, size_t at)
{
	struct str line = line_at(o, at);
	return str_sub(line, 0, skip_blanks(line, 0));
}

/* Properties that the drawer does not have yet, as lines; NULL: none. */
static const char *new_properties(struct edit *e, const struct org_change *c, struct str indent)
{
	const char *lines = NULL;
	for (unsigned i = 0; i < c->sets; i++) {
		const struct org_set *s = &c->set[i];
		struct org_property p;
		if (s->remove)
			continue;
		if (org_property_find(e->org, e->head, str_of(s->key), &p)) {
			set_value(e, &p, s->value);
			continue;
		}
		const char *line = property_text(e, indent, s);
		lines = !line ? NULL : lines ? arena_printf(e->arena, "%s%s", lines, line) : line;
		e->failed |= !lines;
	}
	return lines;
}

/* The beginning of the line :END: of the drawer. */
static uint32_t drawer_end_line(const struct org *o, const struct org_head *h)
{
	struct org_property p = { .line = { 0, (uint32_t)line_next(o, h->drawer.at) } };
	for (uint32_t at = 0; org_property_next(o, h, &at, &p);)
		;
	return p.line.end;
}

/* Where text below the headline begins: after its planning line, and after its drawer. */
static uint32_t text_start(const struct org_head *h, bool after_drawer)
{
	return after_drawer && h->drawer.end ? h->drawer.end : h->planning.end ? h->planning.end : h->body;
}

/* The line end that is missing before a line inserted at `at`; empty: it is not missing. The last line of a
 * file may have no line end. */
static const char *missing_end(struct edit *e, uint32_t at)
{
	const struct org *o = e->org;
	if (e->ended || o->text.p[at - 1] == line_break(o))
		return "";
	e->ended = true;
	return o->eol;
}

static void change_properties(struct edit *e, const struct org_change *c)
{
	const struct org *o = e->org;
	const struct org_head *h = e->head;
	bool has_drawer = h->drawer.end > h->drawer.at;
	unsigned removed, left = count_left(e, c, &removed);
	const char *lines = new_properties(e, c, has_drawer ? indent_at(o, h->drawer.at) : STR(""));
	if (removed && !left && !lines) {
		replace(e, h->drawer, STR(""));
		return;
	}
	remove_properties(e, c);
	if (!lines)
		return;
	uint32_t at = has_drawer ? drawer_end_line(o, h) : text_start(h, false);
	insert_text(e, at,
		    has_drawer ? lines
			       : arena_printf(e->arena, "%s:PROPERTIES:%s%s:END:%s", missing_end(e, at),
					      o->eol, lines, o->eol));
}

/* --- LOGBOOK --- */

struct log_drawer {
	const struct org *org;
	struct org_span line; /* :LOGBOOK: */
};

static void find_log(void *self, struct org_span line)
{
	struct log_drawer *d = self;
	if (!d->line.end && line_is(line_until(d->org, line.at, line.end), STR(":LOGBOOK:")))
		d->line = line;
}

/* The newest entry comes first. */
static enum err add_log(struct edit *e, struct str log, struct why *why)
{
	const struct org *o = e->org;
	struct log_drawer d = { .org = o };
	const struct org_elements each = { .closed_drawer = find_log, .self = &d };
	uint32_t at = text_start(e->head, true);
	enum err failed = org_elements(o, at, e->head->end, &each, why);
	if (failed)
		return failed;
	if (d.line.end)
		insert_text(e, d.line.end,
			    arena_printf(e->arena, "%.*s%.*s%s", STR_ARG(indent_at(o, d.line.at)),
					 STR_ARG(log), o->eol));
	else
		insert_text(e, at,
			    arena_printf(e->arena, "%s:LOGBOOK:%s%.*s%s:END:%s", missing_end(e, at), o->eol,
					 STR_ARG(log), o->eol, o->eol));
	return OK;
}

/* --- the text --- */

/* Insertions come before the replacement of the text at the same place. */
static bool comes_before(const struct org_patch *a, const struct org_patch *b)
{
	bool insertion = a->span.at == a->span.end, replacement = b->span.at < b->span.end;
	return a->span.at < b->span.at || (a->span.at == b->span.at && insertion && replacement);
}

/* Patches at the same place stay in the order in which they were added. */
static void sort_patches(struct org_patch *p, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		struct org_patch one = p[i];
		unsigned at = i;
		for (; at > 0 && comes_before(&one, &p[at - 1]); at--)
			p[at] = p[at - 1];
		p[at] = one;
	}
}

static enum err write_text(const struct edit *e, struct buf *out)
{
	struct str text = e->org->text;
	size_t at = 0;
	for (unsigned i = 0; i < e->n; i++) {
		const struct org_patch *p = &e->patch[i];
		assert(p->span.at >= at && p->span.end <= text.n);
		buf_add(out, str_sub(text, at, p->span.at));
		buf_add(out, p->text);
		at = p->span.end;
	}
	buf_add(out, str_from(text, at));
	return out->failed ? E_NOMEM : OK;
}

enum err org_change(const struct org *o, const struct org_head *h, const struct org_change *c,
		    struct arena *a, struct buf *out, struct why *why)
{
	struct edit e = { .org = o, .head = h, .arena = a, .ended = c->ended };
	enum err failed = OK;
	if (c->state.n && !str_eq(c->state, org_text(o, h->state)))
		change_state(&e, c->state);
	if (c->sets)
		change_properties(&e, c);
	for (unsigned i = 0; i < c->patches; i++)
		replace(&e, c->patch[i].span, c->patch[i].text);
	if (c->log.n)
		failed = add_log(&e, c->log, why);
	if (failed || e.failed)
		return failed ? failed : E_NOMEM;
	sort_patches(e.patch, e.n);
	return write_text(&e, out);
}
