/* Compiles the workflows of a plan. */
#include "core/plan/world.h"
#include "core/org/element.h"
#include "core/org/line.h"

struct compiler {
	const struct org *org;
	struct arena *arena;
	struct why *why;
	enum err failed;
	unsigned worlds; /* all of them */
};

/* --- header arguments --- */

static void add_word(struct compiler *c, struct word_array *to, struct str word)
{
	if (to->n == WORKFLOW_WORDS_MAX) {
		c->failed =
			why_set(c->why, E_LIMIT, (size_t)(word.p - c->org->text.p),
				"an argument of a component can have at most %d words", WORKFLOW_WORDS_MAX);
		return;
	}
	struct str *all = arena_grow(c->arena, to->word, to->n, sizeof *all);
	if (!all) {
		c->failed = E_NOMEM;
		return;
	}
	to->word = all;
	to->word[to->n++] = word;
}

static void add_list(struct compiler *c, struct word_array *to, struct str value)
{
	while (value.n && !c->failed) {
		struct str piece;
		str_cut(&value, ',', &piece);
		piece = str_trim(piece);
		if (piece.n)
			add_word(c, to, piece);
	}
}

static struct str without_quotes(struct str s)
{
	bool quoted = s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"';
	return quoted ? str_sub(s, 1, s.n - 1) : s;
}

/* Removes the next ":key value" from the front of *rest; the value ends before the next blank and colon. */
static bool next_argument(struct str *rest, struct str *key, struct str *value)
{
	struct str s = str_trim(*rest);
	size_t at = 0;
	if (!s.n || s.p[0] != ':')
		return false;
	while (at < s.n && !is_blank(s.p[at]))
		at++;
	*key = str_sub(s, 1, at);
	size_t end = at;
	while (end < s.n && !(is_blank(s.p[end]) && end + 1 < s.n && s.p[end + 1] == ':'))
		end++;
	*value = without_quotes(str_trim(str_sub(s, at, end)));
	*rest = str_from(s, end);
	return true;
}

static void read_arguments(struct compiler *c, struct str parameters, struct component *to)
{
	struct str key, value;
	while (!c->failed && next_argument(&parameters, &key, &value)) {
		if (str_eq(key, STR("deps")))
			add_list(c, &to->deps, value);
		else if (str_eq(key, STR("uses")))
			add_list(c, &to->uses, value);
		else if (str_eq(key, STR("out")))
			to->out = value;
		else if (str_eq(key, STR("persist")))
			to->persist = value.n ? value : STR("yes");
		else if (str_eq(key, STR("dir")))
			to->dir = value;
		else if (str_eq(key, STR("timeout")))
			to->timeout = value;
		else if (str_eq(key, STR("in"))) {
			to->in_text = value;
			add_list(c, &to->in, value);
		}
	}
}

/* --- source --- */

/* The indentation that all lines have that are not empty. */
static size_t common_indent(const struct org *o, struct org_span code)
{
	size_t least = SIZE_MAX;
	for (size_t at = code.at; at < code.end; at = line_next(o, at)) {
		struct str line = line_at(o, at);
		size_t indent = skip_blanks(line, 0);
		if (indent < line.n && indent < least)
			least = indent;
	}
	return least == SIZE_MAX ? 0 : least;
}

/* Where the comma is that org puts before lines that would look like headlines or keywords; line.n: none. */
static size_t find_comma(struct str line)
{
	size_t at = skip_blanks(line, 0), comma = at;
	while (at < line.n && line.p[at] == ',')
		at++;
	bool escaped =
		at > comma && at < line.n && (line.p[at] == '*' || str_starts(str_from(line, at), STR("#+")));
	return escaped ? comma : line.n;
}

static struct str read_code(struct compiler *c, struct org_span code)
{
	const struct org *o = c->org;
	size_t indent = common_indent(o, code);
	_cleanup_(buf_free) struct buf out = { 0 };
	for (size_t at = code.at; at < code.end; at = line_next(o, at)) {
		struct str line = line_at(o, at);
		size_t comma = find_comma(line), from = indent < line.n ? indent : line.n;
		if (comma < line.n && comma >= from) {
			buf_add(&out, str_sub(line, from, comma));
			buf_add(&out, str_from(line, comma + 1));
		} else {
			buf_add(&out, str_from(line, from));
		}
		buf_addc(&out, '\n');
	}
	char *copy = out.failed ? NULL : arena_dup(c->arena, buf_str(&out));
	if (!copy)
		c->failed = E_NOMEM;
	return (struct str){ copy ? copy : "", copy ? out.n : 0 };
}

/* --- components and worlds --- */

struct source_reader {
	struct compiler *compiler;
	struct component *component;
};

