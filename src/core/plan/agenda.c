/* The lists of the agenda. */
#include "core/plan/agenda.h"
#include "core/org/row.h"
#include "core/org/stamp.h"
#include "core/plan/depends.h"

const char *const agenda_list_words[AGENDA_LISTS + 1] = { "overdue", "due",      "ready", "claimed",
							  "stale",   "upcoming", NULL };

struct str task_holder(const struct org *o, const struct org_head *h)
{
	return str_eq(org_text(o, h->state), STR("DOING")) ? org_property_value(o, h, "AGENT") : STR("");
}

struct reader {
	const struct agenda_query *query;
	struct arena *arena;
	struct agenda agenda;
	struct depends depends;
	bool failed; /* out of memory */
};

static void add(struct reader *r, enum agenda_list list, unsigned plan, unsigned head, int64_t at)
{
	struct agenda_item **items = &r->agenda.item[list];
	struct agenda_item *all = arena_grow(r->arena, *items, r->agenda.n[list], sizeof *all);
	if (!all) {
		r->failed = true;
		return;
	}
	*items = all;
	all[r->agenda.n[list]++] = (struct agenda_item){ plan, head, at };
}

/* --- one plan --- */

/* What a headline inherits, or passes on to those after it. */
struct inherited {
	bool hidden;     /* commented or archived */
	bool ordered;    /* :ORDERED: t */
	bool blocked;    /* an earlier task must be done first */
	bool open_child; /* a child that is not done was met */
};

static bool is_ordered(const struct org *o, const struct org_head *h)
{
	struct str value = org_property_value(o, h, "ORDERED");
	return value.n && !str_eq(value, STR("nil"));
}

static void inherit(const struct org *o, unsigned i, struct inherited *all)
{
	const struct org_head *h = &o->head[i];
	struct inherited *up = h->parent == ORG_NONE ? NULL : &all[h->parent];
	all[i] = (struct inherited){ .hidden = h->commented || org_has_tag(o, h, STR("ARCHIVE")),
				     .ordered = is_ordered(o, h) };
	if (!up)
		return;
	all[i].hidden |= up->hidden;
	all[i].blocked = up->blocked || (up->open_child && up->ordered);
	up->open_child |= org_is_open(o, h) && !all[i].hidden;
}

/* A timestamp of a task; false: there is none that counts. */
static bool read_time(const struct org *o, struct org_span span, struct task_time *ret)
{
	return span.end > span.at && task_time_read(org_text(o, span), ret) && ret->active;
}

/* The next time of a timestamp, if it is before *nearest. */
static void find_nearest(const struct agenda_query *q, const struct task_time *t, bool *found,
			 int64_t *nearest)
{
	int64_t at;
	if (!task_time_next(t, q->zone, q->now, &at))
		return;
	if (!*found || at < *nearest)
		*nearest = at;
	*found = true;
}

static void add_claim(struct reader *r, unsigned plan, unsigned i)
{
	const struct agenda_query *q = r->query;
	const struct org *o = &q->plan[plan].org;
	struct task_time since;
	bool known = task_time_read(org_property_value(o, &o->head[i], "CLAIMED"), &since);
	int64_t at = known ? task_time_begin(&since, q->zone) : 0;
	add(r, AGENDA_CLAIMED, plan, i, at);
	if (known && q->now - at > q->stale_after)
		add(r, AGENDA_STALE, plan, i, at);
}

static bool is_waiting(const struct org *o, const struct org_head *h)
{
	return str_eq(org_text(o, h->state), STR("WAITING"));
}

static void read_task(struct reader *r, unsigned plan, unsigned i, bool blocked)
{
	const struct agenda_query *q = r->query;
	const struct org *o = &q->plan[plan].org;
	const struct org_head *h = &o->head[i];
	struct str holder = task_holder(o, h);
	bool others = holder.n && !str_eq(holder, q->agent), found = false, future = false;
	int64_t nearest = 0;
	struct task_time t;
	if (read_time(o, h->deadline, &t)) {
		if (task_time_end(&t, q->zone) <= q->now)
			add(r, AGENDA_OVERDUE, plan, i, task_time_begin(&t, q->zone));
		find_nearest(q, &t, &found, &nearest);
	}
	if (read_time(o, h->scheduled, &t)) {
		int64_t begin = task_time_begin(&t, q->zone);
		future = begin > q->now;
		if (!future)
			add(r, AGENDA_DUE, plan, i, begin);
		r->agenda.work |= !future && !others;
		find_nearest(q, &t, &found, &nearest);
	}
	if (found)
		add(r, AGENDA_UPCOMING, plan, i, nearest);
	if (holder.n)
		add_claim(r, plan, i);
	if (!others && !future && !blocked && !is_waiting(o, h) && depends_done(&r->depends, plan, i))
		add(r, AGENDA_READY, plan, i, 0);
}

