/* Compiled workflows as JSON. */
#include "base/json.h"
#include "core/org/row.h"
#include "core/plan/world.h"

static void write_words(struct buf *out, const struct str *word, unsigned n)
{
	buf_addc(out, '[');
	for (unsigned i = 0; i < n; i++) {
		if (i)
			buf_addc(out, ',');
		json_write_str(out, word[i]);
	}
	buf_addc(out, ']');
}

static void add_text(struct buf *out, const char *name, struct str s)
{
	json_add_str(out, name, s.n ? s : (struct str){ 0 });
}

static void write_component(const struct component *c, struct buf *out)
{
	buf_add(out, STR("{\"name\":"));
	json_write_str(out, c->name);
	add_text(out, "lang", c->lang);
	buf_add(out, STR(",\"deps\":"));
	write_words(out, c->deps.word, c->deps.n);
	buf_add(out, STR(",\"uses\":"));
	write_words(out, c->uses.word, c->uses.n);
	add_text(out, "in", c->in_text);
	add_text(out, "out", c->out);
	add_text(out, "persist", c->persist);
	json_add_str(out, "src", c->has_source ? c->src : (struct str){ 0 });
	add_text(out, "dir", c->dir);
	buf_addc(out, '}');
}

/* Sorted and unique. Insertion is quadratic in the number of uses of one workflow, which is small. */
static enum err write_imports(const struct world *w, struct arena *a, struct buf *out)
{
	struct str *all = NULL;
	unsigned n = 0;
	for (unsigned i = 0; i < w->components; i++)
		for (unsigned k = 0; k < w->component[i].uses.n; k++) {
			struct str word = w->component[i].uses.word[k];
			unsigned at = 0;
			while (at < n && str_cmp(all[at], word) < 0)
				at++;
			if (at < n && str_eq(all[at], word))
				continue;
			struct str *more = arena_grow(a, all, n, sizeof *more);
			if (!more)
				return E_NOMEM;
			all = more;
			memmove(all + at + 1, all + at, (n++ - at) * sizeof *all);
			all[at] = word;
		}
	write_words(out, all, n);
	return OK;
}

static void write_exports(const struct world *w, struct buf *out)
{
	bool first = true;
	buf_addc(out, '[');
	for (unsigned i = 0; i < w->components; i++) {
		struct str output = w->component[i].out;
		if (!output.n || world_consumes(w, output))
			continue;
		if (!first)
			buf_addc(out, ',');
		first = false;
		json_write_str(out, output);
	}
	buf_addc(out, ']');
}

static void write_edges(const struct world *w, struct buf *out)
{
	bool first = true;
	buf_addc(out, '[');
	for (unsigned from = 0; from < w->components; from++)
		for (unsigned to = 0; to < w->components; to++)
			for (unsigned k = 0; k < w->component[to].in.n; k++) {
				if (!str_eq(w->component[from].out, w->component[to].in.word[k]))
					continue;
				buf_add(out, first ? STR("{\"from\":") : STR(",{\"from\":"));
				first = false;
				json_write_str(out, w->component[from].name);
				json_add_str(out, "to", w->component[to].name);
				buf_addc(out, '}');
			}
	buf_addc(out, ']');
}

static enum err write_world(const struct org *o, const struct world *w, struct arena *a, struct buf *out)
{
	buf_add(out, STR("{\"name\":"));
	json_write_str(out, w->name);
	buf_add(out, STR(",\"schedule\":"));
	org_write_schedule(o, &o->head[w->head], out);
	buf_add(out, STR(",\"imports\":"));
	enum err e = write_imports(w, a, out);
	buf_add(out, STR(",\"exports\":"));
	write_exports(w, out);
	buf_add(out, STR(",\"components\":["));
	for (unsigned i = 0; i < w->components; i++) {
		if (i)
			buf_addc(out, ',');
		write_component(&w->component[i], out);
	}
	buf_add(out, STR("],\"edges\":"));
	write_edges(w, out);
	buf_add(out, STR(",\"workflows\":["));
	for (unsigned i = 0; i < w->subs && !e; i++) {
		if (i)
			buf_addc(out, ',');
		e = write_world(o, &w->sub[i], a, out);
	}
	buf_add(out, STR("]}"));
	return e;
}

enum err worlds_write(const struct worlds *w, struct arena *a, struct buf *out)
{
	enum err e = OK;
	buf_add(out, STR("{\"worlds\":["));
	for (unsigned i = 0; i < w->n && !e; i++) {
		if (i)
			buf_addc(out, ',');
		e = write_world(w->org, &w->world[i], a, out);
	}
	buf_add(out, STR("]}"));
	return e ? e : out->failed ? E_NOMEM : OK;
}
