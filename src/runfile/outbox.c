/* Adds reports to an outbox, and reads them. */
#include "runfile/outbox.h"
#include "base/json.h"
#include "core/when/iso.h"
#include "runfile/read.h"
#include "runfile/tail.h"
#include "sys/clock.h"
#include "sys/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const report_words[] = {
	[REPORT_FAIL] = "fail", [REPORT_STEP] = "step", [REPORT_NOTE] = "note", [REPORTS] = NULL
};

bool report_kind_find(struct str word, enum report_kind *ret)
{
	for (unsigned i = 0; i < REPORTS; i++)
		if (str_eq(word, str_of(report_words[i]))) {
			*ret = (enum report_kind)i;
			return true;
		}
	return false;
}

/* `fd`: the outbox, which is closed, or minus the errno of opening it. */
static enum err add_report(int fd, enum report_kind kind, struct str text, struct why *why)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	char now[ISO_SIZE];
	struct stat st = { 0 };
	buf_addf(&line, "{\"report\":\"%s\",\"text\":", report_words[kind]);
	json_write_str(&line, text);
	buf_addf(&line, ",\"at\":\"%s\"}\n", iso_format_utc(wall_seconds(clock_wall()), now));
	bool full = kind != REPORT_FAIL && fd >= 0 && fstat(fd, &st) == 0 && st.st_size > OUTBOX_BYTES_MAX;
	/* One write, so that lines of several processes do not mix. */
	ssize_t n = fd < 0 || full || line.failed ? -1 : write(fd, line.p, line.n);
	int error = fd < 0 ? -fd : n < 0 ? errno : n < (ssize_t)line.n ? ENOSPC : 0;
	if (fd >= 0)
		close(fd);
	if (line.failed)
		return E_NOMEM;
	if (full)
		return why_set(why, E_LIMIT, WHY_NOWHERE,
			       "this run has already reported %u bytes; only failures are accepted now",
			       OUTBOX_BYTES_MAX);
	return error ? why_set(why, E_IO, WHY_NOWHERE, "cannot write the outbox of the run: %s",
			       data_file_error(error))
		     : OK;
}

static enum err check_text(struct str text, struct why *why)
{
	if (text.n <= OUTBOX_TEXT_MAX)
		return OK;
	return why_set(why, E_LIMIT, WHY_NOWHERE, "the text has %zu bytes; a report may have at most %u",
		       text.n, OUTBOX_TEXT_MAX);
}

enum { APPEND = O_WRONLY | O_APPEND | O_CREAT };

enum err outbox_add(const char *path, enum report_kind kind, struct str text, struct why *why)
{
	enum err e = check_text(text, why);
	return e ? e : add_report(data_file_open(AT_FDCWD, path, APPEND), kind, text, why);
}

enum err outbox_add_run(const char *runs, uint64_t run, unsigned attempt, enum report_kind kind,
			struct str text, struct why *why)
{
	enum err e = check_text(text, why);
	return e ? e : add_report(runfile_open(runs, run, attempt, "box", APPEND), kind, text, why);
}

static struct str string_of(const struct val *map, const char *key)
{
	const struct val *v = val_get(map, str_of(key));
	return v && v->kind == VAL_STR ? v->str : (struct str){ 0 };
}

static bool read_line(struct str line, struct arena *a, struct report *ret)
{
	enum report_kind kind;
	struct val v;
	struct why why;
	if (json_read(line, a, &v, &why) || v.kind != VAL_MAP)
		return false;
	if (!report_kind_find(string_of(&v, "report"), &kind))
		return false;
	*ret = (struct report){ (uint8_t)kind, string_of(&v, "text"), string_of(&v, "at") };
	return true;
}

enum err outbox_read(const char *runs, uint64_t run, unsigned attempt, struct arena *a, struct report **ret,
		     unsigned *n, struct why *why)
{
	struct str all, line;
	unsigned lines = 0;
	enum err e = runfile_tail(runs, run, attempt, "box", 2 * OUTBOX_BYTES_MAX, a, &all, why);
	if (e)
		return e;
	for (struct str rest = all; str_line(&rest, &line);)
		lines++;
	struct report *list = arena_alloc(a, (lines + 1) * sizeof *list);
	if (!list)
		return E_NOMEM;
	*n = 0;
	while (str_line(&all, &line))
		*n += read_line(line, a, &list[*n]);
	*ret = list;
	return OK;
}

const struct report *outbox_last(const struct report *list, unsigned n, enum report_kind kind)
{
	while (n > 0)
		if (list[--n].kind == kind)
			return &list[n];
	return NULL;
}
