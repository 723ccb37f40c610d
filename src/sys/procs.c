/* Processes, read from /proc. */
#include "sys/procs.h"
#include "base/array.h"
#include "base/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The content of a small file, terminated; -1: it cannot be read. */
static ssize_t read_file(const char *path, char *ret, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n = read(fd, ret, room - 1);
	close(fd);
	if (n >= 0)
		ret[n] = 0;
	return n;
}

bool proc_read(pid_t pid, struct proc *ret)
{
	char path[32], text[1024];
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	if (read_file(path, text, sizeof text) <= 0)
		return false;
	const char *rest = strrchr(text, ')'); /* the last bracket: the process name may contain brackets */
	char state;
	int parent, session;
	unsigned long long start;
	if (!rest ||
	    sscanf(rest + 1, " %c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &state, &parent, &session, &start) != 4)
		return false;
	*ret = (struct proc){ .pid = pid,
			      .parent = parent,
			      .session = session,
			      .start = start,
			      .dead = state == 'Z' || state == 'X' };
	const char *name = strchr(text, '(');
	if (name && name < rest)
		snprintf(ret->name, sizeof ret->name, "%.*s", (int)(rest - name - 1), name + 1);
	return true;
}

static bool add_proc(struct procs *ps, const struct proc *p)
{
	if (ps->n == PROCS_MAX || !ARRAY_ADD_ROOM(ps->p, ps->room, ps->n))
		return false;
	ps->p[ps->n++] = *p;
	return true;
}

int procs_list(struct procs *ret)
{
	struct procs ps = { 0 };
	DIR *d = opendir("/proc");
	if (!d)
		return errno;
	struct dirent *e;
	int error = 0;
	while (!error && (e = readdir(d))) {
		struct proc p;
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
		if (pid > 0 && proc_read(pid, &p) && !add_proc(&ps, &p))
			error = ENOMEM;
	}
	closedir(d);
	if (error)
		procs_free(&ps);
	else
		*ret = ps;
	return error;
}

void procs_free(struct procs *ps)
{
	free(ps->p);
	*ps = (struct procs){ 0 };
}

static int by_pid(const void *a, const void *b)
{
	return ((const struct proc *)a)->pid - ((const struct proc *)b)->pid;
}

void procs_mark_descendants(struct procs *ps)
{
	qsort(ps->p, ps->n, sizeof *ps->p, by_pid);
	for (bool more = true; more;) {
		more = false;
		for (unsigned i = 0; i < ps->n; i++) {
			struct proc key = { .pid = ps->p[i].parent };
			if (ps->p[i].marked)
				continue;
			const struct proc *parent = bsearch(&key, ps->p, ps->n, sizeof key, by_pid);
			ps->p[i].marked = parent && parent->marked;
			more |= ps->p[i].marked;
		}
	}
}

void proc_signal(const struct proc *p, int sig)
{
	struct proc now;
	int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (fd < 0)
		return;
	if (proc_read(p->pid, &now) && now.start == p->start)
		syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
	close(fd);
}

bool proc_has_env(pid_t pid, const char *entry)
{
	char path[32], piece[65536];
	size_t n = strlen(entry) + 1, have = 0;
	bool found = false;
	snprintf(path, sizeof path, "/proc/%d/environ", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	for (ssize_t k; !found && (k = read(fd, piece + have, sizeof piece - have)) > 0;) {
		have += (size_t)k;
		found = memmem(piece, have, entry, n) != NULL;
		size_t keep = have < n ? have : n; /* the entry may lie across two reads */
		memmove(piece, piece + have - keep, keep);
		have = keep;
	}
	close(fd);
	return found;
}

int boot_id_read(char ret[static 40])
{
	char text[64];
	if (read_file("/proc/sys/kernel/random/boot_id", text, sizeof text) < 36)
		return ENOENT;
	memcpy(ret, text, 36);
	ret[36] = 0;
	return 0;
}
