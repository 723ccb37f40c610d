#include "api/handlers/handlers.h"

#include "base/json.h"
#include "base/merge.h"
#include "daemon/daemon.h"
#include "store/sqlite/read/reader.h"

static enum err whose(struct api_call *call, struct str *ret)
{
	const struct arg *agent = op_arg(&call->args, "agent");
	bool user = op_arg(&call->args, "user")->given;
	if (user == agent->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "say whose: an agent's, or the user's, not %s", user ? "both" : "nobody's");
	*ret = user ? STR("") : agent->text;
	if (user && call->within && call->args.op == &ops[OP_SET_STATE])
		return why_set(call->why, E_DENIED, WHY_NOWHERE,
			       "the user's profile is the user's to change; a run may read it");
	if (!user && !ret->n)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "the agent's name is empty");
	if (str_starts(*ret, STR("/"))) /* there rota keeps what is nobody's state: NOTIFIER_STATE_KEY */
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "no agent's name begins with '/'");
	return OK;
}

/* Its revision, and its document: an empty one, where there is none yet. */
static enum err read_it(struct api_call *call, struct api *api, struct str key, struct state_row *row,
			struct val *ret)
{
	enum err e = read_state(api_reader(api), key, call->arena, row, call->why);
	*ret = (struct val){ .kind = VAL_MAP };
	return e || !row->text.n ? e : json_read(row->text, call->arena, ret, call->why);
}

static void tell_state(struct api_call *call, struct str key, uint32_t rev, const struct val *v)
{
	struct buf *out = &call->answer;
	buf_addf(out, "{\"rev\":%u", rev);
	if (key.n)
		json_add_str(out, "agent", key);
	buf_add(out, STR(",\"value\":"));
	json_write(out, v);
	buf_addc(out, '}');
}

enum err handle_state(struct api_call *call, struct api *api)
{
	struct str key, path = op_arg(&call->args, "path")->text, part;
	struct state_row row = { 0 };
	struct val all;
	enum err e = whose(call, &key);
	if (!e)
		e = read_it(call, api, key, &row, &all);
	const struct val *v = &all;
	while (!e && val_path_next(&path, &part)) {
		v = v->kind == VAL_MAP ? val_get(v, part) : NULL;
		if (!v)
			return why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "there is no '%.*s' in it",
				       STR_SHORT(op_arg(&call->args, "path")->text));
	}
	if (!e)
		tell_state(call, key, row.rev, v);
	return e;
}

struct changing {
	struct api *api;
	struct api_call *call;
	struct str key;
	const struct val *patch;
	bool swap; /* by this revision, and no other */
	uint32_t rev;
	unsigned tries;
	uint8_t res;
	struct val value;
};

static enum err send(struct changing *c);

static void changed(void *arg)
{
	struct changing *c = arg;
	enum err e = OK;
	if (c->res == ST_STALE && !c->swap && ++c->tries < STATE_TRIES_MAX) {
		e = send(c);
		if (!e)
			return;
	} else if (c->res == ST_STALE) {
		e = why_set(c->call->why, E_CONFLICT, WHY_NOWHERE,
			    "it has been changed meanwhile; read it again");
	} else if (c->res != ST_OK) {
		e = why_set(c->call->why, E_INPUT, WHY_NOWHERE, "it was refused");
	}
	if (!e)
		tell_state(c->call, c->key, c->rev + 1, &c->value);
	api_finish(c->call, e);
}

/* On the daemon's thread. */
static void answered(void *ctx, const struct st_ack *ack)
{
	struct changing *c = ctx;
	c->res = ack->res;
	api_answer(c->api, changed, c);
}

static enum err send(struct changing *c)
{
	struct api_call *call = c->call;
	_cleanup_(buf_free) struct buf text = { 0 };
	struct state_row row;
	struct val old;
	enum err e = read_it(call, c->api, c->key, &row, &old);
	if (!e && c->swap && row.rev != c->rev)
		return why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			       "its revision is %u, not %u: it has been changed meanwhile", row.rev, c->rev);
	if (!e)
		e = merge_patch(&old, c->patch, call->arena, &c->value);
	if (e)
		return e;
	json_write(&text, &c->value);
	if (text.failed)
		return E_NOMEM;
	if (text.n > STATE_BYTES_MAX)
		return why_set(call->why, E_LIMIT, WHY_NOWHERE, "it would be larger than %u bytes",
			       STATE_BYTES_MAX);
	/* What could not be read again would be lost to everybody, and no run could be started any more. */
	e = json_read(buf_str(&text), call->arena, &old, call->why);
	if (e)
		return e;
	c->rev = row.rev;
	struct st_req q = { .op = ST_STATE,
			    .lane = LANE_USER,
			    .at = api_now(),
			    .state = { c->key, buf_str(&text), row.rev } };
	return daemon_send(api_daemon(c->api), &q, answered, c);
}

enum err handle_state_change(struct api_call *call, struct api *api)
{
	const struct val *patch = val_get(&call->body, STR("patch")), *rev = val_get(&call->body, STR("rev"));
	struct changing *c = arena_alloc(call->arena, sizeof *c);
	if (!c)
		return E_NOMEM;
	*c = (struct changing){ .api = api, .call = call, .patch = patch };
	enum err e = whose(call, &c->key);
	if (!e && (!patch || patch->kind != VAL_MAP))
		e = why_set(call->why, E_INPUT, WHY_NOWHERE, "it needs a patch, an object");
	if (!e && rev) {
		if (rev->kind != VAL_INT || rev->integer < 0 || rev->integer > UINT32_MAX)
			return why_set(call->why, E_INPUT, rev->at, "rev must be a revision, a number");
		c->swap = true;
		c->rev = (uint32_t)rev->integer;
	}
	if (!e && api_cannot_write(call, api))
		e = E_BUSY;
	if (!e)
		e = send(c);
	call->later = !e;
	return e;
}
