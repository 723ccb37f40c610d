/* The plan in a work tree. */
#include "cli/git/work_tree.h"

#include "cli/plan_file.h"
#include "host/docfile.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The file of a path of the repository in a work tree. E_INPUT: it is another file, because of a link or of
 * `..`, and may be outside of the work tree. */
static enum err find_file(struct cli_call *call, const char *root, const char *path, const char **ret)
{
	char top[PATH_MAX], real[PATH_MAX];
	const char *file = arena_printf(call->arena, "%s/%s", root, path);
	if (!file)
		return E_NOMEM;
	if (!realpath(root, top) || !realpath(file, real))
		return why_set(call->why, errno == ENOENT ? E_NOTFOUND : E_IO, WHY_NOWHERE,
			       "cannot read %.150s: %s", file, strerror(errno));
	size_t n = strlen(top);
	n -= n == 1; /* the root directory ends with its slash */
	if (strncmp(real, top, n) != 0 || real[n] != '/' || strcmp(real + n + 1, path) != 0)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "%.150s leads to another file: %.150s", file,
			       real);
	*ret = file;
	return OK;
}

enum err work_file_prepare(struct cli_call *call, const struct repository *r, const char *root,
			   const struct plan_change *change, struct work_file *ret)
{
	struct work_file w = { .root = root };
	struct org o;
	bool nothing = false;
	_cleanup_(buf_free) struct buf out = { 0 };
	enum err e = find_file(call, root, r->path, &w.file);
	if (!e)
		e = docfile_text(w.file, call->arena, &w.before, call->why);
	if (!e)
		e = org_read(w.before, call->arena, &o, call->why);
	if (!e)
		e = change->apply(change->self, &o, call->arena, &out, &nothing, call->why);
	if (e)
		return e;
	if (!nothing) {
		w.after = (struct str){ arena_dup(call->arena, buf_str(&out)), out.n };
		if (!w.after.p)
			return E_NOMEM;
	}
	*ret = w;
	return OK;
}

enum err work_file_write(struct cli_call *call, const struct work_file *w, bool *moved)
{
	struct str now;
	*moved = true;
	if (!w->after.p)
		return OK;
	enum err e = docfile_text(w->file, call->arena, &now, call->why);
	if (e)
		return e;
	*moved = str_eq(now, w->before);
	return *moved ? plan_file_write(call, w->file, w->after) : OK;
}

/* The index may be locked by another git for a moment. */
enum err work_file_stage(const struct repository *r, const char *root, const struct git_blob *old,
			 const char *blob)
{
	struct git g = r->git;
	struct git_blob staged;
	struct git_answer answer = { .code = 1 };
	g.dir = root;
	enum err e = repository_staged(r, root, &staged);
	if (e || !staged.id || strcmp(staged.id, old->id) != 0)
		return e;
	const char *entry = arena_printf(g.arena, "%s,%s,%s", staged.mode, blob, r->path);
	if (!entry)
		return E_NOMEM;
	for (unsigned i = 0; i < INDEX_TRIES_MAX && answer.code && !e; i++) {
		if (i)
			nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
		e = git_run(&g, GIT_ARGS("update-index", "--cacheinfo", entry), STR(""), &answer);
	}
	return e;
}

/* --- the main work tree --- */

/* The journal of a publication: the commits before and after, the blobs before and after, and the file's new
 * text. It exists from before the branch moves until the file has been changed. */
struct journal {
	const char *path, *text; /* names of its two files */
};

static enum err journal_paths(const struct repository *r, struct journal *ret)
{
	ret->path = arena_printf(r->git.arena, "%s/rota-claim.journal", r->common);
	ret->text = arena_printf(r->git.arena, "%s/rota-claim.text", r->common);
	return ret->path && ret->text ? OK : E_NOMEM;
}

