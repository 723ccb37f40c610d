#include "api/api.h"

#include "api/events.h"
#include "api/handlers/handlers.h"
#include "api/rights.h"
#include "base/json.h"
#include "core/when/dur.h"
#include "core/when/iso.h"
#include "sys/clock.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

/* The zone files as they were read once, for as long as a call may point into them: one that waits for the
 * engine or works in turns may outlast any number of changes. */
struct zone_files {
	struct zoneinfo *zones;
	unsigned users; /* the api itself, while it is the latest, and calls */
};

struct api {
	struct api_options options;
	struct http *http;
	struct reader *reader;
	struct zone_files *latest;
	struct calendars calendars;
	struct events *events;
	int spare; /* a descriptor; -1: none */
	unsigned granting;
	struct {
		uid_t uid;
		char name[256];
	} person[2]; /* those who may ask */
};

/* A call that waits for the engine. */
struct waiting {
	struct api *api;
	struct api_call *call;
	api_then *then;
	const void *about;
	struct reply reply;
};

unsigned *api_granting(struct api *a)
{
	return &a->granting;
}

bool api_spare_give(struct api *a)
{
	bool had = a->spare >= 0;
	if (had)
		close(a->spare);
	a->spare = -1;
	return had;
}

void api_spare_take(struct api *a)
{
	if (a->spare < 0)
		a->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

struct reader *api_reader(struct api *a)
{
	return a->reader;
}

struct daemon *api_daemon(struct api *a)
{
	return a->options.daemon;
}

const struct config *api_config(struct api *a)
{
	return a->options.config;
}

struct wall api_now(void)
{
	return clock_wall();
}

struct doc_env api_doc_env(const struct api_call *call, struct api *a)
{
	const struct config *c = a->options.config;
	const struct zone_source *zones = zoneinfo_source(call->zones);
	struct str name = c->timezone.n ? c->timezone : zoneinfo_local(call->zones);
	struct doc_env env = { .when = { .now = clock_wall(),
					 .zones = zones,
					 .zone = zones->find(zones->self, name),
					 .zone_name = name,
					 .calendars = &a->calendars } };
	config_defaults(c, &env);
	return env;
}

/* --- zone files --- */

static struct zone_files *zone_files_new(void)
{
	struct zone_files *g = calloc(1, sizeof *g);
	if (g && zoneinfo_open(&g->zones)) {
		free(g);
		g = NULL;
	}
	if (g)
		g->users = 1;
	return g;
}

static void zone_files_release(struct zone_files *g)
{
	if (!g || --g->users)
		return;
	zoneinfo_close(g->zones);
	free(g);
}

void api_leave(struct api_call *call)
{
	zone_files_release(call->zone_files);
	call->zone_files = NULL;
}

/* --- answers --- */

void api_finish(struct api_call *call, enum err e)
{
	struct http_request *r = call->request;
	api_leave(call);
	if (!e && call->answer.failed)
		e = E_NOMEM;
	if (e) {
		http_answer_error(r, e, call->why, call->source);
	} else {
		buf_addc(&call->answer, '\n');
		http_answer(r, call->status ? call->status : 200, "application/json", buf_str(&call->answer));
	}
	buf_free(&call->answer);
}

bool api_cannot_write(struct api_call *call, struct api *a)
{
	struct why why;
	if (daemon_can_write(a->options.daemon, &why) == OK)
		return false;
	why_write(call->why, WHY_NOWHERE, "nothing can be recorded now: %s; `rota doctor` says what to do",
		  why.text);
	return true;
}

static void deliver(void *arg)
{
	struct waiting *w = arg;
	w->call->about = w->about;
	w->call->why->text[0] = '\0'; /* of what was looked for before */
	if (w->reply.code == REPLY_BUSY)
		api_cannot_write(w->call, w->api); /* for api_refusal */
	w->then(w->call, w->api, &w->reply);
}

/* On the daemon's thread. */
static void replied(void *ctx, const struct reply *r)
{
	struct waiting *w = ctx;
	w->reply = *r;
	api_answer(w->api, deliver, w);
}

enum err api_order(struct api_call *call, struct api *a, const struct command *c, api_then *then)
{
	struct waiting *w = arena_alloc(call->arena, sizeof *w);
	if (!w)
		return E_NOMEM;
	*w = (struct waiting){ .api = a, .call = call, .then = then, .about = call->about };
	enum err e = daemon_command(a->options.daemon, c, replied, w);
	call->later = !e;
	if (e)
		call->why->text[0] = '\0';
	if (e == E_BUSY)
		api_cannot_write(call, a);
	return e;
}

struct sent_request {
	struct api *api;
	struct api_call *call;
	api_sent_then *then;
	struct st_ack ack;
};

static void pass_on_ack(void *arg)
{
	struct sent_request *s = arg;
	s->then(s->call, s->api, &s->ack);
}

/* On the daemon's thread. */
static void answered(void *ctx, const struct st_ack *ack)
{
	struct sent_request *s = ctx;
	s->ack = *ack;
	api_answer(s->api, pass_on_ack, s);
}

enum err api_send(struct api_call *call, struct api *a, const struct st_req *r, api_sent_then *then)
{
	struct sent_request *s = arena_alloc(call->arena, sizeof *s);
	if (!s)
		return E_NOMEM;
	if (api_cannot_write(call, a))
		return E_BUSY;
	*s = (struct sent_request){ .api = a, .call = call, .then = then };
	enum err e = daemon_send(a->options.daemon, r, answered, s);
	call->later |= !e;
	return e;
}

enum err api_refusal(struct api_call *call, const struct reply *r, const char *what)
{
	static const struct {
		enum err e;
		const char *text;
	} words[] = {
		[REPLY_OK] = { OK, "" },
		[REPLY_NOT_FOUND] = { E_NOTFOUND, "it is not there any more" },
		[REPLY_BUSY] = { E_BUSY, "it is busy, or alive already; try again" },
		[REPLY_REFUSED] = { E_CONFLICT, "it is not possible as it stands" },
	};
	/* Busy because of the store: that has been said. */
	struct why said = *call->why;
	const char *text = r->code == REPLY_BUSY && said.text[0] ? said.text : words[r->code].text;
	return why_set(call->why, words[r->code].e, WHY_NOWHERE, "%s: %s", what, text);
}

enum err api_post(struct api *a, void (*fn)(void *arg), void *arg)
{
	return http_add_task(a->http, fn, arg);
}

void api_answer(struct api *a, void (*fn)(void *arg), void *arg)
{
	if (http_add_task(a->http, fn, arg))
		return; /* the client is told 503 when its time is up; its request goes with the server */
}

enum err api_sched(struct api_call *call, struct api *a, struct str name, struct read_sched *ret)
{
	struct read_match match;
	enum err e = read_sched_named(a->reader, name, call->arena, &match, call->why);
	if (e == E_NOTFOUND)
		return why_set(call->why, e, WHY_NOWHERE, "no schedule is called '%.*s'", STR_SHORT(name));
	if (e)
		return e;
	if (match.n > 1) {
		struct buf list = { 0 };
		for (unsigned i = 0; i < match.n; i++)
			buf_addf(&list, "%s%.*s", i ? ", " : "", STR_ARG(match.id[i]));
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE, "'%.*s' could be %s%s", STR_SHORT(name),
			    buf_str(&list).p, match.more ? ", …" : "");
		buf_free(&list);
		return e;
	}
	*ret = match.sched;
	return OK;
}

