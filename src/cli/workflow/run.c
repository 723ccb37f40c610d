/* Runs components in the order of their dependencies, and gives them their inputs. */
#include "cli/workflow/workflow.h"

#include "base/json.h"
#include "cli/workflow/internal.h"
#include "core/when/dur.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Set by SIGINT and SIGTERM: components are stopped, and the result says so. */
static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

/* --- files --- */

static enum err write_file(struct runner *r, const char *path, struct str text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), error = fd < 0 ? errno : 0;
	if (!error)
		error = write_all(fd, text.p, text.n);
	if (fd >= 0)
		close(fd);
	return error ? why_set(r->call->why, E_IO, WHY_NOWHERE, "cannot write %.150s: %s", path,
			       strerror(error))
		     : OK;
}

/* --- inputs --- */

/* ROTA_INPUT_SALES for sales. */
static const char *input_variable(struct arena *a, struct str name)
{
	char *variable = arena_printf(a, "ROTA_INPUT_%.*s", STR_ARG(name));
	for (char *p = variable; p && *p && *p != '='; p++)
		*p = is_alpha(*p) || is_digit(*p) ? to_upper(*p) : '_';
	return variable;
}

/* The component of a sub-workflow that exports this; NULL: none. */
static const struct task *sub_task(const struct run *run, struct str name)
{
	for (unsigned i = 0; i < run->world->subs; i++) {
		const struct component *c = world_export(&run->world->sub[i], name);
		if (c)
			return &run->sub[i].task[c - run->world->sub[i].component];
	}
	return NULL;
}

/* The file with an input: that of the producer, of a sub-workflow, or a given one; NULL: there is none. */
static const char *find_input(struct run *run, struct str name)
{
	const struct component *c = world_producer(run->world, name);
	if (c)
		return run->task[c - run->world->component].output;
	const struct task *sub = sub_task(run, name);
	if (sub)
		return sub->output;
	const struct val *given =
		run->runner->options->input ? val_get(run->runner->options->input, name) : NULL;
	if (!given)
		return NULL;
	_cleanup_(buf_free) struct buf text = { 0 };
	if (given->kind == VAL_STR)
		buf_add(&text, given->str);
	else
		json_write(&text, given);
	const char *path =
		arena_printf(run->runner->call->arena, "%s/given-%u", run->runner->dir, run->runner->files++);
	return path && !text.failed && write_file(run->runner, path, buf_str(&text)) == OK ? path : NULL;
}

/* --- starting --- */

static const char **copy_environment(struct runner *r, unsigned more, unsigned *n)
{
	for (*n = 0; environ[*n];)
		++*n;
	const char **env = arena_alloc(r->call->arena, (*n + more + 1) * sizeof *env);
	for (unsigned i = 0; env && i < *n; i++)
		env[i] = environ[i];
	return env;
}

static enum err fill_environment(struct run *run, const struct component *c, struct process_start *s)
{
	struct arena *a = run->runner->call->arena;
	unsigned n;
	const char **env = copy_environment(run->runner, c->in.n + 3, &n);
	if (!env)
		return E_NOMEM;
	env[n++] = arena_printf(a, "ROTA_WORKFLOW=%.*s", STR_ARG(run->world->name));
	env[n++] = arena_printf(a, "ROTA_COMPONENT=%.*s", STR_ARG(c->name));
	for (unsigned i = 0; i < c->in.n; i++) {
		const char *path = find_input(run, c->in.word[i]),
			   *variable = input_variable(a, c->in.word[i]);
		if (!path)
			return why_set(run->runner->call->why, E_VALUE, WHY_NOWHERE,
				       "there is no input '%.*s'", STR_SHORT(c->in.word[i]));
		if (i == 0)
			env[n++] = arena_printf(a, "ROTA_INPUT=%s", path);
		env[n++] = variable ? arena_printf(a, "%s=%s", variable, path) : NULL;
	}
	for (unsigned i = 0; i < n; i++)
		if (!env[i])
			return E_NOMEM;
	s->env = env;
	return OK;
}

static const struct {
	const char *lang, *command;
} interpreters[] = { { "sh", "sh" },          { "shell", "sh" },        { "bash", "bash" },
		     { "python", "python3" }, { "python3", "python3" }, { "node", "node" },
		     { "js", "node" },        { "javascript", "node" } };

/* The command of a language: that of the configuration, else the usual one; empty: none is known. */
static struct str interpreter_of(const struct workflow_options *o, struct str lang)
{
	const struct val *own = o->interpreters ? val_get(o->interpreters, lang) : NULL;
	if (own && own->kind == VAL_STR)
		return own->str;
	for (unsigned i = 0; i < ARRAY_LEN(interpreters); i++)
		if (str_eq(lang, str_of(interpreters[i].lang)))
			return str_of(interpreters[i].command);
	return STR("");
}

