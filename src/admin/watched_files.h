#pragma once
/* The files of a watched directory: which documents are in it, and which of them have changed since they were
 * applied. */
#include "base/map.h"
#include "base/str.h"

#include <sys/inotify.h>
#include <sys/stat.h>

enum file_state {
	FILE_APPLIED, /* the content has been applied */
	FILE_CHANGED, /* the content has changed and is to be applied */
	FILE_REFUSED, /* has an error; to be tried again when any file changes */
	FILE_REMOVED, /* does not exist any more; its schedules and agents are to be removed */
	FILE_DROPPED, /* does not exist any more; its schedules and agents have been removed */
};

struct watched_file {
	char *path;
	struct timespec changed;
	ino_t inode;
	off_t size;
	enum file_state state;
	bool seen;          /* the latest scan has found the file */
	bool problem;       /* a problem is, or may be, open for the file */
	bool being_written; /* a process has it open for writing: it is not applied yet */
};

struct watched_files {
	int inotify; /* watches the targets of links */
	struct watched_file *file;
	unsigned n, room;
	struct map by_path;  /* hash of the path to index */
	bool being_written;  /* latest scan: a changed file is being written */
	bool unwatched_link; /* latest scan: a link has no target, or its target cannot be watched */
};

/* The changes of a file that inotify is to report. */
#define FILE_CHANGES (IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB)

/* Compares the directory with the list. False: the directory cannot be read; no file counts as
 * removed then. */
bool files_scan(struct watched_files *f, const char *dir);
bool files_has(const struct watched_files *f, const char *path);
/* Forgets the files in state FILE_DROPPED. */
void files_forget_dropped(struct watched_files *f);
void files_free(struct watched_files *f); /* does not close the inotify descriptor */
