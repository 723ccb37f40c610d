/* Reads the end of a log, an answer or an outbox. */
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
	bool regular = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	off_t from = st.st_size > (off_t)most ? st.st_size - (off_t)most : 0;
	char *text = regular ? arena_alloc(a, (size_t)(st.st_size - from) + 1) : NULL;
	ssize_t n = text ? pread(fd, text, (size_t)(st.st_size - from), from) : -1;
	int error = errno;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && !regular)
		return OK; /* the run has replaced the file by something else */
	if (regular && !text)
		return E_NOMEM;
	if (n < 0)
		return why_set(why, E_IO, WHY_NOWHERE, "cannot read %.150s: %s", path.p, strerror(error));
	*ret = (struct str){ text, (size_t)n };
	return OK;
}

void runfile_log_tail(const char *runs, uint64_t run, unsigned attempt, size_t most, struct buf *out)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct str text = { 0 };
	struct why why;
	if (runfile_tail(runs, run, attempt, "log", most, &a, &text, &why))
		return;
	const char *line = text.n < most ? NULL : memchr(text.p, '\n', text.n);
	if (line)
		text = str_from(text, (size_t)(line + 1 - text.p));
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		bool plain = c == '\n' || c == '\t' || (c >= 32 && c != 127);
		buf_addc(out, plain ? (char)c : ' ');
	}
}
