#include "surface/op_doctor.h"

#include "host/rundir.h"
#include "surface/api.h"
#include "surface/op_config.h"
#include "surface/op_serve.h"
#include "surface/remote.h"
#include "surface/table.h"
#include "surface/tell.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum state { FINE, WARN, FAIL };
static const char *const state_words[] = { [FINE] = "ok", [WARN] = "warn", [FAIL] = "fail" };

enum { ROOM_WARN = 512 << 20, ROOM_FAIL = 32 << 20 }; /* bytes free */

/* One line: how it is, and what to do if it is not well (NULL: nothing). Items of a JSON list. */
printf_like(5, 6) static void found(struct buf *out, enum state state, const char *what, const char *advice,
				    const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	buf_addf(out, "%s{\"check\":\"%s\",\"state\":\"%s\"", out->n ? "," : "", what, state_words[state]);
	tell_str(out, "text", str_of(text));
	tell_str(out, "advice", advice ? str_of(advice) : (struct str){ 0 });
	buf_addc(out, '}');
}

/* --- from inside the daemon
 * ------------------------------------------------------------------------------------- */

struct looking {
	struct api *api;
	struct op_call *call;
	struct engine_counts counts;
	const char *trouble;
	struct why why;
	bool cgroup;
};

static void look_at_disk(struct buf *out, const char *path)
{
	struct statvfs fs;
	if (statvfs(path, &fs)) {
		found(out, FAIL, "disk", "see to the data directory", "%s cannot be looked at: %s", path,
		      strerror(errno));
		return;
	}
	uint64_t room = (uint64_t)fs.f_bavail * fs.f_frsize;
	enum state state = room < ROOM_FAIL ? FAIL : room < ROOM_WARN ? WARN : FINE;
	found(out, state, "disk",
	      state ? "make room: without it nothing can be recorded, and nothing runs" : NULL,
	      "%llu MiB free for %s", (unsigned long long)(room >> 20), path);
}

static void look_at_data(struct buf *out, const char *data)
{
	struct stat st;
	if (stat(data, &st)) {
		found(out, errno == ENOENT ? WARN : FAIL, "data",
		      errno == ENOENT ? "`rota serve` makes it" : "see to its permissions", "%s: %s", data,
		      strerror(errno));
		return;
	}
	if (!S_ISDIR(st.st_mode) || access(data, R_OK | W_OK | X_OK))
		found(out, FAIL, "data", "give another with --data, or mend its permissions", "%s: %s", data,
		      S_ISDIR(st.st_mode) ? strerror(errno) : "not a directory");
	else if (st.st_mode & 077)
		found(out, WARN, "data", "chmod 700 keeps others out of documents and logs",
		      "%s can be looked into by others", data);
	else
		found(out, FINE, "data", NULL, "%s", data);
}

static void look_inside(const struct looking *l, struct buf *out)
{
	bool store = l->trouble && !strcmp(l->trouble, "store"), runner = l->trouble && !store;
	found(out, store ? FAIL : FINE, "store",
	      store ? "see to the disk of the data directory; rota goes on by itself when it works" : NULL,
	      "%s", store ? l->why.text : "it answers");
	found(out, runner ? FAIL : FINE, "launcher",
	      runner ? "see to what it says; rota tries again by itself" : NULL, "%s",
	      runner ? l->why.text : "it runs");
	found(out, l->cgroup ? FINE : WARN, "cgroup",
	      l->cgroup ? NULL
			: "run rota as a unit of systemd with Delegate=yes: runs then end with all of their "
			  "processes at once",
	      "%s",
	      l->cgroup ? "each run has its own"
			: "none was delegated; runs are kept track of by their processes");
	found(out, l->counts.clock_held ? FAIL : FINE, "clock",
	      l->counts.clock_held ? "if the clock is right, `rota clock` accepts it" : NULL, "%s",
	      l->counts.clock_held ? "it ran far ahead and is not believed: nothing comes due"
				   : "it is believed");
	found(out, l->counts.outdated ? WARN : FINE, "rules",
	      l->counts.outdated ? "apply or edit these schedules again" : NULL,
	      l->counts.outdated ? "%u schedules wait: their rules are of another version or other zone files"
				 : "all %u schedules are up to date",
	      l->counts.outdated ? l->counts.outdated : l->counts.schedules);
	const char *runs = daemon_runs(api_daemon(l->api)), *slash = strrchr(runs, '/');
	const char *data = arena_dup(l->call->arena, (struct str){ runs, (size_t)(slash - runs) });
	if (data) {
		look_at_data(out, data);
		look_at_disk(out, data);
	}
}

