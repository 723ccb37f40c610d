/* Writes the request to apply documents, and reads its answer. */
#include "cli/apply_request.h"

#include "base/json.h"
#include "cli/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Writes the absolute path of a file or directory, because the daemon has another working directory. For a
 * file, only the path of its directory is resolved, because the file may be removed, or may be a link whose
 * target changes. */
static enum err add_absolute(struct cli_call *call, const char *path, struct buf *out)
{
	struct stat st;
	bool is_dir = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	const char *slash = is_dir ? NULL : strrchr(path, '/');
	const char *dir =
		is_dir   ? path
		: !slash ? "."
			 : arena_printf(call->arena, "%.*s", slash > path ? (int)(slash - path) : 1, path);
	char *real = dir ? realpath(dir, NULL) : NULL;
	if (!real)
		return why_set(call->why, E_IO, WHY_NOWHERE, "cannot find %.150s: %s", path, strerror(errno));
	const char *text = arena_printf(call->arena, "%s/%s", strcmp(real, "/") ? real : "",
					is_dir  ? ""
					: slash ? slash + 1
						: path);
	free(real);
	json_write_str(out, str_of(text ? text : ""));
	return text ? OK : E_NOMEM;
}

static enum err add_file(struct cli_call *call, const char *path, bool absolute, struct buf *out)
{
	if (!absolute)
		return add_absolute(call, path, out);
	json_write_str(out, str_of(path));
	return OK;
}

/* The i-th document: first come all schedules, then all agents. */
static const struct document *item_at(const struct documents *d, unsigned i)
{
	return i < d->schedules.n ? &d->schedules.item[i] : &d->agents.item[i - d->schedules.n];
}

enum err apply_body(struct cli_call *call, const struct documents *docs, bool dry_run, bool absolute,
		    const char *const *prune, unsigned n, const char *gone, struct buf *out)
{
	unsigned all = docs->schedules.n + docs->agents.n;
	enum err e = OK;
	buf_addf(out, "{\"dry_run\":%s,\"files\":[", dry_run ? "true" : "false");
	for (unsigned i = 0; i < all && !e; i++) {
		if (i && item_at(docs, i)->file == item_at(docs, i - 1)->file)
			continue;
		buf_add(out, i ? STR(",") : STR(""));
		e = add_file(call, item_at(docs, i)->file, absolute, out);
	}
	buf_add(out, STR("],\"places\":["));
	for (unsigned i = 0, file = 0; i < all; i++) {
		file += i && item_at(docs, i)->file != item_at(docs, i - 1)->file;
		buf_addf(out, "%s[%u,%u]", i ? "," : "", file, item_at(docs, i)->line);
	}
	buf_add(out, STR("],\"prune\":["));
	for (unsigned i = 0; i < n && !e; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		e = add_file(call, prune[i], absolute, out);
	}
	if (gone && !e) {
		buf_add(out, STR("],\"gone\":["));
		e = add_absolute(call, gone, out);
	}
	buf_add(out, STR("],\"documents\":["));
	for (unsigned i = 0; i < all; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		buf_add(out, item_at(docs, i)->text);
	}
	buf_add(out, STR("]}"));
	return e ? e : out->failed ? E_NOMEM : OK;
}

enum err apply_error(struct cli_call *call, const struct val *answer)
{
	const struct val *error = val_get(answer, STR("error"));
	const char *code = error ? val_text(call->arena, error, "code") : NULL;
	return code ? why_set(call->why, err_named(str_of(code)), WHY_NOWHERE,
			      "not everything was applied: %.200s", val_text(call->arena, error, "detail"))
		    : OK;
}
