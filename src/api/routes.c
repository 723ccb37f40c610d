/* Matches HTTP requests with rows of the table of operations, and calls their handlers. */
#include "api/routes.h"

#include "api/handlers/handlers.h"
#include "api/masking.h"
#include "api/operations.h"
#include "api/request_args.h"
#include "api/rights.h"
#include "api/zone_files.h"
#include "exec/lineage.h"

#include <unistd.h>

/* --- routes --- */

static bool path_matches(const struct op *op, const struct url *u)
{
	struct str part[OP_SEGMENTS_MAX];
	unsigned n = op->route ? op_split_route(op, part) : 0;
	if (!op->route || n != u->segments)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (!op_placeholder(part[i]).n && !str_eq(part[i], u->segment[i]))
			return false;
	return true;
}

/* The row that a request is for. NULL: there is none, and *allowed lists the methods that the path has. */
static const struct op *find_row(const struct http_request *r, struct buf *allowed)
{
	for (const struct op *op = ops; op < ops + OPS; op++) {
		if (!path_matches(op, &r->url))
			continue;
		if (!strcmp(op->method, http_method_words[r->method]))
			return op;
		buf_addf(allowed, "%s%s", allowed->n ? ", " : "", op->method);
	}
	return NULL;
}

/* --- calls --- */

/* Releases the call of a request that the server drops. All its other memory is in the request's arena. */
static void drop_call(struct http_request *r)
{
	struct api_call *call = r->ctx;
	api_release(call);
	buf_free(&call->answer);
}

static struct api_call *call_new(struct api *a, struct http_request *r)
{
	struct api_call *call = arena_alloc(&r->arena, sizeof *call);
	struct why *why = arena_alloc(&r->arena, sizeof *why);
	if (!call || !why)
		return NULL;
	*why = (struct why){ .at = WHY_NOWHERE };
	*call = (struct api_call){ .api = a, .arena = &r->arena, .why = why, .request = r };
	r->ctx = call;
	r->dropped = drop_call;
	return call;
}

static enum err find_operation(struct api_call *call)
{
	_cleanup_(buf_free) struct buf allowed = { 0 };
	const struct http_request *r = call->request;
	call->args.op = find_row(r, &allowed);
	if (call->args.op)
		return OK;
	return allowed.n ? why_set(call->why, E_INPUT, WHY_NOWHERE,
				   "method %s is not allowed here; allowed: %s", http_method_words[r->method],
				   allowed.p)
			 : why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "there is no operation at %.*s",
				   STR_SHORT(r->url.path));
}

/* Runs on the operations thread. */
static void run_call(void *arg)
{
	struct api_call *call = arg;
	struct api *a = call->api;
	call->zone_files = zone_files_share(api_zone_files(a));
	call->zones = call->zone_files->zones;
	enum err e = rights_identify(a, call->request, &call->caller_run, call->why);
	if (!e)
		e = find_operation(call);
	if (!e)
		e = request_args_read_path(call, call->request);
	if (!e)
		e = rights_check_operation(call, a);
	if (!e)
		e = request_args_read(call, call->request);
	if (!e)
		e = masking_apply(call, a);
	if (!e)
		e = rights_check_arguments(call, a);
	if (!e)
		e = api_handlers[call->args.op - ops](call, a);
	if (!call->deferred)
		api_finish(call, e);
}

/* --- on the HTTP thread --- */

/* Allows the daemon's own user and root. The mode of the socket does the same, but it can be changed. */
static bool is_allowed_user(const struct http_request *r)
{
	return r->peer.uid == geteuid() || r->peer.uid == 0;
}

struct http_owner routes_owner(void *ctx, const struct http_peer *peer)
{
	enum { USER = 1, RUN, UNKNOWN };
	struct lineage l = { 0 };
	const struct lineage_place place = daemon_lineage_place(api_daemon(ctx));
	if (peer->pid == getpid())
		return (struct http_owner){ .key = (uint64_t)USER << 48 | peer->uid };
	/* A process of another pid namespace has pid 0 here. */
	if (peer->pid)
		lineage_guess(&place, peer->pid, peer->since, &l);
	if (!peer->pid || l.other)
		return (struct http_owner){ (uint64_t)UNKNOWN << 48, true, l.descends };
	if (l.run)
		return (struct http_owner){ (uint64_t)RUN << 48 | (l.run & ((UINT64_C(1) << 48) - 1)), true,
					    l.descends };
	return (struct http_owner){ (uint64_t)USER << 48 | peer->uid,
				    peer->uid != geteuid() && peer->uid != 0, false };
}

enum err routes_admit(void *ctx, const struct http_request *r, size_t *body_most, struct why *why)
{
	_cleanup_(buf_free) struct buf allowed = { 0 };
	if (!is_allowed_user(r))
		return why_set(why, E_DENIED, WHY_NOWHERE,
			       "this daemon belongs to user %u; only that user and root may use it",
			       (unsigned)geteuid());
	const struct op *op = find_row(r, &allowed);
	bool run = (r->owner.guest && r->peer.pid) || r->header[HTTP_AUTHORIZATION].p;
	*body_most = run                    ? HTTP_RUN_BYTES_MAX
		     : op == &ops[OP_APPLY] ? HTTP_BODY_BYTES_MAX
					    : HTTP_REQUEST_BYTES_MAX;
	return rights_check_headers(ctx, r, op, why);
}

static enum err hand_over(struct api *a, struct http_request *r, struct why *why)
{
	if (operations_hang(api_operations(a)))
		return why_set(why, E_BUSY, WHY_NOWHERE,
			       "the store does not respond now; nothing was done; try again later");
	struct api_call *call = call_new(a, r);
	enum err e = call ? operations_add_request(api_operations(a), run_call, call) : E_NOMEM;
	if (e == E_BUSY || e == E_GONE)
		return why_set(why, E_BUSY, WHY_NOWHERE, "too many requests are waiting; try again later");
	return e;
}

void routes_handle(void *ctx, struct http_request *r)
{
	struct why why = { .at = WHY_NOWHERE };
	enum err e = hand_over(ctx, r, &why);
	if (e)
		http_answer_error(r, e, &why, (struct str){ 0 });
}

void routes_watch(void *ctx, struct http *h)
{
	struct api *a = ctx;
	struct why why;
	if (!operations_look(api_operations(a)))
		return;
	why_write(&why, WHY_NOWHERE,
		  "the store does not respond now; a change that was requested may still be made; try again "
		  "later");
	http_refuse_waiting(h, &why);
}