static void read_plan(struct reader *r, unsigned plan)
{
	const struct org *o = &r->query->plan[plan].org;
	struct inherited *all = arena_alloc(r->arena, (o->heads + 1) * sizeof *all);
	if (!all) {
		r->failed = true;
		return;
	}
	for (unsigned i = 0; i < o->heads && !r->failed; i++) {
		inherit(o, i, all);
		if (org_is_open(o, &o->head[i]) && !all[i].hidden)
			read_task(r, plan, i, all[i].blocked);
	}
}

/* --- all of them --- */

/* Sorts by time; items of the same time keep their order. Merges runs of growing length. */
static struct agenda_item *sort_by_time(struct agenda_item *item, unsigned n, struct agenda_item *room)
{
	for (size_t width = 1; width < n; width *= 2) {
		for (size_t from = 0; from < n; from += 2 * width) {
			size_t middle = from + width < n ? from + width : n;
			size_t end = middle + width < n ? middle + width : n, left = from, right = middle;
			for (size_t at = from; at < end; at++) {
				bool take_left =
					left < middle && (right == end || item[left].at <= item[right].at);
				room[at] = take_left ? item[left++] : item[right++];
			}
		}
		struct agenda_item *sorted = room;
		room = item;
		item = sorted;
	}
	return item;
}

static void sort_upcoming(struct reader *r)
{
	unsigned n = r->agenda.n[AGENDA_UPCOMING];
	struct agenda_item *room = arena_alloc(r->arena, (n + 1) * sizeof *room);
	r->failed |= !room;
	if (room)
		r->agenda.item[AGENDA_UPCOMING] = sort_by_time(r->agenda.item[AGENDA_UPCOMING], n, room);
}

/* Moves the tasks that the agent has claimed to the front; the order stays otherwise. */
static void put_own_first(struct reader *r)
{
	const struct agenda_query *q = r->query;
	struct agenda_item *item = r->agenda.item[AGENDA_READY];
	unsigned n = r->agenda.n[AGENDA_READY], at = 0;
	struct agenda_item *sorted = arena_alloc(r->arena, (n + 1) * sizeof *sorted);
	if (!sorted) {
		r->failed = true;
		return;
	}
	for (int own = 1; own >= 0; own--)
		for (unsigned i = 0; i < n; i++) {
			const struct org *o = &q->plan[item[i].plan].org;
			if ((task_holder(o, &o->head[item[i].head]).n > 0) == own)
				sorted[at++] = item[i];
		}
	r->agenda.item[AGENDA_READY] = sorted;
}

enum err agenda_read(const struct agenda_query *q, struct arena *a, struct agenda *ret)
{
	struct reader r = { .query = q, .arena = a };
	depends_init(&r.depends, q->plan, q->plans);
	for (unsigned i = 0; i < q->plans && !r.failed; i++)
		read_plan(&r, i);
	put_own_first(&r);
	sort_upcoming(&r);
	r.failed |= r.depends.failed;
	depends_free(&r.depends);
	if (r.failed)
		return E_NOMEM;
	r.agenda.work |= r.agenda.n[AGENDA_READY] > 0;
	*ret = r.agenda;
	return OK;
}

void agenda_write(const struct agenda_query *q, const struct agenda *agenda, struct buf *out)
{
	for (unsigned list = 0; list < AGENDA_LISTS; list++) {
		buf_addf(out, "%c\"%s\":[", list ? ',' : '{', agenda_list_words[list]);
		for (unsigned i = 0; i < agenda->n[list]; i++) {
			const struct agenda_item *item = &agenda->item[list][i];
			const struct agenda_plan *plan = &q->plan[item->plan];
			if (i)
				buf_addc(out, ',');
			org_write_row(&plan->org, &plan->org.head[item->head], plan->file, out);
		}
		buf_addc(out, ']');
	}
	buf_addc(out, '}');
}
