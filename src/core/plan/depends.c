/* Tasks by id and title, and whether they are done. */
#include "core/plan/depends.h"
#include "base/hash.h"

/* The state of a name: all tasks with this id or title are done, or at least one is open. */
enum { TASK_DONE = 1, TASK_OPEN = 2 };

void depends_init(struct depends *d, const struct agenda_plan *plan, unsigned plans)
{
	*d = (struct depends){ .plan = plan, .plans = plans };
}

void depends_free(struct depends *d)
{
	map_free(&d->state);
}

static uint64_t key_of(struct str name)
{
	uint64_t h = hash_text(name);
	return h ? h : 1;
}

static void put_name(struct depends *d, struct str name, bool done)
{
	uint64_t key = key_of(name);
	uint32_t now = map_get(&d->state, key), state = done ? TASK_DONE : TASK_OPEN;
	if (name.n && (now == MAP_NONE || now < state) && !map_put(&d->state, key, state))
		d->failed = true;
}

static void build(struct depends *d)
{
	d->built = true;
	for (unsigned p = 0; p < d->plans && !d->failed; p++) {
		const struct org *o = &d->plan[p].org;
		d->failed = !map_reserve(&d->state, d->state.n + 2 * o->heads);
		for (unsigned i = 0; i < o->heads && !d->failed; i++) {
			const struct org_head *h = &o->head[i];
			if (h->keyword == ORG_NONE)
				continue;
			put_name(d, org_text(o, h->id), org_is_done(o, h));
			put_name(d, org_text(o, h->title), org_is_done(o, h));
		}
	}
}

static uint32_t find(struct depends *d, struct str name)
{
	if (!d->built)
		build(d);
	return map_get(&d->state, key_of(name));
}

bool depends_known(struct depends *d, struct str name)
{
	return find(d, name) != MAP_NONE;
}

bool depends_next(struct depends *d, struct depends_names *l, struct str *ret)
{
	while (!(l->piece = str_trim(l->piece)).n) {
		if (!l->rest.n)
			return false;
		str_cut(&l->rest, ',', &l->piece);
	}
	struct str words = l->piece, first = str_token(&words);
	/* "a b" is one title, or two ids. A long piece is not looked up at each of its words. */
	bool ids = first.n < l->piece.n && depends_known(d, first) &&
		   (l->piece.n > DEPENDS_NAME_MAX || !depends_known(d, l->piece));
	*ret = ids ? first : l->piece;
	l->piece = ids ? words : STR("");
	return true;
}

bool depends_done(struct depends *d, unsigned plan, unsigned head)
{
	const struct org *o = &d->plan[plan].org;
	struct depends_names names = { .rest = org_property_value(o, &o->head[head], "DEPENDS") };
	struct str name;
	while (depends_next(d, &names, &name))
		if (find(d, name) != TASK_DONE)
			return false;
	return true;
}
