/* What came from the same places and is there no more. */
#include "api/apply/apply.h"

static void removed(struct api_call *call, struct api *api, const struct reply *r);
static void agent_removed(struct api_call *call, struct applying *a);

static void remove_on(struct api_call *call)
{
	struct applying *a = call->ctx;
	while (!a->failed && !a->dry_run && a->asked < a->removals &&
	       a->asked - a->answered < APPLY_TOGETHER) {
		struct removal *m = &a->removal[a->asked];
		struct command c = { .kind = CMD_DROP, .sid = m->sid };
		call->about = m;
		applying_fail(call, a,
			      m->agent ? applying_drop_agent(call, a, m, agent_removed)
				       : api_order(call, a->api, &c, removed));
		a->asked += !a->failed;
	}
	if (a->answered == a->asked && (a->failed || a->dry_run || a->asked == a->removals))
		applying_tell(call);
}

static void removed(struct api_call *call, struct api *api, const struct reply *r)
{
	struct applying *a = call->ctx;
	struct removal *m = &a->removal[(const struct removal *)call->about - a->removal];
	(void)api;
	a->answered++;
	m->done = r->code == REPLY_OK || r->code == REPLY_NOT_FOUND;
	if (!m->done && !a->failed) {
		const char *what = arena_printf(call->arena, "'%.*s' was not removed", STR_SHORT(m->id));
		applying_fail(call, a, api_refusal(call, r, what ? what : "one was not removed"));
	}
	remove_on(call);
}

static void agent_removed(struct api_call *call, struct applying *a)
{
	a->answered++;
	remove_on(call);
}

enum err applying_add_removal(struct api_call *call, struct applying *a, struct removal m)
{
	if (a->removals == a->room) {
		unsigned room = a->room ? 2 * a->room : 64;
		struct removal *more = arena_alloc(call->arena, room * sizeof *more);
		if (!more)
			return E_NOMEM;
		if (a->removals)
			memcpy(more, a->removal, a->removals * sizeof *more);
		a->removal = more;
		a->room = room;
	}
	if (!applying_keep(call, &m.id))
		return E_NOMEM;
	a->removal[a->removals++] = m;
	return OK;
}

static unsigned length(const struct val *list)
{
	return list ? list->list.n : 0;
}

static enum err look_at_page(struct api_call *call, struct applying *a)
{
	struct arena arena = { 0 };
	struct read_scheds page = { 0 };
	unsigned n = length(a->prune);
	bool all = a->pruning < n;
	struct str from = all ? applying_file(a->prune, a->pruning) : applying_file(a->gone, a->pruning - n);
	enum err e = read_scheds_from(api_reader(a->api), from, a->last.id.p ? &a->last : NULL, 0, &arena,
				      &page, call->why);
	for (unsigned i = 0; !e && i < page.n; i++) {
		struct str file = page.item[i].source.from;
		if (applying_find(a, false, page.item[i].id) < 0 && applying_came_from(file, from) &&
		    (all || !put_file_is_there(file)))
			e = applying_add_removal(
				call, a,
				(struct removal){ .id = page.item[i].id, .sid = page.item[i].row.sid });
	}
	if (!e && page.more) {
		a->last = page.item[page.n - 1];
		if (!applying_keep(call, &a->last.id) || !applying_keep(call, &a->last.source.from))
			e = E_NOMEM;
	} else {
		a->last = (struct read_sched){ 0 };
		a->pruning++;
	}
	arena_free(&arena);
	return e;
}

/* A page at a turn. */
void applying_look_for_gone(void *arg)
{
	struct api_call *call = arg;
	struct applying *a = call->ctx;
	unsigned places = length(a->prune) + length(a->gone);
	bool more = a->pruning < places;
	enum err e = OK;
	if (more)
		e = look_at_page(call, a);
	else if (places)
		e = applying_look_for_agents(call, a, &more);
	if (!e && more)
		e = api_post(a->api, applying_look_for_gone, call);
	if (!e && more)
		return;
	applying_fail(call, a, e);
	a->asked = a->answered = 0;
	remove_on(call);
}
