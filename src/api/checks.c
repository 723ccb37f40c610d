/* Checks of the installation that work with and without a daemon, and what to do about errors. */
#include "api/checks.h"

#include "base/json.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

const char *const check_state_words[] = { [CHECK_OK] = "ok", [CHECK_WARN] = "warn", [CHECK_FAIL] = "fail" };

enum { FREE_WARN = 512 << 20, FREE_FAIL = 32 << 20 }; /* bytes */

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

/* What to do about an error whose text contains `word`; the first match is used. */
#define DISK_READ_ONLY                                                                                       \
	"its disk is read-only: see the kernel's log for the reason, and mount it writable; rota continues " \
	"by itself"
#define DISK_FAILS                                                                                           \
	"the disk fails: see the kernel's log, and copy the data directory to another disk while it can be " \
	"read; "                                                                                             \
	"rota retries by itself"
static const struct {
	const char *word, *advice;
} remedies[] = {
	{ "malformed", "the database is damaged, and rota writes nothing more to it: stop rota, move the "
		       "data directory away, "
		       "and restore a backup (`rota restore`)" },
	{ "not a database", "another program has overwritten the database: move it away, and restore a "
			    "backup (`rota restore`)" },
	{ "newer rota", "install that version again, or restore a backup made before it (`rota restore`)" },
	{ "another program", "choose another directory with --data" },
	{ "full", "free some space on its disk; rota continues by itself" },
	{ "No space", "free some space on its disk; rota continues by itself" },
	{ "quota", "raise the quota, or free some space; rota continues by itself" },
	{ "ead-only", DISK_READ_ONLY },
	{ "readonly", DISK_READ_ONLY },
	{ "I/O error", DISK_FAILS },
	{ "Input/output", DISK_FAILS },
	{ "locked", "another program has locked the database: end that program (`fuser` finds it); rota "
		    "continues by itself" },
	{ "ermission", "give the user that rota runs as ownership of the directory, and write permission" },
	{ "Too many open files", "raise LimitNOFILE= of the service (`ulimit -n`); rota retries by itself" },
	{ "Resource temporarily", "there are too many processes: raise TasksMax= or LimitNPROC= of the "
				  "service (`ulimit -u`), or lower "
				  "`slots`; rota retries by itself" },
	{ "emory", "there is too little memory: lower `slots`, or give the machine or the service more; rota "
		   "retries by "
		   "itself" },
	{ "Not a directory",
	  "something else is where the directory should be: move it away; rota retries by itself" },
	{ "No such file", "put it back; rota retries by itself" },
};

const char *check_advice(const char *text)
{
	for (unsigned i = 0; i < ARRAY_LEN(remedies); i++)
		if (strstr(text, remedies[i].word))
			return remedies[i].advice;
	return "fix the cause named here; rota retries by itself";
}

/* As statvfs; if the path does not exist yet, the nearest directory above it that exists, on whose disk it
 * will be. */
static int disk_of(const char *path, struct statvfs *ret)
{
	char above[PATH_MAX];
	if ((size_t)snprintf(above, sizeof above, "%s", path) >= sizeof above) {
		errno = ENAMETOOLONG;
		return -1;
	}
	for (;;) {
		char *slash = strrchr(above, '/');
		if (!statvfs(above, ret))
			return 0;
		if (errno != ENOENT || !slash)
			return -1;
		slash[slash == above] = '\0'; /* the root keeps its slash */
	}
}

void check_disk(struct buf *out, const char *path)
{
	struct statvfs fs;
	if (disk_of(path, &fs)) {
		check_add(out, CHECK_FAIL, "disk", check_advice(strerror(errno)), "cannot inspect %s: %s",
			  path, strerror(errno));
		return;
	}
	uint64_t bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	enum check_state state = bytes < FREE_FAIL ? CHECK_FAIL : bytes < FREE_WARN ? CHECK_WARN : CHECK_OK;
	if (fs.f_flag & ST_RDONLY)
		check_add(out, CHECK_FAIL, "disk", check_advice("Read-only"),
			  "%s is on a read-only file system", path);
	else
		check_add(out, state, "disk",
			  state ? "free some space: without it rota can record nothing, and starts no runs"
				: NULL,
			  "%llu MiB free for %s", (unsigned long long)(bytes >> 20), path);
}

void check_directory(struct buf *out, const char *what, const char *path)
{
	struct stat st;
	if (stat(path, &st))
		check_add(out, errno == ENOENT ? CHECK_OK : CHECK_FAIL, what,
			  errno == ENOENT ? "`rota serve` creates it" : check_advice(strerror(errno)),
			  "%s%s%s", path, errno == ENOENT ? "" : ": ",
			  errno == ENOENT ? " does not exist yet" : strerror(errno));
	else if (!S_ISDIR(st.st_mode))
		check_add(out, CHECK_FAIL, what, "choose another directory with --data, or move it away",
			  "%s: not a directory", path);
	else if (st.st_uid != geteuid())
		check_add(out, CHECK_FAIL, what, "run rota as its owner, or choose another with --data",
			  "%s belongs to another user", path);
	else if (st.st_mode & 022)
		check_add(out, CHECK_FAIL, what,
			  "`chmod go-w` it: a user who can write there chooses what rota executes",
			  "%s can be written by other users", path);
	else if (access(path, R_OK | W_OK | X_OK))
		check_add(out, CHECK_FAIL, what, check_advice(strerror(errno)), "%s: %s", path,
			  strerror(errno));
	else if (st.st_mode & 077)
		check_add(out, CHECK_WARN, what,
			  "`chmod 700` keeps other users from reading documents and logs",
			  "%s can be read by other users", path);
	else
		check_add(out, CHECK_OK, what, NULL, "%s", path);
}
