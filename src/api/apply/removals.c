/* Removes schedules and agents that came from the same files and are not among the documents any more. */
#include "api/apply/apply.h"

static void schedule_removed(struct api_call *call, struct api *api, const struct reply *r)
{
	struct apply_job *job = call->ctx;
	struct apply_removal *m = &job->removal[(const struct apply_removal *)call->item - job->removal];
	(void)api;
	job->answered++;
	m->done = r->code == REPLY_OK || r->code == REPLY_NOT_FOUND;
	if (!m->done && !job->failed) {
		const char *what =
			arena_printf(call->arena, "schedule '%.*s' was not removed", STR_SHORT(m->id));
		apply_fail(call, job, api_refusal(call, r, what ? what : "a schedule was not removed"));
	}
	apply_send_removals(call);
}

void apply_send_removals(struct api_call *call)
{
	struct apply_job *job = call->ctx;
	while (!job->failed && !job->dry_run && job->sent < job->removals &&
	       job->sent - job->answered < APPLY_TOGETHER) {
		struct apply_removal *m = &job->removal[job->sent];
		struct command c = { .kind = CMD_DROP, .sid = m->sid };
		call->item = m;
		apply_fail(call, job,
			   m->agent ? apply_remove_agent(call, job, m)
				    : api_command(call, job->api, &c, schedule_removed));
		job->sent += !job->failed;
	}
	if (job->answered == job->sent && (job->failed || job->dry_run || job->sent == job->removals))
		apply_answer(call);
}

/* The array is in the call's arena, which frees it even if the request is dropped. */
enum err apply_add_removal(struct api_call *call, struct apply_job *job, struct apply_removal m)
{
	if (job->removals == job->removal_room) {
		unsigned room = job->removal_room ? 2 * job->removal_room : 64;
		struct apply_removal *more = arena_alloc(call->arena, room * sizeof *more);
		if (!more)
			return E_NOMEM;
		if (job->removals)
			memcpy(more, job->removal, job->removals * sizeof *more);
		job->removal = more;
		job->removal_room = room;
	}
	if (!apply_keep(call, &m.id))
		return E_NOMEM;
	job->removal[job->removals++] = m;
	return OK;
}

static unsigned list_length(const struct val *list)
{
	return list ? list->list.n : 0;
}

/* Reads one page of the schedules that came from the current place, and adds those to be removed. */
static enum err find_on_page(struct api_call *call, struct apply_job *job)
{
	struct arena arena = { 0 };
	struct read_scheds page = { 0 };
	unsigned n = list_length(job->prune);
	bool all = job->place < n; /* else only schedules from files that do not exist */
	struct str from = all ? apply_file(job->prune, job->place) : apply_file(job->gone, job->place - n);
	enum err e = read_scheds_from(api_reader(job->api), from, job->last.id.p ? &job->last : NULL, 0,
				      &arena, &page, call->why);
	for (unsigned i = 0; !e && i < page.n; i++) {
		struct str file = page.item[i].source.from;
		if (apply_find(job, false, page.item[i].id) < 0 && apply_came_from(file, from) &&
		    (all || !source_file_exists(file)))
			e = apply_add_removal(
				call, job,
				(struct apply_removal){ .id = page.item[i].id, .sid = page.item[i].row.sid });
	}
	if (!e && page.more) {
		job->last = page.item[page.n - 1];
		if (!apply_keep(call, &job->last.id) || !apply_keep(call, &job->last.source.from))
			e = E_NOMEM;
	} else {
		job->last = (struct read_sched){ 0 };
		job->place++;
	}
	arena_free(&arena);
	return e;
}

void apply_find_removed(void *arg)
{
	struct api_call *call = arg;
	struct apply_job *job = call->ctx;
	unsigned places = list_length(job->prune) + list_length(job->gone);
	bool more = job->place < places;
	enum err e = OK;
	if (more)
		e = find_on_page(call, job);
	else if (places)
		e = apply_find_removed_agents(call, job, &more);
	if (!e && more)
		e = api_add_task(call, job->api, apply_find_removed);
	if (!e && more)
		return;
	apply_fail(call, job, e);
	job->sent = job->answered = 0;
	apply_send_removals(call);
}
