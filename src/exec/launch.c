/* Writes the request to the launcher into a sealed memfd. */
#include "exec/launch.h"
#include "port/launch.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static void add_item(struct buf *b, uint32_t *items, enum launch_field field, struct str s)
{
	static const char zeros[8];
	struct launch_item it = { (uint32_t)field, (uint32_t)s.n };
	size_t pad = launch_item_size(s.n) - sizeof it - s.n;
	if (s.n > LAUNCH_BYTES_MAX)
		b->failed = true;
	buf_add(b, (struct str){ (const char *)&it, sizeof it });
	buf_add(b, s);
	buf_add(b, (struct str){ zeros, pad });
	++*items;
}

static void add_text(struct buf *b, uint32_t *items, enum launch_field field, const char *text)
{
	if (text)
		add_item(b, items, field, str_of(text));
}

static void add_list(struct buf *b, uint32_t *items, enum launch_field field, const char *const *list)
{
	for (; list && *list; list++)
		add_text(b, items, field, *list);
}

/* Adds a variable that names a file of the attempt. */
static void add_path(struct buf *b, uint32_t *items, const char *name, const char *runs, uint64_t run,
		     unsigned attempt, const char *kind)
{
	_cleanup_(buf_free) struct buf entry = { 0 };
	buf_addf(&entry, "%s=", name);
	runfile_path(&entry, runs, run, attempt, kind);
	add_item(b, items, FIELD_ENV, buf_str(&entry));
	b->failed |= entry.failed;
}

static unsigned list_length(const char *const *list)
{
	unsigned n = 0;
	while (list && list[n])
		n++;
	return n;
}

static unsigned fetch_words(const struct launch *l)
{
	unsigned n = 0;
	for (unsigned i = 0; i < l->fetches; i++)
		n += list_length(l->fetch[i].command) + 1;
	return n;
}

