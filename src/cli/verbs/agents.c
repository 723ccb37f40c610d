/* agent check, show and rm; prints agents. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "cli/documents.h"
#include "cli/errors.h"
#include "cli/remote.h"
#include "cli/table.h"

static const char *source_place(struct cli_call *call, const struct val *v)
{
	const char *source = val_text(call->arena, v, "source");
	return source ? arena_printf(call->arena, "%s:%s", source, val_text(call->arena, v, "line")) : NULL;
}

void show_agents(struct cli_call *call, const struct val *v)
{
	static const char *const heading[] = { "AGENT", "RUNNER", "STATE", "FROM" };
	const struct val *list = val_get(v, STR("agents"));
	_cleanup_(table_free) struct table t = table_new(ARRAY_LEN(heading), heading);
	for (unsigned i = 0; list && i < list->list.n; i++) {
		const struct val *a = &list->list.item[i];
		table_row(&t, (const char *[]){ val_text(call->arena, a, "name"),
						val_text(call->arena, a, "runner"),
						val_get(a, STR("blocked")) ? "blocked" : "ready",
						source_place(call, a) });
	}
	if (t.n > 1)
		table_print(&t, call->out);
	else if (op_arg(&call->args, "after")->given)
		print(call->out, "No agents after '%.*s'.\n", STR_SHORT(op_arg(&call->args, "after")->text));
	else
		print(call->out, "No agents. `rota apply -f FILE` adds agents from a file.\n");
	if (val_get(v, STR("after")))
		print(call->out, "More: --after '%s'\n", val_text(call->arena, v, "after"));
}

/* Prints one key per line, and the prompt last, unchanged. */
static void print_definition(struct cli_call *call, const struct val *d)
{
	const struct val *prompt = val_get(d, STR("prompt"));
	for (unsigned i = 0; i < d->map.n; i++) {
		const struct val_pair *p = &d->map.pair[i];
		struct buf text = { 0 };
		if (&p->value == prompt || str_eq(p->key, STR("name")))
			continue;
		json_write(&text, &p->value);
		print(call->out, "  %.*s: ", STR_ARG(p->key));
		print_text(call->out, p->value.kind == VAL_STR ? p->value.str : buf_str(&text));
		print(call->out, "\n");
		buf_free(&text);
	}
	if (!prompt || prompt->kind != VAL_STR)
		return;
	struct str rest = prompt->str, line;
	print(call->out, "  prompt:\n");
	while (str_line(&rest, &line)) {
		print(call->out, "    ");
		print_text(call->out, line);
		print(call->out, "\n");
	}
}

void show_agent(struct cli_call *call, const struct val *v)
{
	const struct val *d = val_get(v, STR("definition"));
	const char *blocked = val_text(call->arena, v, "blocked"), *from = val_text(call->arena, v, "source");
	print(call->out, "agent ");
	print_text(call->out, str_of(val_text(call->arena, v, "name")));
	print(call->out, ": %s\n", blocked ? "blocked" : "ready");
	if (blocked)
		print(call->out, "  blocked: %s\n", blocked);
	if (from) {
		print(call->out, "  from: ");
		print_text(call->out, str_of(from));
		print(call->out, ", line %s\n", val_text(call->arena, v, "line"));
	}
	if (d && d->kind == VAL_MAP)
		print_definition(call, d);
}

static void add_error_json(struct cli_call *call, const char *file, struct buf *out)
{
	const struct why *why = call->why;
	buf_add(out, out->n ? STR(",{\"file\":") : STR("{\"file\":"));
	json_write_str(out, str_of(file));
	if (call->source_name && why->at != WHY_NOWHERE) {
		struct place p = place_of(call->source, why->at);
		buf_addf(out, ",\"line\":%u,\"column\":%u", p.line, p.column);
	}
	json_add_str(out, "text", str_of(why->text));
	buf_addc(out, '}');
}

static void print_checked(struct cli_call *call, const struct document *item)
{
	struct val document;
	const struct val *d = NULL;
	if (json_read(item->text, call->arena, &document, NULL) == OK)
		d = val_get(&document, STR("agent"));
	print_text(call->out, item->id);
	print(call->out, ": ");
	print_text(call->out, str_of(item->file));
	print(call->out, ", line %u\n", item->line);
	if (d)
		print_definition(call, d);
}

static enum err check_files(struct cli_call *call, const struct arg *files)
{
	_cleanup_(documents_free) struct documents docs = { 0 };
	_cleanup_(buf_free) struct buf errors = { 0 };
	enum err first = OK;
	unsigned bad = 0;
	for (unsigned i = 0; i < files->count; i++) {
		const char *path = files->word[i].p;
		unsigned before = docs.agents.n;
		enum err e = documents_read_file(call, path, false, &docs);
		if (!e && docs.agents.n == before)
			e = why_set(call->why, E_INPUT, WHY_NOWHERE, "%.150s has no agent", path);
		if (!e)
			continue;
		add_error_json(call, path, &errors);
		bad++;
		first = first ? first : e;
		if (files->count > 1)
			print_error(stderr, e, call->why, call->source, call->source_name);
	}
	if (call->json)
		print(call->out, "{\"agents\":[");
	for (unsigned i = 0; i < docs.agents.n; i++) {
		const struct document *item = &docs.agents.item[i];
		if (!call->json) {
			print_checked(call, item);
			continue;
		}
		_cleanup_(buf_free) struct buf json = { 0 };
		buf_addf(&json, "%s{\"file\":", i ? "," : "");
		json_write_str(&json, str_of(item->file));
		buf_addf(&json, ",\"line\":%u,%.*s", item->line, STR_ARG(str_from(item->text, 1)));
		print_json(call->out, buf_str(&json));
	}
	if (call->json) {
		print(call->out, "],\"errors\":[");
		print_json(call->out, buf_str(&errors));
		print(call->out, "]}\n");
	}
	if (bad && files->count > 1) {
		call->source_name = NULL;
		return why_set(call->why, first, WHY_NOWHERE, "%u of %u files have errors", bad,
			       files->count);
	}
	return first;
}

enum err verb_agent(struct cli_call *call)
{
	static const struct {
		const char *word;
		enum op_id id;
	} actions[] = { { "check", OPS }, { "show", OP_GET_AGENT }, { "rm", OP_RM_AGENT } };
	const struct arg *word = op_arg(&call->args, "action"), *name = op_arg(&call->args, "name");
	unsigned k = 0;
	if (!word->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "agent needs check, show or rm, for example: %s", call->args.op->example);
	while (k < ARRAY_LEN(actions) && !str_eq(word->text, str_of(actions[k].word)))
		k++;
	if (k == ARRAY_LEN(actions))
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "'%.*s' is not an action of agent; allowed are check, show and rm",
			       STR_SHORT(word->text));
	if (!name->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "agent %s needs %s", actions[k].word,
			       actions[k].id != OPS ? "the name of an agent" : "a file");
	if (actions[k].id == OPS) /* needs no daemon */
		return check_files(call, name);
	if (name->count > 1)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "agent %s takes one name", actions[k].word);
	return remote_run_as(call, actions[k].id, "agent", name->word[0]);
}
