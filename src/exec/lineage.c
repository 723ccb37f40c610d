/* Finds the run of a process by its ancestors, or by the mark in its environment. */
#include "exec/lineage.h"
#include "runfile/read.h"
#include "sys/procs.h"

#include <errno.h>
#include <fcntl.h>
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
		if (self.shim.run)
			found = self.shim;
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
	if (sscanf(name, "r%llu.%u%1s", &run, &attempt, check) < 2)
		return false;
	*ret = (struct lineage){ run, attempt | (check[0] ? RUN_CHECK : 0u) };
	return runfile_shim_name(same, ret->run, ret->attempt) && !strcmp(name, same);
}

static enum err read_proc(void *ctx, pid_t pid, struct ancestor *ret)
{
	struct proc p;
	struct lineage named;
	struct runfile f = { 0 };
	enum run_life life;
	struct why why;
	errno = 0;
	if (!proc_read(pid, &p))
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? E_BUSY : E_NOTFOUND;
	*ret = (struct ancestor){ .parent = p.parent, .start = p.start };
	if (!parse_shim_name(p.name, &named))
		return OK;
	if (runfile_read(ctx, named.run, named.attempt, &life, &f, &why))
		return E_BUSY;
	if (life != LIFE_ABSENT && f.pid == pid && f.start == p.start)
		ret->shim = named;
	return OK;
}

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

/* The variables only name the run file to read; the process belongs to the run if the mark in that file
 * matches. */
static enum err find_by_mark(const char *runs, pid_t pid, struct lineage *ret)
{
	char path[32], block[LINEAGE_ENV_BYTES],
		mark[sizeof RUN_MARK_NAME + sizeof((struct runfile *)0)->mark];
	struct runfile f = { 0 };
	enum run_life life;
	struct why why;
	snprintf(path, sizeof path, "/proc/%d/environ", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? E_BUSY : OK;
	ssize_t n = 0, got;
	while ((got = read(fd, block + n, sizeof block - (size_t)n)) > 0)
		n += got;
	close(fd);
	struct str all = { block, n > 0 ? (size_t)n : 0 };
	struct lineage named = { number_in(all, "ROTA_RUN_ID="), (unsigned)number_in(all, "ROTA_ATTEMPT=") };
	if (!named.run || !memmem(block, all.n, RUN_MARK_NAME "=", sizeof RUN_MARK_NAME))
		return OK;
	const unsigned attempts[] = { named.attempt, named.attempt | RUN_CHECK };
	for (unsigned i = 0; i < ARRAY_LEN(attempts); i++) {
		if (runfile_read(runs, named.run, attempts[i], &life, &f, &why))
			return E_BUSY;
		snprintf(mark, sizeof mark, "%s=%s", RUN_MARK_NAME, f.mark);
		if (life != LIFE_ABSENT && strlen(f.mark) == RUN_MARK_BYTES - 1 && proc_has_env(pid, mark)) {
			*ret = (struct lineage){ named.run, attempts[i] };
			return OK;
		}
	}
	return OK;
}

enum err lineage_of(const char *runs, pid_t pid, struct boot since, struct lineage *ret)
{
	uint64_t ticks = (uint64_t)since.us * (uint64_t)sysconf(_SC_CLK_TCK) / (uint64_t)USEC;
	struct lineage found = { 0 };
	enum err e = lineage_walk(read_proc, (void *)(uintptr_t)runs, pid, ticks, &found);
	if (!e && !found.run)
		e = find_by_mark(runs, pid, &found);
	if (!e)
		*ret = found;
	return e;
}
