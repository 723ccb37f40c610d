/* Identifies callers, and checks what a run may request. */
#include "api/rights.h"

#include "api/documents.h"
#include "api/grants.h"
#include "daemon/token.h"
#include "exec/lineage.h"
#include "port/runfile.h"

#include <unistd.h>

/* --- identifying the caller --- */

static enum err identify_by_token(struct api *a, const struct http_request *r, struct lineage *ret,
				  struct why *why)
{
	struct str text = r->header[HTTP_AUTHORIZATION];
	const struct str bearer = STR("Bearer ");
	if (!text.p)
		return OK;
	if (text.n < bearer.n || !str_ieq(str_sub(text, 0, bearer.n), bearer) ||
	    !token_read(daemon_token_key(api_daemon(a)), str_trim(str_from(text, bearer.n)), &ret->run,
			&ret->attempt))
		return why_set(why, E_DENIED, WHY_NOWHERE,
			       "the token (ROTA_TOKEN) does not belong to a run of this daemon");
	return OK;
}

/* Two callers need no search: the daemon itself, which applies the documents of its directory, and a process
 * of another pid namespace, which has pid 0 here and cannot be a descendant of a shim. */
static enum err identify_by_descent(struct api *a, const struct http_request *r, struct lineage *ret,
				    struct why *why)
{
	if (r->peer.pid == 0 || r->peer.pid == getpid())
		return OK;
	const struct lineage_place place = daemon_lineage_place(api_daemon(a));
	enum err e = lineage_of(&place, r->peer.pid, r->peer.since, ret);
	/* Perhaps no file descriptor was left: closes the spare one and tries again. */
	if (e == E_BUSY && api_close_spare_fd(a))
		e = lineage_of(&place, r->peer.pid, r->peer.since, ret);
	api_open_spare_fd(a);
	if (e == E_BUSY)
		return why_set(why, e, WHY_NOWHERE, "the caller could not be identified; try again");
	if (e)
		return why_set(why, E_DENIED, WHY_NOWHERE,
			       "the calling process (%d) has ended or cannot be inspected", (int)r->peer.pid);
	if (run_is_hook(ret->attempt))
		return why_set(
			why, E_DENIED, WHY_NOWHERE,
			"rota started the calling process (%d) as a hook; a hook may not send requests",
			(int)r->peer.pid);
	if (ret->other)
		return why_set(
			why, E_DENIED, WHY_NOWHERE,
			"rota started the calling process (%d) to deliver a message, or for a run whose "
			"shim has ended; such a process may not send requests",
			(int)r->peer.pid);
	return OK;
}

/* The store records the start of an attempt a moment after it, so the run may already be one attempt ahead of
 * its row. */
static bool is_current(const struct run_row *run, unsigned attempt)
{
	return (run->state == RUN_CLAIMED && (attempt == run->attempt || attempt == run->attempt + 1u)) ||
	       (run->state == RUN_RETRYING && attempt == run->attempt + 1u);
}

enum err rights_identify(struct api *a, struct http_request *r, const struct run_row **ret, struct why *why)
{
	struct lineage token = { 0 }, descent = { 0 };
	enum err e = identify_by_token(a, r, &token, why);
	if (!e)
		e = identify_by_descent(a, r, &descent, why);
	descent.attempt &= ~(unsigned)RUN_CHECK;
	if (!e && token.run && descent.run && (token.run != descent.run || token.attempt != descent.attempt))
		return why_set(why, E_DENIED, WHY_NOWHERE,
			       "the token (ROTA_TOKEN) belongs to another run or attempt");
	*ret = NULL;
	if (e || (!token.run && !descent.run))
		return e;
	const struct lineage caller = token.run ? token : descent;
	struct run_row *run = arena_alloc(&r->arena, sizeof *run);
	e = run ? read_run(api_reader(a), caller.run, run, why) : E_NOMEM;
	if (e == E_NOTFOUND || (!e && !is_current(run, caller.attempt)))
		return why_set(why, E_DENIED, WHY_NOWHERE,
			       "attempt %u of run r%llu has ended, so its token is no longer valid",
			       caller.attempt, (unsigned long long)caller.run);
	if (!e) {
		run->attempt = (uint16_t)caller.attempt;
		*ret = run;
	}
	return e;
}