static void looked(void *arg)
{
	struct looking *l = arg;
	struct op_call *call = l->call;
	struct buf list = { 0 };
	struct read_problems problems;
	enum err e = read_problems(api_reader(l->api), false, 0, 100, call->arena, &problems, call->why);
	look_inside(l, &list);
	if (!e)
		found(&list, problems.n ? WARN : FINE, "problems", problems.n ? "`rota` shows them" : NULL,
		      "%u open", problems.n);
	buf_addf(&call->answer, "{\"checks\":[%s]}", buf_str(&list).p);
	buf_free(&list);
	api_finish(call, e);
}

/* On the daemon's thread. */
static void look(void *arg)
{
	struct looking *l = arg;
	struct daemon *d = api_daemon(l->api);
	const char *which;
	l->counts = engine_counts(daemon_engine(d));
	l->cgroup = daemon_has_cgroup(d);
	if (daemon_trouble(d, &which, NULL, &l->why))
		l->trouble = which;
	api_answer(l->api, looked, l);
}

enum err handle_doctor(struct op_call *call, struct api *api)
{
	struct looking *l = arena_alloc(call->arena, sizeof *l);
	if (!l)
		return E_NOMEM;
	*l = (struct looking){ .api = api, .call = call };
	enum err e = daemon_call(api_daemon(api), look, l);
	call->later = !e;
	return e;
}

/* --- from here
 * -------------------------------------------------------------------------------------------------- */

static void look_at_zones(struct op_call *call, struct buf *out)
{
	const struct zone_source *s = zoneinfo_source(call->zones);
	struct str local = zoneinfo_local(call->zones);
	unsigned n = 0;
	while (s->name(s->self, n).n)
		n++;
	if (n < 10)
		found(out, FAIL, "zones", "install tzdata, or point TZDIR at the zone files",
		      "only %u zones are known", n);
	else if (!s->find(s->self, local))
		found(out, WARN, "zones", "set the machine's zone, or timezone in rota.yaml",
		      "this machine's zone %.*s is not known", STR_ARG(local));
	else
		found(out, FINE, "zones", NULL, "%u zones, this machine's is %.*s", n, STR_ARG(local));
}

/* What can be seen without a daemon. The data directory is the daemon's own matter, if there is one. */
static enum err look_here(struct op_call *call, struct buf *out, const char **data)
{
	struct settings s;
	enum err e = op_settings(call, &s);
	if (e)
		return e;
	found(out, FINE, "configuration", NULL, "%s", s.path ? s.path : "no file: defaults");
	const char *launcher = op_launcher(call);
	*data = arena_dup(call->arena, s.config.data);
	if (!*data)
		return E_NOMEM;
	look_at_zones(call, out);
	if (!launcher)
		found(out, FAIL, "program", "install rota-launcher beside rota, or name it in ROTA_LAUNCHER",
		      "rota-launcher is not there");
	else
		found(out, FINE, "program", NULL, "%s", launcher);
	return OK;
}

static void show_checks(struct op_call *call, const struct val *list)
{
	for (unsigned i = 0; i < list->list.n; i++) {
		const struct val *c = &list->list.item[i];
		const char *advice = val_text(call->arena, c, "advice");
		fprintf(call->out, "%-5s %-14s ", val_text(call->arena, c, "state"),
			val_text(call->arena, c, "check"));
		print_safe(call->out, str_of(val_text(call->arena, c, "text")));
		if (advice) {
			fputs("; ", call->out);
			print_safe(call->out, str_of(advice));
		}
		fputc('\n', call->out);
	}
}

enum err op_doctor(struct op_call *call)
{
	_cleanup_(buf_free) struct buf list = { 0 }, whole = { 0 };
	struct str text;
	struct val v;
	unsigned bad = 0;
	const char *data, *socket = "";
	enum err e = look_here(call, &list, &data);
	if (!e)
		e = remote_socket(call, &socket);
	if (e)
		return e;
	e = remote_ask(call, (struct str){ 0 }, &text, &v);
	if (e) {
		found(&list, FAIL, "daemon", NULL, "%s", call->why->text); /* it says what to do */
		look_at_data(&list, data);
	} else {
		const struct val *inside = val_get(&v, STR("checks"));
		found(&list, FINE, "daemon", NULL, "it answers at %s", socket);
		for (unsigned i = 0; inside && i < inside->list.n; i++) {
			buf_addc(&list, ',');
			json_write(&list, &inside->list.item[i]);
		}
	}
	buf_addf(&whole, "[%s]", buf_str(&list).p);
	e = whole.failed || list.failed ? E_NOMEM : json_read(buf_str(&whole), call->arena, &v, call->why);
	if (e)
		return e;
	for (unsigned i = 0; i < v.list.n; i++)
		bad += !strcmp(val_text(call->arena, &v.list.item[i], "state"), state_words[FAIL]);
	if (call->json)
		fprintf(call->out, "{\"ok\":%s,\"checks\":%s}\n", bad ? "false" : "true", buf_str(&whole).p);
	else
		show_checks(call, &v);
	return bad ? why_set(call->why, E_CONFLICT, WHY_NOWHERE, "%u of %u checks failed", bad, v.list.n)
		   : OK;
}