static enum err fill_command(struct runner *r, const struct component *c, const char *script,
			     struct process_start *s)
{
	struct str command = interpreter_of(r->options, c->lang);
	unsigned n = 0;
	const char **argv = arena_alloc(r->call->arena, (command.n + 3) * sizeof *argv);
	if (!argv)
		return E_NOMEM;
	for (struct str word = str_token(&command); word.n; word = str_token(&command)) {
		argv[n] = arena_dup(r->call->arena, word);
		if (!argv[n++])
			return E_NOMEM;
	}
	if (!n)
		return why_set(r->call->why, E_VALUE, WHY_NOWHERE,
			       "no interpreter is known for '%.*s'; the setting 'interpreters' can name one",
			       STR_SHORT(c->lang));
	argv[n] = script;
	s->argv = argv;
	return OK;
}

static enum err read_timeout(struct runner *r, const struct component *c, int64_t *seconds)
{
	struct why wrong;
	*seconds = r->options->seconds;
	if (!c->timeout.n || dur_parse(c->timeout, seconds, &wrong) == OK)
		return OK;
	return why_set(r->call->why, E_VALUE, WHY_NOWHERE, ":timeout %.*s: %s", STR_SHORT(c->timeout),
		       wrong.text);
}

static enum err prepare(struct run *run, unsigned i, struct process_start *s)
{
	struct runner *r = run->runner;
	struct arena *a = r->call->arena;
	const struct component *c = &run->world->component[i];
	const char *script = arena_printf(a, "%s/script-%u", r->dir, r->files);
	run->task[i].output = arena_printf(a, "%s/output-%u", r->dir, r->files++);
	if (!script || !run->task[i].output)
		return E_NOMEM;
	bool absolute = c->dir.n && c->dir.p[0] == '/';
	s->dir = !c->dir.n  ? r->options->dir
		 : absolute ? arena_dup(a, c->dir)
			    : arena_printf(a, "%s/%.*s", r->options->dir, STR_ARG(c->dir));
	s->output = run->task[i].output;
	enum err e = s->dir ? write_file(r, script, c->src) : E_NOMEM;
	if (!e)
		e = read_timeout(r, c, &s->seconds);
	if (!e)
		e = fill_command(r, c, script, s);
	return e ? e : fill_environment(run, c, s);
}

/* Starts a component. If it cannot be started, the reason becomes its result. */
static enum err start(struct run *run, unsigned i)
{
	struct task *task = &run->task[i];
	struct process_start s = { 0 };
	struct why *why = run->runner->call->why;
	enum err e = prepare(run, i, &s);
	if (!e)
		e = process_begin(&s, &task->process, why);
	if (e == E_NOMEM)
		return e;
	task->outcome = TASK_RUNNING;
	if (e) {
		task->outcome = TASK_FAILED;
		task->reason = "definition";
		task->detail = arena_printf(run->runner->call->arena, "%s", why->text);
		return task->detail ? OK : E_NOMEM;
	}
	task->started = true;
	if (task->process.end == PROCESS_UNKNOWN)
		task->detail = arena_printf(run->runner->call->arena, "cannot execute %s in %s: %s",
					    s.argv[0], s.dir, strerror(task->process.code));
	return OK;
}

/* --- ending --- */

static const struct {
	enum task_outcome outcome;
	const char *reason;
} ends[] = {
	[PROCESS_EXITED] = { TASK_FAILED, "exit" },         [PROCESS_TIMEOUT] = { TASK_KILLED, "timeout" },
	[PROCESS_OVERFLOW] = { TASK_FAILED, "output" },     [PROCESS_STOPPED] = { TASK_KILLED, "cancelled" },
	[PROCESS_UNKNOWN] = { TASK_FAILED, "interpreter" },
};

static void finish(struct task *task)
{
	const struct process *p = &task->process;
	if (task->outcome != TASK_RUNNING || p->end == PROCESS_RUNS)
		return;
	bool done = p->end == PROCESS_EXITED && p->code == 0;
	task->outcome = done ? TASK_DONE : ends[p->end].outcome;
	task->reason = done ? NULL : ends[p->end].reason;
	task->microseconds = clock_boot().us - p->started.us;
}

/* TASK_DONE: the component can start; TASK_WAITING: it waits for another; TASK_SKIPPED: one that it waits for
 * has failed. */
static enum task_outcome state_of(const struct run *run, unsigned i)
{
	enum task_outcome state = TASK_DONE;
	for (unsigned k = 0; k < run->world->components; k++) {
		if (!component_waits(&run->world->component[i], &run->world->component[k]))
			continue;
		enum task_outcome other = run->task[k].outcome;
		if (other == TASK_WAITING || other == TASK_RUNNING)
			state = state == TASK_DONE ? TASK_WAITING : state;
		else if (other != TASK_DONE)
			return TASK_SKIPPED;
	}
	/* Sub-workflows have ended: what is not done now will not be. */
	const struct word_array *in = &run->world->component[i].in;
	for (unsigned k = 0; k < in->n; k++) {
		const struct task *sub =
			world_producer(run->world, in->word[k]) ? NULL : sub_task(run, in->word[k]);
		if (sub && sub->outcome != TASK_DONE)
			return TASK_SKIPPED;
	}
	return state;
}

