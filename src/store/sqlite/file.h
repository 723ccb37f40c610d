#pragma once
/* Database files: their names, how they are flushed, renamed and removed. */
#include "base/err.h"

#include <limits.h>

/* E_IO with "PATH cannot be WHAT" and the text of errno. */
enum err file_fail(const char *what, const char *path, struct why *why);
/* E_INPUT: the path is too long for the suffixes that are added to it. */
must_check enum err file_check_path(const char *path, struct why *why);
void file_path(char ret[static PATH_MAX], const char *path, const char *suffix);
/* The path of another file in the same directory. */
void file_beside(char ret[static PATH_MAX], const char *path, const char *name);

must_check enum err file_flush(const char *path, struct why *why);
/* Flushes the directory of `path`, so that a new name survives a power cut. */
must_check enum err file_flush_directory(const char *path, struct why *why);
/* Renames, and flushes the directory. E_CONFLICT: `to` exists. */
must_check enum err file_rename_new(const char *from, const char *to, struct why *why);
/* Removes a database with its journal and log. */
void file_remove_database(const char *database);
