/* Renders program, arguments, environment, input, secrets and bounds of an attempt, a check or a hook. */
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

/* --- templates --- */

struct renderer {
	const struct context_source *source;
	const struct render_place *place;
	struct run_context context;
	struct str token; /* the token of this attempt */
	struct arena *arena;
	struct why *why;
	enum err failed; /* the first error */
};

static void set_error(struct renderer *r, enum err e)
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
		e = template_render(t, &r->context.env, r->arena, &out, r->why);
	char *copy = e ? NULL : arena_dup(r->arena, buf_str(&out));
	if (!e && (!copy || out.failed))
		e = E_NOMEM;
	if (!e && memchr(copy, '\0', out.n))
		e = why_set(r->why, E_VALUE, WHY_NOWHERE, "a byte 0 cannot be passed to a program");
	if (e)
		set_error(r, e);
	return e ? text : (struct str){ copy, out.n };
}

static const char *copy_text(struct renderer *r, struct str s)
{
	const char *copy = arena_dup(r->arena, s);
	if (!copy)
		set_error(r, E_NOMEM);
	return copy;
}

/* --- program and arguments --- */

static const char **render_argv(struct renderer *r, const struct doc_command *c)
{
	unsigned n = c->shell.n ? 3 : c->argc;
	const char **argv = arena_alloc(r->arena, (n + 1) * sizeof *argv);
	if (!argv) {
		set_error(r, E_NOMEM);
		return NULL;
	}
	if (c->shell.n) {
		argv[0] = "/bin/sh";
		argv[1] = "-c";
		argv[2] = copy_text(r, c->shell);
	}
	for (unsigned i = 0; i < c->argc && !c->shell.n; i++)
		argv[i] = copy_text(r, i >= c->text && i < c->text_end ? c->argv[i] : expand(r, c->argv[i]));
	argv[n] = NULL;
	return argv;
}

/* --- environment --- */

enum { RUN_VARIABLES = 16 }; /* room for ROTA_RUN_ID and the like */

static void set_number(struct environment *e, const char *name, uint64_t n)
{
	char text[24];
	snprintf(text, sizeof text, "%llu", (unsigned long long)n);
	environment_set(e, name, str_of(text));
}

static const char **render_env(struct renderer *r)
{
	const struct run_row *run = &r->source->read->run;
	const struct val *more = &r->source->doc->action.env;
	const struct agent_doc *by = r->source->doc->turn.agent;
	char nominal[ISO_SIZE], trace[TRACE_SIZE];
	struct environment e;
	environment_begin(&e, r->arena, r->place->pass_env,
			  RUN_VARIABLES + (more->kind == VAL_MAP ? more->map.n : 0));
	for (unsigned i = 0; more->kind == VAL_MAP && i < more->map.n; i++) {
		const char *name = copy_text(r, more->map.pair[i].key);
		if (name)
			environment_set(&e, name, expand(r, more->map.pair[i].value.str));
	}
	set_number(&e, "ROTA_RUN_ID", run->run);
	environment_set(&e, "ROTA_SCHEDULE_ID", r->source->doc->id);
	set_number(&e, "ROTA_ATTEMPT", r->source->attempt);
	environment_set(&e, "ROTA_NOMINAL_TIME", str_of(iso_format_utc(wall_seconds(run->nominal), nominal)));
	environment_set(&e, "ROTA_SOCKET", str_of(r->place->socket));
	if (r->token.n)
		environment_set(&e, "ROTA_TOKEN", r->token);
	environment_set(&e, "ROTA_LIFECYCLE_STATE", STR("")); /* always empty for now */
	set_number(&e, "ROTA_FENCE", run->fence);
	if (r->source->doc->agent.n)
		environment_set(&e, "ROTA_AGENT", r->source->doc->agent);
	if (by && by->model.n)
		environment_set(&e, "ROTA_MODEL", by->model);
	trace_child(getenv("TRACEPARENT"), trace);
	environment_set(&e, "TRACEPARENT", str_of(trace));
	const char **items = environment_end(&e);
	if (!items)
		set_error(r, E_NOMEM);
	return items;
}