/* Starts the components that can start, and skips those that wait for a failed one. *running becomes the list
 * of running processes; *open: further components may start. */
static enum err start_ready(struct run *run, struct process **running, unsigned *n, bool *open)
{
	*n = 0;
	*open = false;
	for (unsigned i = 0; i < run->world->components; i++)
		if (run->task[i].outcome == TASK_RUNNING)
			running[(*n)++] = &run->task[i].process;
	for (unsigned i = 0; i < run->world->components; i++) {
		struct task *task = &run->task[i];
		if (task->outcome != TASK_WAITING)
			continue;
		enum task_outcome state = stopped ? TASK_SKIPPED : state_of(run, i);
		if (state == TASK_SKIPPED) {
			task->outcome = TASK_SKIPPED;
			task->reason = stopped ? "cancelled" : "dependency";
			*open = true; /* those that wait for it are skipped in the next round */
		} else if (state == TASK_DONE && *n < run->runner->options->jobs) {
			enum err e = start(run, i);
			if (e)
				return e;
			finish(task);
			*open |= task->outcome != TASK_RUNNING;
			if (task->outcome == TASK_RUNNING)
				running[(*n)++] = &task->process;
		}
	}
	return OK;
}

static enum err run_components(struct run *run)
{
	struct process *running[WORKFLOW_JOBS_MAX];
	unsigned n;
	bool open = true;
	enum err e = OK;
	while (!e) {
		e = start_ready(run, running, &n, &open);
		if (e || (!n && !open))
			break;
		if (n)
			process_wait(running, n);
		for (unsigned i = 0; i < n && stopped; i++)
			process_stop(running[i], PROCESS_STOPPED);
		for (unsigned i = 0; i < run->world->components; i++)
			finish(&run->task[i]);
	}
	return e;
}

static enum err run_world(struct runner *r, const struct world *w, struct run *run)
{
	*run = (struct run){ .runner = r, .world = w };
	run->task = arena_alloc(r->call->arena, (w->components + 1) * sizeof *run->task);
	run->sub = arena_alloc(r->call->arena, (w->subs + 1) * sizeof *run->sub);
	enum err e = run->task && run->sub ? OK : E_NOMEM;
	for (unsigned i = 0; i < w->subs && !e; i++)
		e = run_world(r, &w->sub[i], &run->sub[i]);
	if (!e && !r->options->plan_only)
		e = run_components(run);
	return e;
}

/* --- all of them --- */

static void free_run(struct run *run)
{
	for (unsigned i = 0; run->task && i < run->world->components; i++)
		if (run->task[i].started)
			process_free(&run->task[i].process);
	for (unsigned i = 0; run->sub && run->world && i < run->world->subs; i++)
		if (run->sub[i].world)
			free_run(&run->sub[i]);
}

static void remove_files(struct runner *r)
{
	static const char *const kinds[] = { "script", "output", "given" };
	char path[512];
	for (unsigned i = 0; i < r->files; i++)
		for (unsigned k = 0; k < ARRAY_LEN(kinds); k++)
			if (snprintf(path, sizeof path, "%s/%s-%u", r->dir, kinds[k], i) < (int)sizeof path)
				unlink(path);
	rmdir(r->dir);
}

enum err workflows_run(struct cli_call *call, const struct worlds *w, struct str name,
		       const struct workflow_options *options, struct buf *out, bool *failed)
{
	const char *temporary = getenv("TMPDIR");
	struct runner r = { .call = call, .options = options };
	char *dir = arena_printf(call->arena, "%s/rota-plan-XXXXXX",
				 temporary && *temporary ? temporary : "/tmp");
	struct sigaction action = { .sa_handler = on_signal }, before[2];
	bool found = !name.n;
	enum err e = dir ? OK : E_NOMEM;
	if (!e && !mkdtemp(dir))
		e = why_set(call->why, E_IO, WHY_NOWHERE, "cannot create the directory %.150s: %s", dir,
			    strerror(errno));
	if (e)
		return e;
	r.dir = dir;
	sigaction(SIGINT, &action, &before[0]);
	sigaction(SIGTERM, &action, &before[1]);
	buf_addc(out, '[');
	for (unsigned i = 0, n = 0; i < w->n && !e; i++) {
		struct run run = { 0 };
		if (name.n && !str_eq(name, w->world[i].name))
			continue;
		found = true;
		e = run_world(&r, &w->world[i], &run);
		if (n++)
			buf_addc(out, ',');
		if (!e)
			workflow_write(w->org, &run, out, failed);
		free_run(&run);
	}
	buf_add(out, STR("]"));
	remove_files(&r);
	sigaction(SIGINT, &before[0], NULL);
	sigaction(SIGTERM, &before[1], NULL);
	if (!e && !w->n && !options->plan_only)
		e = why_set(call->why, E_NOTFOUND, WHY_NOWHERE,
			    "the plan has no workflow to run: no headline has the tag :workflow:");
	else if (!e && !found)
		e = why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "the plan has no workflow '%.*s'",
			    STR_SHORT(name));
	return e ? e : out->failed ? E_NOMEM : OK;
}
