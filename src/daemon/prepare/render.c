#include "daemon/prepare/render.h"

#include "base/json.h"
#include "core/doc/agent/turn.h"
#include "core/when/iso.h"
#include "daemon/environment.h"
#include "daemon/prepare/trace.h"
#include "exec/secret.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* --- templates --- */

/* While it renders. What failed first is told. */
struct renderer {
	const struct context_source *about;
	const struct render_place *place;
	struct run_context with;
	struct str token; /* of this attempt */
	struct arena *arena;
	struct why *why;
	enum err failed;
};

static void fail(struct renderer *r, enum err e)
{
	if (!r->failed)
		r->failed = e;
}

static struct str expand(struct renderer *r, struct str text)
{
	const struct template *t;
	_cleanup_(buf_free) struct buf out = { 0 };
	if (r->failed || !text.n || !memmem(text.p, text.n, "{{", 2))
		return text;
	/* Names were checked when the document was read. */
	enum err e = template_compile(text, NULL, r->arena, &t, r->why);
	if (!e)
		e = template_render(t, &r->with.env, r->arena, &out, r->why);
	char *copy = e ? NULL : arena_dup(r->arena, buf_str(&out));
	if (!e && (!copy || out.failed))
		e = E_NOMEM;
	if (!e && memchr(copy, '\0', out.n))
		e = why_set(r->why, E_VALUE, WHY_NOWHERE, "a byte 0 cannot be passed to a program");
	if (e)
		fail(r, e);
	return e ? text : (struct str){ copy, out.n };
}

static const char *text(struct renderer *r, struct str s)
{
	const char *copy = arena_dup(r->arena, s);
	if (!copy)
		fail(r, E_NOMEM);
	return copy;
}

/* --- program and arguments --- */

static const char **render_argv(struct renderer *r, const struct doc_command *c)
{
	unsigned n = c->shell.n ? 3 : c->argc;
	const char **argv = arena_alloc(r->arena, (n + 1) * sizeof *argv);
	if (!argv) {
		fail(r, E_NOMEM);
		return NULL;
	}
	if (c->shell.n) {
		argv[0] = "/bin/sh";
		argv[1] = "-c";
		argv[2] = text(r, c->shell);
	}
	for (unsigned i = 0; i < c->argc && !c->shell.n; i++)
		argv[i] = text(r, c->script && i == c->script ? c->argv[i] : expand(r, c->argv[i]));
	argv[n] = NULL;
	return argv;
}

/* --- environment --- */

struct environment {
	const char **item;
	unsigned n, room;
	struct arena *arena;
	bool failed;
};

/* The later one of two with the same name counts. */
static void put(struct environment *e, const char *item)
{
	size_t name = item ? strcspn(item, "=") + 1 : 0;
	if (!item || e->n == e->room) {
		e->failed = true;
		return;
	}
	for (unsigned i = 0; i < e->n; i++)
		if (!strncmp(e->item[i], item, name)) {
			e->item[i] = item;
			return;
		}
	e->item[e->n++] = item;
}

static void put_pair(struct environment *e, const char *name, struct str value)
{
	put(e, arena_printf(e->arena, "%s=%.*s", name, (int)value.n, value.p));
}

enum { RUN_NAMES = 16 }; /* what a run is told about itself, at most */

static const char **render_env(struct renderer *r)
{
	const struct run_row *run = r->about->run;
	const struct val *more = &r->about->doc->action.env;
	struct environment e = { .arena = r->arena };
	unsigned inherited = 0;
	const struct agent_doc *by = r->about->doc->turn.agent;
	char nominal[ISO_SIZE], trace[TRACE_SIZE];
	while (environ[inherited])
		inherited++;
	e.room = inherited + (more->kind == VAL_MAP ? more->map.n : 0) + RUN_NAMES;
	e.item = arena_alloc(r->arena, (e.room + 1) * sizeof *e.item);
	if (!e.item) {
		fail(r, E_NOMEM);
		return NULL;
	}
	for (unsigned i = 0; i < inherited; i++)
		if (!is_service_variable(environ[i]))
			e.item[e.n++] = environ[i];
	for (unsigned i = 0; more->kind == VAL_MAP && i < more->map.n; i++) {
		const char *name = text(r, more->map.pair[i].key);
		if (name)
			put_pair(&e, name, expand(r, more->map.pair[i].value.str));
	}
	put(&e, arena_printf(r->arena, "ROTA_RUN_ID=%llu", (unsigned long long)run->run));
	put_pair(&e, "ROTA_SCHEDULE_ID", r->about->doc->id);
	put(&e, arena_printf(r->arena, "ROTA_ATTEMPT=%u", r->about->attempt));
	put_pair(&e, "ROTA_NOMINAL_TIME", str_of(iso_format_utc(wall_seconds(run->nominal), nominal)));
	put_pair(&e, "ROTA_SOCKET", str_of(r->place->socket));
	put_pair(&e, "ROTA_TOKEN", r->token);
	put_pair(&e, "ROTA_LIFECYCLE_STATE", STR("")); /* nobody has one yet */
	put(&e, arena_printf(r->arena, "ROTA_FENCE=%llu", (unsigned long long)run->fence));
	if (r->about->doc->agent.n)
		put_pair(&e, "ROTA_AGENT", r->about->doc->agent);
	if (by && by->model.n)
		put_pair(&e, "ROTA_MODEL", by->model);
	trace_child(getenv("TRACEPARENT"), trace);
	put_pair(&e, "TRACEPARENT", str_of(trace));
	e.item[e.n] = NULL;
	if (e.failed)
		fail(r, E_NOMEM);
	return e.item;
}

