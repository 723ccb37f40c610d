/* Applies documents: reads them in turns, then sends those that have changed. */
#include "api/apply/apply.h"

#include "api/handlers/handlers.h"
#include "sys/clock.h"

bool apply_keep(struct api_call *call, struct str *s)
{
	s->p = s->n ? arena_dup(call->arena, *s) : "";
	return s->p != NULL;
}

void apply_fail(struct api_call *call, struct apply_job *job, enum err e)
{
	if (!e || job->failed)
		return;
	job->failed = e;
	job->why = *call->why;
}

/* --- sending --- */

/* If the new source cannot be recorded, the schedule is still applied: not an error. */
static void source_stored(struct api_call *call, struct api *api, const struct st_ack *ack)
{
	struct apply_job *job = call->ctx;
	(void)api;
	(void)ack;
	job->answered++;
	apply_send(call);
}

static enum err send_source(struct api_call *call, const struct apply_job *job, const struct apply_item *item)
{
	struct st_req r = { .op = ST_SOURCE, .lane = LANE_BULK, .sid = item->sid, .source = item->source };
	return api_store_request(call, job->api, &r, source_stored);
}

static void schedule_applied(struct api_call *call, struct api *api, const struct reply *r)
{
	struct apply_job *job = call->ctx;
	struct apply_item *item = &job->item[(const struct apply_item *)call->item - job->item];
	(void)api;
	job->answered++;
	item->applied = r->code == REPLY_OK;
	if (!item->applied && !job->failed) {
		const char *what =
			arena_printf(call->arena, "schedule '%.*s' was not applied", STR_SHORT(item->id));
		apply_fail(call, job, api_refusal(call, r, what ? what : "a schedule was not applied"));
	}
	apply_send(call);
}

/* Reads the document a second time: keeping all documents after the first time would take too much memory. */
static enum err send_schedule(struct api_call *call, struct apply_job *job, const struct apply_item *item)
{
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	struct schedule_change c = { 0 };
	scratch.arena = &arena;
	enum err e = schedule_change_read(&scratch, job->api, &job->documents->list.item[item - job->item],
					  false, &c);
	if (!e)
		e = schedule_change_find(&scratch, job->api, &c);
	c.source = item->source;
	c.bulk = job->n > APPLY_BULK;
	call->item = item;
	if (!e)
		e = schedule_change_send(call, job->api, &c, schedule_applied);
	arena_free(&arena);
	return e;
}

/* A schedule needs the definition of its agent, and a follower the number of its leader: both must be stored
 * before it is sent. */
static bool may_be_sent(const struct apply_job *job, const struct apply_item *item)
{
	if (!item->agent && job->answered < job->agents)
		return false;
	return job->sent - job->answered < (item->leader >= 0 ? 1 : APPLY_TOGETHER);
}

void apply_send(struct api_call *call)
{
	struct apply_job *job = call->ctx;
	while (!job->failed && job->sent < job->n) {
		struct apply_item *item = &job->item[job->order[job->sent]];
		if (job->dry_run || (!item->changes.p && !item->moved)) {
			job->sent++;
			job->answered++;
			continue;
		}
		if (!may_be_sent(job, item))
			return;
		apply_fail(call, job,
			   item->agent       ? apply_send_agent(call, job, item)
			   : item->changes.p ? send_schedule(call, job, item)
					     : send_source(call, job, item));
		job->sent += !job->failed;
	}
	if (job->answered < job->sent)
		return;
	if (job->failed)
		apply_answer(call);
	else
		apply_find_removed(call);
}

/* --- reading --- */

/* Reads documents, sorts them and finds leaders until the turn's time is used up; *done: nothing is left to
 * do. Sorting is not interrupted: it does not read the store and takes little time. */
static enum err read_for_a_turn(struct api_call *call, struct apply_job *job, bool *done)
{
	int64_t until = clock_boot().us + APPLY_TURN_US;
	enum err e = job->n ? OK : apply_sort(call, job);
	while (!e && job->leaders_found < job->n && clock_boot().us < until) {
		if (job->read < job->n) {
			e = apply_read_document(call, job, job->read);
			if (!e && ++job->read == job->n)
				e = apply_sort(call, job);
		} else {
			e = apply_find_leader(call, job, &job->item[job->leaders_found++]);
		}
	}
	*done = job->leaders_found == job->n;
	return e;
}

static void read_documents(void *arg)
{
	struct api_call *call = arg;
	struct apply_job *job = call->ctx;
	bool done;
	enum err e = read_for_a_turn(call, job, &done);
	for (unsigned i = 0; !e && done && i < job->n; i++)
		job->agents += job->item[i].agent;
	if (!e)
		e = done ? apply_order(call, job) : api_add_task(call, job->api, read_documents);
	if (e)
		api_finish(call, e);
	else if (done)
		apply_send(call);
}

enum err handle_apply(struct api_call *call, struct api *api)
{
	struct apply_job *job = arena_alloc(call->arena, sizeof *job);
	if (!job)
		return E_NOMEM;
	*job = (struct apply_job){ .api = api,
				   .documents = val_get(&call->body, STR("documents")),
				   .files = val_get(&call->body, STR("files")),
				   .places = val_get(&call->body, STR("places")),
				   .prune = val_get(&call->body, STR("prune")),
				   .gone = val_get(&call->body, STR("gone")),
				   .dry_run = val_is_true(&call->body, "dry_run") };
	if (!job->documents)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "the body needs `documents`, a list");
	job->n = job->documents->list.n;
	job->item = arena_alloc(call->arena, (job->n + 1) * sizeof *job->item);
	call->ctx = job;
	return job->item ? api_add_task(call, api, read_documents) : E_NOMEM;
}