enum err api_sched_ever(struct api_call *call, struct api *a, struct str name, struct read_sched *ret)
{
	struct why why;
	enum err e = api_sched(call, a, name, ret);
	if (e == E_NOTFOUND && read_sched_removed(a->reader, name, call->arena, ret, &why) == OK)
		e = OK;
	return e;
}

enum err api_words(struct api_call *call, struct api *a, const struct run_row *run, struct str *ret)
{
	*ret = (struct str){ 0 };
	/* An error of a condition that was true in the end is no longer why. */
	if (run->state == RUN_CLAIMED ||
	    (run->state == RUN_FINISHED && run->outcome != OUTCOME_FAILED && run->outcome != OUTCOME_KILLED))
		return OK;
	return read_words(a->reader, run->run, RUN_TEXT_DETAIL, call->arena, ret, call->why);
}

enum err api_time(struct api_call *call, const char *what, struct str text, struct wall *ret)
{
	const struct zone_source *zones = zoneinfo_source(call->zones);
	const struct zone *zone = zones->find(zones->self, zoneinfo_local(call->zones));
	struct iso t;
	int64_t seconds;
	if (str_eq(text, STR("now")))
		*ret = api_now();
	else if (dur_parse(text, &seconds, NULL) == OK)
		*ret = (struct wall){ api_now().us - seconds * USEC };
	else if (iso_parse(text, &t, NULL) == OK)
		*ret = wall_of(iso_utc(&t, zone, NULL));
	else
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "%s '%.*s' is not a time; allowed are 2026-11-16T08:30, 2026-11-16, 2h (ago) "
			       "and now",
			       what, STR_SHORT(text));
	return OK;
}

