/* Matches HTTP requests with rows of the table of operations, and reads their arguments. */
#include "api/routes.h"

#include "api/handlers/handlers.h"
#include "api/operations.h"
#include "api/rights.h"
#include "api/zone_files.h"
#include "base/json.h"

#include <unistd.h>

enum { ROUTE_SEGMENTS_MAX = 16 };

/* --- routes --- */

/* "{run}" */
static bool is_placeholder(struct str segment)
{
	return segment.n > 2 && segment.p[0] == '{';
}

static unsigned split_route(const struct op *op, struct str ret[ROUTE_SEGMENTS_MAX])
{
	struct str route = str_of(op->route);
	unsigned n = 0;
	for (size_t at = 1; at <= route.n && n < ROUTE_SEGMENTS_MAX;) {
		size_t end = at;
		while (end < route.n && route.p[end] != '/')
			end++;
		ret[n++] = str_sub(route, at, end);
		at = end + 1;
	}
	return n;
}

static bool path_matches(const struct op *op, const struct url *u)
{
	struct str part[ROUTE_SEGMENTS_MAX];
	unsigned n = op->route ? split_route(op, part) : 0;
	if (!op->route || n != u->segments)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (!is_placeholder(part[i]) && !str_eq(part[i], u->segment[i]))
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

/* --- arguments --- */

static struct arg *find_argument(struct api_call *call, struct str name, const struct op_param **param)
{
	for (unsigned i = 0; i < OP_PARAMS_MAX && call->args.op->param[i].name; i++)
		if (str_eq(name, str_of(call->args.op->param[i].name))) {
			*param = &call->args.op->param[i];
			return &call->args.arg[i];
		}
	return NULL;
}

static enum err set_argument(struct api_call *call, struct str name, struct str text)
{
	const struct op_param *p = NULL;
	struct arg *arg = find_argument(call, name, &p);
	uint64_t n;
	if (!arg)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "'%.*s' is not an argument of %s",
			       STR_SHORT(name), call->args.op->name);
	arg->given = p->kind != PARAM_FLAG || !str_eq(text, STR("false"));
	arg->text = text;
	if (p->kind != PARAM_COUNT)
		return OK;
	if (!str_number(text, p->most, &n) || n < 1)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "%s %.*s is out of range 1-%u", p->name,
			       STR_SHORT(text), p->most);
	arg->count = (unsigned)n;
	return OK;
}

/* Members of the body that are not arguments are left to the handler. */
static enum err set_argument_from_member(struct api_call *call, const struct val_pair *m)
{
	const struct op_param *p;
	if (!find_argument(call, m->key, &p))
		return OK;
	switch (m->value.kind) {
	case VAL_STR:
		return set_argument(call, m->key, m->value.str);
	case VAL_BOOL:
		return m->value.boolean ? set_argument(call, m->key, STR("true")) : OK;
	case VAL_INT: {
		const char *n = arena_printf(call->arena, "%lld", (long long)m->value.integer);
		return n ? set_argument(call, m->key, str_of(n)) : E_NOMEM;
	}
	default:
		return OK;
	}
}

static enum err read_arguments(struct api_call *call, struct http_request *r)
{
	struct str part[ROUTE_SEGMENTS_MAX];
	unsigned n = split_route(call->args.op, part);
	enum err e = OK;
	for (unsigned i = 0; i < n && !e; i++)
		if (is_placeholder(part[i]))
			e = set_argument(call, str_sub(part[i], 1, part[i].n - 1), r->url.segment[i]);
	for (unsigned i = 0; i < r->url.queries && !e; i++)
		e = set_argument(call, r->url.query[i].name, r->url.query[i].value);
	if (e || !r->body.n)
		return e;
	call->source = r->body;
	e = json_read(r->body, call->arena, &call->body, call->why);
	if (!e && call->body.kind != VAL_MAP)
		e = why_set(call->why, E_INPUT, call->body.at, "the body must be a JSON object");
	for (unsigned i = 0; !e && i < call->body.map.n; i++)
		e = set_argument_from_member(call, &call->body.map.pair[i]);
	return e;
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
		e = read_arguments(call, call->request);
	if (!e)
		e = rights_check(call, a);
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

static enum err hand_over(struct api *a, struct http_request *r, struct why *why)
{
	if (!is_allowed_user(r))
		return why_set(why, E_DENIED, WHY_NOWHERE,
			       "this daemon belongs to user %u; only that user and root may use it",
			       (unsigned)geteuid());
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
