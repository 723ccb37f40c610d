/* Reads and changes the state of an agent, and the user's profile. */
#include "api/handlers/handlers.h"

#include "base/json.h"
#include "base/merge.h"
#include "sys/clock.h"

/* The key of the state in the store: the agent's name; empty: the user's profile. */
static enum err read_state_key(struct api_call *call, struct str *ret)
{
	const struct arg *agent = op_arg(&call->args, "agent");
	bool user = op_arg(&call->args, "user")->given;
	if (user == agent->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "say whose state: --agent NAME or --user%s",
			       user ? ", not both" : "");
	*ret = user ? STR("") : agent->text;
	if (user && call->caller_run && call->args.op == &ops[OP_SET_STATE])
		return why_set(call->why, E_DENIED, WHY_NOWHERE,
			       "a run may read the user's profile, but not change it");
	if (str_starts(*ret, STR("/"))) /* keys of rota's own: NOTIFIER_STATE_KEY */
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "an agent's name cannot begin with '/'");
	return user ? OK : api_check_agent_name(call, *ret);
}

/* The stored row, and its document; an empty document if there is none yet. */
static enum err read_state_document(struct api_call *call, struct api *api, struct str key,
				    struct state_row *row, struct val *ret)
{
	enum err e = read_state(api_reader(api), key, call->arena, row, call->why);
	*ret = (struct val){ .kind = VAL_MAP };
	return e || !row->text.n ? e : json_read(row->text, call->arena, ret, call->why);
}

static void write_state(struct api_call *call, struct str key, uint32_t rev, const struct val *v)
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
	enum err e = read_state_key(call, &key);
	if (!e)
		e = read_state_document(call, api, key, &row, &all);
	const struct val *v = &all;
	while (!e && val_path_next(&path, &part)) {
		v = v->kind == VAL_MAP ? val_get(v, part) : NULL;
		if (!v)
			return why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "the state has no '%.*s'",
				       STR_SHORT(op_arg(&call->args, "path")->text));
	}
	if (!e)
		write_state(call, key, row.rev, v);
	return e;
}

struct state_change {
	struct str key;
	const struct val *patch;
	bool if_rev; /* only if the state still has revision `rev` */
	uint32_t rev;
	unsigned tries;
	struct val value; /* the patched state */
};

static enum err send_state(struct api_call *call, struct api *api, struct state_change *c);

static void answer_state(struct api_call *call, struct api *api, const struct st_ack *ack)
{
	struct state_change *c = call->ctx;
	enum err e = OK;
	if (ack->res == ST_STALE && !c->if_rev && ++c->tries < STATE_TRIES_MAX) {
		e = send_state(call, api, c);
		if (!e)
			return;
	} else if (ack->res == ST_STALE) {
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			    "the state was changed at the same time; read it again and retry");
	} else if (ack->res != ST_OK) {
		e = why_set(call->why, E_INPUT, WHY_NOWHERE, "the store refused the state");
	}
	if (!e)
		write_state(call, c->key, c->rev + 1, &c->value);
	api_finish(call, e);
}

/* Patches the state as it is now, and sends it to the store, which refuses it if the state changes meanwhile.
 */
static enum err send_state(struct api_call *call, struct api *api, struct state_change *c)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct state_row row;
	struct val old;
	enum err e = read_state_document(call, api, c->key, &row, &old);
	if (!e && c->if_rev && row.rev != c->rev)
		return why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			       "the state has revision %u, not %u: it was changed; read it again and retry",
			       row.rev, c->rev);
	if (!e)
		e = merge_patch(&old, c->patch, call->arena, &c->value);
	if (e)
		return e;
	json_write(&text, &c->value);
	if (text.failed)
		return E_NOMEM;
	if (text.n > STATE_BYTES_MAX)
		return why_set(call->why, E_LIMIT, WHY_NOWHERE,
			       "the state would have %zu bytes; at most %u are allowed", text.n,
			       STATE_BYTES_MAX);
	/* A state that cannot be read again would be lost, and would keep the agent's runs from starting. */
	e = json_read(buf_str(&text), call->arena, &old, call->why);
	if (e)
		return e;
	c->rev = row.rev;
	struct st_req request = { .op = ST_STATE,
				  .lane = LANE_USER,
				  .at = clock_wall(),
				  .state = { c->key, buf_str(&text), row.rev } };
	return api_store_request(call, api, &request, answer_state);
}

enum err handle_state_change(struct api_call *call, struct api *api)
{
	const struct val *patch = val_get(&call->body, STR("patch")), *rev = val_get(&call->body, STR("rev"));
	struct state_change *c = arena_alloc(call->arena, sizeof *c);
	if (!c)
		return E_NOMEM;
	c->patch = patch;
	call->ctx = c;
	enum err e = read_state_key(call, &c->key);
	if (!e && (!patch || patch->kind != VAL_MAP))
		e = why_set(call->why, E_INPUT, WHY_NOWHERE, "the body needs `patch`, a JSON object");
	if (!e && rev) {
		if (rev->kind != VAL_INT || rev->integer < 0 || rev->integer > UINT32_MAX)
			return why_set(call->why, E_INPUT, rev->at,
				       "rev must be the number of a revision, 0 to %u", UINT32_MAX);
		c->if_rev = true;
		c->rev = (uint32_t)rev->integer;
	}
	return e ? e : send_state(call, api, c);
}
