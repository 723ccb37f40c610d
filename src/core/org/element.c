/* Keyword lines and source blocks of a section. */
#include "core/org/element.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/map.h"
#include "core/org/line.h"
#include "core/org/unicode.h"

#include <stdlib.h>

/* --- beginnings and ends --- */

enum kind {
	KIND_NONE,
	KIND_RAW,    /* example, export, comment and verse blocks, LaTeX: its lines are not elements */
	KIND_SOURCE, /* the same, and reported */
	KIND_OUTER,  /* quote, center and other blocks, dynamic blocks: contains elements */
	KIND_DRAWER, /* the same, and reported */
	KIND_NOTE,   /* a footnote: up to the next one, or to two empty lines */
};

/* What a line begins or ends. Beginnings and ends with the same name belong together. */
struct mark {
	enum kind kind; /* KIND_NONE: it begins nothing */
	bool ends;
	uint64_t name;
};

static uint64_t name_of(const char *sort, struct str name)
{
	uint64_t h = fnv1a(FNV_START, str_of(sort));
	for (size_t i = 0; i < name.n; i++) {
		char c = to_lower(name.p[i]);
		h = fnv1a(h, (struct str){ &c, 1 });
	}
	return h ? h : 1;
}

static enum kind block_kind(struct str name)
{
	static const char *const raw[] = { "example", "export", "comment", "verse" };
	if (str_ieq(name, STR("src")))
		return KIND_SOURCE;
	for (unsigned i = 0; i < ARRAY_LEN(raw); i++)
		if (str_ieq(name, str_of(raw[i])))
			return KIND_RAW;
	return KIND_OUTER;
}

/* `rest` follows #+. */
static struct mark block_mark(struct str rest)
{
	size_t n = word_length(rest, 0);
	struct str word = str_sub(rest, 0, n), after = str_from(rest, n);
	if (starts_with_any_case(word, STR("BEGIN_")) && n > 6) {
		struct str name = str_from(word, 6);
		return (struct mark){ block_kind(name), false, name_of("block", name) };
	}
	if (str_ieq(word, STR("BEGIN")) || str_ieq(word, STR("BEGIN:"))) {
		bool begins = after.n && after.p[0] == ' ';
		return (struct mark){ begins ? KIND_OUTER : KIND_NONE, false, name_of("dynamic", STR("")) };
	}
	if (trim_blanks(after).n)
		return (struct mark){ 0 };
	if (starts_with_any_case(word, STR("END_")) && n > 4)
		return (struct mark){ KIND_NONE, true, name_of("block", str_from(word, 4)) };
	if (str_ieq(word, STR("END")) || str_ieq(word, STR("END:")))
		return (struct mark){ KIND_NONE, true, name_of("dynamic", STR("")) };
	return (struct mark){ 0 };
}

static struct mark drawer_mark(struct str line)
{
	struct str word = trim_blanks(line);
	unsigned n;
	if (word.n < 3 || word.p[word.n - 1] != ':')
		return (struct mark){ 0 };
	/* :END: ends a drawer; where no drawer is open, org takes it for the beginning of one. */
	if (str_ieq(word, STR(":END:")))
		return (struct mark){ KIND_DRAWER, true, name_of("drawer", STR("")) };
	for (size_t at = 1; at + 1 < word.n; at += n) {
		uint32_t c = char_at(word, at, &n);
		if (!char_is_alnum(c) && (c >= 0x80 || !memchr("-_$%'", (int)c, 5)))
			return (struct mark){ 0 };
	}
	return (struct mark){ KIND_DRAWER, false, name_of("drawer", STR("")) };
}

/* \begin{name} and \end{name}. */
static struct mark latex_mark(struct str rest)
{
	bool begins = str_starts(rest, STR("\\begin{")), ends = str_starts(rest, STR("\\end{"));
	struct str name = str_from(rest, begins ? 7 : ends ? 5 : 0), after;
	if (!begins && !ends)
		return (struct mark){ 0 };
	after = name;
	if (!str_cut(&after, '}', &name) || !name.n || (ends && trim_blanks(after).n))
		return (struct mark){ 0 };
	for (size_t i = 0; i < name.n; i++)
		if (!is_alpha(name.p[i]) && !is_digit(name.p[i]) && name.p[i] != '*')
			return (struct mark){ 0 };
	return (struct mark){ begins ? KIND_RAW : KIND_NONE, ends, name_of("latex", name) };
}

