#include "api/handlers/notify.h"
#include "api/handlers/handlers.h"

#include "api/json_out.h"
#include "base/json.h"
#include "core/doc/config/notify.h"
#include "core/doc/target.h"
#include "daemon/daemon.h"
#include "daemon/notify/message.h"
#include "daemon/notify/notifier.h"

#include <stdlib.h>
#include <unistd.h>

/* --- notices --- */

void tell_notice(struct buf *out, struct reader *r, const struct message_row *n)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	_cleanup_(buf_free) struct buf to = { 0 };
	struct message_row whole = *n;
	struct str id = { 0 };
	struct why why;
	if (n->joined && read_notice(r, n->joined, &a, &whole, &why))
		whole = *n;
	if (n->sid && read_id(r, n->sid, &a, &id, &why))
		id = (struct str){ 0 };
	message_receiver_name(n, &to);
	buf_addf(out, "{\"number\":%llu,\"type\":\"%s\"", (unsigned long long)n->number,
		 message_kind_word(n->kind));
	json_add_str(out, "to", buf_str(&to));
	json_add_str(out, "schedule", id);
	if (n->run)
		buf_addf(out, ",\"run\":\"r%llu\"", (unsigned long long)n->run);
	if (n->problem)
		buf_addf(out, ",\"problem\":%llu", (unsigned long long)n->problem);
	if (n->joined)
		buf_addf(out, ",\"joined\":%llu", (unsigned long long)n->joined);
	buf_addf(out, ",\"state\":\"%s\",\"attempts\":%u", message_state_words[whole.state], whole.attempts);
	json_add_time(out, "at", n->at);
	json_add_time(out, "tried", whole.tried_at);
	if (whole.state == MESSAGE_WAITING)
		json_add_time(out, "next", whole.next);
	json_add_str(out, "said", whole.result);
	buf_addc(out, '}');
}

static void tell_notices(struct buf *out, struct reader *r, const struct read_notices *list)
{
	buf_add(out, STR("\"notices\":["));
	for (unsigned i = 0; i < list->n; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		tell_notice(out, r, &list->item[i]);
	}
	buf_addc(out, ']');
}

enum err tell_notices_of(struct api_call *call, struct api *api, uint64_t run)
{
	struct read_notices list;
	enum err e = read_notices_of(api_reader(api), run, 0, call->arena, &list, call->why);
	if (e)
		return e;
	buf_addc(&call->answer, ',');
	tell_notices(&call->answer, api_reader(api), &list);
	return OK;
}

enum err handle_notices(struct api_call *call, struct api *api)
{
	const struct arg *limit = op_arg(&call->args, "limit"), *from = op_arg(&call->args, "before");
	struct read_notices list;
	uint64_t before = 0;
	if (from->given && !str_number(from->text, INT64_MAX, &before))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "'%.*s' is not the number of a notice",
			       STR_SHORT(from->text));
	enum err e = read_notices(api_reader(api), before, limit->given ? limit->count : 20, call->arena,
				  &list, call->why);
	if (e)
		return e;
	buf_addc(&call->answer, '{');
	tell_notices(&call->answer, api_reader(api), &list);
	if (list.more && list.n)
		buf_addf(&call->answer, ",\"before\":%llu", (unsigned long long)list.item[list.n - 1].number);
	buf_addc(&call->answer, '}');
	return OK;
}

enum err handle_notice(struct api_call *call, struct api *api)
{
	struct str text = op_arg(&call->args, "notice")->text;
	struct message_row n;
	uint64_t number;
	if (!str_number(text, INT64_MAX, &number))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "'%.*s' is not the number of a notice",
			       STR_SHORT(text));
	enum err e = read_notice(api_reader(api), number, call->arena, &n, call->why);
	if (!e)
		tell_notice(&call->answer, api_reader(api), &n);
	return e;
}

/* --- who is told --- */

static enum err who(struct api_call *call, struct api *api, struct config_notify *ret, const char **origin)
{
	return daemon_notify_config(api_daemon(api), api_reader(api), call->arena, ret, origin, call->why);
}