/* Whatever is at that path is replaced: a repository that was unpacked may have a link or a pipe there. */
static enum err write_new(struct cli_call *call, const char *path, struct str text)
{
	unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	int error = fd < 0 ? errno : write_all(fd, text.p, text.n);
	if (!error && fsync(fd) != 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	return error ? why_set(call->why, E_IO, WHY_NOWHERE, "cannot write %.150s: %s", path, strerror(error))
		     : OK;
}

static void journal_remove(const struct journal *j)
{
	unlink(j->path);
	unlink(j->text);
}

/* Finishes a publication that was interrupted: if its branch has moved, changes the file, too. */
static enum err recover(struct cli_call *call, struct repository *r)
{
	struct journal j;
	struct str line, text, before, word[6];
	enum err e = journal_paths(r, &j);
	if (e || access(j.path, F_OK) < 0)
		return e;
	e = docfile_text(j.path, call->arena, &line, call->why);
	for (unsigned i = 0; i < ARRAY_LEN(word) && !e; i++)
		word[i] = str_token(&line);
	const char *main_file = NULL;
	/* The words: old commit, new commit, old blob, new blob, number of bytes of the file before, path. */
	if (!e && word[5].n && r->main) {
		word[5].n = (size_t)(line.p + line.n - word[5].p);
		struct repository other = *r;
		other.path = arena_dup(call->arena, str_trim(word[5]));
		struct git_blob old = { .id = arena_dup(call->arena, word[2]) };
		const char *blob = arena_dup(call->arena, word[3]);
		e = other.path && old.id && blob ? repository_refresh(r) : E_NOMEM;
		bool found = !e && find_file(call, r->main, other.path, &main_file) == OK;
		uint64_t bytes = 0;
		bool pending = found && str_eq(str_of(r->tip), word[1]) &&
			       str_number(word[4], UINT32_MAX, &bytes) &&
			       docfile_text(j.text, call->arena, &text, call->why) == OK && text.n >= bytes &&
			       docfile_text(main_file, call->arena, &before, call->why) == OK;
		/* The journal's text file contains the plan before and after the change. */
		if (pending && str_eq(before, str_sub(text, 0, bytes)))
			e = plan_file_write(call, main_file, str_from(text, bytes));
		if (!e && pending)
			e = work_file_stage(&other, r->main, &old, blob);
	}
	if (!e)
		journal_remove(&j);
	return e;
}

enum err main_tree_lock(struct cli_call *call, struct repository *r, int *lock)
{
	const char *path = arena_printf(call->arena, "%s/rota-claim.lock", r->common);
	if (!path)
		return E_NOMEM;
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	if (fd < 0)
		return why_set(call->why, E_IO, WHY_NOWHERE, "cannot open %.150s: %s", path, strerror(errno));
	for (unsigned i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
		if (i == LOCK_TRIES_MAX) {
			close(fd);
			return why_set(call->why, E_BUSY, WHY_NOWHERE,
				       "another claim has locked %.150s; try again", path);
		}
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	enum err e = recover(call, r);
	if (e)
		close(fd);
	else
		*lock = fd;
	return e;
}

static enum err begin_journal(struct cli_call *call, const struct repository *r, const struct journal *j,
			      const struct work_file *w, const struct git_blob *old, const char *commit,
			      const char *blob)
{
	_cleanup_(buf_free) struct buf both = { 0 };
	buf_add(&both, w->before);
	buf_add(&both, w->after.p ? w->after : w->before);
	const char *line = arena_printf(call->arena, "%s %s %s %s %zu %s\n", r->tip, commit, old->id, blob,
					w->before.n, r->path);
	if (both.failed || !line)
		return E_NOMEM;
	enum err e = write_new(call, j->text, buf_str(&both));
	return e ? e : write_new(call, j->path, str_of(line));
}

enum err main_tree_publish(struct cli_call *call, struct repository *r, const struct plan_change *change,
			   const struct git_blob *old, const char *commit, const char *blob, bool *moved)
{
	struct git_blob staged;
	struct work_file w;
	struct journal j;
	bool written;
	enum err e = repository_staged(r, r->main, &staged);
	if (!e && (!staged.id || strcmp(staged.id, old->id) != 0))
		return why_set(call->why, E_BUSY, WHY_NOWHERE,
			       "the main work tree %.100s has staged changes of the plan; commit them",
			       r->main);
	if (!e && work_file_prepare(call, r, r->main, change, &w))
		return why_set(call->why, E_BUSY, WHY_NOWHERE,
			       "this task is different in the plan of the main work tree %.100s; commit or "
			       "undo the changes there",
			       r->main);
	if (!e)
		e = journal_paths(r, &j);
	if (!e)
		e = begin_journal(call, r, &j, &w, old, commit, blob);
	if (!e)
		e = repository_publish(r, commit, moved);
	if (!e && *moved)
		e = work_file_write(call, &w, &written);
	if (!e && *moved)
		e = work_file_stage(r, r->main, old, blob);
	if (!e)
		journal_remove(&j);
	return e;
}
