#include "api/handlers/doctor.h"

#include "admin/serve.h"
#include "api/api.h"
#include "api/handlers/notify.h"
#include "api/json_out.h"
#include "base/json.h"
#include "cli/config.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "core/doc/agent/agent.h"
#include "exec/rundir.h"
#include "exec/secret.h"
#include "store/sqlite/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum state { FINE, WARN, FAIL };
static const char *const state_words[] = { [FINE] = "ok", [WARN] = "warn", [FAIL] = "fail" };

enum { ROOM_WARN = 512 << 20, ROOM_FAIL = 32 << 20 }; /* bytes free */
enum { FILES_WARN = 64 };                             /* descriptors free */

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
	json_add_str(out, "text", str_of(text));
	json_add_str(out, "advice", advice ? str_of(advice) : (struct str){ 0 });
	buf_addc(out, '}');
}

/* --- what to do --- */

/* By a word of what the machine, or SQLite, said of it. The first that fits. */
static const struct {
	const char *word, *advice;
} remedies[] = {
	{ "malformed",
	  "it is damaged, and nothing more is written to it: stop rota, put the data directory aside, "
	  "and bring back a backup (`rota restore`)" },
	{ "not a database",
	  "something has overwritten it: put it aside, and bring back a backup (`rota restore`)" },
	{ "newer rota",
	  "install that version again, or bring back a backup made before it (`rota restore`)" },
	{ "another program", "choose another directory with --data" },
	{ "full", "make room on its disk; rota goes on by itself" },
	{ "No space", "make room on its disk; rota goes on by itself" },
	{ "quota", "raise the quota, or make room; rota goes on by itself" },
	{ "ead-only",
	  "its disk is read-only: look in the kernel's log why, and mount it to be written; rota goes on "
	  "by itself" },
	{ "readonly",
	  "its disk is read-only: look in the kernel's log why, and mount it to be written; rota goes on "
	  "by itself" },
	{ "I/O error",
	  "the disk fails: look in the kernel's log, and copy the data directory to another while it can "
	  "be read; rota tries again by itself" },
	{ "Input/output",
	  "the disk fails: look in the kernel's log, and copy the data directory to another while it "
	  "can be read; rota tries again by itself" },
	{ "locked", "another program holds it: end that one (`fuser` names it); rota goes on by itself" },
	{ "ermission", "give the directory back to the user rota runs as, and the right to write to it" },
	{ "Too many open files",
	  "raise LimitNOFILE= of the service (`ulimit -n`); rota tries again by itself" },
	{ "Resource temporarily",
	  "there are too many processes: raise TasksMax= or LimitNPROC= of the service "
	  "(`ulimit -u`), or lower `slots`; rota tries again by itself" },
	{ "emory",
	  "there is too little memory: lower `slots`, or give the machine or the service more; rota tries "
	  "again by itself" },
	{ "Not a directory",
	  "something else is where the directory should be: move it away; rota tries again by "
	  "itself" },
	{ "No such file", "put it back; rota tries again by itself" },
};

static const char *remedy(const char *text)
{
	for (unsigned i = 0; i < ARRAY_LEN(remedies); i++)
		if (strstr(text, remedies[i].word))
			return remedies[i].advice;
	return "see to what it says; rota tries again by itself";
}

/* --- from inside the daemon --- */

struct looking {
	struct api *api;
	struct op_call *call;
	struct engine_counts counts;
	bool store, runner; /* are well */
	struct why store_why, runner_why;
	bool cgroup;
};

static void look_at_disk(struct buf *out, const char *path)
{
	struct statvfs fs;
	if (statvfs(path, &fs)) {
		found(out, FAIL, "disk", remedy(strerror(errno)), "%s cannot be looked at: %s", path,
		      strerror(errno));
		return;
	}
	uint64_t room = (uint64_t)fs.f_bavail * fs.f_frsize;
	enum state state = room < ROOM_FAIL ? FAIL : room < ROOM_WARN ? WARN : FINE;
	if (fs.f_flag & ST_RDONLY)
		found(out, FAIL, "disk", remedy("Read-only"), "%s is on a read-only file system", path);
	else
		found(out, state, "disk",
		      state ? "make room: without it nothing can be recorded, and nothing runs" : NULL,
		      "%llu MiB free for %s", (unsigned long long)(room >> 20), path);
}

