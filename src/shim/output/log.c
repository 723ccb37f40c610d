/* Writes the log, and drops its middle when the end has grown to twice its bound. */
#include "shim/output/log.h"
#include "sys/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void stop_log(struct log *l)
{
	l->state = LOG_CUT;
	close(l->fd);
	l->fd = -1;
}

void log_open(struct log *l, int dir, const char *name, uint64_t head, uint64_t tail)
{
	*l = (struct log){ .head = head, .tail = tail };
	/* Another run may have created it, as a link to a file that would be overwritten. */
	unlinkat(dir, name, 0);
	l->fd = data_file_open(dir, name, O_RDWR | O_CREAT | O_EXCL);
	if (l->fd < 0)
		l->state = LOG_CUT;
}

static bool write_at(struct log *l, uint64_t at, const char *p, size_t n)
{
	while (n) {
		ssize_t k = pwrite(l->fd, p, n, (off_t)at);
		if (k <= 0 && errno != EINTR)
			return false;
		if (k > 0)
			p += k, n -= (size_t)k, at += (uint64_t)k;
	}
	return true;
}

/* The offset in the file at which the kept end of the output begins. */
static uint64_t end_begins(const struct log *l)
{
	return l->head + (l->state == LOG_CAPPED ? LOG_GAP_BYTES : 0);
}

/* Moves the last `tail` bytes to just behind the line LOG_GAP. This is done each time `tail` more bytes were
 * written, so each byte is moved about once. */
static bool drop_middle(struct log *l)
{
	uint64_t to = l->head + LOG_GAP_BYTES, from = l->size - l->tail;
	if (l->size < l->tail || from < to)
		return true;
	char gap[64], piece[65536];
	uint64_t gone = from - end_begins(l);
	unsigned long long all = l->left_out + gone;
	int n = snprintf(gap, sizeof gap, LOG_GAP, all);
	assert(n == LOG_GAP_BYTES);
	if (!write_at(l, l->head, gap, (size_t)n))
		return false;
	while (from < l->size) {
		uint64_t want = l->size - from < sizeof piece ? l->size - from : sizeof piece;
		ssize_t k = pread(l->fd, piece, want, (off_t)from);
		if (k <= 0 || !write_at(l, to, piece, (size_t)k))
			return false;
		from += (uint64_t)k;
		to += (uint64_t)k;
	}
	if (ftruncate(l->fd, (off_t)to) != 0)
		return false;
	l->size = to;
	l->left_out += gone;
	l->state = LOG_CAPPED;
	return true;
}

void log_write(struct log *l, const char *p, size_t n)
{
	if (l->fd < 0) {
		l->left_out += n;
		return;
	}
	if (!write_at(l, l->size, p, n)) {
		l->left_out += n;
		stop_log(l);
		return;
	}
	l->size += n;
	if (l->size > end_begins(l) + 2 * l->tail + LOG_GAP_BYTES && !drop_middle(l))
		stop_log(l);
}

void log_close(struct log *l)
{
	if (l->fd < 0)
		return;
	if (l->size > end_begins(l) + l->tail + (l->state == LOG_CAPPED ? 0 : LOG_GAP_BYTES) &&
	    !drop_middle(l))
		l->state = LOG_CUT;
	close(l->fd);
	l->fd = -1;
}
