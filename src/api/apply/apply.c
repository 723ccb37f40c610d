#include "api/apply/apply.h"
#include "api/handlers/handlers.h"
#include "sys/clock.h"

bool applying_keep(struct api_call *call, struct str *s)
{
	s->p = s->n ? arena_dup(call->arena, *s) : "";
	return s->p != NULL;
}

void applying_fail(struct api_call *call, struct applying *a, enum err e)
{
	if (!e || a->failed)
		return;
	a->failed = e;
	a->why = *call->why;
}

static void go_on(void *arg);

static void source_told(void *arg)
{
	struct api_call *call = arg;
	((struct applying *)call->ctx)->answered++;
	go_on(call);
}

/* On the daemon's thread. That it stands elsewhere now is worth no failure. */
static void source_kept(void *ctx, const struct st_ack *ack)
{
	struct api_call *call = ctx;
	(void)ack;
	api_answer(((struct applying *)call->ctx)->api, source_told, call);
}

static enum err keep_source(struct api_call *call, const struct applying *a, const struct item *i)
{
	struct st_req r = { .op = ST_SOURCE, .lane = LANE_BULK, .sid = i->sid, .source = i->source };
	return daemon_send(api_daemon(a->api), &r, source_kept, call);
}

static void applied(struct api_call *call, struct api *api, const struct reply *r)
{
	struct applying *a = call->ctx;
	struct item *i = &a->item[(const struct item *)call->about - a->item];
	(void)api;
	a->answered++;
	i->applied = r->code == REPLY_OK;
	if (!i->applied && !a->failed) {
		const char *what = arena_printf(call->arena, "'%.*s' was refused", STR_SHORT(i->id));
		applying_fail(call, a, api_refusal(call, r, what ? what : "one was refused"));
	}
	go_on(call);
}

/* Read once more: keeping all of every document would be too much. */
static enum err order_one(struct api_call *call, struct applying *a, const struct item *i)
{
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	struct put p = { 0 };
	scratch.arena = &arena;
	enum err e = put_read(&scratch, a->api, &a->documents->list.item[i - a->item], false, &p);
	if (!e)
		e = put_look(&scratch, a->api, &p);
	p.source = i->source;
	p.bulk = a->n > APPLY_BULK;
	call->about = i;
	if (!e)
		e = put_order(call, a->api, &p, applied);
	arena_free(&arena);
	return e;
}

static void agent_applied(struct api_call *call, struct applying *a)
{
	a->answered++;
	go_on(call);
}

/* A follower needs its leader's number, and a schedule its agent: what is under way must be there before. */
static bool may_go(const struct applying *a, const struct item *i)
{
	if (!i->agent && a->answered < a->agents)
		return false;
	return a->asked - a->answered < (i->leader >= 0 ? 1 : APPLY_TOGETHER);
}

/* Asks for as many as may be asked for at a time; the last answer ends it. What was refused stops the rest.
 */
static void go_on(void *arg)
{
	struct api_call *call = arg;
	struct applying *a = call->ctx;
	while (!a->failed && a->asked < a->n) {
		struct item *i = &a->item[a->order[a->asked]];
		if (a->dry_run || (!i->changes.p && !i->moved)) {
			a->asked++;
			a->answered++;
			continue;
		}
		if (!may_go(a, i))
			return;
		applying_fail(call, a,
			      i->agent       ? applying_order_agent(call, a, i, agent_applied)
			      : i->changes.p ? order_one(call, a, i)
					     : keep_source(call, a, i));
		a->asked += !a->failed;
	}
	if (a->answered < a->asked)
		return;
	if (a->failed)
		applying_tell(call);
	else
		applying_look_for_gone(call);
}

/* Sorting and ordering are quick; what asks the store takes its time. */
static void look(void *arg)
{
	struct api_call *call = arg;
	struct applying *a = call->ctx;
	int64_t until = clock_boot().us + APPLY_TURN_US;
	enum err e = OK;
	if (!a->n)
		e = applying_sort(call, a);
	while (!e && a->checked < a->n && clock_boot().us < until) {
		if (a->read < a->n) {
			e = applying_read(call, a, a->read);
			if (!e && ++a->read == a->n)
				e = applying_sort(call, a);
		} else {
			e = applying_find_leader(call, a, &a->item[a->checked++]);
		}
	}
	bool over = a->checked == a->n;
	for (unsigned i = 0; !e && over && i < a->n; i++)
		a->agents += a->item[i].agent;
	if (!e && over)
		e = applying_order(call, a);
	if (!e && !over)
		e = api_post(a->api, look, call);
	if (e)
		api_finish(call, e);
	else if (over)
		go_on(call);
}

/* What is there and is something else must not be passed over: it would be another request. */
static enum err take(struct api_call *call, const char *name, enum val_kind kind, const struct val **ret)
{
	*ret = val_get(&call->body, str_of(name));
	if (!*ret || (*ret)->kind == kind)
		return OK;
	return why_set(call->why, E_INPUT, (*ret)->at, "%s must be %s", name,
		       kind == VAL_LIST ? "a list" : "true or false");
}

enum err handle_apply(struct api_call *call, struct api *api)
{
	const struct val *dry = NULL;
	struct applying *a = arena_alloc(call->arena, sizeof *a);
	if (!a)
		return E_NOMEM;
	*a = (struct applying){ .api = api };
	const struct {
		const char *name;
		enum val_kind kind;
		const struct val **to;
	} keys[] = { { "documents", VAL_LIST, &a->documents }, { "files", VAL_LIST, &a->files },
		     { "places", VAL_LIST, &a->places },       { "prune", VAL_LIST, &a->prune },
		     { "gone", VAL_LIST, &a->gone },           { "dry_run", VAL_BOOL, &dry } };
	for (unsigned i = 0; i < ARRAY_LEN(keys); i++) {
		enum err wrong = take(call, keys[i].name, keys[i].kind, keys[i].to);
		if (wrong)
			return wrong;
	}
	a->dry_run = dry && dry->boolean;
	if (!a->documents)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "apply needs documents, a list");
	a->n = a->documents->list.n;
	a->item = arena_alloc(call->arena, (a->n + 1) * sizeof *a->item);
	call->ctx = a;
	enum err e = a->item ? api_post(api, look, call) : E_NOMEM;
	call->later = !e;
	return e;
}
