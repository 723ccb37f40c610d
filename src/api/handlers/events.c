/* The last events, or a stream of events. */
#include "api/handlers/handlers.h"

#include "api/events.h"

enum err handle_events(struct api_call *call, struct api *api)
{
	struct http_request *r = call->request;
	uint64_t after = 0;
	if (op_arg(&call->args, "follow")->given && !events_have_room(api_events(api)))
		return why_set(call->why, E_BUSY, WHY_NOWHERE,
			       "%d clients follow events already; end one of them, or try again later",
			       EVENT_FOLLOWERS_MAX);
	if (op_arg(&call->args, "follow")->given) {
		/* A client that lost its connection sends the number of the last event it got. */
		if (r->header[HTTP_LAST_EVENT_ID].p &&
		    !str_number(r->header[HTTP_LAST_EVENT_ID], INT64_MAX, &after))
			after = 0;
		call->deferred = true; /* the stream answers */
		api_release(call);
		events_follow(api_events(api), r, after);
		return OK;
	}
	buf_add(&call->answer, STR("{\"events\":"));
	events_write_list(api_events(api), 100, &call->answer);
	buf_addc(&call->answer, '}');
	return OK;
}