/* WINDOW binds the first attempt, and the engine judged it when it decided to start. What comes after, a slow
 * machine or a launcher that died, is no reason to call the run killed: only what is later than any grace. */
static struct boot start_by(const struct schedule_doc *doc, const struct run_row *run, uint16_t attempt)
{
	bool by_hand = run->kind == KIND_MANUAL || run->kind == KIND_BACKFILL;
	if (!doc->window || attempt != 1 || by_hand)
		return (struct boot){ 0 };
	int64_t left = run->due.us + (doc->window + GRACE_SECONDS) * USEC - clock_wall().us;
	return (struct boot){ clock_boot().us + (left > 0 ? left : 0) };
}

/* --- what is expected --- */

/* Paths are seen from where it is executed; rota's own working directory means nothing to anybody. */
static const char *render_path(struct renderer *r, struct str path)
{
	struct str cwd = r->about->doc->action.cwd;
	if (path.p[0] == '/')
		return text(r, path);
	const char *whole = arena_printf(r->arena, "%.*s/%.*s", STR_ARG(cwd), STR_ARG(path));
	if (!whole)
		fail(r, E_NOMEM);
	return whole;
}

static void render_expectations(struct renderer *r, struct launch *l)
{
	const struct schedule_doc *doc = r->about->doc;
	unsigned paths = 0, files = 0, scripts = 0;
	for (unsigned i = 0; i < doc->expectations; i++)
		paths += doc->expectation[i].paths;
	const char **file = arena_alloc(r->arena, (paths + 1) * sizeof *file);
	const char *const **script = arena_alloc(r->arena, (doc->expectations + 1) * sizeof *script);
	if (!file || !script) {
		fail(r, E_NOMEM);
		return;
	}
	for (unsigned i = 0; i < doc->expectations; i++) {
		const struct doc_expectation *x = &doc->expectation[i];
		for (unsigned k = 0; k < x->paths; k++)
			file[files++] = render_path(r, x->path[k]);
		if (x->kind == DOC_SCRIPT)
			script[scripts++] = render_argv(r, &x->command);
	}
	file[files] = NULL;
	script[scripts] = NULL;
	l->files = file;
	l->scripts = script;
}

/* --- what is executed --- */

static void render_program(struct renderer *r, const struct doc_command *c, struct launch *l)
{
	const struct doc_action *action = &r->about->doc->action;
	_cleanup_(buf_free) struct buf context = { 0 };
	json_write(&context, &r->with.scope);
	l->argv = render_argv(r, c);
	l->cwd = action->cwd.n ? text(r, action->cwd) : NULL;
	l->context = (struct str){ text(r, buf_str(&context)), context.n };
	if (context.failed)
		fail(r, E_NOMEM);
}

static void render_command(struct renderer *r, struct launch *l)
{
	const struct doc_action *action = &r->about->doc->action;
	render_program(r, &action->command, l);
	l->input = expand(r, action->input);
	render_expectations(r, l);
}

/* Those that its agent names, for its turns and for what is asked before them; nobody else is given any. */
static void render_secrets(struct renderer *r, struct launch *l)
{
	const struct schedule_doc *doc = r->about->doc;
	const struct agent_doc *by = doc->turn.agent;
	if (doc->action.kind != DOC_AGENT_TURN || !by || !by->secrets.n)
		return;
	enum err e = secret_fill(&r->place->secrets, by->secrets.word, by->secrets.n, r->arena, l, r->why);
	if (e)
		fail(r, e);
}

