#include "daemon/render.h"

#include "base/json.h"
#include "core/when/iso.h"
#include "host/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static const char *text(struct arena *a, struct str s)
{
	return arena_dup(a, s);
}

/* --- program and arguments
 * ---------------------------------------------------------------------------------- */

static const char **render_argv(const struct doc_command *c, struct arena *a)
{
	unsigned n = c->shell.n ? 3 : c->argc;
	const char **argv = arena_alloc(a, (n + 1) * sizeof *argv);
	if (!argv)
		return NULL;
	if (c->shell.n) {
		argv[0] = "/bin/sh";
		argv[1] = "-c";
		argv[2] = text(a, c->shell);
	}
	for (unsigned i = 0; i < c->argc && !c->shell.n; i++)
		argv[i] = text(a, c->argv[i]);
	for (unsigned i = 0; i < n; i++)
		if (!argv[i])
			return NULL;
	argv[n] = NULL;
	return argv;
}

/* --- environment
 * -------------------------------------------------------------------------------------------- */

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

static const char **render_env(const struct schedule_doc *doc, const struct run_row *run, uint16_t attempt,
			       const char *socket, struct arena *a)
{
	struct environment e = { .arena = a };
	unsigned inherited = 0;
	char nominal[ISO_SIZE];
	const struct val *more = &doc->action.env;
	while (environ[inherited])
		inherited++;
	e.room = inherited + (more->kind == VAL_MAP ? more->map.n : 0) + 8;
	e.item = arena_alloc(a, (e.room + 1) * sizeof *e.item);
	if (!e.item)
		return NULL;
	for (unsigned i = 0; i < inherited; i++)
		if (strncmp(environ[i], "NOTIFY_SOCKET=", 14) != 0 &&
		    strncmp(environ[i], "WATCHDOG_", 9) != 0)
			e.item[e.n++] = environ[i]; /* the service manager's word is for the daemon only */
	for (unsigned i = 0; more->kind == VAL_MAP && i < more->map.n; i++)
		put_pair(&e, text(a, more->map.pair[i].key), more->map.pair[i].value.str);
	put(&e, arena_printf(a, "ROTA_RUN_ID=%llu", (unsigned long long)run->run));
	put_pair(&e, "ROTA_SCHEDULE_ID", doc->id);
	put(&e, arena_printf(a, "ROTA_ATTEMPT=%u", attempt));
	put_pair(&e, "ROTA_NOMINAL_TIME", str_of(iso_format_utc(wall_seconds(run->nominal), nominal)));
	put_pair(&e, "ROTA_SOCKET", str_of(socket));
	e.item[e.n] = NULL;
	return e.failed ? NULL : e.item;
}

/* --- context
 * ------------------------------------------------------------------------------------------------ */

static void render_context(const struct schedule_doc *doc, const struct run_row *run, uint16_t attempt,
			   struct buf *out)
{
	char nominal[ISO_SIZE], now[ISO_SIZE];
	buf_add(out, STR("{\"schedule\":{\"id\":"));
	json_write_str(out, doc->id);
	buf_add(out, STR(",\"name\":"));
	json_write_str(out, doc->name.n ? doc->name : doc->id);
	buf_add(out, STR("},\"variables\":"));
	json_write(out, doc->variables.kind == VAL_MAP ? &doc->variables : &(struct val){ .kind = VAL_MAP });
	buf_addf(out, ",\"timestamp\":\"%s\",\"run\":{\"id\":%llu,\"attempt\":%u,\"nominal\":\"%s\"",
		 iso_format_utc(wall_seconds(clock_wall()), now), (unsigned long long)run->run, attempt,
		 iso_format_utc(wall_seconds(run->nominal), nominal));
	buf_addf(out, ",\"catch_up\":%s,\"missed\":%u,\"fence\":%llu}}",
		 run->kind == KIND_CATCH_UP ? "true" : "false", run->missed, (unsigned long long)run->fence);
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

enum err render_launch(const struct schedule_doc *doc, const struct run_row *run, uint16_t attempt,
		       const char *socket, struct arena *a, struct launch *ret, struct why *why)
{
	const char *blocked = doc_blocked(doc, true);
	if (blocked)
		return why_set(why, E_INPUT, WHY_NOWHERE, "'%.*s' cannot run: %s", (int)doc->id.n, doc->id.p,
			       blocked);
	if (doc->action.kind != DOC_COMMAND)
		return why_set(why, E_INPUT, WHY_NOWHERE, "the action of '%.*s' is nothing to execute",
			       (int)doc->id.n, doc->id.p);
	_cleanup_(buf_free) struct buf context = { 0 };
	render_context(doc, run, attempt, &context);
	struct launch l = { .argv = render_argv(&doc->action.command, a),
			    .env = render_env(doc, run, attempt, socket, a),
			    .cwd = doc->action.cwd.n ? text(a, doc->action.cwd) : NULL,
			    .input = doc->action.input,
			    .timeout = doc->timeout * USEC,
			    .grace = RUN_GRACE_SECONDS * USEC,
			    .start_by = start_by(doc, run, attempt) };
	l.context = (struct str){ text(a, buf_str(&context)), context.n };
	if (!l.argv || !l.env || !l.context.p || context.failed)
		return E_NOMEM;
	*ret = l;
	return OK;
}
