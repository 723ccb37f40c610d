#pragma once
/* Writing all of a buffer to a descriptor. Header only: the static launcher uses it, too. */
#include "base/attr.h"

#include <errno.h>
#include <unistd.h>

/* 0, or an errno: then a part of the buffer may have been written. */
must_check static inline int write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = write(fd, p, n);
		if (k == 0 || (k < 0 && errno != EINTR))
			return k < 0 ? errno : EIO;
		p += k > 0 ? k : 0;
		n -= k > 0 ? (size_t)k : 0;
	}
	return 0;
}