/* All it is told goes in by standard input, which then is at its end: arguments can be seen. */
static void render_turn(struct renderer *r, struct launch *l)
{
	const struct schedule_doc *doc = r->about->doc;
	struct str message = expand(r, doc->action.message);
	render_program(r, &doc->action.command, l);
	l->input = turn_input(doc, message, r->arena);
	l->stall = doc->turn.stall * USEC;
	l->out = true; /* its answer, for the next */
	render_secrets(r, l);
	if (!l->input.p)
		fail(r, E_NOMEM);
	render_expectations(r, l);
}

static struct str expand_for(void *ctx, struct str text)
{
	return expand(ctx, text);
}

/* All of the request goes in by standard input: arguments and environment can be seen. */
static void render_webhook(struct renderer *r, struct launch *l)
{
	const struct schedule_doc *doc = r->about->doc;
	const struct out_request_texts texts = { expand_for, r };
	const struct out_service *out = &r->place->out;
	struct out_request request = { 0 };
	const char **argv = arena_alloc(r->arena, 2 * sizeof *argv);
	if (!out->program) {
		fail(r, why_set(r->why, E_INPUT, WHY_NOWHERE, OUT_MISSING_TEXT));
		return;
	}
	enum err e =
		argv ? out_request_render(&doc->action, doc->timeout, out->rules, &texts, r->arena, &request)
		     : E_NOMEM;
	if (e) {
		fail(r, e);
		return;
	}
	argv[0] = out->program;
	argv[1] = NULL;
	l->argv = argv;
	l->input = request.text;
	l->secret = request.secret;
	l->secrets = request.secrets;
}

/* Others are nothing to execute. */
static void (*const renderers[DOC_ACTIONS])(struct renderer *r, struct launch *l) = {
	[DOC_COMMAND] = render_command,
	[DOC_AGENT_TURN] = render_turn,
	[DOC_WEBHOOK] = render_webhook,
};

/* One more value that no log is to have. */
static void mask(struct renderer *r, struct launch *l, struct str secret)
{
	struct str *all = arena_alloc(r->arena, (l->secrets + 1) * sizeof *all);
	if (!all) {
		fail(r, E_NOMEM);
		return;
	}
	for (unsigned i = 0; i < l->secrets; i++)
		all[i] = l->secret[i];
	all[l->secrets] = secret;
	l->secret = all;
	l->secrets++;
}

static enum err make_token(struct renderer *r)
{
	char *token = arena_alloc(r->arena, TOKEN_SIZE);
	if (!token || !token_write(&r->place->token_key, r->about->run->run, r->about->attempt, token))
		return E_NOMEM;
	r->token = str_of(token);
	return OK;
}

/* What checks and attempts have in common. */
static enum err begin(struct renderer *r, struct launch *l)
{
	const struct schedule_doc *doc = r->about->doc;
	const char *blocked = doc_blocked(doc, true);
	if (blocked)
		return why_set(r->why, E_INPUT, WHY_NOWHERE, "'%.*s' cannot run: %s", STR_SHORT(doc->id),
			       blocked);
	if (!renderers[doc->action.kind])
		return why_set(r->why, E_INPUT, WHY_NOWHERE, "the action of '%.*s' is nothing to execute",
			       STR_SHORT(doc->id));
	enum err e = run_context(r->about, r->arena, &r->with, r->why);
	if (!e)
		e = make_token(r);
	if (!e)
		*l = (struct launch){ .env = render_env(r), .grace = RUN_GRACE_SECONDS * USEC };
	return e;
}

enum err render_launch(const struct context_source *about, const struct render_place *place, struct arena *a,
		       struct launch *ret, struct why *why)
{
	const struct schedule_doc *doc = about->doc;
	struct renderer r = { .about = about, .place = place, .arena = a, .why = why };
	struct launch l;
	enum err e = begin(&r, &l);
	if (e)
		return e;
	l.timeout = doc->timeout * USEC;
	l.start_by = start_by(doc, about->run, about->attempt);
	renderers[doc->action.kind](&r, &l);
	mask(&r, &l, r.token);
	if (!r.failed)
		*ret = l;
	return r.failed;
}

enum err render_check(const struct context_source *about, const struct render_place *place, int64_t timeout,
		      struct arena *a, struct launch *ret, struct why *why)
{
	struct renderer r = { .about = about, .place = place, .arena = a, .why = why };
	struct launch l;
	enum err e = begin(&r, &l);
	if (e)
		return e;
	l.timeout = timeout * USEC;
	render_program(&r, &about->doc->check.command, &l);
	render_secrets(&r, &l);
	mask(&r, &l, r.token);
	if (!r.failed)
		*ret = l;
	return r.failed;
}
