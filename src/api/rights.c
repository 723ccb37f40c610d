#include "api/rights.h"

#include "api/grants.h"
#include "daemon/token.h"
#include "exec/lineage.h"
#include "port/runfile.h"

#include <stdlib.h>
#include <unistd.h>

/* --- who asks --- */

static enum err by_token(struct api *a, const struct http_request *r, struct lineage *ret, struct why *why)
{
	struct str text = r->header[HTTP_AUTHORIZATION];
	const struct str bearer = STR("Bearer ");
	if (!text.p)
		return OK;
	if (text.n < bearer.n || !str_ieq(str_sub(text, 0, bearer.n), bearer) ||
	    !token_read(daemon_token_key(api_daemon(a)), str_trim(str_from(text, bearer.n)), &ret->run,
			&ret->attempt))
		return why_set(why, E_DENIED, WHY_NOWHERE,
			       "the token (ROTA_TOKEN) is not one of this daemon's runs");
	return OK;
}

/* The daemon itself asks, too: for what is in its directory. A process of another namespace has no pid here,
 * and is no descendant of anything here. */
static enum err by_descent(struct api *a, const struct http_request *r, struct lineage *ret, struct why *why)
{
	if (r->peer.pid == 0 || r->peer.pid == getpid())
		return OK;
	const char *runs = daemon_runs_dir(api_daemon(a));
	enum err e = lineage_of(runs, r->peer.pid, r->peer.since, ret);
	/* Perhaps for want of a descriptor: nobody is to be turned away for that. */
	if (e == E_BUSY && api_spare_give(a))
		e = lineage_of(runs, r->peer.pid, r->peer.since, ret);
	api_spare_take(a);
	if (e == E_BUSY)
		return why_set(why, e, WHY_NOWHERE, "who asks cannot be told now; try again");
	if (e)
		return why_set(why, E_DENIED, WHY_NOWHERE,
			       "the process that asks (%d) cannot be looked at, or is gone",
			       (int)r->peer.pid);
	return OK;
}

/* The store hears of a start a moment after it, and of the next attempt after its token was made. */
static bool is_current(const struct run_row *run, unsigned attempt)
{
	return (run->state == RUN_CLAIMED && (attempt == run->attempt || attempt == run->attempt + 1u)) ||
	       (run->state == RUN_RETRYING && attempt == run->attempt + 1u);
}

enum err rights_who(struct api *a, struct http_request *r, const struct run_row **ret, struct why *why)
{
	struct lineage token = { 0 }, descent = { 0 };
	enum err e = by_token(a, r, &token, why);
	if (!e)
		e = by_descent(a, r, &descent, why);
	descent.attempt &= ~(unsigned)RUN_CHECK;
	if (!e && token.run && descent.run && (token.run != descent.run || token.attempt != descent.attempt))
		return why_set(why, E_DENIED, WHY_NOWHERE, "the token (ROTA_TOKEN) is that of another run");
	*ret = NULL;
	if (e || (!token.run && !descent.run))
		return e;
	const struct lineage who = token.run ? token : descent;
	struct run_row *run = arena_alloc(&r->arena, sizeof *run);
	e = run ? read_run(api_reader(a), who.run, run, why) : E_NOMEM;
	if (e == E_NOTFOUND || (!e && !is_current(run, who.attempt)))
		return why_set(why, E_DENIED, WHY_NOWHERE,
			       "attempt %u of run r%llu is over: its token is good no more", who.attempt,
			       (unsigned long long)who.run);
	if (!e) {
		run->attempt = (uint16_t)who.attempt;
		*ret = run;
	}
	return e;
}

/* --- what they may --- */

static enum err own_run(struct api_call *call)
{
	uint64_t number;
	enum err e = api_run_number(call, op_arg(&call->args, "run")->text, &number);
	if (!e && number != call->within->run)
		e = why_set(call->why, E_DENIED, WHY_NOWHERE,
			    "r%llu is another run; within a run, %s is about itself, r%llu",
			    (unsigned long long)number, call->args.op->name,
			    (unsigned long long)call->within->run);
	return e;
}

static enum err own_agent(struct api_call *call, struct api *a)
{
	const struct arg *agent = op_arg(&call->args, "agent");
	const struct arg *user = op_arg_if(&call->args, "user");
	if (user && user->given && !agent->given)
		return OK; /* the handler's to say */
	struct schedule_doc doc = { 0 };
	struct str own = { 0 }, text;
	const struct run_row *run = call->within;
	enum err e = read_document_of(api_reader(a), run->sid, run->rev, call->arena, &text, call->why);
	if (!e)
		e = put_stored(call, a, text, &doc);
	if (!e)
		own = doc.agent;
	if (!e && !own.n)
		e = why_set(call->why, E_DENIED, WHY_NOWHERE, "this run has no agent");
	else if (!e && agent->given && !str_eq(agent->text, own))
		e = why_set(call->why, E_DENIED, WHY_NOWHERE,
			    "'%.*s' is another agent; within a run, %s is about its own, '%.*s'",
			    STR_SHORT(agent->text), call->args.op->name, STR_SHORT(own));
	if (!e)
		op_set_arg(&call->args, "agent", own);
	return e;
}

enum err rights_may(struct api_call *call, struct api *a)
{
	if (!call->within)
		return OK; /* the socket's are admins, whatever the row's role */
	switch ((enum op_within)call->args.op->within) {
	case WITHIN_OWN_RUN:
		return own_run(call);
	case WITHIN_OWN_AGENT:
		return own_agent(call, a);
	case WITHIN_GRANTED:
		return grant_any(call, a);
	case WITHIN_UNDECIDED:
	case WITHIN_NOT:
	case WITHIN_FREE:
		break;
	}
	return op_deny(call->args.op, call->why);
}
