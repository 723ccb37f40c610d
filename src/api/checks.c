/* Checks of the installation that work with and without a daemon, and what to do about errors. */
#include "api/checks.h"

#include "base/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

const char *const check_state_words[] = { [CHECK_OK] = "ok", [CHECK_WARN] = "warn", [CHECK_FAIL] = "fail" };

enum { ROOM_WARN = 512 << 20, ROOM_FAIL = 32 << 20 }; /* bytes free */

void check_add(struct buf *out, enum check_state state, const char *what, const char *advice, const char *fmt,
	       ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	buf_addf(out, "%s{\"check\":\"%s\",\"state\":\"%s\"", out->n ? "," : "", what,
		 check_state_words[state]);
	json_add_str(out, "text", str_of(text));
	json_add_str(out, "advice", advice ? str_of(advice) : (struct str){ 0 });
	buf_addc(out, '}');
}

/* By a word of what the machine, or SQLite, said of it. The first that fits. */
static const struct {
	const char *word, *advice;
} remedies[] = {
	{ "malformed",
	  "it is damaged, and nothing more is written to it: stop rota, put the data directory aside, "
	  "and bring back a backup (`rota restore`)" },
	{ "not a database",
	  "something has overwritten it: put it aside, and bring back a backup (`rota restore`)" },
	{ "newer rota",
	  "install that version again, or bring back a backup made before it (`rota restore`)" },
	{ "another program", "choose another directory with --data" },
	{ "full", "make room on its disk; rota goes on by itself" },
	{ "No space", "make room on its disk; rota goes on by itself" },
	{ "quota", "raise the quota, or make room; rota goes on by itself" },
	{ "ead-only",
	  "its disk is read-only: look in the kernel's log why, and mount it to be written; rota goes on "
	  "by itself" },
	{ "readonly",
	  "its disk is read-only: look in the kernel's log why, and mount it to be written; rota goes on "
	  "by itself" },
	{ "I/O error",
	  "the disk fails: look in the kernel's log, and copy the data directory to another while it can "
	  "be read; rota tries again by itself" },
	{ "Input/output",
	  "the disk fails: look in the kernel's log, and copy the data directory to another while it "
	  "can be read; rota tries again by itself" },
	{ "locked", "another program holds it: end that one (`fuser` names it); rota goes on by itself" },
	{ "ermission", "give the directory back to the user rota runs as, and the right to write to it" },
	{ "Too many open files",
	  "raise LimitNOFILE= of the service (`ulimit -n`); rota tries again by itself" },
	{ "Resource temporarily",
	  "there are too many processes: raise TasksMax= or LimitNPROC= of the service "
	  "(`ulimit -u`), or lower `slots`; rota tries again by itself" },
	{ "emory",
	  "there is too little memory: lower `slots`, or give the machine or the service more; rota tries "
	  "again by itself" },
	{ "Not a directory",
	  "something else is where the directory should be: move it away; rota tries again by "
	  "itself" },
	{ "No such file", "put it back; rota tries again by itself" },
};

const char *check_advice(const char *text)
{
	for (unsigned i = 0; i < ARRAY_LEN(remedies); i++)
		if (strstr(text, remedies[i].word))
			return remedies[i].advice;
	return "see to what it says; rota tries again by itself";
}

void check_disk(struct buf *out, const char *path)
{
	struct statvfs fs;
	if (statvfs(path, &fs)) {
		check_add(out, CHECK_FAIL, "disk", check_advice(strerror(errno)),
			  "%s cannot be looked at: %s", path, strerror(errno));
		return;
	}
	uint64_t room = (uint64_t)fs.f_bavail * fs.f_frsize;
	enum check_state state = room < ROOM_FAIL ? CHECK_FAIL : room < ROOM_WARN ? CHECK_WARN : CHECK_OK;
	if (fs.f_flag & ST_RDONLY)
		check_add(out, CHECK_FAIL, "disk", check_advice("Read-only"),
			  "%s is on a read-only file system", path);
	else
		check_add(out, state, "disk",
			  state ? "make room: without it nothing can be recorded, and nothing runs" : NULL,
			  "%llu MiB free for %s", (unsigned long long)(room >> 20), path);
}

void check_directory(struct buf *out, const char *what, const char *path)
{
	struct stat st;
	if (stat(path, &st))
		check_add(out, errno == ENOENT ? CHECK_WARN : CHECK_FAIL, what,
			  errno == ENOENT ? "`rota serve` makes it" : check_advice(strerror(errno)), "%s: %s",
			  path, strerror(errno));
	else if (!S_ISDIR(st.st_mode))
		check_add(out, CHECK_FAIL, what, "give another with --data, or move it away",
			  "%s: not a directory", path);
	else if (access(path, R_OK | W_OK | X_OK))
		check_add(out, CHECK_FAIL, what, check_advice(strerror(errno)), "%s: %s", path,
			  strerror(errno));
	else if (st.st_mode & 077)
		check_add(out, CHECK_WARN, what, "chmod 700 keeps others out of documents and logs",
			  "%s can be looked into by others", path);
	else
		check_add(out, CHECK_OK, what, NULL, "%s", path);
}