/* [fn:name], which also ends the footnote before it. */
static struct mark note_mark(struct str line)
{
	size_t at = strlen("[fn:"), from = at;
	unsigned n;
	for (; at < line.n && line.p[at] != ']'; at += n) {
		uint32_t c = char_at(line, at, &n);
		if (!char_is_alnum(c) && (c >= 0x80 || !memchr("-_$%'", (int)c, 5)))
			return (struct mark){ 0 };
	}
	if (at == from || at == line.n)
		return (struct mark){ 0 };
	return (struct mark){ KIND_NOTE, true, name_of("note", STR("")) };
}

static struct mark mark_of(struct str line)
{
	struct str rest = str_from(line, skip_blanks(line, 0));
	if (str_starts(line, STR("[fn:")))
		return note_mark(line);
	if (str_starts(rest, STR("#+")))
		return block_mark(str_from(rest, 2));
	if (rest.n && rest.p[0] == ':')
		return drawer_mark(rest);
	if (rest.n && rest.p[0] == '\\')
		return latex_mark(rest);
	return (struct mark){ 0 };
}

/* --- pairs --- */

/* A line that begins something. */
struct opening {
	uint32_t at;
	uint32_t end;  /* the next line that ends something of this name, or ORG_NONE */
	uint32_t wait; /* the previous opening of this name that has no end yet, or ORG_NONE */
	enum kind kind;
};

struct openings {
	struct opening *item;
	unsigned n, room;
	struct map waiting; /* by name, the last opening without an end */
};

static void free_openings(struct openings *all)
{
	free(all->item);
	map_free(&all->waiting);
}

static enum err add_opening(struct openings *all, size_t at, struct mark mark)
{
	uint32_t before = map_get(&all->waiting, mark.name);
	if (!ARRAY_ADD_ROOM(all->item, all->room, all->n) || !map_put(&all->waiting, mark.name, all->n))
		return E_NOMEM;
	all->item[all->n++] = (struct opening){ (uint32_t)at, ORG_NONE, before, mark.kind };
	return OK;
}

static void end_openings(struct openings *all, size_t at, struct mark mark)
{
	uint32_t i = map_get(&all->waiting, mark.name);
	if (i == MAP_NONE)
		return;
	map_remove(&all->waiting, mark.name);
	for (; i != ORG_NONE; i = all->item[i].wait)
		all->item[i].end = (uint32_t)at;
}

/* Finds the ends of all beginnings in one pass. */
static enum err find_openings(const struct org *o, size_t from, size_t to, struct openings *all)
{
	const struct mark note_end = { KIND_NONE, true, name_of("note", STR("")) };
	size_t empty = ORG_NONE; /* the empty line before this one */
	enum err e = OK;
	for (size_t at = from, next; at < to && !e; at = next) {
		next = line_next(o, at);
		struct str line = line_until(o, at, next);
		struct mark mark = mark_of(line);
		bool is_empty = !trim_blanks(line).n;
		if (is_empty && empty != ORG_NONE)
			end_openings(all, empty, note_end);
		empty = is_empty ? at : ORG_NONE;
		if (mark.ends)
			end_openings(all, at, mark);
		if (mark.kind != KIND_NONE)
			e = add_opening(all, at, mark);
	}
	return e;
}

/* --- elements --- */

/* Removes the switches of a source block from the front of its parameters: -n 10, +n, -r, -l "fmt". */
static struct str without_switches(struct str s)
{
	for (;;) {
		size_t at = 0;
		while (at < s.n && s.p[at] == ' ')
			at++;
		struct str rest = str_from(s, at);
		if (!at || rest.n < 2 || (rest.p[0] != '-' && rest.p[0] != '+'))
			return s;
		size_t n = 2;
		bool known = rest.p[1] == 'n' || (rest.p[0] == '-' && memchr("ikr", rest.p[1], 3));
		if (rest.p[0] == '-' && rest.p[1] == 'l' && rest.n > 4 && rest.p[3] == '"') {
			const char *end = memchr(rest.p + 4, '"', rest.n - 4);
			known = end && end > rest.p + 4;
			n = known ? (size_t)(end + 1 - rest.p) : 2;
		}
		if (rest.p[1] == 'n') {
			size_t digits = skip_blanks(rest, n);
			while (digits < rest.n && is_digit(rest.p[digits]))
				n = ++digits;
		}
		if (!known)
			return s;
		s = str_from(rest, n);
	}
}