enum err api_run_number(struct api_call *call, struct str text, uint64_t *ret)
{
	struct str digits = text.n && (text.p[0] == 'r' || text.p[0] == 'R') ? str_from(text, 1) : text;
	if (!str_number(digits, UINT64_C(1) << 48, ret) || !*ret)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "'%.*s' is not a run; runs are called r1, r2, …", STR_SHORT(text));
	return OK;
}

enum err api_note(struct api_call *call, struct str *ret)
{
	const struct arg *note = op_arg(&call->args, "note");
	*ret = (struct str){ 0 };
	if (!note->given)
		return OK;
	if (note->text.n > NOTE_BYTES_MAX)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "the note has %zu bytes; %u are the most",
			       note->text.n, NOTE_BYTES_MAX);
	*ret = (struct str){ note->text.p ? note->text.p : "", note->text.n };
	return OK;
}

enum err api_paused_all(struct api_call *call, struct api *a, struct read_hold *ret)
{
	struct read_holds holds;
	enum err e = read_holds(a->reader, call->arena, &holds, call->why);
	if (!e)
		*ret = (struct read_hold){ 0 };
	for (unsigned i = 0; !e && i < holds.n; i++)
		if (!holds.item[i].row.key)
			*ret = holds.item[i];
	return e;
}

/* Asked for once: a name service may take its time. Nobody but these two may ask. */
static void learn_people(struct api *a)
{
	const uid_t uid[] = { geteuid(), 0 };
	static_assert(ARRAY_LEN(uid) == ARRAY_LEN(a->person), "one each");
	for (unsigned i = 0; i < ARRAY_LEN(uid); i++) {
		const struct passwd *p = getpwuid(uid[i]);
		a->person[i].uid = uid[i];
		if (p && p->pw_name[0])
			snprintf(a->person[i].name, sizeof a->person[i].name, "%s", p->pw_name);
		else
			snprintf(a->person[i].name, sizeof a->person[i].name, "uid %u", (unsigned)uid[i]);
	}
}

struct str api_person(struct api_call *call, struct api *a)
{
	const struct http_request *r = call->request;
	for (unsigned i = 0; i < ARRAY_LEN(a->person); i++)
		if (a->person[i].uid == r->peer.uid)
			return str_of(a->person[i].name);
	const char *name = arena_printf(call->arena, "uid %u", (unsigned)r->peer.uid);
	return name ? str_of(name) : (struct str){ 0 };
}

/* --- requests --- */

static bool is_place(struct str segment)
{
	return segment.n > 2 && segment.p[0] == '{';
}

