#pragma once
/* Files below the data directory. Every part of rota opens them by these functions. Runs have the same user
 * as the daemon, so any of these files may have been replaced by a symbolic link, a pipe or a device; opening
 * it must neither lead to another file nor block. Part of the static launcher, too; hence plain errno instead
 * of `enum err`. */
#include "base/attr.h"

#include <errno.h>

/* The error of a file or directory that is not what these functions accept. */
#define DATA_FILE_FOREIGN EBADFD

/* Opens the file `name` in the directory `dir` (or AT_FDCWD): no symbolic link, a regular file of this user.
 * `flags` as for open(2); a new file has mode 0600, less what the umask takes. Returns a descriptor, or minus
 * an errno: ELOOP for a symbolic link, DATA_FILE_FOREIGN for anything else that is not such a file. */
must_check int data_file_open(int dir, const char *name, int flags);

/* The same for a name with directories in it, none of which may be a symbolic link; nor may the last part of
 * `dir`. */
must_check int data_file_open_below(const char *dir, const char *name, int flags);

/* Opens a directory for reading: no symbolic link, ours, and not writable by group or others. Returns a
 * descriptor, or minus an errno. */
must_check int data_file_open_directory(int dir, const char *name);

/* For files that a library opens by name: whether `path` is a regular file of this user. 0, or an errno;
 * ENOENT: there is no file. */
must_check int data_file_check(const char *path);

/* Why a file was not opened, as text: strerror(3) for the usual errors. */
const char *data_file_error(int error);
