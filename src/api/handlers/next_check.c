#include "api/handlers/handlers.h"

#include "api/json_out.h"
#include "api/schedule_change.h"
#include "base/json.h"
#include "core/when/dur.h"

/* Between which bounds, in seconds; 0: none are given. By the schedule as it stands now, whatever its run was
 * claimed under; its agent's, where it has none. */
static enum err find_bounds(struct api_call *call, struct api *api, const struct read_sched *s,
			    int64_t *least, int64_t *most)
{
	struct schedule_doc doc;
	enum err e = put_stored(call, api, s->document, &doc);
	if (!e) {
		*least = doc.next_check.least;
		*most = doc.next_check.most;
	}
	return e;
}

static enum err judge(struct api_call *call, struct api *api, const struct read_sched *s, int64_t in)
{
	_cleanup_(buf_free) struct buf bounds = { 0 };
	int64_t least = 0, most = 0;
	enum err e = find_bounds(call, api, s, &least, &most);
	if (e)
		return e;
	if (!most)
		return why_set(call->why, E_DENIED, WHY_NOWHERE,
			       "'%.*s' gives its runs no bounds for it (next_check), so they may not set it",
			       STR_SHORT(s->id));
	dur_format(least, &bounds);
	buf_add(&bounds, STR(" to "));
	dur_format(most, &bounds);
	if (in < least || in > most)
		return why_set(call->why, E_DENIED, WHY_NOWHERE,
			       "'%.*s' allows its runs a next check in %s from now", STR_SHORT(s->id),
			       bounds.failed ? "?" : bounds.p);
	return OK;
}

struct promise {
	struct str id;
	struct wall to;
};

static void was_set(struct api_call *call, struct api *api, const struct reply *r)
{
	const struct promise *set = call->ctx;
	enum err e = OK;
	(void)api;
	if (r->code == REPLY_REFUSED) {
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			    "'%.*s' is paused, disabled or at the end of its runs, or that is beyond its end "
			    "date",
			    STR_SHORT(set->id));
	} else if (r->code != REPLY_OK) {
		e = api_refusal(call, r, "the next check was not set");
	} else {
		buf_add(&call->answer, STR("{\"schedule\":"));
		json_write_str(&call->answer, set->id);
		json_add_time(&call->answer, "next", set->to);
		buf_addc(&call->answer, '}');
	}
	api_finish(call, e);
}

enum err handle_next_check(struct api_call *call, struct api *api)
{
	struct promise *set = arena_alloc(call->arena, sizeof *set);
	struct read_sched s = { 0 };
	struct str text = op_arg(&call->args, "in")->text;
	int64_t in;
	if (!set)
		return E_NOMEM;
	if (!call->within)
		return why_set(
			call->why, E_DENIED, WHY_NOWHERE,
			"only a run sets the next check of its schedule; `rota edit` changes its times");
	enum err e = dur_parse(text, &in, NULL);
	if (e || in < 1)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "'%.*s' is not a duration such as 30m or 2h",
			       STR_SHORT(text));
	e = read_sched(api_reader(api), call->within->sid, call->arena, &s, call->why);
	if (!e && s.dropped.us != INT64_MAX)
		e = why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "'%.*s' was removed", STR_SHORT(s.id));
	if (!e)
		e = judge(call, api, &s, in);
	if (e)
		return e;
	/* A whole second, and no sooner than was asked for. */
	*set = (struct promise){ s.id, wall_of(wall_seconds((struct wall){ api_now().us + USEC - 1 }) + in) };
	call->ctx = set;
	struct command c = {
		.kind = CMD_NEXT_CHECK, .sid = s.row.sid, .run = call->within->run, .to = set->to
	};
	return api_order(call, api, &c, was_set);
}