static enum err to_memfd(struct buf *b, int *ret, struct why *why)
{
	if (b->failed)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "cannot pass the run to the launcher: %s",
			       strerror(ENOMEM));
	if (b->n > LAUNCH_BYTES_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE,
			       "arguments, environment, input and context are larger than %u bytes together",
			       LAUNCH_BYTES_MAX);
	int fd = memfd_create("rota-run", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int e = fd < 0 ? errno : write_all(fd, b->p, b->n);
	if (!e && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		e = errno;
	if (e) {
		if (fd >= 0)
			close(fd);
		return why_set(why, E_IO, WHY_NOWHERE, "cannot pass the run to the launcher: %s",
			       strerror(e));
	}
	*ret = fd;
	return OK;
}

/* Fills in the head, now that the number of items is known. */
static enum err finish_request(struct buf *b, const struct launch_head *h, int *ret, struct why *why)
{
	if (!b->failed)
		memcpy(b->p, h, sizeof *h);
	enum err e = to_memfd(b, ret, why);
	if (b->p)
		explicit_bzero(b->p, b->n); /* it may contain secrets */
	buf_free(b);
	return e;
}

static struct launch_head begin_request(struct buf *b, uint64_t run, unsigned attempt)
{
	struct launch_head h = {
		.magic = LAUNCH_MAGIC, .version = LAUNCH_VERSION, .attempt = (uint16_t)attempt, .run = run
	};
	buf_add(b, (struct str){ (const char *)&h, sizeof h });
	return h;
}

enum err launch_render(const struct launch_place *at, uint64_t run, unsigned attempt, const struct launch *l,
		       int *ret, struct why *why)
{
	struct buf b = { 0 };
	struct launch_head h = begin_request(&b, run, attempt);
	if (!l->argv || !l->argv[0]) {
		buf_free(&b);
		return why_set(why, E_INPUT, WHY_NOWHERE, "there is no program to run");
	}
	unsigned words = 0;
	for (const char *const *const *script = l->scripts; script && *script; script++)
		words += list_length(*script) + 1;
	if (list_length(l->argv) > LAUNCH_ARGS_MAX || words > LAUNCH_ARGS_MAX ||
	    list_length(l->files) > LAUNCH_FILES_MAX || list_length(l->env) + 2 > LAUNCH_ENV_MAX ||
	    l->secrets > SECRETS_MAX || l->fetches > FETCHES_MAX || fetch_words(l) > FETCH_WORDS_MAX) {
		buf_free(&b);
		return why_set(
			why, E_LIMIT, WHY_NOWHERE,
			"the run has more than %u arguments or expected files, %u variables or %u secrets",
			LAUNCH_ARGS_MAX, LAUNCH_ENV_MAX, FETCHES_MAX);
	}
	bool sized = l->log_head || l->log_tail;
	h.flags = at->flush ? LAUNCH_FLUSH : 0;
	h.timeout = l->timeout;
	h.stall = l->stall;
	h.grace = l->grace;
	h.start_by = l->start_by.us;
	h.log_head = sized ? l->log_head : LAUNCH_LOG_HEAD;
	h.log_tail = sized ? l->log_tail : LAUNCH_LOG_TAIL;
	add_text(&b, &h.items, FIELD_RUNS, at->runs);
	add_text(&b, &h.items, FIELD_CWD, l->cwd);
	add_text(&b, &h.items, FIELD_CGROUP, at->cgroup);
	add_text(&b, &h.items, FIELD_LEASE, at->lease);
	if (l->input.n)
		add_item(&b, &h.items, FIELD_STDIN, l->input);
	if (l->out)
		add_item(&b, &h.items, FIELD_OUT, STR(""));
	if (l->err)
		add_item(&b, &h.items, FIELD_ERR, STR(""));
	add_list(&b, &h.items, FIELD_ARG, l->argv);
	add_list(&b, &h.items, FIELD_ENV, l->env);
	add_list(&b, &h.items, FIELD_FILE, l->files);
	for (const char *const *const *script = l->scripts; script && *script; script++) {
		add_text(&b, &h.items, FIELD_SCRIPT, (*script)[0]);
		add_list(&b, &h.items, FIELD_WORD, *script + 1);
	}
	add_path(&b, &h.items, "ROTA_OUTBOX", at->runs, run, attempt, "box");
	if (l->context.p) {
		add_item(&b, &h.items, FIELD_CONTEXT, l->context);
		add_path(&b, &h.items, "ROTA_CONTEXT", at->runs, run, attempt, "ctx");
	}
	for (unsigned i = 0; i < l->secrets; i++)
		add_item(&b, &h.items, FIELD_SECRET, l->secret[i]);
	for (unsigned i = 0; i < l->fetches; i++) {
		add_text(&b, &h.items, FIELD_FETCH, l->fetch[i].name);
		add_text(&b, &h.items, FIELD_FETCH_FILE, l->fetch[i].file);
		add_list(&b, &h.items, FIELD_FETCH_WORD, l->fetch[i].command);
	}
	return finish_request(&b, &h, ret, why);
}

enum err launch_render_sweep(const struct launch_place *at, const struct runfile *f, uint64_t run,
			     unsigned attempt, int *ret, struct why *why)
{
	struct buf b = { 0 };
	char mark[sizeof RUN_MARK_NAME + sizeof f->mark];
	struct launch_head h = begin_request(&b, run, attempt);
	h.agent = f->agent;
	h.agent_start = f->agent_start;
	h.flags = f->secrets ? LAUNCH_SECRETS : 0;
	add_text(&b, &h.items, FIELD_RUNS, at->runs);
	if (f->cgroup[0])
		add_text(&b, &h.items, FIELD_CGROUP, f->cgroup);
	snprintf(mark, sizeof mark, "%s=%s", RUN_MARK_NAME, f->mark);
	if (strlen(f->mark) == RUN_MARK_BYTES - 1) /* a shorter mark might match other processes */
		add_text(&b, &h.items, FIELD_ENV, mark);
	return finish_request(&b, &h, ret, why);
}
