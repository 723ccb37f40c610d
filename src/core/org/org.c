/* Reads the headlines of a file. */
#include "core/org/org.h"
#include "core/org/element.h"
#include "core/org/headline.h"
#include "core/org/line.h"

/* --- TODO keywords --- */

/* The lines that set keywords, in the order in which Emacs uses them. */
static const char *const keyword_lines[] = { "TYP_TODO", "TODO", "SEQ_TODO" };

struct keyword_reader {
	struct org *org;
	struct arena *arena;
	const char *wanted;
	bool found;
	enum err failed;
	struct why *why;
};

/* "DONE" for "DONE(d!)". */
static struct str keyword_name(struct str word)
{
	const char *open = memchr(word.p, '(', word.n);
	return open && word.p[word.n - 1] == ')' ? str_sub(word, 0, (size_t)(open - word.p)) : word;
}

static void add_keyword(struct keyword_reader *r, struct org_keyword k)
{
	struct org *o = r->org;
	struct org_keyword *all = arena_grow(r->arena, o->keyword, o->keywords, sizeof *all);
	if (!all) {
		r->failed = E_NOMEM;
		return;
	}
	if (o->keywords == ORG_KEYWORDS_MAX) {
		r->failed = why_set(r->why, E_LIMIT, (size_t)(k.name.p - o->text.p),
				    "a file can have at most %d TODO keywords", ORG_KEYWORDS_MAX);
		return;
	}
	o->keyword = all;
	o->keyword[o->keywords++] = k;
}

/* The keywords after | are done; without |, the last one is. */
static void add_sequence(struct keyword_reader *r, struct str words, bool type)
{
	struct org *o = r->org;
	unsigned first = o->keywords;
	bool done = false;
	for (struct str word = str_token(&words); word.n && !r->failed; word = str_token(&words))
		if (str_eq(word, STR("|")))
			done = true;
		else
			add_keyword(r,
				    (struct org_keyword){ keyword_name(word), (uint16_t)first, done, type });
	if (!done && o->keywords > first)
		o->keyword[o->keywords - 1].done = true;
}

static void read_keyword_line(void *self, const struct org_keyword_line *k)
{
	struct keyword_reader *r = self;
	if (r->failed || !str_ieq(k->key, str_of(r->wanted)))
		return;
	r->found = true;
	add_sequence(r, k->value, !strcmp(r->wanted, "TYP_TODO"));
}

/* Could the line set keywords? Whether it does depends on the blocks around it. */
static bool may_set_keywords(struct str line)
{
	struct str rest = str_from(line, skip_blanks(line, 0));
	if (!str_starts(rest, STR("#+")))
		return false;
	rest = str_from(rest, 2);
	for (unsigned i = 0; i < ARRAY_LEN(keyword_lines); i++)
		if (starts_with_any_case(rest, str_of(keyword_lines[i])))
			return true;
	return false;
}

/* Reads the keywords of the file from the sections in `section`, or sets the usual ones. */
static enum err read_keywords(struct org *o, const struct org_span *section, unsigned sections,
			      struct arena *a, struct why *why)
{
	struct keyword_reader r = { .org = o, .arena = a, .why = why };
	const struct org_elements each = { .keyword_line = read_keyword_line, .self = &r };
	for (unsigned i = 0; i < ARRAY_LEN(keyword_lines); i++) {
		r.wanted = keyword_lines[i];
		for (unsigned k = 0; k < sections && !r.failed; k++) {
			enum err e = org_elements(o, section[k].at, section[k].end, &each, why);
			if (e)
				return e;
		}
	}
	if (!r.found)
		add_sequence(&r, STR("TODO NEXT DOING WAITING | DONE CANCELLED"), false);
	bool done = false;
	for (unsigned i = 0; i < o->keywords; i++)
		done |= o->keyword[i].done;
	if (!done && o->keywords)
		o->keyword[o->keywords - 1].done = true;
	return r.failed;
}

/* --- headlines --- */

struct scan {
	struct org *org;
	struct arena *arena;
	struct org_span *section; /* the sections with lines that may set keywords */
	unsigned sections;
	size_t start; /* the start of the section that is being scanned */
	bool candidate;
};

static enum err end_section(struct scan *s, size_t at)
{
	if (s->candidate) {
		struct org_span *all = arena_grow(s->arena, s->section, s->sections, sizeof *all);
		if (!all)
			return E_NOMEM;
		s->section = all;
		s->section[s->sections++] = (struct org_span){ (uint32_t)s->start, (uint32_t)at };
	}
	s->candidate = false;
	return OK;
}

/* Counts the headlines, so that their array is allocated once. Other stars are rare: this costs less than
 * growing it. */
