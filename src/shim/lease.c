/* Reads the deadline of the lease page. */
#include "shim/lease.h"
#include "sys/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int lease_open(struct lease *l, const char *path, const char *boot)
{
	*l = (struct lease){ -1, boot };
	if (!path)
		return 0;
	l->fd = data_file_open(AT_FDCWD, path, O_RDONLY);
	return l->fd >= 0 ? 0 : -l->fd;
}

int64_t lease_deadline(const struct lease *l)
{
	struct lease_page p, again;
	if (l->fd < 0)
		return INT64_MAX;
	/* Read twice, because the daemon may be writing it. */
	do {
		if (pread(l->fd, &p, sizeof p, 0) != (ssize_t)sizeof p ||
		    pread(l->fd, &again, sizeof again, 0) != (ssize_t)sizeof again)
			return 0;
	} while (p.deadline != again.deadline);
	bool known = p.magic == LEASE_MAGIC && p.version >= 1 && p.version <= LEASE_VERSION;
	return known && strncmp(p.boot, l->boot, sizeof p.boot) == 0 ? p.deadline : 0;
}
