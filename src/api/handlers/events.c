/* The log of events: a list, or a stream. */
#include "api/handlers/handlers.h"

#include "api/events.h"
#include "wire/sse.h"

enum { EVENTS_LISTED = 100 };

/* A client that lost its connection sends the number of the last event it got, which is newer than `after`.
 */
static enum err read_after(struct api_call *call, bool follow, uint64_t *ret)
{
	const struct arg *after = op_arg(&call->args, "after");
	struct str seen = call->request->header[HTTP_LAST_EVENT_ID];
	*ret = EVENTS_FROM_NOW;
	if (follow && seen.p && str_number(seen, INT64_MAX, ret))
		return OK;
	if (after->given && !str_number(after->text, INT64_MAX, ret))
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "after: '%.*s' is not the number of an event; allowed are 0, 1, 2, …",
			       STR_SHORT(after->text));
	return OK;
}

static enum err read_query(struct api_call *call, struct api *api, bool follow, struct event_query *ret)
{
	const struct arg *type = op_arg(&call->args, "type"), *schedule = op_arg(&call->args, "schedule");
	const struct arg *limit = op_arg(&call->args, "limit");
	struct read_sched sched;
	struct event_query q = { .limit = limit->given ? limit->count : EVENTS_LISTED };
	enum err e = read_after(call, follow, &q.after);
	if (!e && type->given)
		e = event_choose(type->text, &q.choice, call->why);
	if (!e && schedule->given)
		e = api_find_schedule_or_removed(call, api, schedule->text, &sched);
	if (!e && schedule->given)
		q.sid = sched.row.sid;
	if (!e)
		*ret = q;
	return e;
}

static bool wants_stream(struct api_call *call)
{
	struct str accept = call->request->header[HTTP_ACCEPT];
	return op_arg(&call->args, "follow")->given ||
	       (accept.p && memmem(accept.p, accept.n, SSE_TYPE, strlen(SSE_TYPE)));
}

enum err handle_events(struct api_call *call, struct api *api)
{
	bool follow = wants_stream(call);
	struct event_query q;
	enum err e = read_query(call, api, follow, &q);
	if (!e && follow && !events_have_room(api_events(api)))
		e = why_set(call->why, E_BUSY, WHY_NOWHERE,
			    "%d clients follow events already; end one of them, or try again later",
			    EVENT_FOLLOWERS_MAX);
	if (e || !follow)
		return e ? e : events_write_list(api_events(api), &q, &call->answer, call->why);
	call->deferred = true; /* the stream answers: after events_follow the call may be gone */
	api_release(call);
	e = events_follow(api_events(api), call->request, &q, call->why);
	if (e)
		call->deferred = false;
	return e;
}