static void tell_names(struct buf *out, const struct doc_target *to, unsigned n)
{
	buf_addc(out, '[');
	for (unsigned i = 0; i < n; i++) {
		_cleanup_(buf_free) struct buf name = { 0 };
		target_write_name(&to[i], &name);
		buf_add(out, i ? STR(",") : STR(""));
		json_write_str(out, buf_str(&name));
	}
	buf_addc(out, ']');
}

void tell_notified(struct buf *out, struct api_call *call, struct api *api, const struct schedule_doc *d)
{
	struct config_notify config = { 0 };
	const struct doc_notification *n = &d->notification;
	const char *origin;
	struct why why = *call->why;
	if (who(call, api, &config, &origin))
		*call->why = why; /* what was asked for is done all the same */
	bool hears = config.events >> NOTIFY_FAILURE & 1;
	if (!n->on_failure)
		buf_add(out, STR("[]"));
	else if (n->targets)
		tell_names(out, n->to, n->targets);
	else
		tell_names(out, config.to, hears ? config.targets : 0);
}

static void tell_who(struct api_call *call, struct api *api, const struct config_notify *n)
{
	struct buf *out = &call->answer;
	bool file = api_config(api)->has_notify;
	const char *missing = notify_missing(call, api);
	buf_addf(out, "{\"from\":%s,\"notify\":", file ? "\"file\"" : n->targets ? "\"set\"" : "null");
	notify_show(n, out);
	json_add_str(out, "missing", missing ? str_of(missing) : (struct str){ 0 });
	buf_addc(out, '}');
}

enum err handle_notify(struct api_call *call, struct api *api)
{
	struct config_notify n;
	const char *origin;
	enum err e = who(call, api, &n, &origin);
	if (!e)
		tell_who(call, api, &n);
	return e;
}

static bool in_path(const char *program)
{
	const char *path = getenv("PATH");
	for (struct str rest = str_of(path ? path : "/usr/bin:/bin"); rest.n;) {
		size_t n = 0;
		char file[4096];
		while (n < rest.n && rest.p[n] != ':')
			n++;
		snprintf(file, sizeof file, "%.*s/%s", (int)n, rest.p, program);
		if (n && access(file, X_OK) == 0)
			return true;
		rest = str_from(rest, n < rest.n ? n + 1 : n);
	}
	return false;
}

static bool can_execute(const char *program)
{
	return program && access(program, X_OK) == 0;
}

const char *notify_missing(struct api_call *call, struct api *api)
{
	struct config_notify n;
	const char *origin;
	if (who(call, api, &n, &origin))
		return NULL;
	for (unsigned i = 0; i < n.targets; i++) {
		if (n.to[i].kind == DOC_TO_WEBHOOK && !can_execute(daemon_out_program(api_daemon(api))))
			return "rota-out";
		if (n.to[i].kind == DOC_TO_DESKTOP && !in_path("notify-send"))
			return "notify-send";
	}
	return NULL;
}

/* --- set --- */

struct changing {
	struct api *api;
	struct api_call *call;
	struct config_notify notify;
	struct st_ack ack;
	unsigned count; /* test: of notices */
};

static void is_set(void *arg)
{
	struct changing *c = arg;
	enum err e = OK;
	if (c->ack.res == ST_STALE)
		e = why_set(c->call->why, E_CONFLICT, WHY_NOWHERE,
			    "it has been changed meanwhile; try again");
	else if (c->ack.res != ST_OK)
		e = why_set(c->call->why, E_INPUT, WHY_NOWHERE, "it was refused");
	else
		tell_who(c->call, c->api, &c->notify);
	api_finish(c->call, e);
}

static void set_answered(void *ctx, const struct st_ack *ack)
{
	struct changing *c = ctx;
	c->ack = *ack;
	api_answer(c->api, is_set, c);
}

