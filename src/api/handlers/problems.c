/* Lists, shows and acknowledges problems. */
#include "api/handlers/handlers.h"

#include "api/json_out.h"
#include "sys/clock.h"

enum err handle_problems(struct api_call *call, struct api *api)
{
	const struct arg *limit = op_arg(&call->args, "limit");
	struct read_problems page;
	uint64_t before;
	enum err e = api_read_before(call, "problem", &before);
	if (!e)
		e = read_problems(api_reader(api), op_arg(&call->args, "all")->given, before,
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

static enum err read_problem_number(struct api_call *call, uint64_t *ret)
{
	struct str text = op_arg(&call->args, "problem")->text;
	if (!str_number(text, INT64_MAX, ret) || !*ret)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "'%.*s' is not the number of a problem; `rota ls problems` lists them",
			       STR_SHORT(text));
	return OK;
}

static enum err find_problem(struct api_call *call, struct api *api, uint64_t number, struct problem_row *ret)
{
	enum err e = read_problem(api_reader(api), number, call->arena, ret, call->why);
	return e != E_NOTFOUND ? e
			       : why_set(call->why, e, WHY_NOWHERE,
					 "there is no problem %llu; `rota ls problems` lists them",
					 (unsigned long long)number);
}

enum err handle_problem(struct api_call *call, struct api *api)
{
	uint64_t number;
	struct problem_row p;
	enum err e = read_problem_number(call, &number);
	if (!e)
		e = find_problem(call, api, number, &p);
	if (!e)
		json_write_problem(&call->answer, &p);
	return e;
}

static void answer_ack(struct api_call *call, struct api *api, const struct st_ack *ack)
{
	const uint64_t *number = call->ctx;
	struct problem_row p;
	enum err e = find_problem(call, api, *number, &p);
	if (!e && ack->res != ST_OK)
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE, "problem %llu is already %s",
			    (unsigned long long)*number,
			    p.closed.us != INT64_MAX ? "closed" : "acknowledged");
	if (!e)
		json_write_problem(&call->answer, &p);
	api_finish(call, e);
}

enum err handle_ack(struct api_call *call, struct api *api)
{
	uint64_t *number = arena_alloc(call->arena, sizeof *number);
	struct str note;
	enum err e = number ? read_problem_number(call, number) : E_NOMEM;
	if (!e)
		e = api_read_note(call, &note);
	if (e)
		return e;
	struct st_req request = { .op = ST_PROBLEM,
				  .lane = LANE_USER,
				  .at = clock_wall(),
				  .problem = { .act = PROBLEM_ACK,
					       .number = *number,
					       .by = api_caller_name(call, api),
					       .note = note } };
	call->ctx = number;
	return api_store_request(call, api, &request, answer_ack);
}
