/* Keeps the lease page, a shared mapping of a file. */
#include "exec/lease.h"
#include "port/lease.h"
#include "sys/data_file.h"
#include "sys/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct lease_keeper {
	struct lease_page *page;
};

static enum err fill_page(struct lease_page *p, struct boot deadline)
{
	char boot[40];
	if (boot_id_read(boot) != 0)
		return E_IO;
	bool this_boot = p->magic == LEASE_MAGIC && p->version == LEASE_VERSION && strcmp(p->boot, boot) == 0;
	if (!this_boot) /* no shim of an earlier boot is alive */
		__atomic_store_n(&p->deadline, 0, __ATOMIC_RELEASE);
	memcpy(p->boot, boot, sizeof boot);
	p->version = LEASE_VERSION;
	p->magic = LEASE_MAGIC;
	if (p->deadline < deadline.us)
		__atomic_store_n(&p->deadline, deadline.us, __ATOMIC_RELEASE);
	return OK;
}

enum err lease_keep(const char *path, struct boot deadline, struct lease_keeper **ret, struct why *why)
{
	struct lease_keeper *l = calloc(1, sizeof *l);
	int fd = l ? data_file_open(AT_FDCWD, path, O_RDWR | O_CREAT) : -ENOMEM;
	void *p = MAP_FAILED;
	if (fd >= 0 && posix_fallocate(fd, 0, 4096) == 0)
		p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int e = fd < 0 ? -fd : errno;
	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED || fill_page(p, deadline) != OK) {
		if (p != MAP_FAILED)
			munmap(p, 4096);
		free(l);
		return why_set(why, E_IO, WHY_NOWHERE, "cannot write the lease page %s: %s", path,
			       data_file_error(e));
	}
	l->page = p;
	*ret = l;
	return OK;
}

void lease_renew(struct lease_keeper *l, struct boot deadline)
{
	if (l->page->deadline < deadline.us)
		__atomic_store_n(&l->page->deadline, deadline.us, __ATOMIC_RELEASE);
}

void lease_close(struct lease_keeper *l)
{
	if (!l)
		return;
	munmap(l->page, 4096);
	free(l);
}
