/* Checks and comparisons of workflows. */
#include "core/plan/findings.h"
#include "base/json.h"
#include "core/plan/depends.h"

struct finder {
	struct findings found;
	struct arena *arena;
	bool failed; /* out of memory */
};

static void add(struct finder *f, bool error, struct str workflow, struct str component, const char *message)
{
	struct finding *all = arena_grow(f->arena, f->found.item, f->found.n, sizeof *all);
	if (!all || !message) {
		f->failed = true;
		return;
	}
	f->found.item = all;
	all[f->found.n++] = (struct finding){ error, workflow, component, message };
	f->found.errors += error;
}

/* A message about a name, which replaces the @. */
static const char *about(struct finder *f, const char *format, struct str name)
{
	const char *mark = strchr(format, '@');
	return arena_printf(f->arena, "%.*s`%.*s`%s", (int)(mark - format), format, STR_SHORT(name),
			    mark + 1);
}

/* --- check --- */

/* Is the input an export of a sub-workflow? Those run first. */
static bool is_sub_export(const struct world *w, struct str input)
{
	for (unsigned i = 0; i < w->subs; i++)
		if (world_export(&w->sub[i], input))
			return true;
	return false;
}

static void check_component(struct finder *f, const struct world *w, unsigned i, const struct val *inputs)
{
	const struct component *c = &w->component[i];
	if (!c->has_source)
		add(f, true, w->name, c->name, "component has no source block");
	else if (!c->lang.n)
		add(f, true, w->name, c->name, "component has no language");
	for (unsigned k = 0; k < c->in.n; k++) {
		struct str input = c->in.word[k];
		if (!world_producer(w, input) && !is_sub_export(w, input) &&
		    !(inputs && val_get(inputs, input)))
			add(f, true, w->name, c->name, about(f, "input @ has no upstream producer", input));
	}
	for (unsigned k = 0; k < c->deps.n; k++)
		if (!world_component(w, c->deps.word[k]))
			add(f, true, w->name, c->name,
			    about(f, "depends on @, which is not a component of the workflow",
				  c->deps.word[k]));
	for (unsigned k = 0; k < i; k++) {
		if (str_eq(w->component[k].name, c->name))
			add(f, true, w->name, c->name, "two components have this name");
		if (c->out.n && str_eq(w->component[k].out, c->out))
			add(f, true, w->name, c->name, about(f, "two components have the output @", c->out));
	}
}

/* Removes components that wait for nothing until none is left; what remains is in a cycle, or waits for one.
 */
static void check_cycle(struct finder *f, const struct world *w)
{
	bool *gone = arena_alloc(f->arena, (w->components + 1) * sizeof *gone), again = true;
	if (!gone) {
		f->failed = true;
		return;
	}
	while (again) {
		again = false;
		for (unsigned i = 0; i < w->components; i++) {
			bool waits = gone[i];
			for (unsigned k = 0; k < w->components && !waits; k++)
				waits = !gone[k] && component_waits(&w->component[i], &w->component[k]);
			if (!waits)
				gone[i] = again = true;
		}
	}
	for (unsigned i = 0; i < w->components; i++)
		if (!gone[i])
			add(f, true, w->name, w->component[i].name,
			    "component waits for itself: there is a cycle");
}

static void check_world(struct finder *f, const struct world *w, const struct val *inputs)
{
	for (unsigned i = 0; i < w->components; i++)
		check_component(f, w, i, inputs);
	check_cycle(f, w);
	for (unsigned i = 0; i < w->subs; i++) {
		for (unsigned k = 0; k < i; k++)
			if (str_eq(w->sub[i].name, w->sub[k].name))
				add(f, true, w->sub[i].name, STR(""), "two workflows have this name");
		check_world(f, &w->sub[i], inputs);
	}
}

/* Tasks that depend on tasks that do not exist are never ready. */
static void check_tasks(struct finder *f, const struct org *o)
{
	const struct agenda_plan plan = { .org = *o };
	struct depends d;
	depends_init(&d, &plan, 1);
	for (unsigned i = 0; i < o->heads; i++) {
		struct depends_names names = { .rest = org_property_value(o, &o->head[i], "DEPENDS") };
		struct str name;
		while (depends_next(&d, &names, &name))
			if (!depends_known(&d, name))
				add(f, true, org_text(o, o->head[i].title), STR(""),
				    about(f, "depends on @, and there is no such task", name));
	}
	f->failed |= d.failed;
	depends_free(&d);
}

