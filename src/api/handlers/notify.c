/* Shows, sets and tests the targets of notifications. */
#include "api/handlers/notify.h"

#include "api/handlers/handlers.h"
#include "base/json.h"
#include "core/doc/config/notify.h"
#include "core/doc/target.h"
#include "daemon/notify/message.h"
#include "daemon/notify/notifier.h"
#include "sys/clock.h"

#include <stdlib.h>
#include <unistd.h>

/* --- targets --- */

/* The targets of the configuration, or else of the store. */
static enum err read_targets(struct api_call *call, struct api *api, struct config_notify *ret,
			     const char **origin)
{
	return daemon_notify_config(api_daemon(api), api_reader(api), call->arena, ret, origin, call->why);
}

static void write_target_names(struct buf *out, const struct doc_target *to, unsigned n)
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

void notify_write_names(struct buf *out, struct api_call *call, struct api *api, const struct schedule_doc *d)
{
	struct config_notify config = { 0 };
	const struct doc_notification *n = &d->notification;
	const char *origin;
	struct why why = *call->why;
	if (read_targets(call, api, &config, &origin))
		*call->why = why; /* drops the error: the caller did not ask for the configuration */
	bool on_failure = config.events >> NOTIFY_FAILURE & 1;
	if (!n->on_failure)
		buf_add(out, STR("[]"));
	else if (n->targets)
		write_target_names(out, n->to, n->targets);
	else
		write_target_names(out, config.to, on_failure ? config.targets : 0);
}

static void write_targets(struct api_call *call, struct api *api, const struct config_notify *n)
{
	struct buf *out = &call->answer;
	bool in_file = api_config(api)->has_notify;
	const char *missing = notify_missing(call, api);
	buf_addf(out, "{\"from\":%s,\"notify\":", in_file ? "\"file\"" : n->targets ? "\"set\"" : "null");
	notify_show(n, out);
	json_add_str(out, "missing", missing ? str_of(missing) : (struct str){ 0 });
	buf_addc(out, '}');
}

enum err handle_notify(struct api_call *call, struct api *api)
{
	struct config_notify n;
	const char *origin;
	enum err e = read_targets(call, api, &n, &origin);
	if (!e)
		write_targets(call, api, &n);
	return e;
}

static bool is_in_path(const char *program)
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
	if (read_targets(call, api, &n, &origin))
		return NULL;
	for (unsigned i = 0; i < n.targets; i++) {
		if (n.to[i].kind == DOC_TO_WEBHOOK && !can_execute(daemon_out_program(api_daemon(api))))
			return "rota-out";
		if (n.to[i].kind == DOC_TO_DESKTOP && !is_in_path("notify-send"))
			return "notify-send";
	}
	return NULL;
}

/* --- set --- */

static void answer_set(struct api_call *call, struct api *api, const struct st_ack *ack)
{
	const struct config_notify *n = call->ctx;
	enum err e = OK;
	if (ack->res == ST_STALE)
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			    "the targets were changed at the same time; try again");
	else if (ack->res != ST_OK)
		e = why_set(call->why, E_INPUT, WHY_NOWHERE, "the store refused the targets");
	else
		write_targets(call, api, n);
	api_finish(call, e);
}

/* Puts the stored targets before those of `n`. */
static enum err add_stored_targets(struct api_call *call, struct api *api, bool says_events,
				   struct config_notify *n)
{
	struct config_notify old;
	const char *origin;
	enum err e = read_targets(call, api, &old, &origin);
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
	return n->targets <= DOC_ITEMS_MAX ? OK
					   : why_set(call->why, E_LIMIT, WHY_NOWHERE,
						     "there would be %u targets; at most %d are allowed",
						     n->targets, DOC_ITEMS_MAX);
}

enum err handle_set_notify(struct api_call *call, struct api *api)
{
	const struct val *notify = val_get(&call->body, STR("notify"));
	struct config_notify *n = arena_alloc(call->arena, sizeof *n);
	struct key_reader r = { (struct str){ 0 }, call->arena, call->why, NULL };
	_cleanup_(buf_free) struct buf text = { 0 };
	struct state_row row;
	if (!n)
		return E_NOMEM;
	call->ctx = n;
	if (api_config(api)->has_notify)
		return why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			       "the targets are in your configuration file, which rota does not change: edit "
			       "`notify` there; `rota config` shows where the file is");
	if (!notify || notify->kind != VAL_MAP)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "the body needs `notify`, a JSON object");
	enum err e = notify_read(&r, notify, n);
	if (e)
		call->why->at = WHY_NOWHERE;
	if (!e && val_is_true(&call->body, "add"))
		e = add_stored_targets(call, api, val_get(notify, STR("events")) != NULL, n);
	if (!e)
		e = read_state(api_reader(api), STR(NOTIFIER_STATE_KEY), call->arena, &row, call->why);
	if (e)
		return e;
	notify_write(n, &text);
	struct st_req request = { .op = ST_STATE,
				  .lane = LANE_USER,
				  .at = clock_wall(),
				  .state = { STR(NOTIFIER_STATE_KEY), buf_str(&text), row.rev } };
	return text.failed ? E_NOMEM : api_store_request(call, api, &request, answer_set);
}

/* --- test --- */

static void answer_test(struct api_call *call, struct api *api, const struct st_ack *ack)
{
	const struct message_list *list = call->ctx;
	enum err e = OK;
	(void)api;
	if (ack->res != ST_OK || !ack->message)
		e = why_set(call->why, E_IO, WHY_NOWHERE, "the messages could not be recorded");
	buf_add(&call->answer, STR("{\"messages\":["));
	for (unsigned i = 0; i < list->n; i++)
		buf_addf(&call->answer, "%s%llu", i ? "," : "", (unsigned long long)ack->message + i);
	buf_add(&call->answer, STR("]}"));
	api_finish(call, e);
}

enum err handle_test_notify(struct api_call *call, struct api *api)
{
	struct message_list *list = arena_alloc(call->arena, sizeof *list);
	struct config_notify n;
	const char *origin;
	if (!list)
		return E_NOMEM;
	list->arena = call->arena;
	list->item = arena_alloc(call->arena, STORE_MESSAGES_MAX * sizeof *list->item);
	if (!list->item)
		return E_NOMEM;
	enum err e = read_targets(call, api, &n, &origin);
	if (!e && !n.targets)
		e = why_set(
			call->why, E_CONFLICT, WHY_NOWHERE,
			"there are no targets; set some by `rota notify set`, or by `notify` in rota.yaml");
	if (!e)
		e = message_add_test(&(struct message_source){ .config = &n, .origin = origin }, list);
	if (e)
		return e;
	call->ctx = list;
	struct st_req request = { .op = ST_MESSAGES,
				  .lane = LANE_FINISH,
				  .at = clock_wall(),
				  .messages = { 0, list->item, list->n } };
	return api_store_request(call, api, &request, answer_test);
}
