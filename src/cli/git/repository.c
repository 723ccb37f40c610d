/* Questions to git about a plan, and commits that change it. */
#include "cli/git/repository.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- finding it --- */

/* The directory of the file, and its name. A plan that is a symbolic link is the file it leads to. */
static enum err split_path(const char *file, struct arena *a, const char **dir, const char **name,
			   struct why *why)
{
	char real[PATH_MAX];
	if (!realpath(file, real))
		return why_set(why, errno == ENOENT ? E_NOTFOUND : E_IO, WHY_NOWHERE,
			       "cannot read %.150s: %s", file, strerror(errno));
	struct stat file_stat;
	if (stat(real, &file_stat) == 0 && S_ISDIR(file_stat.st_mode))
		return why_set(why, E_INPUT, WHY_NOWHERE, "cannot read %.150s: %s", file, strerror(EISDIR));
	if (strchr(real, '\n')) /* git prints paths as lines */
		return why_set(why, E_INPUT, WHY_NOWHERE,
			       "%.150s: claims are not possible in a file whose path contains a newline",
			       real);
	char *copy = arena_dup(a, str_of(real));
	if (!copy)
		return E_NOMEM;
	char *slash = strrchr(copy, '/');
	*slash = '\0';
	*name = slash + 1;
	*dir = slash == copy ? "/" : copy;
	return OK;
}

static enum err find_root(struct repository *r, const char *name, const char *file)
{
	const struct git *g = &r->git;
	struct git_answer answer;
	struct str root, common, prefix;
	enum err e = git_run(g,
			     GIT_ARGS("rev-parse", "--path-format=absolute", "--show-toplevel",
				      "--git-common-dir", "--show-prefix"),
			     STR(""), &answer);
	if (e)
		return e;
	if (answer.code || !str_line(&answer.out, &root) || !str_line(&answer.out, &common) ||
	    !str_line(&answer.out, &prefix))
		return why_set(g->why, E_INPUT, WHY_NOWHERE,
			       "%.80s is not in a work tree of git, where claims are made: %.100s", file,
			       answer.error);
	r->root = arena_dup(g->arena, root);
	r->common = arena_dup(g->arena, common);
	r->path = arena_printf(g->arena, "%.*s%s", STR_ARG(prefix), name);
	r->file = arena_printf(g->arena, "%.*s/%s", STR_ARG(root), r->path ? r->path : "");
	return r->root && r->common && r->path && r->file ? OK : E_NOMEM;
}

/* The configuration or the origin may name anything, an option of git included. */
static bool is_branch(const char *ref)
{
	return str_starts(str_of(ref), STR("refs/heads/"));
}

/* The commit at a branch of the origin; empty: there is no such branch. */
static enum err ask_origin(const struct git *g, const char *ref, const char **commit)
{
	struct str out;
	enum err e = git_do(g, GIT_ARGS("ls-remote", "origin", ref), STR(""), &out);
	const char *id = e ? NULL : arena_dup(g->arena, str_token(&out));
	if (id)
		*commit = id;
	return e ? e : id ? OK : E_NOMEM;
}

/* Fetches the tip unless it is here. */
static enum err fetch_tip(const struct repository *r)
{
	const struct git *g = &r->git;
	struct git_answer answer;
	const char *object = arena_printf(g->arena, "%s^{commit}", r->tip);
	enum err e = object ? git_run(g, GIT_ARGS("cat-file", "-e", object), STR(""), &answer) : E_NOMEM;
	if (e || !answer.code)
		return e;
	return git_do(g, GIT_ARGS("fetch", "-q", "--no-tags", "--no-write-fetch-head", "origin", r->ref),
		      STR(""), NULL);
}

/* The origin's default branch. */
static enum err find_origin_head(struct repository *r)
{
	const struct git *g = &r->git;
	struct str out, word;
	enum err e = git_do(g, GIT_ARGS("ls-remote", "--symref", "origin", "HEAD"), STR(""), &out);
	if (e)
		return e;
	word = str_token(&out);
	r->ref = str_eq(word, STR("ref:")) ? arena_dup(g->arena, str_token(&out)) : "";
	if (!r->ref)
		return E_NOMEM;
	if (*r->ref && !is_branch(r->ref))
		return OK;
	return *r->ref ? ask_origin(g, r->ref, &r->tip)
		       : why_set(g->why, E_CONFLICT, WHY_NOWHERE,
				 "the origin has no branch for claims: push one, for example `git push -u "
				 "origin HEAD`");
}

/* The branch of the origin that belongs to the branch here: its upstream, else the branch of the same name,
 * else the origin's default branch. */
