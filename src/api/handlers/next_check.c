/* Lets a run set when its schedule comes due next. */
#include "api/handlers/handlers.h"

#include "api/documents.h"
#include "api/json_out.h"
#include "base/json.h"
#include "core/when/dur.h"
#include "sys/clock.h"

/* Checks `in`, in seconds, against the bounds that the schedule has now; if it has none, against the bounds
 * of its agent. The schedule may have changed since the run was claimed. */
static enum err check_bounds(struct api_call *call, struct api *api, const struct read_sched *s, int64_t in)
{
	_cleanup_(buf_free) struct buf bounds = { 0 };
	struct schedule_doc doc;
	enum err e = document_read_stored(call, api, s->document, &doc);
	if (e)
		return e;
	if (!doc.next_check.most)
		return why_set(call->why, E_DENIED, WHY_NOWHERE,
			       "'%.*s' does not let its runs set the next check: it has no `next_check`",
			       STR_SHORT(s->id));
	dur_format(doc.next_check.least, &bounds);
	buf_add(&bounds, STR(" to "));
	dur_format(doc.next_check.most, &bounds);
	if (in < doc.next_check.least || in > doc.next_check.most)
		return why_set(call->why, E_DENIED, WHY_NOWHERE,
			       "'%.*s' allows its runs a next check in %s from now", STR_SHORT(s->id),
			       bounds.failed ? "?" : bounds.p);
	return OK;
}

struct next_check {
	struct str id; /* the id of the schedule */
	struct wall at;
};

static void answer_next_check(struct api_call *call, struct api *api, const struct reply *r)
{
	const struct next_check *next = call->ctx;
	enum err e = OK;
	(void)api;
	if (r->code == REPLY_REFUSED) {
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			    "'%.*s' is paused or disabled, has no runs left, or its end date is before that "
			    "time",
			    STR_SHORT(next->id));
	} else if (r->code != REPLY_OK) {
		e = api_refusal(call, r, "the next check was not set");
	} else {
		buf_add(&call->answer, STR("{\"schedule\":"));
		json_write_str(&call->answer, next->id);
		json_add_time(&call->answer, "next", next->at);
		buf_addc(&call->answer, '}');
	}
	api_finish(call, e);
}

enum err handle_next_check(struct api_call *call, struct api *api)
{
	struct next_check *next = arena_alloc(call->arena, sizeof *next);
	struct read_sched s = { 0 };
	struct str text = op_arg(&call->args, "in")->text;
	int64_t in;
	if (!next)
		return E_NOMEM;
	if (!call->caller_run)
		return why_set(
			call->why, E_DENIED, WHY_NOWHERE,
			"only a run can set the next check of its schedule; `rota edit` changes its times");
	enum err e = dur_parse(text, &in, NULL);
	if (e || in < 1)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "'%.*s' is not a duration; write 90s, 30m, 2h, 3d or 1w", STR_SHORT(text));
	e = read_sched(api_reader(api), call->caller_run->sid, call->arena, &s, call->why);
	if (!e && s.dropped.us != INT64_MAX)
		e = why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "'%.*s' was removed", STR_SHORT(s.id));
	if (!e)
		e = check_bounds(call, api, &s, in);
	if (e)
		return e;
	/* Rounds up to a whole second, so that the check is not sooner than requested. */
	*next = (struct next_check){ s.id, wall_of(wall_seconds((struct wall){ clock_wall().us + USEC - 1 }) +
						   in) };
	call->ctx = next;
	struct command c = {
		.kind = CMD_NEXT_CHECK, .sid = s.row.sid, .run = call->caller_run->run, .to = next->at
	};
	return api_command(call, api, &c, answer_next_check);
}
