#include "api/handlers/handlers.h"

#include "api/json_out.h"

enum err handle_problems(struct api_call *call, struct api *api)
{
	const struct arg *limit = op_arg(&call->args, "limit");
	struct read_problems page;
	uint64_t before = 0;
	const struct arg *from = op_arg(&call->args, "before");
	if (from->given && !str_number(from->text, INT64_MAX, &before))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "'%.*s' is not the number of a problem",
			       STR_SHORT(from->text));
	enum err e = read_problems(api_reader(api), op_arg(&call->args, "all")->given, before,
				   limit->given ? limit->count : 100, call->arena, &page, call->why);
	if (e)
		return e;
	buf_add(&call->answer, STR("{\"problems\":["));
	for (unsigned i = 0; i < page.n; i++) {
		buf_add(&call->answer, i ? STR(",") : STR(""));
		json_write_problem(&call->answer, &page.item[i]);
	}
	buf_add(&call->answer, STR("]"));
	if (page.more && page.n)
		buf_addf(&call->answer, ",\"before\":%llu", (unsigned long long)page.item[page.n - 1].number);
	buf_addc(&call->answer, '}');
	return OK;
}

static enum err number_of(struct api_call *call, uint64_t *ret)
{
	struct str text = op_arg(&call->args, "problem")->text;
	if (!str_number(text, INT64_MAX, ret) || !*ret)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "'%.*s' is not the number of a problem; `rota ls problems` shows them",
			       STR_SHORT(text));
	return OK;
}

static enum err find(struct api_call *call, struct api *api, uint64_t number, struct problem_row *ret)
{
	enum err e = read_problem(api_reader(api), number, call->arena, ret, call->why);
	return e != E_NOTFOUND ? e
			       : why_set(call->why, e, WHY_NOWHERE, "there is no problem %llu",
					 (unsigned long long)number);
}

enum err handle_problem(struct api_call *call, struct api *api)
{
	uint64_t number;
	struct problem_row p;
	enum err e = number_of(call, &number);
	if (!e)
		e = find(call, api, number, &p);
	if (!e)
		json_write_problem(&call->answer, &p);
	return e;
}

/* --- ack --- */

struct acking {
	struct api *api;
	struct api_call *call;
	uint64_t number;
	uint8_t res;
};

static void acked(void *arg)
{
	const struct acking *a = arg;
	struct api_call *call = a->call;
	struct problem_row p;
	enum err e = find(call, a->api, a->number, &p);
	if (!e && a->res != ST_OK)
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE, "problem %llu is %s already",
			    (unsigned long long)a->number,
			    p.closed.us != INT64_MAX ? "closed" : "acknowledged");
	if (!e)
		json_write_problem(&call->answer, &p);
	api_finish(call, e);
}

/* On the daemon's thread. */
static void answered(void *ctx, const struct st_ack *ack)
{
	struct acking *a = ctx;
	a->res = ack->res;
	api_answer(a->api, acked, a);
}

enum err handle_ack(struct api_call *call, struct api *api)
{
	uint64_t number;
	struct str note;
	enum err e = number_of(call, &number);
	if (!e)
		e = api_note(call, &note);
	if (e)
		return e;
	struct acking *a = arena_alloc(call->arena, sizeof *a);
	if (!a)
		return E_NOMEM;
	*a = (struct acking){ .api = api, .call = call, .number = number };
	struct st_req q = {
		.op = ST_PROBLEM,
		.lane = LANE_USER,
		.at = api_now(),
		.problem = { .act = PROBLEM_ACK, .number = number, .by = api_person(call, api), .note = note }
	};
	if (api_cannot_write(call, api))
		return E_BUSY;
	e = daemon_send(api_daemon(api), &q, answered, a);
	call->later = !e;
	return e;
}