static enum err find_origin_branch(struct repository *r)
{
	const struct git *g = &r->git;
	const char *head, *short_name, *remote, *merge = "";
	r->tip = "";
	enum err e = git_line(g, GIT_ARGS("symbolic-ref", "-q", "HEAD"), &head);
	if (e)
		return e;
	short_name = is_branch(head) ? head + strlen("refs/heads/") : "";
	if (*short_name) {
		e = git_line(g, GIT_ARGS("config", arena_printf(g->arena, "branch.%s.remote", short_name)),
			     &remote);
		if (!e && !strcmp(remote, "origin"))
			e = git_line(
				g, GIT_ARGS("config", arena_printf(g->arena, "branch.%s.merge", short_name)),
				&merge);
	}
	r->ref = *merge ? merge : head;
	if (e || (*r->ref && !is_branch(r->ref)))
		return e;
	if (*r->ref)
		e = ask_origin(g, r->ref, &r->tip);
	return e || *r->tip ? e : find_origin_head(r);
}

/* The branch that the main work tree has checked out. */
static enum err find_main_branch(struct repository *r)
{
	const struct git *g = &r->git;
	struct str list, line;
	bool bare = false;
	enum err e = git_do(g, GIT_ARGS("worktree", "list", "--porcelain"), STR(""), &list);
	if (e)
		return e;
	/* The main work tree comes first; an empty line ends it. */
	while (str_line(&list, &line) && line.n) {
		if (str_starts(line, STR("worktree ")))
			r->main = arena_dup(g->arena, str_from(line, 9));
		else if (str_starts(line, STR("branch ")))
			r->ref = arena_dup(g->arena, str_from(line, 7));
		bare |= str_eq(line, STR("bare"));
	}
	if (bare) {
		const struct git common = { .dir = r->common, .arena = g->arena, .why = g->why };
		r->main = NULL;
		e = git_line(&common, GIT_ARGS("symbolic-ref", "-q", "HEAD"), &r->ref);
	}
	if (!e && (!r->ref || !*r->ref))
		e = why_set(g->why, E_CONFLICT, WHY_NOWHERE,
			    "there is no origin, and the main work tree has no branch checked out: claims "
			    "need a shared branch");
	return e;
}

/* If git knows no author, the agent is the author. */
static enum err find_author(struct git *g, const char *agent)
{
	struct git_answer answer;
	enum err e = git_run(g, GIT_ARGS("var", "GIT_COMMITTER_IDENT"), STR(""), &answer);
	if (!e && answer.code)
		g->agent = agent;
	return e;
}

enum err repository_find(const char *file, const char *agent, struct arena *a, struct repository *ret,
			 struct why *why)
{
	struct repository r = { .git = { .arena = a, .why = why } };
	const char *name, *origin;
	enum err e = split_path(file, a, &r.git.dir, &name, why);
	if (!e)
		e = find_root(&r, name, file);
	if (!e)
		e = git_line(&r.git, GIT_ARGS("config", "remote.origin.url"), &origin);
	if (e)
		return e;
	r.origin = *origin != '\0';
	e = r.origin ? find_origin_branch(&r) : find_main_branch(&r);
	if (!e && !is_branch(r.ref))
		e = why_set(why, E_CONFLICT, WHY_NOWHERE, "'%.100s' is not a branch: claims need one", r.ref);
	if (!e)
		e = find_author(&r.git, agent);
	if (!e && r.origin)
		e = fetch_tip(&r);
	if (!e)
		*ret = r;
	return e;
}

/* --- reading --- */

enum err repository_refresh(struct repository *r)
{
	const struct git *g = &r->git;
	enum err e = r->origin ? ask_origin(g, r->ref, &r->tip)
			       : git_line(g, GIT_ARGS("rev-parse", "-q", "--verify", r->ref), &r->tip);
	if (!e && !*r->tip)
		e = why_set(g->why, E_CONFLICT, WHY_NOWHERE, "the shared branch %.100s has no commit",
			    r->ref);
	return e || !r->origin ? e : fetch_tip(r);
}

/* "100644 blob ID\tpath" or "100644 ID 0\tpath". */
static enum err read_entry(const struct git *g, struct str line, unsigned skip, struct git_blob *ret)
{
	struct str mode = str_token(&line);
	for (unsigned i = 0; i < skip; i++)
		str_token(&line);
	struct str id = str_token(&line);
	*ret = (struct git_blob){ 0 };
	if (!id.n)
		return OK;
	ret->mode = arena_dup(g->arena, mode);
	ret->id = arena_dup(g->arena, id);
	return ret->mode && ret->id ? OK : E_NOMEM;
}