static void report_source(const struct org *o, const struct opening *open, const struct org_elements *each)
{
	size_t code = line_next(o, open->at);
	struct str line = line_until(o, open->at, code);
	struct str rest = str_from(line, skip_blanks(line, 0) + strlen("#+begin_src"));
	struct org_source s = { .at = open->at, .code = { (uint32_t)code, open->end } };
	size_t at = 0;
	while (at < rest.n && rest.p[at] == ' ')
		at++;
	size_t n = at ? word_length(rest, at) : 0;
	s.language = str_sub(rest, at, at + n);
	s.parameters = trim_blanks(without_switches(str_from(rest, at + n)));
	if (each->source)
		each->source(each->self, &s);
}

/* The key ends at the last colon of the first word. */
static bool split_keyword_line(struct str line, struct org_keyword_line *ret)
{
	struct str rest = str_from(line, skip_blanks(line, 0));
	if (!str_starts(rest, STR("#+")))
		return false;
	size_t n = word_length(rest, 2), colon = 2 + n;
	while (colon > 2 && rest.p[colon - 1] != ':')
		colon--;
	if (colon <= 3)
		return false;
	ret->key = str_sub(rest, 2, colon - 1);
	ret->value = str_trim(str_from(rest, colon));
	return true;
}

static bool is_comment(struct str line)
{
	struct str rest = str_from(line, skip_blanks(line, 0));
	return rest.n && (rest.p[0] == '#' || rest.p[0] == ':') && (rest.n == 1 || rest.p[1] == ' ');
}

static void report_line(const struct org *o, size_t at, size_t next, const struct org_elements *each)
{
	struct str line = line_until(o, at, next);
	struct org_keyword_line k;
	if (each->keyword_line && split_keyword_line(line, &k))
		each->keyword_line(each->self, &k);
	else if (each->text && !is_comment(line))
		each->text(each->self, (struct org_span){ (uint32_t)at, (uint32_t)next });
}

/* The drawers and blocks that contain the element being visited. */
struct place_stack {
	size_t limit[ORG_DEPTH_MAX + 1];
	bool closing[ORG_DEPTH_MAX + 1]; /* the line at the limit ends it, and is not an element itself */
	unsigned depth;
};

static enum err enter(struct place_stack *in, const struct opening *open, struct why *why)
{
	size_t limit = in->limit[in->depth];
	if (in->depth == ORG_DEPTH_MAX)
		return why_set(why, E_LIMIT, open->at, "drawers and blocks are nested more than %d deep",
			       ORG_DEPTH_MAX);
	in->depth++;
	in->limit[in->depth] = open->end < limit ? open->end : limit;
	in->closing[in->depth] = open->kind != KIND_NOTE;
	return OK;
}

static size_t leave(const struct org *o, struct place_stack *in)
{
	size_t at = in->limit[in->depth];
	return in->closing[in->depth--] ? line_next(o, at) : at;
}

static enum err walk(const struct org *o, size_t at, size_t to, const struct openings *all,
		     const struct org_elements *each, struct why *why)
{
	struct place_stack in = { .limit = { to } };
	unsigned i = 0;
	while (at < to) {
		if (at >= in.limit[in.depth]) {
			at = leave(o, &in);
			continue;
		}
		while (i < all->n && all->item[i].at < at)
			i++;
		const struct opening *open = i < all->n && all->item[i].at == at ? &all->item[i] : NULL;
		size_t next = line_next(o, at);
		if (open && open->kind == KIND_DRAWER && each->drawer)
			each->drawer(each->self, (struct org_span){ (uint32_t)at, (uint32_t)next });
		bool whole = open && (open->kind == KIND_NOTE || open->end < in.limit[in.depth]);
		if (!whole || open->kind == KIND_NOTE)
			report_line(o, at, next, each);
		if (whole && (open->kind == KIND_RAW || open->kind == KIND_SOURCE)) {
			if (open->kind == KIND_SOURCE)
				report_source(o, open, each);
			next = line_next(o, open->end);
		} else if (whole) {
			enum err e = enter(&in, open, why);
			if (open->kind == KIND_DRAWER && each->closed_drawer)
				each->closed_drawer(each->self,
						    (struct org_span){ (uint32_t)at, (uint32_t)next });
			if (e)
				return e;
		}
		at = next;
	}
	return OK;
}

enum err org_elements(const struct org *o, size_t from, size_t to, const struct org_elements *each,
		      struct why *why)
{
	_cleanup_(free_openings) struct openings all = { 0 };
	enum err e = find_openings(o, from, to, &all);
	return e ? e : walk(o, from, to, &all, each, why);
}
