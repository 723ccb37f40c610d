/* apply: reads and checks documents, sends them to the daemon, and prints what changed. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "cli/apply_request.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "core/doc/doc.h"

#include <string.h>

/* The daemon's answer says which schedules are blocked. This process knows their files and lines. */
static void warn_of_blocked(struct cli_call *call, const struct documents *docs, const struct val *answer)
{
	const struct val *list = val_get(answer, STR("schedules"));
	const struct document_list *all = &docs->schedules;
	unsigned warnings = 0;
	for (unsigned i = 0; list && i < list->list.n && i < all->n && warnings < DOC_WARNINGS_MAX; i++)
		warnings += warn_if_blocked(call, &list->list.item[i], str_of(all->item[i].file),
					    all->item[i].line);
	if (warnings == DOC_WARNINGS_MAX)
		documents_warn_of_more();
}

enum err verb_apply(struct cli_call *call)
{
	const struct arg *file = op_arg(&call->args, "file");
	_cleanup_(documents_free) struct documents docs = { .may_be_empty =
								    op_arg(&call->args, "prune")->given };
	_cleanup_(buf_free) struct buf body = { 0 };
	struct str text;
	struct val answer;
	if (!file->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "apply needs a file or a directory, for example: %s", call->args.op->example);
	enum err e = documents_read(call, file->text.p, &docs);
	if (!e)
		e = apply_body(call, &docs, op_arg(&call->args, "dry-run")->given, false, &file->text.p,
			       op_arg(&call->args, "prune")->given, NULL, &body);
	if (!e)
		e = remote_ask(call, buf_str(&body), &text, &answer);
	if (e)
		return e;
	remote_show(call, text, &answer);
	warn_of_blocked(call, &docs, &answer);
	return apply_error(call, &answer);
}

/* Prints a value on one line; long values, such as prompts, are cut. */
static void print_value(struct cli_call *call, const struct val *v)
{
	enum { SHOWN = 120 };
	struct buf text = { 0 };
	json_write(&text, v);
	size_t n = text.n < SHOWN ? text.n : SHOWN;
	while (n < text.n && n > 0 && ((unsigned char)text.p[n] & 0xC0) == 0x80)
		n--;
	print_text(call->out, str_sub(buf_str(&text), 0, n));
	if (n < text.n)
		print(call->out, "... (%zu bytes)", text.n);
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

static void print_changes(struct cli_call *call, const struct val *changes, const char *name)
{
	for (unsigned c = 0; changes && c < changes->list.n; c++) {
		const struct val *change = &changes->list.item[c];
		const struct val *from = val_get(change, STR("from")), *to = val_get(change, STR("to"));
		if (!strcmp(val_text(call->arena, change, "key"), name))
			continue;
		print(call->out, "    %s: ", val_text(call->arena, change, "key"));
		if (from->kind != VAL_NULL)
			print_value(call, from);
		print(call->out, "%s", from->kind != VAL_NULL ? " -> " : "");
		if (to->kind != VAL_NULL)
			print_value(call, to);
		else
			print(call->out, "(removed)");
		print(call->out, "\n");
	}
}

static void print_item(struct cli_call *call, unsigned k, const char *kind, const char *name)
{
	print(call->out, "%s %s", signs[k].sign, kind);
	print_text(call->out, str_of(name));
	print(call->out, ": %s\n", signs[k].words);
}

/* Prints a diff. Unchanged items of a long list are counted, but not printed. */
static void print_items(struct cli_call *call, const struct val *list, const char *kind, const char *name,
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
			print_item(call, k, kind, val_text(call->arena, s, name));
		print_changes(call, val_get(s, STR("changes")), name);
	}
}

void show_applied(struct cli_call *call, const struct val *v)
{
	unsigned count[ARRAY_LEN(signs)] = { 0 };
	print_items(call, val_get(v, STR("agents")), "agent ", "name", count);
	print_items(call, val_get(v, STR("schedules")), "", "id", count);
	print(call->out, "%u added, %u changed, %u unchanged", count[0], count[1], count[UNCHANGED]);
	for (unsigned k = REMOVED; k < UNCHANGED; k++)
		if (count[k])
			print(call->out, ", %u %s", count[k], signs[k].words);
	print(call->out, "%s\n", val_is_true(v, "dry_run") ? "; nothing was applied (--dry-run)" : "");
}