static enum err allocate_heads(struct scan *s, struct why *why)
{
	struct org *o = s->org;
	const char *from = o->text.p, *end = from + o->text.n;
	unsigned n = 0;
	for (const char *star = from; (star = memchr(star, '*', (size_t)(end - star))); star++) {
		if (star > from && star[-1] != line_break(o))
			continue;
		n += headline_level((struct str){ star, (size_t)(end - star) }) > 0;
		if (n > ORG_HEADS_MAX)
			return why_set(why, E_LIMIT, (size_t)(star - from),
				       "a file can have at most %d headlines", ORG_HEADS_MAX);
	}
	o->head = arena_alloc(s->arena, (n + 1) * sizeof *o->head);
	return o->head ? OK : E_NOMEM;
}

static enum err add_head(struct scan *s, size_t at, size_t next, unsigned line, unsigned level,
			 struct why *why)
{
	struct org *o = s->org;
	struct org_head *h = &o->head[o->heads];
	if (o->heads++)
		h[-1].end = (uint32_t)at;
	*h = (struct org_head){ .at = (uint32_t)at,
				.body = (uint32_t)next,
				.line = line,
				.level = level,
				.parent = ORG_NONE,
				.keyword = ORG_NONE };
	s->start = next;
	planning_read(o, h);
	return drawer_read(o, h, why);
}

/* Finds the headlines, and the sections with lines that may set keywords. */
static enum err scan_lines(struct scan *s, struct why *why)
{
	struct org *o = s->org;
	unsigned line = 1;
	for (size_t at = 0, next; at < o->text.n; at = next, line++) {
		next = line_next(o, at);
		char first = o->text.p[at];
		if (first == '#' || is_blank(first)) {
			s->candidate |= may_set_keywords(line_until(o, at, next));
			continue;
		}
		unsigned level = first == '*' ? headline_level(line_until(o, at, next)) : 0;
		if (!level)
			continue;
		enum err e = end_section(s, at);
		if (!e)
			e = add_head(s, at, next, line, level, why);
		if (e)
			return e;
	}
	if (o->heads)
		o->head[o->heads - 1].end = (uint32_t)o->text.n;
	return end_section(s, o->text.n);
}

/* The parent is the last headline above with fewer stars. The search goes up from the previous headline,
 * through its parents. It takes linear time in all, because a headline that was passed is not visited again.
 */
static void set_parents(struct org *o)
{
	for (unsigned i = 1; i < o->heads; i++) {
		uint32_t up = i - 1;
		while (up != ORG_NONE && o->head[up].level >= o->head[i].level)
			up = o->head[up].parent;
		o->head[i].parent = up;
	}
}

enum err org_read(struct str text, struct arena *a, struct org *ret, struct why *why)
{
	if (text.n > ORG_BYTES_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE, "an org file can have at most %u bytes",
			       ORG_BYTES_MAX);
	struct org o = { .text = text.n ? text : STR("") };
	struct scan s = { .org = &o, .arena = a };
	o.eol = line_ends(o.text);
	enum err e = allocate_heads(&s, why);
	if (!e)
		e = scan_lines(&s, why);
	if (!e)
		e = read_keywords(&o, s.section, s.sections, a, why);
	if (e)
		return e;
	set_parents(&o);
	for (unsigned i = 0; i < o.heads; i++)
		headline_read(&o, &o.head[i]);
	if (!e)
		*ret = o;
	return e;
}

/* --- questions --- */

bool org_is_done(const struct org *o, const struct org_head *h)
{
	return h->keyword != ORG_NONE && o->keyword[h->keyword].done;
}

bool org_is_open(const struct org *o, const struct org_head *h)
{
	return h->keyword != ORG_NONE && !o->keyword[h->keyword].done;
}

uint32_t org_find_keyword(const struct org *o, struct str name)
{
	for (unsigned i = 0; i < o->keywords && name.n; i++)
		if (str_eq(o->keyword[i].name, name))
			return i;
	return ORG_NONE;
}

/* The headlines whose :ID: or title is `task`: their number, and the first two. */
static unsigned count_matches(const struct org *o, struct str task, bool by_id, unsigned first[2])
{
	unsigned n = 0;
	for (unsigned i = 0; i < o->heads; i++) {
		const struct org_head *h = &o->head[i];
		if (!str_eq(task, by_id ? org_text(o, h->id) : org_text(o, h->title)))
			continue;
		if (n < 2)
			first[n] = i;
		n++;
	}
	return n;
}

enum err org_find(const struct org *o, struct str task, unsigned *ret, struct why *why)
{
	unsigned first[2];
	for (int by_id = 1; by_id >= 0 && task.n; by_id--) {
		unsigned n = count_matches(o, task, by_id, first);
		if (n > 1)
			return why_set(
				why, E_INPUT, WHY_NOWHERE,
				"%u headlines have the %s '%.*s', the first two at lines %u and %u; %s", n,
				by_id ? "id" : "title", STR_SHORT(task), o->head[first[0]].line,
				o->head[first[1]].line,
				by_id ? "an id must be unique" : "give the task an :ID: and use that");
		if (n == 1) {
			*ret = first[0];
			return OK;
		}
	}
	return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no task with the id or title '%.*s'",
		       STR_SHORT(task));
}
