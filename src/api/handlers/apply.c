#include "api/handlers/apply.h"

#include "api/json_out.h"
#include "api/schedule_put.h"
#include "cli/remote.h"
#include "cli/table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The whole path, for the daemon and whoever looks later are elsewhere: of its directory, for the file may be
 * gone, or be a link that is another tomorrow. */
static enum err add_path(struct op_call *call, const char *path, struct buf *out)
{
	struct stat st;
	bool below = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	const char *slash = below ? NULL : strrchr(path, '/');
	const char *dir =
		below    ? path
		: !slash ? "."
			 : arena_printf(call->arena, "%.*s", slash > path ? (int)(slash - path) : 1, path);
	char *whole = dir ? realpath(dir, NULL) : NULL;
	if (!whole)
		return why_set(call->why, E_IO, WHY_NOWHERE, "cannot find %.150s: %s", path, strerror(errno));
	const char *text = arena_printf(call->arena, "%s/%s", strcmp(whole, "/") ? whole : "",
					below   ? ""
					: slash ? slash + 1
						: path);
	free(whole);
	json_write_str(out, str_of(text ? text : ""));
	return text ? OK : E_NOMEM;
}

static enum err add_file(struct op_call *call, const char *path, bool whole, struct buf *out)
{
	if (!whole)
		return add_path(call, path, out);
	json_write_str(out, str_of(path));
	return OK;
}

/* Schedules, and behind them agents. */
static const struct docs_item *item_at(const struct docs *d, unsigned i)
{
	return i < d->schedules.n ? &d->schedules.item[i] : &d->agents.item[i - d->schedules.n];
}

enum err apply_body(struct op_call *call, const struct docs *docs, bool dry_run, bool whole,
		    const char *const *prune, unsigned n, const char *gone, struct buf *out)
{
	unsigned all = docs->schedules.n + docs->agents.n;
	enum err e = OK;
	buf_addf(out, "{\"dry_run\":%s,\"files\":[", dry_run ? "true" : "false");
	for (unsigned i = 0; i < all && !e; i++) {
		if (i && item_at(docs, i)->file == item_at(docs, i - 1)->file)
			continue;
		buf_add(out, i ? STR(",") : STR(""));
		e = add_file(call, item_at(docs, i)->file, whole, out);
	}
	buf_add(out, STR("],\"places\":["));
	for (unsigned i = 0, file = 0; i < all; i++) {
		file += i && item_at(docs, i)->file != item_at(docs, i - 1)->file;
		buf_addf(out, "%s[%u,%u]", i ? "," : "", file, item_at(docs, i)->line);
	}
	buf_add(out, STR("],\"prune\":["));
	for (unsigned i = 0; i < n && !e; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		e = add_file(call, prune[i], whole, out);
	}
	if (gone && !e) {
		buf_add(out, STR("],\"gone\":["));
		e = add_path(call, gone, out);
	}
	buf_add(out, STR("],\"documents\":["));
	for (unsigned i = 0; i < all; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		buf_add(out, item_at(docs, i)->text);
	}
	buf_add(out, STR("]}"));
	return e ? e : out->failed ? E_NOMEM : OK;
}

enum err apply_error(struct op_call *call, const struct val *answer)
{
	const struct val *error = val_get(answer, STR("error"));
	const char *code = error ? val_text(call->arena, error, "code") : NULL;
	return code ? why_set(call->why, err_named(str_of(code)), WHY_NOWHERE, "not all were applied: %.200s",
			      val_text(call->arena, error, "detail"))
		    : OK;
}

/* Only the daemon knows the agents, and only this side the places. */
static void warn_of_blocked(struct op_call *call, const struct docs *docs, const struct val *answer)
{
	const struct val *list = val_get(answer, STR("schedules"));
	const struct docs_list *all = &docs->schedules;
	unsigned warnings = 0;
	for (unsigned i = 0; list && i < list->list.n && i < all->n && warnings < DOC_WARNINGS_MAX; i++)
		warnings += put_warn(call, &list->list.item[i], str_of(all->item[i].file), all->item[i].line);
	if (warnings == DOC_WARNINGS_MAX)
		docs_more_warnings();
}