static unsigned split(struct str route, struct str *ret, unsigned most)
{
	unsigned n = 0;
	for (size_t at = 1; at <= route.n && n < most;) {
		size_t end = at;
		while (end < route.n && route.p[end] != '/')
			end++;
		ret[n++] = str_sub(route, at, end);
		at = end + 1;
	}
	return n;
}

/* The path fits the route; whether the method does is another question. */
static bool fits(const struct op *op, const struct url *u)
{
	struct str part[16];
	unsigned n = split(str_of(op->route), part, ARRAY_LEN(part));
	if (n != u->segments)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (!is_place(part[i]) && !str_eq(part[i], u->segment[i]))
			return false;
	return true;
}

static struct arg *arg_named(struct api_call *call, struct str name, const struct op_param **param)
{
	for (unsigned i = 0; i < OP_PARAMS_MAX && call->args.op->param[i].name; i++)
		if (str_eq(name, str_of(call->args.op->param[i].name))) {
			*param = &call->args.op->param[i];
			return &call->args.arg[i];
		}
	return NULL;
}

static enum err set_text(struct api_call *call, struct str name, struct str text)
{
	const struct op_param *p = NULL;
	struct arg *arg = arg_named(call, name, &p);
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

/* The members of a body that are arguments; others are the handler's business. */
static enum err set_member(struct api_call *call, const struct val_pair *m)
{
	const struct op_param *p;
	if (!arg_named(call, m->key, &p))
		return OK;
	switch (m->value.kind) {
	case VAL_STR:
		return set_text(call, m->key, m->value.str);
	case VAL_BOOL:
		return m->value.boolean ? set_text(call, m->key, STR("true")) : OK;
	case VAL_INT: {
		const char *n = arena_printf(call->arena, "%lld", (long long)m->value.integer);
		return n ? set_text(call, m->key, str_of(n)) : E_NOMEM;
	}
	default:
		return OK;
	}
}

static enum err read_call(struct api_call *call, struct http_request *r)
{
	struct str part[16];
	unsigned n = split(str_of(call->args.op->route), part, ARRAY_LEN(part));
	enum err e = OK;
	for (unsigned i = 0; i < n && !e; i++)
		if (is_place(part[i]))
			e = set_text(call, str_sub(part[i], 1, part[i].n - 1), r->url.segment[i]);
	for (unsigned i = 0; i < r->url.queries && !e; i++)
		e = set_text(call, r->url.query[i].name, r->url.query[i].value);
	if (e || !r->body.n)
		return e;
	call->source = r->body;
	e = json_read(r->body, call->arena, &call->body, call->why);
	if (!e && call->body.kind != VAL_MAP)
		e = why_set(call->why, E_INPUT, call->body.at, "the body must be an object");
	for (unsigned i = 0; !e && i < call->body.map.n; i++)
		e = set_member(call, &call->body.map.pair[i]);
	return e;
}

/* All else a call keeps is in the request's arena. */
static void dropped(struct http_request *r)
{
	struct api_call *call = r->ctx;
	api_leave(call);
	buf_free(&call->answer);
}

static void dispatch(struct api *a, const struct op *op, struct http_request *r, const struct run_row *within)
{
	struct api_call *call = arena_alloc(&r->arena, sizeof *call);
	struct why *why = arena_alloc(&r->arena, sizeof *why);
	if (!call || !why) {
		http_answer_error(r, E_NOMEM, NULL, (struct str){ 0 });
		return;
	}
	*why = (struct why){ .at = WHY_NOWHERE };
	*call = (struct api_call){ .args.op = op,
				   .arena = &r->arena,
				   .why = why,
				   .request = r,
				   .within = within,
				   .zones = a->latest->zones,
				   .zone_files = a->latest };
	call->zone_files->users++;
	r->ctx = call;
	r->dropped = dropped;
	enum err e = read_call(call, r);
	if (!e)
		e = rights_may(call, a);
	if (!e)
		e = api_handlers[op - ops](call, a);
	if (!call->later)
		api_finish(call, e);
}

/* The daemon's own user, and root: the socket's mode says the same, but modes can be changed. */
static bool may_ask(const struct http_request *r)
{
	return r->peer.uid == geteuid() || r->peer.uid == 0;
}

static void handle(void *ctx, struct http_request *r)
{
	struct api *a = ctx;
	struct why why = { .at = WHY_NOWHERE };
	char allowed[64] = ""; /* methods */
	size_t n = 0;
	if (!may_ask(r)) {
		why_write(&why, WHY_NOWHERE, "this daemon is another user's");
		http_answer_error(r, E_DENIED, &why, (struct str){ 0 });
		return;
	}
	const struct run_row *within;
	enum err e = rights_who(a, r, &within, &why);
	if (e) {
		http_answer_error(r, e, &why, (struct str){ 0 });
		return;
	}
	for (const struct op *op = ops; op < ops + OPS; op++) {
		if (!op->route || !fits(op, &r->url))
			continue;
		if (!strcmp(op->method, http_method_words[r->method])) {
			dispatch(a, op, r, within);
			return;
		}
		if (n < sizeof allowed)
			n += (size_t)snprintf(allowed + n, sizeof allowed - n, "%s%s", n ? ", " : "",
					      op->method);
	}
	if (n)
		why_write(&why, WHY_NOWHERE, "method %s is not allowed here; allowed: %s",
			  http_method_words[r->method], allowed);
	else
		why_write(&why, WHY_NOWHERE, "there is no operation at %.*s", STR_SHORT(r->url.path));
	http_answer_error(r, n ? E_INPUT : E_NOTFOUND, &why, (struct str){ 0 });
}

/* --- events --- */

/* On the daemon's thread. */
static void happened(void *ctx, const struct pump_fact *f, const struct st_ack *ack)
{
	struct api *a = ctx;
	(void)ack;
	events_add(a->events, a->http, f);
}

void api_reported(struct api *a, const struct run_row *run, unsigned kind, struct str text)
{
	events_report(a->events, a->http, run, (enum report_kind)kind, text);
}

struct events *api_events(struct api *a)
{
	return a->events;
}

static void reread(void *arg)
{
	struct api *a = arg;
	struct zone_files *fresh = zone_files_new();
	if (!fresh)
		return; /* the old ones are as good as before */
	zone_files_release(a->latest);
	a->latest = fresh;
}

void api_zones_changed(struct api *a)
{
	if (http_add_task(a->http, reread, a))
		return; /* full: new documents are read by the old zones until the next change */
}

/* --- opening --- */

enum err api_open(const struct api_options *o, struct api **ret, struct why *why)
{
	struct api *a = calloc(1, sizeof *a);
	for (unsigned i = 0; i < OPS; i++)
		assert(!ops[i].route == !api_handlers[i]);
	if (!a)
		return E_NOMEM;
	a->options = *o;
	a->spare = -1;
	api_spare_take(a);
	a->calendars = config_calendars((struct config *)o->config);
	learn_people(a);
	enum err e = daemon_reader(o->daemon, &a->reader, why);
	if (!e && !(a->latest = zone_files_new()))
		e = E_NOMEM;
	if (!e)
		e = events_new(a->reader, &a->events);
	if (!e)
		e = http_open(&(struct http_options){ .path = o->socket,
						      .limits = http_limits_default,
						      .handle = handle,
						      .ctx = a },
			      &a->http, why);
	if (e) {
		api_close(a);
		return e;
	}
	daemon_subscribe(o->daemon, happened, a);
	*ret = a;
	return OK;
}

/* On the HTTP thread: after this no order is given. */
static void begin_stop(void *arg)
{
	struct api *a = arg;
	http_stop(a->http);
	daemon_stop(a->options.daemon);
}

void api_stop(struct api *a)
{
	if (http_add_task(a->http, begin_stop, a))
		begin_stop(a);
}

void api_close(struct api *a)
{
	if (!a)
		return;
	http_close(a->http);
	events_free(a->events);
	reader_close(a->reader);
	zone_files_release(a->latest);
	api_spare_give(a);
	free(a);
}
