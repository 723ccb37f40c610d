#include "runfile/tail.h"
#include "runfile/read.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum err runfile_tail(const char *runs, uint64_t run, unsigned attempt, const char *kind, size_t most,
		      struct arena *a, struct str *ret, struct why *why)
{
	_cleanup_(buf_free) struct buf path = { 0 };
	struct stat st = { 0 };
	*ret = (struct str){ 0 };
	runfile_path(&path, runs, run, attempt, kind);
	if (path.failed)
		return E_NOMEM;
	int fd = open(path.p, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return OK;
	bool plain = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	off_t from = st.st_size > (off_t)most ? st.st_size - (off_t)most : 0;
	char *text = plain ? arena_alloc(a, (size_t)(st.st_size - from) + 1) : NULL;
	ssize_t n = text ? pread(fd, text, (size_t)(st.st_size - from), from) : -1;
	int error = errno;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && !plain)
		return OK; /* whatever somebody has put there, it is no file of a run's */
	if (plain && !text)
		return E_NOMEM;
	if (n < 0)
		return why_set(why, E_IO, WHY_NOWHERE, "%.150s cannot be read: %s", path.p, strerror(error));
	*ret = (struct str){ text, (size_t)n };
	return OK;
}
