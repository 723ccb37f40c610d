/* Adds reports to an outbox, and reads them. */
#include "runfile/outbox.h"
#include "base/json.h"
#include "core/when/iso.h"
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

enum err outbox_add(const char *path, enum report_kind kind, struct str text, struct why *why)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	char now[ISO_SIZE];
	struct stat st = { 0 };
	if (text.n > OUTBOX_TEXT_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE,
			       "the text has %zu bytes; a report may have at most %u", text.n,
			       OUTBOX_TEXT_MAX);
	if (kind != REPORT_FAIL && stat(path, &st) == 0 && st.st_size > OUTBOX_BYTES_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE,
			       "this run has already reported %u bytes; only failures are accepted now",
			       OUTBOX_BYTES_MAX);
	buf_addf(&line, "{\"report\":\"%s\",\"text\":", report_words[kind]);
	json_write_str(&line, text);
	buf_addf(&line, ",\"at\":\"%s\"}\n", iso_format_utc(wall_seconds(clock_wall()), now));
	if (line.failed)
		return E_NOMEM;
	int fd = data_file_open(AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT);
	/* One write, so that lines of several processes do not mix. */
	ssize_t n = fd < 0 ? -1 : write(fd, line.p, line.n);
	int error = fd < 0 ? -fd : n < 0 ? errno : n < (ssize_t)line.n ? ENOSPC : 0;
	if (fd >= 0)
		close(fd);
	if (error)
		return why_set(why, E_IO, WHY_NOWHERE, "cannot write %.150s: %s", path,
			       data_file_error(error));
	return OK;
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
