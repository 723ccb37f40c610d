/* Checks the runs directory, and finds the delegated cgroup. */
#include "exec/rundir.h"
#include "runfile/create.h"
#include "sys/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static const struct {
	uint64_t type;
	const char *name;
} networks[] = {
	{ 0x6969, "nfs" },          { 0x517B, "smb" },       { 0xFF534D42, "cifs" }, { 0xFE534D42, "smb2" },
	{ 0x5346414F, "afs" },      { 0x6B414653, "afs" },   { 0x73757245, "coda" }, { 0x564C, "ncp" },
	{ 0x01021997, "9p" },       { 0x00C36400, "ceph" },  { 0x65735546, "fuse" }, { 0x0BD00BD0, "lustre" },
	{ 0x01161970, "gfs2" },     { 0x7461636F, "ocfs2" }, { 0x47504653, "gpfs" }, { 0x19830326, "beegfs" },
	{ 0x20030528, "orangefs" },
};

const char *rundir_network(uint64_t type)
{
	for (unsigned i = 0; i < ARRAY_LEN(networks); i++)
		if (networks[i].type == type)
			return networks[i].name;
	return NULL;
}

enum err rundir_check(const char *path, struct why *why)
{
	struct statfs fs;
	if (path[0] != '/')
		return why_set(why, E_INPUT, WHY_NOWHERE,
			       "the path of the runs directory must be absolute, not %s", path);
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return why_set(why, E_IO, WHY_NOWHERE, "cannot create %s: %s", path, strerror(errno));
	if (statfs(path, &fs) != 0)
		return why_set(why, E_IO, WHY_NOWHERE, "cannot read the file system type of %s: %s", path,
			       strerror(errno));
	const char *network = rundir_network((uint64_t)fs.f_type & 0xFFFFFFFF);
	if (network)
		return why_set(
			why, E_INPUT, WHY_NOWHERE,
			"%s is on %s, where file locks are not reliable between machines; use a local disk",
			path, network);
	int dir = data_file_open_directory(AT_FDCWD, path);
	int fd = dir < 0 ? dir : runfile_open_unnamed(dir);
	if (dir >= 0)
		close(dir);
	if (dir == -ENOTDIR || dir == -ELOOP || dir == -DATA_FILE_FOREIGN)
		return why_set(
			why, E_INPUT, WHY_NOWHERE,
			"%s must be a directory, not a symbolic link, that belongs to the user of rota "
			"and that group and others cannot write",
			path);
	/* A full or failing disk is an outage, not a reason to reject the directory. */
	if (fd == -EOPNOTSUPP || fd == -EISDIR)
		return why_set(
			why, E_INPUT, WHY_NOWHERE,
			"the file system of %s does not support unnamed files (O_TMPFILE); use another one",
			path);
	if (fd >= 0)
		close(fd);
	return OK;
}

static char *read_file(const char *path)
{
	struct buf b = { 0 };
	char piece[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	for (ssize_t n; fd >= 0 && (n = read(fd, piece, sizeof piece)) > 0 && b.n < (1u << 20);)
		buf_add(&b, (struct str){ piece, (size_t)n });
	if (fd >= 0)
		close(fd);
	return b.p;
}

/* Reads the path of this process's cgroup from the line "0::/path". */
static bool own_cgroup(struct buf *ret)
{
	char *text = read_file("/proc/self/cgroup");
	struct str rest = str_of(text ? text : ""), line;
	while (str_line(&rest, &line))
		if (str_starts(line, STR("0::/")) && line.n > 4)
			buf_add(ret, str_from(line, 3));
	free(text);
	return ret->n > 0;
}

/* Reads where cgroup v2 is mounted: the fifth field of its line in mountinfo. */
static bool mount_point(struct buf *ret)
{
	char *text = read_file("/proc/self/mountinfo");
	struct str rest = str_of(text ? text : ""), line;
	while (!ret->n && str_line(&rest, &line)) {
		struct str word = { 0 }, all = line;
		if (!memmem(line.p, line.n, " - cgroup2 ", 11))
			continue;
		for (unsigned i = 0; i < 5; i++)
			word = str_token(&all);
		buf_add(ret, word);
	}
	free(text);
	return ret->n > 0;
}

enum err rundir_cgroup(struct buf *ret)
{
	struct buf path = { 0 }, own = { 0 };
	bool found = own_cgroup(&own) && mount_point(&path);
	buf_add(&path, buf_str(&own));
	buf_free(&own);
	size_t n = path.n;
	buf_add(&path, STR("/cgroup.procs"));
	found = found && !path.failed && access(path.p, W_OK) == 0;
	if (found)
		buf_add(ret, (struct str){ path.p, n });
	buf_free(&path);
	return !found ? E_NOTFOUND : ret->failed ? E_NOMEM : OK;
}
