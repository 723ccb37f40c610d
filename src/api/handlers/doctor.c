/* The checks of `rota doctor` that only the daemon can do. */
#include "api/handlers/handlers.h"

#include "api/checks.h"
#include "api/handlers/notify.h"
#include "base/json.h"
#include "core/doc/agent/agent.h"
#include "exec/secret.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_WARN = 64 }; /* descriptors free */

struct looking {
	struct api *api;
	struct api_call *call;
	struct engine_counts counts;
	bool store, runner; /* are well */
	struct why store_why, runner_why;
	bool cgroup;
};

/* Of the daemon's own process. */
static void check_open_files(struct buf *out)
{
	struct rlimit most = { 0 };
	unsigned n = 0;
	DIR *d = opendir("/proc/self/fd");
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	bool few = !d || getrlimit(RLIMIT_NOFILE, &most) || most.rlim_cur < n + FILES_WARN;
	check_add(out, few ? CHECK_WARN : CHECK_OK, "files", few ? check_advice("Too many open files") : NULL,
		  "%u of at most %llu files are open", n, (unsigned long long)most.rlim_cur);
}

/* Their places, by the daemon's user and its credentials; what is in them it does not look at. */
static bool check_secret(const struct config_secret *s, struct arena *a, struct buf *out)
{
	const char *path;
	struct why why = { 0 };
	struct stat st;
	enum err e = secret_path(s, a, &path, &why);
	if (e || !path) {
		if (e)
			check_add(out, CHECK_FAIL, "secrets", "add it to the unit and start rota again", "%s",
				  why.text);
		return !e;
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st)) {
		check_add(out, CHECK_FAIL, "secrets",
			  "put the file there, to be read by rota's user alone; runs that need it fail until "
			  "then",
			  "secret %.*s: %s: %s", STR_SHORT(s->name), path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		check_add(out, CHECK_FAIL, "secrets", "a secret is the content of a plain file",
			  "secret %.*s: %s is no plain file", STR_SHORT(s->name), path);
		st.st_mode = 077;
	} else if (st.st_mode & 077) {
		const char *advice = arena_printf(a, "chmod 600 %s", path);
		check_add(out, CHECK_WARN, "secrets", advice, "secret %.*s: %s can be read by others",
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
static unsigned check_agent_secrets(const struct looking *l, const struct read_agent *agent, struct buf *out)
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
		check_add(out, CHECK_FAIL, "secrets",
			  "say in `secrets:` of rota.yaml where it is, or take it out of the agent; its runs "
			  "fail until "
			  "then",
			  "agent %.*s names the secret %.*s, which is not known", STR_SHORT(agent->name),
			  STR_SHORT(d.secrets.word[i]));
	}
	return unknown;
}

static void check_secrets(const struct looking *l, struct buf *out)
{
	const struct config *c = api_config(l->api);
	struct read_agents agents = { 0 };
	struct why why;
	unsigned well = 0, unknown = 0;
	for (unsigned i = 0; i < c->secrets; i++)
		well += check_secret(&c->secret[i], l->call->arena, out);
	if (read_agents(api_reader(l->api), STR(""), 0, l->call->arena, &agents, &why))
		agents.n = 0; /* the store is looked at elsewhere */
	for (unsigned i = 0; i < agents.n; i++)
		unknown += check_agent_secrets(l, &agents.item[i], out);
	if (c->secrets && well == c->secrets && !unknown)
		check_add(out, CHECK_OK, "secrets", NULL, "%u, where they should be", well);
}

static void check_inside(const struct looking *l, struct buf *out)
{
	check_add(out, l->store ? CHECK_OK : CHECK_FAIL, "store",
		  l->store ? NULL : check_advice(l->store_why.text), "%s",
		  l->store ? "it answers" : l->store_why.text);
	check_add(out, l->runner ? CHECK_OK : CHECK_FAIL, "launcher",
		  l->runner ? NULL : check_advice(l->runner_why.text), "%s",
		  l->runner ? "it runs" : l->runner_why.text);
	check_open_files(out);
	check_add(
		out, l->cgroup ? CHECK_OK : CHECK_WARN, "cgroup",
		l->cgroup
			? NULL
			: "run rota as a unit of systemd with Delegate=yes: runs then end with all of their "
			  "processes at once",
		"%s",
		l->cgroup ? "each run has its own"
			  : "none was delegated; runs are kept track of by their processes");
	check_add(out, l->counts.clock_held ? CHECK_FAIL : CHECK_OK, "clock",
		  l->counts.clock_held ? "if the clock is right, `rota clock` accepts it" : NULL, "%s",
		  l->counts.clock_held ? "it ran far ahead and is not believed: nothing comes due"
				       : "it is believed");
	check_add(out, l->counts.outdated ? CHECK_WARN : CHECK_OK, "rules",
		  l->counts.outdated ? "apply or edit these schedules again" : NULL,
		  l->counts.outdated
			  ? "%u schedules wait: their rules are of another version or other zone files"
			  : "all %u schedules are up to date",
		  l->counts.outdated ? l->counts.outdated : l->counts.schedules);
	const char *missing = notify_missing(l->call, l->api);
	check_add(out, missing ? CHECK_WARN : CHECK_OK, "notify",
		  missing ? "install it: until then nobody is told by it" : NULL,
		  missing ? "%s, by which people are told, is not there"
			  : "all that tells people is there%.0s",
		  missing ? missing : "");
	const char *runs = daemon_runs_dir(api_daemon(l->api)), *slash = strrchr(runs, '/');
	const char *data = arena_dup(l->call->arena, (struct str){ runs, (size_t)(slash - runs) });
	if (!data)
		return;
	check_directory(out, "data", data);
	check_directory(out, "runs", runs);
	check_disk(out, data);
	check_secrets(l, out);
}

static void looked(void *arg)
{
	struct looking *l = arg;
	struct api_call *call = l->call;
	struct buf list = { 0 };
	struct read_problems problems;
	enum err e = read_problems(api_reader(l->api), false, 0, 100, call->arena, &problems, call->why);
	check_inside(l, &list);
	if (e)
		check_add(&list, CHECK_FAIL, "problems", check_advice(call->why->text),
			  "they cannot be read: %s", call->why->text);
	else
		check_add(&list, problems.n ? CHECK_WARN : CHECK_OK, "problems",
			  problems.n ? "`rota` shows them" : NULL, "%u open", problems.n);
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

enum err handle_doctor(struct api_call *call, struct api *api)
{
	struct looking *l = arena_alloc(call->arena, sizeof *l);
	if (!l)
		return E_NOMEM;
	*l = (struct looking){ .api = api, .call = call };
	enum err e = daemon_call(api_daemon(api), look, l);
	call->later = !e;
	return e;
}
