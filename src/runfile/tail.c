/* Reads the end of a log, an answer or an outbox. */
#include "runfile/tail.h"
#include "base/printable.h"
#include "runfile/read.h"
#include "sys/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum err runfile_tail(const char *runs, uint64_t run, unsigned attempt, const char *kind, size_t most,
		      struct arena *a, struct str *ret, struct why *why)
{
	struct stat st = { 0 };
	*ret = (struct str){ 0 };
	int fd = runfile_open(runs, run, attempt, kind, O_RDONLY);
	/* The run may have put something else in its place. */
	if (fd == -ENOENT || fd == -ELOOP || fd == -DATA_FILE_FOREIGN)
		return OK;
	bool known = fd >= 0 && fstat(fd, &st) == 0;
	off_t from = st.st_size > (off_t)most ? st.st_size - (off_t)most : 0;
	char *text = known ? arena_alloc(a, (size_t)(st.st_size - from) + 1) : NULL;
	ssize_t n = text ? pread(fd, text, (size_t)(st.st_size - from), from) : -1;
	int error = fd < 0 ? -fd : errno;
	if (fd >= 0)
		close(fd);
	if (known && !text)
		return E_NOMEM;
	if (n < 0)
		return why_set(why, E_IO, WHY_NOWHERE, "cannot read the %s of run %llu: %s", kind,
			       (unsigned long long)run, strerror(error));
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
	while (text.n) {
		bool space = text.p[0] == '\n' || text.p[0] == '\t';
		unsigned n = space ? 1 : printable_length(text);
		buf_add(out, n ? str_sub(text, 0, n) : STR(" "));
		text = str_from(text, n ? n : 1);
	}
}
