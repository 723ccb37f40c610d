/* Reads the forms of secrets from shims, and masks texts and values. */
#include "exec/masks.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "runfile/read.h"
#include "sys/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- from the shim --- */

static enum err parse(struct str text, struct mask_forms *ret)
{
	uint32_t n;
	while (text.n) {
		if (text.n < sizeof n)
			return E_IO;
		memcpy(&n, text.p, sizeof n);
		text = str_from(text, sizeof n);
		if (n > text.n)
			return E_IO;
		if (!mask_forms_add_one(ret, text.p, n))
			return E_NOMEM;
		text = str_from(text, n);
	}
	return OK;
}

static enum err read_forms(int fd, struct mask_forms *ret)
{
	struct stat st;
	if (fstat(fd, &st) != 0 || st.st_size > (off_t)MASK_BYTES_MAX + (off_t)MASK_FORMS_MAX * 4)
		return E_IO;
	size_t size = (size_t)st.st_size;
	char *text = malloc(size + 1);
	if (!text)
		return E_NOMEM;
	ssize_t n = pread(fd, text, size, 0);
	enum err e = n == (ssize_t)size ? parse((struct str){ text, size }, ret) : E_IO;
	explicit_bzero(text, size);
	free(text);
	return e;
}

/* Whether the process is still the shim of the run file, so that its descriptors are those of the shim. */
static bool is_shim(const struct runfile *f)
{
	struct proc p;
	return proc_read((pid_t)f->pid, &p) && p.start == f->start && !p.dead;
}

static enum err read_attempt(const char *runs, uint64_t run, unsigned attempt, struct masks *m)
{
	struct runfile f = { 0 };
	enum run_life life;
	struct why why;
	char path[64], target[64];
	if (runfile_read(runs, run, attempt, &life, &f, &why))
		return E_BUSY;
	if (life != LIFE_ALIVE)
		return E_GONE;
	snprintf(path, sizeof path, "/proc/%lld/fd/%d", (long long)f.pid, RUN_MASKS_FD);
	ssize_t n = readlink(path, target, sizeof target - 1);
	int fd = n < 0 ? -1 : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int error = errno;
	if (!is_shim(&f)) {
		if (fd >= 0)
			close(fd);
		return E_GONE;
	}
	/* Shims of earlier versions, and shims whose agent is not executed yet, have no such descriptor. */
	if (fd < 0)
		return error == ENOENT ? OK : E_BUSY;
	static const char name[] = "/memfd:" RUN_MASKS_NAME;
	target[n] = 0;
	enum err e = !strncmp(target, name, sizeof name - 1) ? read_forms(fd, &m->forms) : OK;
	close(fd);
	return e == E_IO ? E_BUSY : e;
}

enum err masks_open(const char *runs, uint64_t run, unsigned attempt, struct masks *ret)
{
	struct masks m = { 0 };
	enum err e = read_attempt(runs, run, attempt & ~(unsigned)RUN_CHECK, &m);
	enum err check = !e || e == E_GONE ? read_attempt(runs, run, attempt | RUN_CHECK, &m) : OK;
	if (check != E_GONE)
		e = check ? check : e == E_GONE ? OK : e;
	if (!e && redact_init(&m.redact, m.forms.item, m.forms.n) != 0)
		e = E_NOMEM;
	if (e)
		mask_forms_free(&m.forms);
	else
		*ret = m;
	return e;
}

void masks_close(struct masks *m)
{
	redact_free(&m->redact);
	mask_forms_free(&m->forms);
	*m = (struct masks){ 0 };
}

/* --- texts and values --- */

static void append(void *ctx, const char *p, size_t n)
{
	buf_add(ctx, (struct str){ p, n });
}

enum err masks_apply(struct masks *m, struct arena *a, struct str *text)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	if (text->n < SECRET_BYTES_MIN) /* neither a secret nor a key is so short */
		return OK;
	redact_reset(&m->redact);
	for (size_t at = 0; at < text->n; at += REDACT_PIECE) {
		size_t n = text->n - at < REDACT_PIECE ? text->n - at : REDACT_PIECE;
		redact(&m->redact, text->p + at, n, append, &out);
	}
	redact_end(&m->redact, append, &out);
	if (out.failed)
		return E_NOMEM;
	if (str_eq(buf_str(&out), *text))
		return OK;
	const char *copy = arena_dup(a, buf_str(&out));
	if (copy)
		*text = (struct str){ copy, out.n };
	return copy ? OK : E_NOMEM;
}

/* A number becomes a text if its digits are a secret. */
static enum err apply_number(struct masks *m, struct arena *a, struct val *v)
{
	_cleanup_(buf_free) struct buf digits = { 0 };
	json_write(&digits, v);
	struct str text = buf_str(&digits);
	enum err e = digits.failed ? E_NOMEM : masks_apply(m, a, &text);
	if (!e && text.p != digits.p) {
		v->kind = VAL_STR;
		v->str = text;
	}
	return e;
}

/* Recurses as deep as the value is, which the reader of JSON bounds. */
enum err masks_apply_val(struct masks *m, struct arena *a, struct val *v)
{
	enum err e = OK;
	if (v->kind == VAL_STR)
		return masks_apply(m, a, &v->str);
	if (v->kind == VAL_INT || v->kind == VAL_FLOAT)
		return apply_number(m, a, v);
	for (unsigned i = 0; v->kind == VAL_LIST && i < v->list.n && !e; i++)
		e = masks_apply_val(m, a, &v->list.item[i]);
	for (unsigned i = 0; v->kind == VAL_MAP && i < v->map.n && !e; i++) {
		e = masks_apply(m, a, &v->map.pair[i].key);
		if (!e)
			e = masks_apply_val(m, a, &v->map.pair[i].value);
	}
	return e;
}