/* Returns the latest time at which the first attempt may start, by the WINDOW of the schedule. The engine has
 * already checked the window, so this only affects an attempt that a slow machine or a dead launcher has
 * delayed by more than the grace. */
static struct boot start_by(const struct schedule_doc *doc, const struct run_row *run, uint16_t attempt)
{
	bool by_hand = run->kind == KIND_MANUAL || run->kind == KIND_BACKFILL;
	if (!doc->window || attempt != 1 || by_hand)
		return (struct boot){ 0 };
	int64_t left = run->due.us + (doc->window + GRACE_SECONDS) * USEC - clock_wall().us;
	return (struct boot){ clock_boot().us + (left > 0 ? left : 0) };
}

/* --- expectations --- */

/* Paths are relative to the directory the run is executed in. */
static const char *render_path(struct renderer *r, struct str path)
{
	struct str cwd = r->source->doc->action.cwd;
	if (path.p[0] == '/')
		return copy_text(r, path);
	const char *whole = arena_printf(r->arena, "%.*s/%.*s", STR_ARG(cwd), STR_ARG(path));
	if (!whole)
		set_error(r, E_NOMEM);
	return whole;
}

static void render_expectations(struct renderer *r, struct launch *l)
{
	const struct schedule_doc *doc = r->source->doc;
	unsigned paths = 0, files = 0, scripts = 0;
	for (unsigned i = 0; i < doc->expectations; i++)
		paths += doc->expectation[i].paths;
	const char **file = arena_alloc(r->arena, (paths + 1) * sizeof *file);
	const char *const **script = arena_alloc(r->arena, (doc->expectations + 1) * sizeof *script);
	if (!file || !script) {
		set_error(r, E_NOMEM);
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

/* --- actions --- */

static void render_program(struct renderer *r, const struct doc_command *c, struct launch *l)
{
	const struct doc_action *action = &r->source->doc->action;
	_cleanup_(buf_free) struct buf context = { 0 };
	json_write(&context, &r->context.scope);
	l->argv = render_argv(r, c);
	l->cwd = action->cwd.n ? copy_text(r, action->cwd) : NULL;
	l->context = (struct str){ copy_text(r, buf_str(&context)), context.n };
	if (context.failed)
		set_error(r, E_NOMEM);
}

static void render_command(struct renderer *r, struct launch *l)
{
	const struct doc_action *action = &r->source->doc->action;
	render_program(r, &action->command, l);
	l->input = expand(r, action->input);
	render_expectations(r, l);
}

/* Only turns of agents, and checks before them, get secrets: those that the agent's definition names. */
static void render_secrets(struct renderer *r, struct launch *l)
{
	const struct schedule_doc *doc = r->source->doc;
	const struct agent_doc *by = doc->turn.agent;
	if (doc->action.kind != DOC_AGENT_TURN || !by || !by->secrets.n)
		return;
	enum err e = secret_fill(&r->place->secrets, by->secrets.word, by->secrets.n, r->arena, l, r->why);
	if (e)
		set_error(r, e);
}

/* The message goes to standard input, not into arguments, which other users can see. */
static void render_turn(struct renderer *r, struct launch *l)
{
	const struct schedule_doc *doc = r->source->doc;
	struct str message = expand(r, doc->action.message);
	render_program(r, &doc->action.command, l);
	l->input = turn_input(doc, message, r->arena);
	l->stall = doc->turn.stall * USEC;
	l->out = true; /* the output is kept, because it is the result that the next run gets */
	render_secrets(r, l);
	if (!l->input.p)
		set_error(r, E_NOMEM);
	render_expectations(r, l);
}

static struct str expand_request_text(void *ctx, struct str text)
{
	return expand(ctx, text);
}

/* The request goes to standard input: other users can see arguments and environment. */
static void render_webhook(struct renderer *r, struct launch *l)
{
	const struct schedule_doc *doc = r->source->doc;
	const struct out_request_texts texts = { expand_request_text, r };
	const struct out_service *out = &r->place->out;
	struct out_request request = { 0 };
	const char **argv = arena_alloc(r->arena, 2 * sizeof *argv);
	if (!out->program) {
		set_error(r, why_set(r->why, E_INPUT, WHY_NOWHERE, OUT_MISSING_TEXT));
		return;
	}
	enum err e =
		argv ? out_request_render(&doc->action, doc->timeout, out->rules, &texts, r->arena, &request)
		     : E_NOMEM;
	if (e) {
		set_error(r, e);
		return;
	}
	argv[0] = out->program;
	argv[1] = NULL;
	l->argv = argv;
	l->input = request.text;
	l->secret = request.secret;
	l->secrets = request.secrets;
}

/* --- plans --- */

/* Arguments for this program itself. */
struct own_words {
	struct renderer *renderer;
	const char **word;
	unsigned n, room;
};

static void add_word(struct own_words *w, const char *word)
{
	if (!word || w->n + 1 >= w->room) {
		set_error(w->renderer, E_NOMEM);
		return;
	}
	w->word[w->n++] = word;
	w->word[w->n] = NULL;
}

static void add_option(struct own_words *w, const char *name, struct str value)
{
	if (!value.n)
		return;
	add_word(w, name);
	add_word(w, copy_text(w->renderer, value));
}

static struct own_words start_words(struct renderer *r, unsigned room)
{
	struct own_words w = { .renderer = r, .room = room + 16 };
	w.word = arena_alloc(r->arena, w.room * sizeof *w.word);
	if (!w.word)
		w.room = 0;
	if (r->place->rota)
		add_word(&w, r->place->rota);
	else
		set_error(r,
			  why_set(r->why, E_INPUT, WHY_NOWHERE, "the path of the program rota is not known"));
	return w;
}

/* rota agenda --check: exits with 0 if there is work, with 1 if not, and with 2 if the plan cannot be read.
 */
static void add_agenda(struct own_words *w, const struct schedule_doc *doc)
{
	add_word(w, "agenda");
	add_word(w, "--check");
	add_option(w, "--tz", w->renderer->place->timezone);
	add_option(w, "--agent", doc->agent);
	add_word(w, "--");
	add_word(w, copy_text(w->renderer, doc->check.agenda));
}

/* rota claim --first PLAN -- CHECK: the check first, and then the first ready task. It prints the task. */
static void render_claim(struct renderer *r, struct launch *l)
{
	const struct schedule_doc *doc = r->source->doc;
	const struct doc_command *check = &doc->check.command;
	const char **before = doc_has_command(check) ? render_argv(r, check) : NULL;
	unsigned n = 0;
	while (before && before[n])
		n++;
	struct own_words w = start_words(r, n + 16);
	add_word(&w, "claim");
	add_word(&w, "--first");
	add_option(&w, "--agent", doc->agent);
	add_option(&w, "--tz", r->place->timezone);
	add_word(&w, copy_text(r, doc->check.claim));
	if (before || doc->check.agenda.n)
		add_word(&w, "--");
	for (unsigned i = 0; i < n; i++)
		add_word(&w, before[i]);
	if (doc->check.agenda.n) {
		add_word(&w, r->place->rota);
		add_agenda(&w, doc);
	}
	l->argv = w.word;
	l->out = true;
}

static void render_check_program(struct renderer *r, struct launch *l)
{
	const struct doc_check *check = &r->source->doc->check;
	render_program(r, &check->command, l);
	if (check->claim.n) {
		render_claim(r, l);
	} else if (check->agenda.n) {
		struct own_words w = start_words(r, 0);
		add_agenda(&w, r->source->doc);
		l->argv = w.word;
	}
}

/* rota plan run: a child program under the shim, which goes on without the daemon. Its inputs are on standard
 * input, since arguments can be seen by others. */
static void render_workflow(struct renderer *r, struct launch *l)
{
	const struct doc_action *action = &r->source->doc->action;
	const struct out_request_texts texts = { expand_request_text, r };
	struct own_words w = start_words(r, 0);
	struct val inputs;
	_cleanup_(buf_free) struct buf text = { 0 };
	render_program(r, &action->command, l);
	add_word(&w, "plan");
	add_word(&w, "run");
	add_option(&w, "--name", action->workflow);
	add_word(&w, "--timeout");
	add_word(&w, arena_printf(r->arena, "%llds", (long long)r->place->component_seconds));
	if (action->inputs.kind == VAL_MAP) {
		enum err e = out_expand_all(&action->inputs, &texts, r->arena, &inputs);
		if (e)
			set_error(r, e);
		else
			json_write(&text, &inputs);
		l->input = (struct str){ copy_text(r, buf_str(&text)), text.n };
		add_word(&w, "--input");
		add_word(&w, "-");
	}
	add_word(&w, "--");
	add_word(&w, copy_text(r, action->file));
	l->argv = w.word;
	l->out = true;
	if (text.failed)
		set_error(r, E_NOMEM);
	render_expectations(r, l);
}

/* Other actions execute nothing. */
static void (*const renderers[DOC_ACTIONS])(struct renderer *r, struct launch *l) = {
	[DOC_COMMAND] = render_command,
	[DOC_AGENT_TURN] = render_turn,
	[DOC_WEBHOOK] = render_webhook,
	[DOC_WORKFLOW] = render_workflow,
};

/* Adds a value that is masked in logs. */
static void add_mask(struct renderer *r, struct launch *l, struct str secret)
{
	struct str *all = arena_alloc(r->arena, (l->secrets + 1) * sizeof *all);
	if (!all) {
		set_error(r, E_NOMEM);
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
	if (!token || !token_write(r->place->token_key, r->source->read->run.run, r->source->attempt, token))
		return E_NOMEM;
	r->token = str_of(token);
	return OK;
}

/* Fills in the fields that checks and attempts have in common. */
static enum err start_launch(struct renderer *r, struct launch *l)
{
	const struct schedule_doc *doc = r->source->doc;
	const char *blocked = doc_blocked(doc);
	if (blocked)
		return why_set(r->why, E_INPUT, WHY_NOWHERE, "'%.*s' cannot run: %s", STR_SHORT(doc->id),
			       blocked);
	if (!renderers[doc->action.kind])
		return why_set(r->why, E_INPUT, WHY_NOWHERE, "the action of '%.*s' executes nothing",
			       STR_SHORT(doc->id));
	enum err e = run_context_build(r->source, r->arena, &r->context, r->why);
	if (!e)
		e = make_token(r);
	if (!e)
		*l = (struct launch){ .env = render_env(r), .grace = RUN_GRACE_SECONDS * USEC };
	return e;
}

enum err render_launch(const struct context_source *source, const struct render_place *place, struct arena *a,
		       struct launch *ret, struct why *why)
{
	const struct schedule_doc *doc = source->doc;
	struct renderer r = { .source = source, .place = place, .arena = a, .why = why };
	struct launch l;
	enum err e = start_launch(&r, &l);
	if (e)
		return e;
	l.timeout = doc->timeout * USEC;
	l.start_by = start_by(doc, &source->read->run, source->attempt);
	renderers[doc->action.kind](&r, &l);
	add_mask(&r, &l, r.token);
	if (!r.failed)
		*ret = l;
	return r.failed;
}

enum err render_check(const struct context_source *source, const struct render_place *place, int64_t timeout,
		      struct arena *a, struct launch *ret, struct why *why)
{
	struct context_source before = *source;
	struct renderer r = { .source = &before, .place = place, .arena = a, .why = why };
	struct launch l;
	before.before_check = true;
	enum err e = start_launch(&r, &l);
	if (e)
		return e;
	l.timeout = timeout * USEC;
	render_check_program(&r, &l);
	render_secrets(&r, &l);
	add_mask(&r, &l, r.token);
	if (!r.failed)
		*ret = l;
	return r.failed;
}

/* --- hooks --- */

const struct doc_hook *render_hook_of(const struct render_place *place, const struct schedule_doc *doc,
				      enum run_hook hook)
{
	static const struct doc_hook none;
	if (hook == HOOK_OF_SCHEDULE)
		return &doc->hook;
	if (!place->hooks)
		return &none;
	return hook == HOOK_OF_CREATE ? &place->hooks->create : &place->hooks->trigger;
}

static void add_member(struct buf *out, const char *name, const struct val *v)
{
	buf_addf(out, ",\"%s\":", name);
	json_write(out, v ? v : &(struct val){ .kind = VAL_NULL });
}

/* The input of a hook before a run. */
static struct str describe_run(struct renderer *r)
{
	const struct schedule_doc *doc = r->source->doc;
	const struct val *run = val_get(&r->context.scope, STR("run"));
	struct val expression = { .kind = doc->expression.n ? VAL_STR : VAL_NULL, .str = doc->expression };
	struct val agent = { .kind = doc->agent.n ? VAL_STR : VAL_NULL, .str = doc->agent };
	_cleanup_(buf_free) struct buf out = { 0 };
	buf_addf(&out, "{\"hook\":\"%s\"", DOC_TRIGGER_HOOK);
	add_member(&out, "schedule", val_get(&r->context.scope, STR("schedule")));
	add_member(&out, "expression", &expression);
	add_member(&out, "agent", &agent);
	add_member(&out, "mission", NULL);
	add_member(&out, "nominal", run ? val_get(run, STR("nominal")) : NULL);
	add_member(&out, "run", run);
	buf_add(&out, STR("}\n"));
	if (out.failed)
		set_error(r, E_NOMEM);
	return (struct str){ copy_text(r, buf_str(&out)), out.n };
}

enum err render_hook(const struct context_source *source, const struct render_place *place,
		     enum run_hook hook, int64_t timeout, struct str input, struct arena *a,
		     struct launch *ret, struct why *why)
{
	struct context_source before = *source;
	struct renderer r = { .source = &before, .place = place, .arena = a, .why = why };
	const struct doc_hook *by = render_hook_of(place, source->doc, hook);
	struct str cwd = source->doc->action.cwd;
	int64_t seconds = by->timeout ? by->timeout : timeout;
	if (hook == HOOK_OF_CREATE && seconds > CREATE_HOOK_SECONDS_MAX)
		seconds = CREATE_HOOK_SECONDS_MAX;
	before.before_check = true;
	if (!doc_has_command(&by->command)) /* it was removed since the question was asked */
		return why_set(why, E_INPUT, WHY_NOWHERE, "there is no such hook any more");
	enum err e = run_context_build(&before, a, &r.context, why);
	if (e)
		return e;
	struct launch l = { .env = render_env(&r),
			    .argv = render_argv(&r, &by->command),
			    .cwd = hook != HOOK_OF_SCHEDULE ? place->hooks_cwd
				   : cwd.n                  ? copy_text(&r, cwd)
							    : NULL,
			    .input = input.p ? input : describe_run(&r),
			    .timeout = seconds * USEC,
			    .grace = RUN_GRACE_SECONDS * USEC,
			    .log_head = HOOK_LOG_BYTES,
			    .log_tail = HOOK_LOG_BYTES,
			    .out = true,
			    .err = true };
	if (!r.failed)
		*ret = l;
	return r.failed;
}
