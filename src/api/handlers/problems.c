#include "api/handlers/problems.h"

#include "api/api.h"
#include "api/json_out.h"
#include "cli/table.h"

#include <stdlib.h>

void tell_problem(struct buf *out, const struct problem_row *p)
{
	buf_addf(out, "{\"number\":%llu,\"count\":%u", (unsigned long long)p->number, p->count);
	json_add_str(out, "key", p->key);
	json_add_str(out, "subject", p->subject);
	json_add_str(out, "text", p->text);
	json_add_time(out, "opened", p->opened);
	json_add_time(out, "said", p->last_reported);
	json_add_time(out, "acknowledged", p->acked);
	json_add_str(out, "by", p->by);
	json_add_str(out, "note", p->note);
	json_add_time(out, "closed", p->closed);
	buf_addc(out, '}');
}

enum err handle_problems(struct op_call *call, struct api *api)
{
	const struct arg *limit = op_arg(call, "limit");
	struct read_problems page;
	uint64_t before = 0;
	const struct arg *from = op_arg(call, "before");
	if (from->given && !str_number(from->text, INT64_MAX, &before))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "'%.*s' is not the number of a problem",
			       STR_SHORT(from->text));
	enum err e = read_problems(api_reader(api), op_arg(call, "all")->given, before,
				   limit->given ? limit->count : 100, call->arena, &page, call->why);
	if (e)
		return e;
	buf_add(&call->answer, STR("{\"problems\":["));
	for (unsigned i = 0; i < page.n; i++) {
		buf_add(&call->answer, i ? STR(",") : STR(""));
		tell_problem(&call->answer, &page.item[i]);
	}
	buf_add(&call->answer, STR("]"));
	if (page.more && page.n)
		buf_addf(&call->answer, ",\"before\":%llu", (unsigned long long)page.item[page.n - 1].number);
	buf_addc(&call->answer, '}');
	return OK;
}

static enum err number_of(struct op_call *call, uint64_t *ret)
{
	struct str text = op_arg(call, "problem")->text;
	if (!str_number(text, INT64_MAX, ret) || !*ret)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "'%.*s' is not the number of a problem; `rota ls problems` shows them",
			       STR_SHORT(text));
	return OK;
}

static enum err find(struct op_call *call, struct api *api, uint64_t number, struct problem_row *ret)
{
	enum err e = read_problem(api_reader(api), number, call->arena, ret, call->why);
	return e != E_NOTFOUND ? e
			       : why_set(call->why, e, WHY_NOWHERE, "there is no problem %llu",
					 (unsigned long long)number);
}

enum err handle_problem(struct op_call *call, struct api *api)
{
	uint64_t number;
	struct problem_row p;
	enum err e = number_of(call, &number);
	if (!e)
		e = find(call, api, number, &p);
	if (!e)
		tell_problem(&call->answer, &p);
	return e;
}

/* --- ack --- */

struct acking {
	struct api *api;
	struct op_call *call;
	uint64_t number;
	uint8_t res;
};

static void acked(void *arg)
{
	const struct acking *a = arg;
	struct op_call *call = a->call;
	struct problem_row p;
	enum err e = find(call, a->api, a->number, &p);
	if (!e && a->res != ST_OK)
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE, "problem %llu is %s already",
			    (unsigned long long)a->number,
			    p.closed.us != INT64_MAX ? "closed" : "acknowledged");
	if (!e)
		tell_problem(&call->answer, &p);
	api_finish(call, e);
}

/* On the daemon's thread. */
static void answered(void *ctx, const struct st_ack *ack)
{
	struct acking *a = ctx;
	a->res = ack->res;
	api_answer(a->api, acked, a);
}

enum err handle_ack(struct op_call *call, struct api *api)
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

/* --- for people --- */

static const char *state_of(struct op_call *call, const struct val *p)
{
	const char *by = val_text(call->arena, p, "by");
	if (val_text(call->arena, p, "closed"))
		return "closed";
	if (!val_text(call->arena, p, "acknowledged"))
		return "open";
	return arena_printf(call->arena, "taken by %s", by ? by : "somebody");
}

void print_problems(struct op_call *call, const struct val *list)
{
	for (unsigned i = 0; list && i < list->list.n; i++) {
		const struct val *p = &list->list.item[i];
		const char *count = val_text(call->arena, p, "count"),
			   *text = val_text(call->arena, p, "text");
		fprintf(call->out, "  %-4s", val_text(call->arena, p, "number"));
		print_safe(call->out, str_of(text ? text : "(no text)"));
		fprintf(call->out, "\n      %s, since %s", state_of(call, p),
			op_time(call, val_text(call->arena, p, "opened")));
		if (count && strcmp(count, "1") != 0)
			fprintf(call->out, ", said %s times", count);
		fputc('\n', call->out);
	}
}

void show_problems(struct op_call *call, const struct val *v)
{
	const struct val *list = val_get(v, STR("problems"));
	if (list && list->list.n)
		print_problems(call, list);
	else
		fputs("No problems.\n", call->out);
	if (val_get(v, STR("before")))
		fprintf(call->out, "More: --before %s\n", val_text(call->arena, v, "before"));
}

void show_problem(struct op_call *call, const struct val *v)
{
	struct val list = { .kind = VAL_LIST, .list = { (struct val *)v, 1 } };
	const char *note = val_text(call->arena, v, "note"), *closed = val_text(call->arena, v, "closed");
	fprintf(call->out, "problem %s\n", val_text(call->arena, v, "number"));
	print_problems(call, &list);
	if (note) {
		fputs("      note: ", call->out);
		print_safe(call->out, str_of(note));
		fputc('\n', call->out);
	}
	if (closed)
		fprintf(call->out, "      closed %s\n", op_time(call, closed));
}

void show_acked(struct op_call *call, const struct val *v)
{
	fprintf(call->out, "problem %s is yours; it closes by itself when its cause is gone\n",
		val_text(call->arena, v, "number"));
}