enum err repository_blob(const struct repository *r, struct git_blob *ret)
{
	const struct git *g = &r->git;
	struct str out;
	enum err e =
		git_do(g, GIT_ARGS("ls-tree", "-z", "--full-tree", r->tip, "--", r->path), STR(""), &out);
	if (!e)
		e = read_entry(g, out, 1, ret);
	if (!e && !ret->id)
		return why_set(g->why, E_NOTFOUND, WHY_NOWHERE, "the shared branch %.100s has no file %.100s",
			       r->ref, r->path);
	if (!e && !str_starts(str_of(ret->mode), STR("100")))
		return why_set(g->why, E_INPUT, WHY_NOWHERE,
			       "%.100s is not a regular file in the shared branch %.100s", r->path, r->ref);
	return e ? e : git_do(g, GIT_ARGS("cat-file", "blob", ret->id), STR(""), &ret->text);
}

enum err repository_staged(const struct repository *r, const char *root, struct git_blob *ret)
{
	struct git g = r->git;
	struct str out;
	g.dir = root;
	enum err e = git_do(&g, GIT_ARGS("ls-files", "-s", "-z", "--", r->path), STR(""), &out);
	return e ? e : read_entry(&g, out, 0, ret);
}

/* --- writing --- */

static enum err write_tree(const struct repository *r, const char *entry, const char **tree)
{
	struct git g = r->git;
	const char *temporary = getenv("TMPDIR");
	char *dir =
		arena_printf(g.arena, "%s/rota-index-XXXXXX", temporary && *temporary ? temporary : "/tmp");
	struct str out;
	g.dir = r->root;
	if (!dir)
		return E_NOMEM;
	if (!mkdtemp(dir))
		return why_set(g.why, E_IO, WHY_NOWHERE, "cannot create the directory %.150s: %s", dir,
			       strerror(errno));
	g.index = arena_printf(g.arena, "%s/index", dir);
	enum err e = g.index ? git_do(&g, GIT_ARGS("read-tree", r->tip), STR(""), NULL) : E_NOMEM;
	if (!e)
		e = git_do(&g, GIT_ARGS("update-index", "--add", "--cacheinfo", entry), STR(""), NULL);
	if (!e)
		e = git_do(&g, GIT_ARGS("write-tree"), STR(""), &out);
	if (!e)
		*tree = arena_dup(g.arena, str_token(&out));
	if (g.index)
		unlink(g.index);
	rmdir(dir);
	return e ? e : *tree ? OK : E_NOMEM;
}

enum err repository_commit(const struct repository *r, const struct git_blob *old, struct str text,
			   const char *message, const char **commit, const char **blob)
{
	const struct git *g = &r->git;
	struct str out;
	const char *tree = NULL;
	enum err e = git_do(g, GIT_ARGS("hash-object", "-w", "--stdin"), text, &out);
	*blob = e ? NULL : arena_dup(g->arena, str_token(&out));
	const char *entry = *blob ? arena_printf(g->arena, "%s,%s,%s", old->mode, *blob, r->path) : NULL;
	if (!e && !entry)
		e = E_NOMEM;
	if (!e)
		e = write_tree(r, entry, &tree);
	if (!e)
		e = git_do(g, GIT_ARGS("commit-tree", tree, "-p", r->tip), str_of(message), &out);
	if (e)
		return e;
	*commit = arena_dup(g->arena, str_token(&out));
	return *commit ? OK : E_NOMEM;
}

enum err repository_publish(struct repository *r, const char *commit, bool *moved)
{
	const struct git *g = &r->git;
	struct git_answer answer;
	const char *old = r->tip, *lease = arena_printf(g->arena, "--force-with-lease=%s:%s", r->ref, old),
		   *refspec = arena_printf(g->arena, "%s:%s", commit, r->ref);
	if (!lease || !refspec)
		return E_NOMEM;
	enum err e = r->origin ? git_run(g, GIT_ARGS("push", "-q", "--no-verify", lease, "origin", refspec),
					 STR(""), &answer)
			       : git_run(g, GIT_ARGS("update-ref", r->ref, commit, old), STR(""), &answer);
	if (e)
		return e;
	*moved = answer.code == 0;
	if (*moved)
		return OK;
	/* git has failed: either another publisher was faster, or the commit cannot be published at all. It
	 * may also have been published although the answer was lost. */
	e = repository_refresh(r);
	if (e)
		return e;
	*moved = !strcmp(r->tip, commit);
	if (*moved)
		r->tip = old;
	bool refused = !*moved && !strcmp(r->tip, old) && !strstr(answer.error, "lock") && r->origin &&
		       !strstr(answer.error, "failed to push") &&
		       !strstr(answer.error, "incorrect old value");
	return refused ? why_set(g->why, E_IO, WHY_NOWHERE, "git push failed: %s", answer.error) : OK;
}
