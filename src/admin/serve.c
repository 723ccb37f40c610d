/* serve: runs the daemon in the foreground until a signal stops it. */
#include "admin/verbs.h"

#include "admin/programs.h"
#include "admin/watch.h"
#include "api/api.h"
#include "daemon/daemon.h"
#include "daemon/stop_signal.h"

#include <stdio.h>
#include <stdlib.h>

struct serving {
	struct api *api;
};

static void zones_changed(void *ctx)
{
	struct serving *s = ctx;
	if (s->api)
		api_zones_changed(s->api);
}

static void stopping(void *ctx)
{
	struct serving *s = ctx;
	api_stop(s->api);
}

static void log_trouble(void *ctx, const char *what, const char *text)
{
	(void)ctx;
	print(stderr, "rota: %s: %s\n", what, text ? text : "recovered");
}

/* The directory of a file, absolute; NULL: it cannot be found, or no memory. */
static const char *directory_of(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *dir = slash ? arena_dup(a, (struct str){ path, (size_t)(slash - path) + 1 }) : ".";
	char *whole = dir ? realpath(dir, NULL) : NULL;
	const char *copy = whole ? arena_dup(a, str_of(whole)) : NULL;
	free(whole);
	return copy;
}

enum err verb_serve(struct cli_call *call)
{
	struct settings settings;
	struct serving serving = { 0 };
	struct daemon *daemon = NULL;
	struct watch *watch = NULL;
	struct stop_signal *stop = NULL;
	enum err e = cli_settings(call, &settings);
	if (e)
		return e;
	struct config *c = &settings.config;
	struct calendars calendars = config_calendars(c);
	struct daemon_options o = { .data = arena_dup(call->arena, c->data),
				    .socket = arena_dup(call->arena, c->socket),
				    .launcher = find_launcher(call->arena),
				    .out = { find_rota_out(call->arena), &c->out },
				    .rota = find_rota(call->arena),
				    .component_seconds = c->timeout_agent,
				    .secrets = { c->secret, c->secrets },
				    .pass_env = &c->pass_env,
				    .notify = c->has_notify ? &c->notify : NULL,
				    .hooks = &c->hooks,
				    .events = &c->events,
				    .hooks_cwd =
					    settings.path ? directory_of(call->arena, settings.path) : NULL,
				    .documents_first = op_arg(&call->args, "directory")->given,
				    .slots = (unsigned)c->slots,
				    .catch_up_per_second = (unsigned)c->catch_up_per_second,
				    .retention = { c->kept_runs_days, c->kept_events_days, c->kept_logs_days,
						   c->kept_logs, c->kept_every },
				    .defaults = { .when = { .calendars = &calendars } },
				    .ctx = &serving,
				    .zones_changed = zones_changed,
				    .stopping = stopping,
				    .trouble = log_trouble };
	if (!o.data || !o.socket)
		return E_NOMEM;
	if (!o.launcher)
		return why_set(call->why, E_IO, WHY_NOWHERE,
			       "rota-launcher is not installed; install it beside rota, or set ROTA_LAUNCHER "
			       "to its path");
	config_defaults(c, &o.defaults);
	e = stop_signal_open(&stop, call->why);
	if (e)
		return e;
	o.stop_fd = stop_signal_fd(stop);
	e = daemon_open(&o, &daemon, call->why);
	if (e == E_IO || e == E_INPUT) {
		struct why why = *call->why;
		why_write(call->why, WHY_NOWHERE, "%s; `rota doctor` says what to do", why.text);
	}
	if (!e)
		e = api_open(&(struct api_options){ .daemon = daemon, .config = c, .socket = o.socket },
			     &serving.api, call->why);
	if (!e && op_arg(&call->args, "directory")->given)
		e = watch_open(call, op_arg(&call->args, "directory")->text.p, daemon, &watch, call->why);
	if (!e) {
		if (daemon_restore_text(daemon))
			print(stderr, "rota: %s\n", daemon_restore_text(daemon));
		print(call->out, "rota: serving %s on %s\n", o.data, o.socket);
		fflush(call->out);
		e = daemon_run(daemon, call->why);
	}
	/* The API is closed first, because the watcher is one of its clients and may wait for an answer. */
	api_close(serving.api);
	watch_close(watch);
	daemon_close(daemon);
	stop_signal_close(stop);
	return e;
}
