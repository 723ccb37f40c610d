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

enum { FREE_FDS_WARN = 64 };

/* Values that only the daemon's thread can read. */
struct daemon_checks {
	struct engine_counts counts;
	bool store_ok, runner_ok;
	struct why store_why, runner_why;
	bool cgroup;
};

/* Counts the descriptors of the daemon's process. */
static void check_open_files(struct buf *out)
{
	struct rlimit most = { 0 };
	unsigned n = 0;
	DIR *d = opendir("/proc/self/fd");
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	bool few = !d || getrlimit(RLIMIT_NOFILE, &most) || most.rlim_cur < n + FREE_FDS_WARN;
	check_add(out, few ? CHECK_WARN : CHECK_OK, "files", few ? check_advice("Too many open files") : NULL,
		  "%u of at most %llu files are open", n, (unsigned long long)most.rlim_cur);
}

/* Checks that the daemon can open the file of a secret, and other users cannot. Its content is not read. */
static bool check_secret(const struct config_secret *s, struct arena *a, struct buf *out)
{
	const char *path;
	struct why why = { 0 };
	struct stat st;
	enum err e = secret_path(s, a, &path, &why);
	if (e || !path) {
		if (e)
			check_add(out, CHECK_FAIL, "secrets", "add it to the systemd unit, and restart rota",
				  "%s", why.text);
		return !e;
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st)) {
		check_add(out, CHECK_FAIL, "secrets",
			  "create the file, readable by rota's user only; runs that need it fail until then",
			  "secret %.*s: %s: %s", STR_SHORT(s->name), path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		check_add(out, CHECK_FAIL, "secrets", "a secret must be the content of a regular file",
			  "secret %.*s: %s is not a regular file", STR_SHORT(s->name), path);
		st.st_mode = 077;
	} else if (st.st_mode & 077) {
		const char *advice = arena_printf(a, "chmod 600 %s", path);
		check_add(out, CHECK_WARN, "secrets", advice, "secret %.*s: %s can be read by other users",
			  STR_SHORT(s->name), path);
	}
	bool ok = fd >= 0 && !(st.st_mode & 077);
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool is_known_secret(const struct config *c, struct str name)
{
	for (unsigned i = 0; i < c->secrets; i++)
		if (str_eq(c->secret[i].name, name))
			return true;
	return false;
}

/* Returns the number of secrets that a stored agent names and the configuration does not have. An agent that
 * cannot be read is skipped: its runs report it. */
static unsigned check_agent_secrets(struct api_call *call, struct api *api, const struct read_agent *agent,
				    struct buf *out)
{
	struct arena *a = call->arena;
	struct doc_env env = api_doc_env(call, api);
	struct agent_doc d;
	struct val map;
	struct why why;
	unsigned unknown = 0;
	if (json_read(agent->text, a, &map, &why) || agent_read(agent->text, &map, &env, a, &d, &why))
		return 0;
	for (unsigned i = 0; i < d.secrets.n; i++) {
		if (is_known_secret(api_config(api), d.secrets.word[i]))
			continue;
		unknown++;
		check_add(
			out, CHECK_FAIL, "secrets",
			"define it under `secrets:` in rota.yaml, or remove it from the agent; its runs fail "
			"until then",
			"agent %.*s needs the secret %.*s, which is not defined", STR_SHORT(agent->name),
			STR_SHORT(d.secrets.word[i]));
	}
	return unknown;
}

static void check_secrets(struct api_call *call, struct api *api, struct buf *out)
{
	const struct config *c = api_config(api);
	struct read_agents agents = { 0 };
	struct why why;
	unsigned good = 0, unknown = 0;
	for (unsigned i = 0; i < c->secrets; i++)
		good += check_secret(&c->secret[i], call->arena, out);
	if (read_agents(api_reader(api), STR(""), 0, call->arena, &agents, &why))
		agents.n = 0; /* the store cannot be read; another check reports that */
	for (unsigned i = 0; i < agents.n; i++)
		unknown += check_agent_secrets(call, api, &agents.item[i], out);
	if (c->secrets && good == c->secrets && !unknown)
		check_add(out, CHECK_OK, "secrets", NULL, "%u defined; their files can be read", good);
}

static void check_store_and_runner(const struct daemon_checks *c, struct buf *out)
{
	check_add(out, c->store_ok ? CHECK_OK : CHECK_FAIL, "store",
		  c->store_ok ? NULL : check_advice(c->store_why.text), "%s",
		  c->store_ok ? "it answers" : c->store_why.text);
	check_add(out, c->runner_ok ? CHECK_OK : CHECK_FAIL, "launcher",
		  c->runner_ok ? NULL : check_advice(c->runner_why.text), "%s",
		  c->runner_ok ? "it runs" : c->runner_why.text);
	check_open_files(out);
	check_add(
		out, c->cgroup ? CHECK_OK : CHECK_WARN, "cgroup",
		c->cgroup
			? NULL
			: "run rota as a systemd unit with Delegate=yes: then all processes of a run can be "
			  "ended at once",
		"%s", c->cgroup ? "each run has its own" : "none is delegated; runs are tracked by process");
}

static void check_engine(const struct engine_counts *n, struct buf *out)
{
	check_add(out, n->clock_held ? CHECK_FAIL : CHECK_OK, "clock",
		  n->clock_held ? "if the clock is right, `rota clock` accepts it" : NULL, "%s",
		  n->clock_held ? "it jumped far ahead and is not trusted: nothing comes due"
				: "it is trusted");
	check_add(out, n->outdated ? CHECK_WARN : CHECK_OK, "rules",
		  n->outdated ? "apply or edit these schedules again" : NULL,
		  n->outdated ? "%u schedules do not come due: their rules were compiled by another version "
				"of rota, with other zone files or for another agent"
			      : "all %u schedules are up to date",
		  n->outdated ? n->outdated : n->schedules);
}

static void check_notify(struct api_call *call, struct api *api, struct buf *out)
{
	const char *missing = notify_missing(call, api);
	check_add(out, missing ? CHECK_WARN : CHECK_OK, "notify",
		  missing ? "install it: until then its targets get no messages" : NULL,
		  missing ? "%s is missing; a target of notifications needs it"
			  : "all programs that targets need are installed%.0s",
		  missing ? missing : "");
}

static void check_directories(struct api_call *call, struct api *api, struct buf *out)
{
	const char *runs = daemon_runs_dir(api_daemon(api)), *slash = strrchr(runs, '/');
	const char *data = arena_dup(call->arena, (struct str){ runs, (size_t)(slash - runs) });
	if (!data)
		return;
	check_directory(out, "data", data);
	check_directory(out, "runs", runs);
	check_disk(out, data);
}

static void check_problems(struct api_call *call, struct api *api, struct buf *out)
{
	struct read_problems problems;
	if (read_problems(api_reader(api), false, 0, 100, call->arena, &problems, call->why))
		check_add(out, CHECK_FAIL, "problems", check_advice(call->why->text), "cannot read them: %s",
			  call->why->text);
	else
		check_add(out, problems.n ? CHECK_WARN : CHECK_OK, "problems",
			  problems.n ? "`rota` shows them" : NULL, "%u open", problems.n);
}

static void answer_doctor(struct api_call *call, struct api *api)
{
	const struct daemon_checks *c = call->ctx;
	struct buf list = { 0 };
	check_store_and_runner(c, &list);
	check_engine(&c->counts, &list);
	check_notify(call, api, &list);
	check_directories(call, api, &list);
	check_secrets(call, api, &list);
	check_problems(call, api, &list);
	buf_addf(&call->answer, "{\"checks\":[%s]}", buf_str(&list).p);
	buf_free(&list);
	api_finish(call, OK);
}

/* Runs on the daemon's thread. */
static void read_daemon_checks(struct daemon *d, void *ctx)
{
	struct daemon_checks *c = ctx;
	c->counts = engine_counts(daemon_engine(d));
	c->cgroup = daemon_has_cgroup(d);
	c->store_ok = daemon_store_trouble(d, &c->store_why) == OK;
	c->runner_ok = daemon_runner_trouble(d, &c->runner_why) == OK;
}

enum err handle_doctor(struct api_call *call, struct api *api)
{
	call->ctx = arena_alloc(call->arena, sizeof(struct daemon_checks));
	return call->ctx ? api_ask_daemon(call, api, read_daemon_checks, answer_doctor) : E_NOMEM;
}
