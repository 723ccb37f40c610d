/* Masks the outbox in place. */
#include "shim/output/outbox.h"
#include "base/array.h"
#include "port/runfile.h"
#include "runfile/redact.h"
#include "shim/request.h"
#include "sys/data_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct masked_text {
	char *p;
	unsigned n, room;
	bool failed;
};

static void append(void *ctx, const char *p, size_t n)
{
	struct masked_text *m = ctx;
	if (!array_reserve(&m->p, &m->room, m->n + (unsigned)n, 1)) {
		m->failed = true;
		return;
	}
	memcpy(m->p + m->n, p, n);
	m->n += (unsigned)n;
}

static void mask_text(const struct launch_request *rq, const char *p, size_t n, struct masked_text *ret)
{
	struct redact r;
	if (redact_init(&r, rq->masks.item, rq->masks.n) != 0) {
		ret->failed = true;
		return;
	}
	for (size_t k; n; p += k, n -= k) {
		k = n < REDACT_PIECE ? n : REDACT_PIECE;
		redact(&r, p, k, append, ret);
	}
	redact_end(&r, append, ret);
	redact_free(&r);
}

/* Masks the file in place, which is safe because no process of the run is alive that could write. False: it
 * cannot be masked. */
static bool mask_file(int fd, const struct launch_request *rq, off_t size)
{
	off_t most = 2 * OUTBOX_BYTES_MAX, from = size > most ? size - most : 0;
	size_t n = (size_t)(size - from);
	struct masked_text m = { 0 };
	char *text = malloc(n + 1);
	m.failed = !text || pread(fd, text, n, from) != (ssize_t)n;
	/* Skips a partial first line. */
	const char *line = !m.failed && from ? memchr(text, '\n', n) : text;
	if (!m.failed && line)
		mask_text(rq, line, n - (size_t)(line - text), &m);
	bool done = !m.failed && pwrite(fd, m.p, m.n, 0) == (ssize_t)m.n && ftruncate(fd, (off_t)m.n) == 0;
	free(text);
	free(m.p);
	return done;
}

void outbox_mask(int dir, const struct launch_request *rq)
{
	char name[RUNFILE_NAME_MAX];
	struct stat st;
	if (!rq->masks.n)
		return;
	runfile_name(name, rq->head->run, rq->head->attempt, "box");
	int fd = data_file_open(dir, name, O_RDWR);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > 0 && !mask_file(fd, rq, st.st_size))
		unlinkat(dir, name, 0); /* it may contain secrets */
	close(fd);
}