/* Only the first source block counts. */
static void read_source(void *self, const struct org_source *s)
{
	struct source_reader *r = self;
	if (r->component->has_source || r->compiler->failed)
		return;
	r->component->has_source = true;
	r->component->lang = s->language;
	read_arguments(r->compiler, s->parameters, r->component);
	r->component->src = read_code(r->compiler, s->code);
}

static void add_component(struct compiler *c, struct world *w, const struct org_head *h)
{
	struct component *all = arena_grow(c->arena, w->component, w->components, sizeof *all);
	if (!all || w->components == WORKFLOW_COMPONENTS_MAX) {
		c->failed =
			!all ? E_NOMEM
			     : why_set(c->why, E_LIMIT, h->at, "a workflow can have at most %d components",
				       WORKFLOW_COMPONENTS_MAX);
		return;
	}
	w->component = all;
	struct component *one = &all[w->components++];
	*one = (struct component){ .name = org_text(c->org, h->title), .line = h->line };
	struct source_reader r = { c, one };
	const struct org_elements each = { .source = read_source, .self = &r };
	size_t text = h->drawer.end ? h->drawer.end : h->planning.end ? h->planning.end : h->body;
	enum err e = org_elements(c->org, text, h->end, &each, c->why);
	if (e)
		c->failed = e;
}

static struct world *add_world(struct compiler *c, struct world **list, unsigned *n, unsigned head)
{
	struct world *all = arena_grow(c->arena, *list, *n, sizeof *all);
	if (!all || c->worlds++ == WORKFLOWS_MAX) {
		c->failed = !all ? E_NOMEM
				 : why_set(c->why, E_LIMIT, c->org->head[head].at,
					   "a file can have at most %d workflows", WORKFLOWS_MAX);
		return NULL;
	}
	*list = all;
	all[*n] = (struct world){ .name = org_text(c->org, c->org->head[head].title), .head = head };
	return &all[(*n)++];
}

/* Reads the subtree below headline `at` into w, or its workflows into `top` if w is NULL. Returns the index
 * after the subtree. */
static unsigned read_subtree(struct compiler *c, struct world *w, struct worlds *top, unsigned at,
			     unsigned depth)
{
	const struct org *o = c->org;
	unsigned level = o->head[at].level;
	if (depth == ORG_DEPTH_MAX) {
		c->failed = why_set(c->why, E_LIMIT, o->head[at].at, "headlines are nested more than %d deep",
				    ORG_DEPTH_MAX);
		return o->heads;
	}
	for (at++; at < o->heads && o->head[at].level > level && !c->failed;) {
		const struct org_head *h = &o->head[at];
		struct world *inner = w;
		if (org_has_tag(o, h, STR("workflow")))
			inner = w ? add_world(c, &w->sub, &w->subs, at)
				  : add_world(c, &top->world, &top->n, at);
		else if (w && org_has_tag(o, h, STR("component")))
			add_component(c, w, h);
		if (!c->failed)
			at = read_subtree(c, inner, top, at, depth + 1);
	}
	return at;
}

enum err worlds_compile(const struct org *o, struct arena *a, struct worlds *ret, struct why *why)
{
	struct compiler c = { .org = o, .arena = a, .why = why };
	struct worlds w = { .org = o };
	for (unsigned at = 0; at < o->heads && !c.failed;) {
		struct world *one = org_has_tag(o, &o->head[at], STR("workflow"))
					    ? add_world(&c, &w.world, &w.n, at)
					    : NULL;
		if (!c.failed)
			at = read_subtree(&c, one, &w, at, 0);
	}
	if (!c.failed)
		*ret = w;
	return c.failed;
}

/* --- questions --- */

const struct component *world_component(const struct world *w, struct str name)
{
	for (unsigned i = 0; i < w->components; i++)
		if (str_eq(w->component[i].name, name))
			return &w->component[i];
	return NULL;
}

const struct component *world_producer(const struct world *w, struct str output)
{
	for (unsigned i = 0; i < w->components; i++)
		if (output.n && str_eq(w->component[i].out, output))
			return &w->component[i];
	return NULL;
}

static bool has_word(const struct word_array *list, struct str word)
{
	for (unsigned i = 0; i < list->n; i++)
		if (str_eq(list->word[i], word))
			return true;
	return false;
}

bool world_consumes(const struct world *w, struct str output)
{
	for (unsigned i = 0; i < w->components; i++)
		if (has_word(&w->component[i].in, output))
			return true;
	return false;
}

const struct component *world_export(const struct world *w, struct str name)
{
	return world_consumes(w, name) ? NULL : world_producer(w, name);
}

bool component_waits(const struct component *of, const struct component *other)
{
	return has_word(&of->deps, other->name) || (other->out.n && has_word(&of->in, other->out));
}
