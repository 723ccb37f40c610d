/* Reads the arguments of a request from its path, its query and its body. */
#include "api/request_args.h"

#include "base/json.h"

static struct arg *find_argument(struct api_call *call, struct str name, const struct op_param **param)
{
	for (unsigned i = 0; i < OP_PARAMS_MAX && call->args.op->param[i].name; i++)
		if (str_eq(name, str_of(call->args.op->param[i].name))) {
			*param = &call->args.op->param[i];
			return &call->args.arg[i];
		}
	return NULL;
}

/* Sets an argument of the row, which must have it. `at`: where it is in the body. */
static enum err set_argument(struct api_call *call, struct str name, struct str text, size_t at)
{
	const struct op_param *p = NULL;
	struct arg *arg = find_argument(call, name, &p);
	uint64_t n;
	assert(arg);
	bool no = str_eq(text, STR("false"));
	if (p->kind == PARAM_FLAG && text.n && !no && !str_eq(text, STR("true")))
		return why_set(call->why, E_INPUT, at, "%s must be true or false, not '%.*s'", p->name,
			       STR_SHORT(text));
	if (p->kind == PARAM_COUNT && (!str_number(text, p->most, &n) || n < p->least))
		return why_set(call->why, E_INPUT, at, "%s %.*s is out of range %u-%u", p->name,
			       STR_SHORT(text), p->least, p->most);
	arg->given = p->kind != PARAM_FLAG || !no;
	arg->text = text;
	if (p->kind == PARAM_COUNT)
		arg->count = (unsigned)n;
	return OK;
}

static bool is_in_path(const struct op *op, struct str name)
{
	struct str part[OP_SEGMENTS_MAX];
	unsigned n = op_split_route(op, part);
	for (unsigned i = 0; i < n; i++)
		if (str_eq(op_placeholder(part[i]), name))
			return true;
	return false;
}

/* Says what is wrong with an argument that the row does not take here, and what it takes. */
static enum err refuse(struct api_call *call, struct str name, bool in_query, size_t at)
{
	const struct op *op = call->args.op;
	_cleanup_(buf_free) struct buf list = { 0 };
	for (unsigned i = 0; i < OP_MEMBERS_MAX && op->takes[i].name; i++)
		buf_addf(&list, "%s%s", i ? ", " : "", op->takes[i].name);
	const char *where = op_uses_query(op) ? "the query" : "the body";
	const char *known = list.n && !list.failed ? list.p : "nothing";
	if (is_in_path(op, name))
		return why_set(call->why, E_INPUT, at, "'%.*s' is given by the path, and may not be in %s",
			       STR_SHORT(name), in_query ? "the query" : "the body");
	if (in_query != op_uses_query(op))
		return why_set(call->why, E_INPUT, at,
			       "'%.*s' may not be in %s: %s takes its arguments in %s (%s)", STR_SHORT(name),
			       in_query ? "the query" : "the body", op->name, where, known);
	return why_set(call->why, E_INPUT, at, "'%.*s' is not an argument of %s; in %s it takes: %s",
		       STR_SHORT(name), op->name, where, known);
}

/* --- query --- */

static enum err read_query(struct api_call *call, const struct url *u)
{
	const struct op *op = call->args.op;
	enum err e = OK;
	for (unsigned i = 0; i < u->queries && !e; i++) {
		struct str name = u->query[i].name;
		if (!op_uses_query(op) || !op_find_member(op, name))
			return refuse(call, name, true, WHY_NOWHERE);
		for (unsigned k = 0; k < i; k++)
			if (str_eq(u->query[k].name, name))
				return why_set(call->why, E_INPUT, WHY_NOWHERE, "'%.*s' is given twice",
					       STR_SHORT(name));
		e = set_argument(call, name, u->query[i].value, WHY_NOWHERE);
	}
	return e;
}

/* --- body --- */

static enum err wrong_kind(struct api_call *call, const struct val_pair *m, const char *allowed)
{
	return why_set(call->why, E_INPUT, m->value.at, "%.*s must be %s", STR_SHORT(m->key), allowed);
}

static enum err read_parameter(struct api_call *call, const struct val_pair *m)
{
	const struct op_param *p = NULL;
	const struct val *v = &m->value;
	const char *number;
	find_argument(call, m->key, &p);
	assert(p); /* the table names only parameters of the row */
	switch (p->kind) {
	case PARAM_FLAG:
		if (v->kind != VAL_BOOL)
			return wrong_kind(call, m, "true or false");
		return set_argument(call, m->key, v->boolean ? STR("true") : STR("false"), v->at);
	case PARAM_COUNT:
		if (v->kind != VAL_INT && v->kind != VAL_STR)
			return wrong_kind(call, m, "a number");
		if (v->kind == VAL_STR)
			return set_argument(call, m->key, v->str, v->at);
		number = arena_printf(call->arena, "%lld", (long long)v->integer);
		return number ? set_argument(call, m->key, str_of(number), v->at) : E_NOMEM;
	default:
		return v->kind == VAL_STR ? set_argument(call, m->key, v->str, v->at)
					  : wrong_kind(call, m, "a string");
	}
}

static enum err read_member(struct api_call *call, const struct val_pair *m)
{
	static const struct {
		enum val_kind kind;
		const char *text;
	} kinds[] = { [MEMBER_FLAG] = { VAL_BOOL, "true or false" },
		      [MEMBER_NUMBER] = { VAL_INT, "a number" },
		      [MEMBER_LIST] = { VAL_LIST, "a list" },
		      [MEMBER_MAP] = { VAL_MAP, "a JSON object" } };
	const struct op_member *member = op_find_member(call->args.op, m->key);
	if (!member)
		return refuse(call, m->key, false, m->at);
	if (member->kind == MEMBER_PARAM)
		return read_parameter(call, m);
	return m->value.kind == kinds[member->kind].kind ? OK : wrong_kind(call, m, kinds[member->kind].text);
}

/* json_read refuses a member that is given twice. */
static enum err read_body(struct api_call *call, struct str text)
{
	call->source = text;
	if (op_uses_query(call->args.op))
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "a %s request has no body; its arguments are in the query",
			       call->args.op->method);
	enum err e = json_read(text, call->arena, &call->body, call->why);
	if (!e && call->body.kind != VAL_MAP)
		e = why_set(call->why, E_INPUT, call->body.at, "the body must be a JSON object");
	for (unsigned i = 0; !e && i < call->body.map.n; i++)
		e = read_member(call, &call->body.map.pair[i]);
	return e;
}

enum err request_args_read_path(struct api_call *call, const struct http_request *r)
{
	struct str part[OP_SEGMENTS_MAX];
	unsigned n = op_split_route(call->args.op, part);
	enum err e = OK;
	for (unsigned i = 0; i < n && !e; i++)
		if (op_placeholder(part[i]).n)
			e = set_argument(call, op_placeholder(part[i]), r->url.segment[i], WHY_NOWHERE);
	return e;
}

enum err request_args_read(struct api_call *call, const struct http_request *r)
{
	enum err e = read_query(call, &r->url);
	return e || !r->body.n ? e : read_body(call, r->body);
}
