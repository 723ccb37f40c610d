/* backup and restore: work on the store directly. backup may be used while a daemon runs, restore only while
 * no daemon runs. */
#include "admin/verbs.h"

#include "base/json.h"
#include "cli/table.h"
#include "daemon/daemon.h"
#include "runfile/walk.h"
#include "store/open.h"
#include "sys/clock.h"

#include <limits.h>
#include <unistd.h>

/* The backup file of the command line, and the paths of the data directory. */
struct backup_paths {
	const char *file, *data, *runs;
};

static enum err find_paths(struct cli_call *call, struct backup_paths *ret)
{
	struct settings settings;
	const struct arg *file = op_arg(&call->args, "file");
	if (!file->given || !file->text.n)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "%s needs a FILE, for example: %s",
			       call->args.op->name, call->args.op->example);
	enum err e = cli_settings(call, &settings);
	if (e)
		return e;
	ret->file = arena_dup(call->arena, file->text);
	ret->data = arena_dup(call->arena, settings.config.data);
	if (!ret->file || !ret->data)
		return E_NOMEM;
	ret->runs = arena_printf(call->arena, "%s/runs", ret->data);
	return ret->runs ? OK : E_NOMEM;
}

static void write_member(struct buf *out, const char *name, const char *value)
{
	buf_addf(out, "\"%s\":", name);
	json_write_str(out, str_of(value));
}

enum err verb_backup(struct cli_call *call)
{
	struct backup_paths paths;
	uint64_t bytes;
	enum err e = find_paths(call, &paths);
	if (e)
		return e;
	e = daemon_check_data(paths.data, call->why);
	if (!e || e == E_NOTFOUND) /* store_backup names the missing file */
		e = store_backup(paths.data, paths.file, &bytes, call->why);
	if (e)
		return e;
	_cleanup_(buf_free) struct buf out = { 0 };
	buf_addc(&out, '{');
	write_member(&out, "file", paths.file);
	buf_addf(&out, ",\"bytes\":%llu}\n", (unsigned long long)bytes);
	if (call->json) {
		print_json(call->out, buf_str(&out));
	} else {
		print_text(call->out, str_of(paths.file));
		print(call->out, ": %llu bytes, checked\n", (unsigned long long)bytes);
	}
	return out.failed ? E_NOMEM : OK;
}

enum err verb_restore(struct cli_call *call)
{
	struct backup_paths paths;
	char name[PATH_MAX], aside[PATH_MAX];
	uint64_t last_run = 0;
	int lock = -1;
	enum err e = find_paths(call, &paths);
	if (!e && access(paths.file, F_OK) < 0)
		e = why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "%s does not exist", paths.file);
	if (!e)
		e = daemon_lock(paths.data, &lock, call->why);
	if (!e)
		e = runfile_last_run(paths.runs, &last_run, call->why);
	if (!e)
		e = store_restore(paths.data, paths.file, last_run, clock_wall(), aside, sizeof aside,
				  call->why);
	if (lock >= 0)
		close(lock);
	if (e)
		return e;
	store_name(paths.data, name, sizeof name);
	_cleanup_(buf_free) struct buf out = { 0 };
	buf_addc(&out, '{');
	write_member(&out, "database", name);
	if (aside[0]) {
		buf_addc(&out, ',');
		write_member(&out, "before", aside);
	}
	buf_add(&out, STR("}\n"));
	if (call->json) {
		print_json(call->out, buf_str(&out));
		return out.failed ? E_NOMEM : OK;
	}
	print_text(call->out, str_of(name));
	print(call->out,
	      " is restored; runs that came due since the backup will be recorded as missed/restored");
	if (aside[0]) {
		print(call->out, "\nthe old database is ");
		print_text(call->out, str_of(aside));
	}
	print(call->out, "\n");
	return OK;
}