enum err op_apply(struct op_call *call)
{
	const struct arg *file = op_arg(call, "file");
	_cleanup_(docs_free) struct docs docs = { .may_be_empty = op_arg(call, "prune")->given };
	_cleanup_(buf_free) struct buf body = { 0 };
	struct str text;
	struct val answer;
	if (!file->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "apply needs a file or a directory: %s",
			       call->op->example);
	enum err e = docs_path(call, file->text.p, &docs);
	if (!e)
		e = apply_body(call, &docs, op_arg(call, "dry-run")->given, false, &file->text.p,
			       op_arg(call, "prune")->given, NULL, &body);
	if (!e)
		e = remote_ask(call, buf_str(&body), &text, &answer);
	if (e)
		return e;
	remote_show(call, text, &answer);
	warn_of_blocked(call, &docs, &answer);
	return apply_error(call, &answer);
}

/* One line: what is long, such as a prompt, is cut. */
static void print_value(struct op_call *call, const struct val *v)
{
	enum { SHOWN = 120 };
	struct buf text = { 0 };
	json_write(&text, v);
	size_t n = text.n < SHOWN ? text.n : SHOWN;
	while (n < text.n && n > 0 && ((unsigned char)text.p[n] & 0xC0) == 0x80)
		n--;
	print_safe(call->out, str_sub(buf_str(&text), 0, n));
	if (n < text.n)
		fprintf(call->out, "... (%zu bytes)", text.n);
	buf_free(&text);
}

static const struct {
	const char *result, *sign, *words;
} signs[] = { { "added", "+", "added" },
	      { "changed", "~", "changed" },
	      { "removed", "-", "removed" },
	      { "not_applied", "!", "not applied" },
	      { "not_removed", "!", "not removed" },
	      { "unchanged", "=", "unchanged" } };
enum { REMOVED = 2, LEFT, LEFT_THERE, UNCHANGED };

static void show_changes(struct op_call *call, const struct val *changes, const char *name)
{
	for (unsigned c = 0; changes && c < changes->list.n; c++) {
		const struct val *one = &changes->list.item[c];
		const struct val *from = val_get(one, STR("from")), *to = val_get(one, STR("to"));
		if (!strcmp(val_text(call->arena, one, "key"), name))
			continue;
		fprintf(call->out, "    %s: ", val_text(call->arena, one, "key"));
		if (from->kind != VAL_NULL)
			print_value(call, from);
		fputs(from->kind != VAL_NULL ? " -> " : "", call->out);
		if (to->kind != VAL_NULL)
			print_value(call, to);
		else
			fputs("(removed)", call->out);
		fputc('\n', call->out);
	}
}

static void show_line(struct op_call *call, unsigned k, const char *kind, const char *name)
{
	fprintf(call->out, "%s %s", signs[k].sign, kind);
	print_safe(call->out, str_of(name));
	fprintf(call->out, ": %s\n", signs[k].words);
}

/* A diff: of what stays as it is only the number is told, if there is much of it. */
static void show_list(struct op_call *call, const struct val *list, const char *kind, const char *name,
		      unsigned count[ARRAY_LEN(signs)])
{
	for (unsigned i = 0; list && i < list->list.n; i++) {
		const struct val *s = &list->list.item[i];
		const char *result = val_text(call->arena, s, "result");
		unsigned k = 0;
		while (k + 1 < ARRAY_LEN(signs) && strcmp(signs[k].result, result) != 0)
			k++;
		count[k]++;
		if (k != UNCHANGED || list->list.n <= 20)
			show_line(call, k, kind, val_text(call->arena, s, name));
		show_changes(call, val_get(s, STR("changes")), name);
	}
}

void show_applied(struct op_call *call, const struct val *v)
{
	unsigned count[ARRAY_LEN(signs)] = { 0 };
	show_list(call, val_get(v, STR("agents")), "agent ", "name", count);
	show_list(call, val_get(v, STR("schedules")), "", "id", count);
	const struct val *dry = val_get(v, STR("dry_run"));
	fprintf(call->out, "%u added, %u changed, %u unchanged", count[0], count[1], count[UNCHANGED]);
	for (unsigned k = REMOVED; k < UNCHANGED; k++)
		if (count[k])
			fprintf(call->out, ", %u %s", count[k], signs[k].words);
	fputs(dry && dry->boolean ? "; nothing was applied (--dry-run)\n" : "\n", call->out);
}
