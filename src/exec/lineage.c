/* Finds the run of a process by its ancestors, by its cgroup, or by the mark in its environment. */
#include "exec/lineage.h"
#include "runfile/read.h"
#include "sys/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- the search --- */

/* E_BUSY: the tree has changed meanwhile. */
static enum err walk_once(ancestor_fn *read_one, void *ctx, pid_t pid, uint64_t since, struct lineage *ret)
{
	struct ancestor self, above, again;
	struct lineage found = { 0 };
	enum err e = read_one(ctx, pid, &self);
	if (e || self.start > since)
		return !e || e == E_NOTFOUND ? E_GONE : e;
	for (unsigned n = 0; n < LINEAGE_MAX; n++) {
		if (self.shim.run || self.shim.other) {
			self.shim.descends = found.descends;
			found = self.shim;
		}
		if (self.parent <= 0) {
			*ret = found;
			return OK;
		}
		e = read_one(ctx, self.parent, &above);
		if (e && e != E_NOTFOUND)
			return e;
		if (e || above.start > self.start) {
			/* Either the parent has ended, and its pid may have been reused: then the process has
			 * another parent now. Or the parent and all above it are hidden, because they belong
			 * to another user. */
			if (read_one(ctx, pid, &again) || again.start != self.start ||
			    again.parent != self.parent || !e)
				return E_BUSY;
			*ret = found;
			return OK;
		}
		if (above.adopts && self.start >= above.adopts) {
			found.descends = true;
			found.other |= !found.run;
		}
		pid = self.parent;
		self = above;
	}
	return E_LIMIT;
}

enum err lineage_walk(ancestor_fn *read_one, void *ctx, pid_t pid, uint64_t since, struct lineage *ret)
{
	enum err e = E_BUSY;
	for (unsigned n = 0; n < LINEAGE_TRIES_MAX && e == E_BUSY; n++)
		e = walk_once(read_one, ctx, pid, since, ret);
	return e;
}

/* --- on this machine --- */

static bool parse_shim_name(const char *name, struct lineage *ret)
{
	unsigned long long run;
	unsigned attempt;
	char check[2] = "", same[RUN_SHIM_NAME];
	if (sscanf(name, "r%llu.%u%1s", &run, &attempt, check) >= 2)
		*ret = (struct lineage){ .run = run, .attempt = attempt | (check[0] ? RUN_CHECK : 0u) };
	else if (sscanf(name, "r%llu.h%u", &run, &attempt) == 2 && attempt < RUN_HOOKS)
		*ret = (struct lineage){ .run = run, .attempt = RUN_HOOK + attempt };
	else
		return false;
	return runfile_shim_name(same, ret->run, ret->attempt) && !strcmp(name, same);
}

static uint64_t ticks_of(struct boot at)
{
	return (uint64_t)at.us * (uint64_t)sysconf(_SC_CLK_TCK) / (uint64_t)USEC;
}

/* Whether the run file of this directory is that of the process, a shim. */
static enum err is_shim(const char *dir, const struct lineage *named, const struct proc *p, bool *ret)
{
	struct runfile f = { 0 };
	enum run_life life;
	struct why why;
	if (runfile_read(dir, named->run, named->attempt, &life, &f, &why))
		return E_BUSY;
	*ret = life != LIFE_ABSENT && f.pid == p->pid && f.start == p->start;
	return OK;
}

/* Whether the process has the descriptor that names our data directory. Its memory is not read: a process
 * that is no shim could make that block. */
static bool is_ours(const struct lineage_place *place, pid_t pid)
{
	char path[48], link[160], name[160];
	snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, RUN_OWNER_FD);
	snprintf(name, sizeof name, "/memfd:%s (deleted)", place->owner);
	ssize_t n = readlink(path, link, sizeof link - 1);
	link[n > 0 ? n : 0] = 0;
	return !strcmp(link, name);
}

static enum err read_proc(void *ctx, pid_t pid, struct ancestor *ret)
{
	const struct lineage_place *place = ctx;
	struct proc p;
	struct lineage named;
	bool run = false, delivery = false;
	errno = 0;
	if (!proc_read(pid, &p))
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? E_BUSY : E_NOTFOUND;
	*ret = (struct ancestor){ .parent = p.parent,
				  .start = p.start,
				  .adopts = pid == getpid() ? ticks_of(place->since) : 0 };
	if (!parse_shim_name(p.name, &named))
		return OK;
	enum err e = is_shim(place->runs, &named, &p, &run);
	if (!e && !run)
		e = is_shim(place->notify, &named, &p, &delivery);
	if (run)
		ret->shim = named;
	ret->shim.other = delivery || (!e && !run && place->owner && is_ours(place, pid));
	return e;
}

static enum err read_name(void *ctx, pid_t pid, struct ancestor *ret)
{
	const struct lineage_place *place = ctx;
	struct proc p;
	if (!proc_read(pid, &p))
		return E_NOTFOUND;
	*ret = (struct ancestor){ .parent = p.parent,
				  .start = p.start,
				  .adopts = pid == getpid() ? ticks_of(place->since) : 0 };
	if (!parse_shim_name(p.name, &ret->shim))
		ret->shim = (struct lineage){ 0 };
	return OK;
}

void lineage_guess(const struct lineage_place *place, pid_t pid, struct boot since, struct lineage *ret)
{
	*ret = (struct lineage){ 0 };
	if (lineage_walk(read_name, (void *)(uintptr_t)place, pid, ticks_of(since), ret))
		*ret = (struct lineage){ .other = true };
}

/* --- by the cgroup --- */