static void look_at_directory(struct buf *out, const char *what, const char *path)
{
	struct stat st;
	if (stat(path, &st))
		found(out, errno == ENOENT ? WARN : FAIL, what,
		      errno == ENOENT ? "`rota serve` makes it" : remedy(strerror(errno)), "%s: %s", path,
		      strerror(errno));
	else if (!S_ISDIR(st.st_mode))
		found(out, FAIL, what, "give another with --data, or move it away", "%s: not a directory",
		      path);
	else if (access(path, R_OK | W_OK | X_OK))
		found(out, FAIL, what, remedy(strerror(errno)), "%s: %s", path, strerror(errno));
	else if (st.st_mode & 077)
		found(out, WARN, what, "chmod 700 keeps others out of documents and logs",
		      "%s can be looked into by others", path);
	else
		found(out, FINE, what, NULL, "%s", path);
}

/* Of the daemon's own process. */
static void look_at_files(struct buf *out)
{
	struct rlimit most = { 0 };
	unsigned n = 0;
	DIR *d = opendir("/proc/self/fd");
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	bool few = !d || getrlimit(RLIMIT_NOFILE, &most) || most.rlim_cur < n + FILES_WARN;
	found(out, few ? WARN : FINE, "files", few ? remedy("Too many open files") : NULL,
	      "%u of at most %llu files are open", n, (unsigned long long)most.rlim_cur);
}

/* Their places, by the daemon's user and its credentials; what is in them it does not look at. */
static bool look_at_secret(const struct config_secret *s, struct arena *a, struct buf *out)
{
	const char *path;
	struct why why = { 0 };
	struct stat st;
	enum err e = secret_path(s, a, &path, &why);
	if (e || !path) {
		if (e)
			found(out, FAIL, "secrets", "add it to the unit and start rota again", "%s",
			      why.text);
		return !e;
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st)) {
		found(out, FAIL, "secrets",
		      "put the file there, to be read by rota's user alone; runs that need it fail until "
		      "then",
		      "secret %.*s: %s: %s", STR_SHORT(s->name), path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		found(out, FAIL, "secrets", "a secret is the content of a plain file",
		      "secret %.*s: %s is no plain file", STR_SHORT(s->name), path);
		st.st_mode = 077;
	} else if (st.st_mode & 077) {
		const char *advice = arena_printf(a, "chmod 600 %s", path);
		found(out, WARN, "secrets", advice, "secret %.*s: %s can be read by others",
		      STR_SHORT(s->name), path);
	}
	bool well = fd >= 0 && !(st.st_mode & 077);
	if (fd >= 0)
		close(fd);
	return well;
}

static bool is_secret(const struct config *c, struct str name)
{
	for (unsigned i = 0; i < c->secrets; i++)
		if (str_eq(c->secret[i].name, name))
			return true;
	return false;
}

/* Of an agent as it is stored. One that is not understood any more is told of where its runs are. */
static unsigned look_for_unknown(const struct looking *l, const struct read_agent *agent, struct buf *out)
{
	struct arena *a = l->call->arena;
	struct doc_env env = api_doc_env(l->call, l->api);
	struct agent_doc d;
	struct val map;
	struct why why;
	unsigned unknown = 0;
	if (json_read(agent->text, a, &map, &why) || agent_read(agent->text, &map, &env, a, &d, &why))
		return 0;
	for (unsigned i = 0; i < d.secrets.n; i++) {
		if (is_secret(api_config(l->api), d.secrets.word[i]))
			continue;
		unknown++;
		found(out, FAIL, "secrets",
		      "say in `secrets:` of rota.yaml where it is, or take it out of the agent; its runs "
		      "fail until "
		      "then",
		      "agent %.*s names the secret %.*s, which is not known", STR_SHORT(agent->name),
		      STR_SHORT(d.secrets.word[i]));
	}
	return unknown;
}

