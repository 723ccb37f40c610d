/* Publishes a commit on the shared branch: reads the plan, changes it and publishes it, and begins again if
 * another publisher was faster. */
#include "cli/git/publish.h"

#include "cli/git/work_tree.h"
#include "cli/plan_file.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Publishes once. *done: it is published, or there is nothing to do. */
static enum err try_once(struct cli_call *call, struct repository *r, const struct plan_change *change,
			 struct published *ret, struct git_blob *old, const char **blob, bool *done)
{
	struct org o;
	bool nothing = false;
	const char *commit = NULL;
	_cleanup_(buf_free) struct buf out = { 0 };
	enum err e = repository_blob(r, old);
	if (!e) {
		call->source = old->text;
		call->source_name = r->path;
		e = org_read(old->text, call->arena, &o, call->why);
	}
	if (!e && change->choose)
		e = change->choose(change->self, &o, call->arena, call->why);
	if (!e)
		e = change->apply(change->self, &o, call->arena, &out, &nothing, call->why);
	if (e == E_NOTFOUND || e == E_INPUT || e == E_CONFLICT)
		e = plan_failure(call, e, r->path);
	*done = !e && nothing;
	if (e || nothing)
		return e;
	e = out.failed ? E_NOMEM : repository_commit(r, old, buf_str(&out), *change->message, &commit, blob);
	if (!e)
		e = r->main ? main_tree_publish(call, r, change, old, commit, *blob, done)
			    : repository_publish(r, commit, done);
	if (!e && *done)
		ret->commit = commit;
	return e;
}

/* Brings the change into this work tree. If its branch was at the shared tip, it moves with it; otherwise
 * only the file changes. A failure does not undo the publication: it is reported in `missing`. */
static enum err follow(struct cli_call *call, const struct repository *r, const struct plan_change *change,
		       const struct git_blob *old, const char *blob, struct published *ret)
{
	struct work_file w;
	const char *head;
	bool written = false;
	if (r->main && !strcmp(r->main, r->root))
		return OK;
	if (work_file_prepare(call, r, r->root, change, &w) || work_file_write(call, &w, &written) ||
	    !written) {
		ret->missing = "this task is different in the plan of this work tree; update the work tree";
		return OK;
	}
	enum err e = git_line(&r->git, GIT_ARGS("rev-parse", "-q", "--verify", "HEAD"), &head);
	struct git_blob staged = { 0 };
	if (!e)
		e = repository_staged(r, r->root, &staged);
	if (e || !ret->commit || strcmp(head, r->tip) != 0 || !staged.id || strcmp(staged.id, old->id) != 0)
		return e;
	struct git_answer answer;
	e = git_run(&r->git, GIT_ARGS("update-ref", "HEAD", ret->commit, r->tip), STR(""), &answer);
	return e || answer.code ? e : work_file_stage(r, r->root, old, blob);
}

/* A random pause that grows, so that agents that collide do not retry at the same moment again. */
static void pause_before_retry(unsigned tries)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	unsigned random = (unsigned)(now.tv_nsec ^ getpid() * 2654435761u);
	unsigned most = tries < 8 ? 5u << tries : 1000; /* milliseconds */
	nanosleep(&(struct timespec){ .tv_nsec = (long)(random % most) * 1000000 % 1000000000 }, NULL);
}

enum err publish_change(struct cli_call *call, const char *file, const char *agent,
			const struct plan_change *change, struct published *ret)
{
	struct repository r;
	struct published p = { 0 };
	struct git_blob old = { 0 };
	const char *blob = NULL;
	bool done = false;
	int lock = -1;
	enum err e = repository_find(file, agent, call->arena, &r, call->why);
	if (!e && !r.origin)
		e = main_tree_lock(call, &r, &lock);
	if (!e && !r.origin)
		e = repository_refresh(&r);
	for (unsigned i = 0; !e && !done; i++) {
		if (i == CLAIM_TRIES_MAX)
			e = why_set(
				call->why, E_BUSY, WHY_NOWHERE,
				"the shared branch was changed by others during each of %d tries; try again",
				CLAIM_TRIES_MAX);
		if (i)
			pause_before_retry(i);
		if (i && !e)
			e = repository_refresh(&r);
		if (!e)
			e = try_once(call, &r, change, &p, &old, &blob, &done);
	}
	if (!e)
		e = follow(call, &r, change, &old, blob, &p);
	if (lock >= 0)
		close(lock);
	if (e)
		return e;
	p.ref = r.ref;
	p.origin = r.origin;
	*ret = p;
	return OK;
}