/* Those that are there already, and these. */
static enum err append(struct api_call *call, struct api *api, bool says_events, struct config_notify *n)
{
	struct config_notify old;
	const char *origin;
	enum err e = who(call, api, &old, &origin);
	struct doc_target *all =
		e ? NULL : arena_alloc(call->arena, (old.targets + n->targets + 1) * sizeof *all);
	if (!all)
		return e ? e : E_NOMEM;
	if (old.targets)
		memcpy(all, old.to, old.targets * sizeof *all);
	if (n->targets)
		memcpy(all + old.targets, n->to, n->targets * sizeof *all);
	n->to = all;
	if (old.targets && !says_events)
		n->events = old.events;
	n->targets += old.targets;
	return n->targets <= DOC_ITEMS_MAX
		       ? OK
		       : why_set(call->why, E_LIMIT, WHY_NOWHERE,
				 "with those before it that would be more than %d targets", DOC_ITEMS_MAX);
}

enum err handle_set_notify(struct api_call *call, struct api *api)
{
	const struct val *said = val_get(&call->body, STR("notify"));
	struct changing *c = arena_alloc(call->arena, sizeof *c);
	struct key_reader r = { (struct str){ 0 }, call->arena, call->why, NULL };
	_cleanup_(buf_free) struct buf text = { 0 };
	struct state_row row;
	if (!c)
		return E_NOMEM;
	*c = (struct changing){ .api = api, .call = call };
	if (api_config(api)->has_notify)
		return why_set(
			call->why, E_CONFLICT, WHY_NOWHERE,
			"the configuration's file says who is told, and belongs to you: change `notify` "
			"there; `rota config` says where it is");
	if (!said || said->kind != VAL_MAP)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "it needs notify, an object");
	enum err e = notify_read(&r, said, &c->notify);
	if (e)
		call->why->at = WHY_NOWHERE;
	if (!e && val_is_true(&call->body, "add"))
		e = append(call, api, val_get(said, STR("events")) != NULL, &c->notify);
	if (!e && api_cannot_write(call, api))
		e = E_BUSY;
	if (!e)
		e = read_state(api_reader(api), STR(NOTIFIER_STATE_KEY), call->arena, &row, call->why);
	if (e)
		return e;
	notify_write(&c->notify, &text);
	struct st_req q = { .op = ST_STATE,
			    .lane = LANE_USER,
			    .at = api_now(),
			    .state = { STR(NOTIFIER_STATE_KEY), buf_str(&text), row.rev } };
	e = text.failed ? E_NOMEM : daemon_send(api_daemon(api), &q, set_answered, c);
	call->later = !e;
	return e;
}

/* --- test --- */

static void is_put(void *arg)
{
	struct changing *c = arg;
	enum err e = OK;
	if (c->ack.res != ST_OK || !c->ack.message)
		e = why_set(c->call->why, E_IO, WHY_NOWHERE, "the messages could not be recorded");
	buf_add(&c->call->answer, STR("{\"notices\":["));
	for (unsigned i = 0; i < c->count; i++)
		buf_addf(&c->call->answer, "%s%llu", i ? "," : "", (unsigned long long)c->ack.message + i);
	buf_add(&c->call->answer, STR("]}"));
	api_finish(c->call, e);
}

static void test_answered(void *ctx, const struct st_ack *ack)
{
	struct changing *c = ctx;
	c->ack = *ack;
	api_answer(c->api, is_put, c);
}

enum err handle_test_notify(struct api_call *call, struct api *api)
{
	struct changing *c = arena_alloc(call->arena, sizeof *c);
	struct message_list list = { .arena = call->arena };
	const char *origin;
	list.item = arena_alloc(call->arena, STORE_MESSAGES_MAX * sizeof *list.item);
	if (!c || !list.item)
		return E_NOMEM;
	*c = (struct changing){ .api = api, .call = call };
	enum err e = who(call, api, &c->notify, &origin);
	if (!e && !c->notify.targets)
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			    "nobody is told: `rota notify set`, or `notify` in rota.yaml, says who is");
	if (!e && api_cannot_write(call, api))
		e = E_BUSY;
	if (!e)
		e = message_add_test(&(struct message_source){ .config = &c->notify, .origin = origin },
				     &list);
	if (e)
		return e;
	c->count = list.n;
	struct st_req q = {
		.op = ST_MESSAGES, .lane = LANE_FINISH, .at = api_now(), .messages = { 0, list.item, list.n }
	};
	e = daemon_send(api_daemon(api), &q, test_answered, c);
	call->later = !e;
	return e;
}