static void look_at_secrets(const struct looking *l, struct buf *out)
{
	const struct config *c = api_config(l->api);
	struct read_agents agents = { 0 };
	struct why why;
	unsigned well = 0, unknown = 0;
	for (unsigned i = 0; i < c->secrets; i++)
		well += look_at_secret(&c->secret[i], l->call->arena, out);
	if (read_agents(api_reader(l->api), STR(""), 0, l->call->arena, &agents, &why))
		agents.n = 0; /* the store is looked at elsewhere */
	for (unsigned i = 0; i < agents.n; i++)
		unknown += look_for_unknown(l, &agents.item[i], out);
	if (c->secrets && well == c->secrets && !unknown)
		found(out, FINE, "secrets", NULL, "%u, where they should be", well);
}

static void look_inside(const struct looking *l, struct buf *out)
{
	found(out, l->store ? FINE : FAIL, "store", l->store ? NULL : remedy(l->store_why.text), "%s",
	      l->store ? "it answers" : l->store_why.text);
	found(out, l->runner ? FINE : FAIL, "launcher", l->runner ? NULL : remedy(l->runner_why.text), "%s",
	      l->runner ? "it runs" : l->runner_why.text);
	look_at_files(out);
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
	const char *missing = notify_missing(l->call, l->api);
	found(out, missing ? WARN : FINE, "notify",
	      missing ? "install it: until then nobody is told by it" : NULL,
	      missing ? "%s, by which people are told, is not there" : "all that tells people is there%.0s",
	      missing ? missing : "");
	const char *runs = daemon_runs(api_daemon(l->api)), *slash = strrchr(runs, '/');
	const char *data = arena_dup(l->call->arena, (struct str){ runs, (size_t)(slash - runs) });
	if (!data)
		return;
	look_at_directory(out, "data", data);
	look_at_directory(out, "runs", runs);
	look_at_disk(out, data);
	look_at_secrets(l, out);
}

static void looked(void *arg)
{
	struct looking *l = arg;
	struct op_call *call = l->call;
	struct buf list = { 0 };
	struct read_problems problems;
	enum err e = read_problems(api_reader(l->api), false, 0, 100, call->arena, &problems, call->why);
	look_inside(l, &list);
	if (e)
		found(&list, FAIL, "problems", remedy(call->why->text), "they cannot be read: %s",
		      call->why->text);
	else
		found(&list, problems.n ? WARN : FINE, "problems", problems.n ? "`rota` shows them" : NULL,
		      "%u open", problems.n);
	buf_addf(&call->answer, "{\"checks\":[%s]}", buf_str(&list).p);
	buf_free(&list);
	api_finish(call, OK);
}

/* On the daemon's thread. */
static void look(void *arg)
{
	struct looking *l = arg;
	struct daemon *d = api_daemon(l->api);
	l->counts = engine_counts(daemon_engine(d));
	l->cgroup = daemon_has_cgroup(d);
	l->store = daemon_store_trouble(d, &l->store_why) == OK;
	l->runner = daemon_runner_trouble(d, &l->runner_why) == OK;
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

/* --- from here --- */

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

/* Nobody serves it: why not may be found there. */
static void look_at_store(struct op_call *call, struct buf *out, const char *data)
{
	struct why why;
	const char *path = arena_printf(call->arena, "%s/rota.db", data);
	enum err e = path ? store_sqlite_check(path, &why) : E_NOMEM;
	if (e == E_NOTFOUND)
		found(out, FINE, "store", NULL, "%s is yet to be made", path);
	else if (e)
		found(out, FAIL, "store", path ? remedy(why.text) : NULL, "%s",
		      path ? why.text : "out of memory");
	else
		found(out, FINE, "store", NULL, "%s is sound", path);
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
		look_at_directory(&list, "data", data);
		look_at_disk(&list, data);
		look_at_store(call, &list, data);
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