bool lineage_of_cgroup(struct str own, struct str delegated, struct lineage *ret)
{
	static const struct str name = STR("/run-");
	/* `own` has no mount point: the delegated path ends with the path of the daemon's own cgroup, to
	 * which the shim appends run-RUN.ATTEMPT-PID. */
	const char *at = own.n > name.n ? memmem(own.p, own.n, name.p, name.n) : NULL;
	for (; at; at = memmem(at + 1, own.n - (size_t)(at + 1 - own.p), name.p, name.n)) {
		struct str above = { own.p, (size_t)(at - own.p) }, rest = str_from(own, above.n + name.n);
		unsigned long long run;
		unsigned attempt;
		if (!above.n || above.n > delegated.n ||
		    !str_eq(above, str_from(delegated, delegated.n - above.n)) ||
		    sscanf(rest.p, "%llu.%u-", &run, &attempt) != 2)
			continue;
		*ret = (struct lineage){ .run = run, .attempt = attempt };
		return true;
	}
	return false;
}

/* The run file has the path of the cgroup that its shim has created: a process that creates and enters
 * another cgroup does not become another run by that. */
static enum err find_by_cgroup(const struct lineage_place *place, pid_t pid, struct lineage *ret)
{
	char path[32], text[RUNFILE_CGROUP_MAX + 64];
	struct runfile f = { 0 };
	struct lineage named;
	enum run_life life;
	struct why why;
	struct str line;
	snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? E_BUSY : OK;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	for (struct str rest = str_of(text); str_line(&rest, &line);) {
		if (!str_starts(line, STR("0::/")) ||
		    !lineage_of_cgroup(str_from(line, 3), str_of(place->cgroup), &named))
			continue;
		if (runfile_read(place->runs, named.run, named.attempt, &life, &f, &why))
			return E_BUSY;
		size_t cgroup = strlen(f.cgroup), above = strlen(place->cgroup);
		bool same = life != LIFE_ABSENT && cgroup > above &&
			    memmem(line.p, line.n, f.cgroup + above, cgroup - above);
		*ret = same ? named : (struct lineage){ .other = true };
	}
	return OK;
}

/* --- by the mark --- */

/* The number of the entry NAME=number in an environment block; 0: there is none. */
static uint64_t number_in(struct str block, const char *name)
{
	size_t n = strlen(name);
	uint64_t value = 0;
	for (struct str rest = block; rest.n > n;) {
		struct str item = { rest.p, strnlen(rest.p, rest.n) };
		if (item.n > n && !memcmp(item.p, name, n) &&
		    str_number(str_from(item, n), UINT64_MAX, &value))
			return value;
		rest = str_from(rest, item.n < rest.n ? item.n + 1 : item.n);
	}
	return 0;
}

/* Whether the process has the mark of this run file in its environment. */
static enum err has_mark(const char *dir, uint64_t run, unsigned attempt, pid_t pid, bool *ret)
{
	char mark[sizeof RUN_MARK_NAME + sizeof((struct runfile *)0)->mark];
	struct runfile f = { 0 };
	enum run_life life;
	struct why why;
	if (runfile_read(dir, run, attempt, &life, &f, &why))
		return E_BUSY;
	snprintf(mark, sizeof mark, "%s=%s", RUN_MARK_NAME, f.mark);
	*ret = life != LIFE_ABSENT && strlen(f.mark) == RUN_MARK_BYTES - 1 && proc_has_env(pid, mark);
	return OK;
}

/* The variables only name the run file to read; the process belongs to the run if the mark in that file
 * matches. */
static enum err find_by_mark(const struct lineage_place *place, pid_t pid, struct lineage *ret)
{
	char path[32], block[LINEAGE_ENV_BYTES];
	snprintf(path, sizeof path, "/proc/%d/environ", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? E_BUSY : OK;
	ssize_t n = 0, got;
	while ((got = read(fd, block + n, sizeof block - (size_t)n)) > 0)
		n += got;
	close(fd);
	struct str all = { block, n > 0 ? (size_t)n : 0 };
	uint64_t message = number_in(all, RUN_DELIVERY_NAME "=");
	struct lineage named = { .run = number_in(all, "ROTA_RUN_ID="),
				 .attempt = (unsigned)number_in(all, "ROTA_ATTEMPT=") };
	if (!memmem(block, all.n, RUN_MARK_NAME "=", sizeof RUN_MARK_NAME))
		return OK;
	bool same = false;
	enum err e = message ? has_mark(place->notify, message, named.attempt, pid, &same) : OK;
	if (e || same) {
		ret->other = same;
		return e;
	}
	const unsigned attempts[] = { named.attempt, named.attempt | RUN_CHECK, RUN_HOOK + HOOK_OF_CONFIG,
				      RUN_HOOK + HOOK_OF_SCHEDULE, RUN_HOOK + HOOK_OF_CREATE };
	static_assert(ARRAY_LEN(attempts) == 2 + RUN_HOOKS, "all programs of a run");
	for (unsigned i = 0; named.run && i < ARRAY_LEN(attempts) && !e && !same; i++) {
		e = has_mark(place->runs, named.run, attempts[i], pid, &same);
		if (same)
			*ret = (struct lineage){ .run = named.run, .attempt = attempts[i] };
	}
	return e;
}

enum err lineage_of(const struct lineage_place *place, pid_t pid, struct boot since, struct lineage *ret)
{
	struct lineage found = { 0 }, member = { 0 };
	enum err e = lineage_walk(read_proc, (void *)(uintptr_t)place, pid, ticks_of(since), &found);
	if (!e && !found.run && place->cgroup)
		e = find_by_cgroup(place, pid, &member);
	if (!e && !found.run && !member.run && !member.other)
		e = find_by_mark(place, pid, &member);
	member.descends = found.descends;
	if (member.run || member.other)
		found = member;
	if (!e)
		*ret = found;
	return e;
}