/* --- what a run may request --- */

static enum err deny_operation(struct api_call *call, struct api *a)
{
	(void)a;
	return op_deny(call->args.op, call->why);
}

static enum err check_own_run(struct api_call *call, struct api *a)
{
	uint64_t number;
	(void)a;
	enum err e = api_read_run_number(call, op_arg(&call->args, "run")->text, &number);
	if (!e && number != call->caller_run->run)
		e = why_set(
			call->why, E_DENIED, WHY_NOWHERE,
			"r%llu is another run; within a run, %s is allowed for the run itself only, r%llu",
			(unsigned long long)number, call->args.op->name,
			(unsigned long long)call->caller_run->run);
	return e;
}

static enum err check_own_agent(struct api_call *call, struct api *a)
{
	const struct arg *agent = op_arg(&call->args, "agent");
	const struct arg *user = op_arg_if(&call->args, "user");
	if (user && user->given && !agent->given)
		return OK; /* the user's profile: the handler allows reading */
	struct schedule_doc doc = { 0 };
	struct str own = { 0 }, text;
	const struct run_row *run = call->caller_run;
	enum err e = read_document_of(api_reader(a), run->sid, run->rev, call->arena, &text, call->why);
	if (!e)
		e = document_read_stored(call, a, text, &doc);
	if (!e)
		own = doc.agent;
	if (!e && !own.n)
		e = why_set(call->why, E_DENIED, WHY_NOWHERE, "this run has no agent");
	else if (!e && agent->given && !str_eq(agent->text, own))
		e = why_set(
			call->why, E_DENIED, WHY_NOWHERE,
			"'%.*s' is another agent; within a run, %s is allowed for the run's own agent only, "
			"'%.*s'",
			STR_SHORT(agent->text), call->args.op->name, STR_SHORT(own));
	if (!e)
		op_set_arg(&call->args, "agent", own);
	return e;
}

static enum err allow(struct api_call *call, struct api *a)
{
	(void)call;
	(void)a;
	return OK;
}

typedef enum err check_fn(struct api_call *call, struct api *a);

/* Indexed by `within` of the row. Rows with WITHIN_FREE have no route, so a request for one is a bug. */
static const struct {
	check_fn *operation, *arguments;
} run_checks[] = {
	[WITHIN_UNDECIDED] = { deny_operation, deny_operation },
	[WITHIN_NOT] = { deny_operation, deny_operation },
	[WITHIN_OWN_RUN] = { check_own_run, allow },
	[WITHIN_OWN_AGENT] = { allow, check_own_agent },
	[WITHIN_GRANTED] = { grants_check_any, allow },
	[WITHIN_FREE] = { deny_operation, deny_operation },
};

enum err rights_check_headers(struct api *a, const struct http_request *r, const struct op *op,
			      struct why *why)
{
	struct lineage token = { 0 };
	enum err e = identify_by_token(a, r, &token, why);
	if (!e && op && (token.run || r->owner.restricted) &&
	    run_checks[op->within].operation == deny_operation)
		e = op_deny(op, why);
	return e;
}

/* A person on the socket is an admin and has every role. The size of the body was limited at the headers,
 * unless the run could not be recognized there. */
enum err rights_check_operation(struct api_call *call, struct api *a)
{
	if (!call->caller_run)
		return OK;
	if (call->request->body.n > HTTP_RUN_BYTES_MAX)
		return why_set(call->why, E_LIMIT, WHY_NOWHERE,
			       "the request of a run may have at most %u bytes", HTTP_RUN_BYTES_MAX);
	return run_checks[call->args.op->within].operation(call, a);
}

enum err rights_check_arguments(struct api_call *call, struct api *a)
{
	return call->caller_run ? run_checks[call->args.op->within].arguments(call, a) : OK;
}