enum err worlds_check(const struct worlds *w, const struct val *inputs, struct arena *a, struct findings *ret)
{
	struct finder f = { .arena = a };
	for (unsigned i = 0; i < w->n; i++) {
		for (unsigned k = 0; k < i; k++)
			if (str_eq(w->world[i].name, w->world[k].name))
				add(&f, true, w->world[i].name, STR(""), "two workflows have this name");
		check_world(&f, &w->world[i], inputs);
	}
	check_tasks(&f, w->org);
	if (f.failed)
		return E_NOMEM;
	*ret = f.found;
	return OK;
}

/* --- compare --- */

static const struct world *find_world(const struct world *list, unsigned n, struct str name)
{
	for (unsigned i = 0; i < n; i++)
		if (str_eq(list[i].name, name))
			return &list[i];
	return NULL;
}

static bool imports(const struct world *w, struct str word)
{
	for (unsigned i = 0; i < w->components; i++)
		for (unsigned k = 0; k < w->component[i].uses.n; k++)
			if (str_eq(w->component[i].uses.word[k], word))
				return true;
	return false;
}

static void compare_lists(struct finder *f, const struct world *old, unsigned olds, const struct world *new,
			  unsigned news);

static void compare_worlds(struct finder *f, const struct world *old, const struct world *new)
{
	for (unsigned i = 0; i < old->components; i++) {
		const struct component *was = &old->component[i], *is = world_component(new, was->name);
		if (is && !str_eq(is->out, was->out))
			add(f, true, new->name, was->name, about(f, "the output @ changed", was->out));
		bool exported = was->out.n && !world_consumes(old, was->out);
		if (exported && (!world_producer(new, was->out) || world_consumes(new, was->out)))
			add(f, true, new->name, STR(""), about(f, "the export @ was removed", was->out));
	}
	for (unsigned i = 0; i < new->components; i++)
		for (unsigned k = 0; k < new->component[i].uses.n; k++)
			if (!imports(old, new->component[i].uses.word[k]))
				add(f, false, new->name, new->component[i].name,
				    about(f, "the import @ is new", new->component[i].uses.word[k]));
	compare_lists(f, old->sub, old->subs, new->sub, new->subs);
}

static void compare_lists(struct finder *f, const struct world *old, unsigned olds, const struct world *new,
			  unsigned news)
{
	for (unsigned i = 0; i < olds; i++) {
		const struct world *now = find_world(new, news, old[i].name);
		if (now)
			compare_worlds(f, &old[i], now);
		else
			add(f, true, old[i].name, STR(""), "the workflow was removed");
	}
	for (unsigned i = 0; i < news; i++)
		if (!find_world(old, olds, new[i].name))
			compare_worlds(f, &(struct world){ .name = new[i].name }, &new[i]);
}

enum err worlds_compare(const struct worlds *old, const struct worlds *new, struct arena *a,
			struct findings *ret)
{
	struct finder f = { .arena = a };
	compare_lists(&f, old->world, old->n, new->world, new->n);
	if (f.failed)
		return E_NOMEM;
	*ret = f.found;
	return OK;
}

void findings_write(const struct findings *f, struct buf *out)
{
	buf_addc(out, '[');
	for (unsigned i = 0; i < f->n; i++) {
		const struct finding *one = &f->item[i];
		_cleanup_(buf_free) struct buf scope = { 0 };
		buf_addf(&scope, "%.*s%s%.*s", STR_ARG(one->workflow), one->component.n ? "/" : "",
			 STR_ARG(one->component));
		buf_addf(out, "%s{\"level\":\"%s\",\"scope\":", i ? ",\n" : "\n",
			 one->error ? "error" : "warning");
		json_write_str(out, buf_str(&scope));
		json_add_str(out, "message", str_of(one->message));
		buf_addc(out, '}');
		out->failed |= scope.failed;
	}
	buf_add(out, f->n ? STR("\n]") : STR("]"));
}
