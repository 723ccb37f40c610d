#include "api/handlers/agents.h"

#include "api/api.h"
#include "api/json_out.h"
#include "api/schedule_put.h"
#include "base/json.h"
#include "cli/documents.h"
#include "cli/remote.h"
#include "cli/report.h"
#include "cli/table.h"
#include "core/doc/agent/agent.h"

/* --- on the daemon's side --- */

/* Its definition, without what looks like a secret: whoever may look at agents may not see it. */
static void tell_definition(struct op_call *call, struct val *map)
{
	agent_hide(map);
	buf_add(&call->answer, STR(",\"definition\":"));
	json_write(&call->answer, map);
}

static enum err tell_agent(struct op_call *call, struct api *api, const struct read_agent *agent, bool whole)
{
	struct doc_env env = api_doc_env(call, api);
	struct buf *out = &call->answer;
	struct agent_doc d;
	struct val map;
	struct why why;
	enum err e = json_read(agent->text, call->arena, &map, &why);
	if (!e)
		e = agent_read(agent->text, &map, &env, call->arena, &d, &why);
	if (e == E_NOMEM)
		return e;
	const char *blocked = e ? "its definition is not understood any more" : agent_blocked(&d);
	buf_add(out, STR("{\"name\":"));
	json_write_str(out, agent->name);
	if (!e)
		json_add_str(out, "runner", str_of(agent_runner_words[d.runner]));
	if (blocked)
		json_add_str(out, "blocked", str_of(blocked));
	buf_addf(out, ",\"rev\":%u", agent->rev);
	json_add_time(out, "changed", agent->at);
	if (agent->source.from.n) {
		json_add_str(out, "source", agent->source.from);
		buf_addf(out, ",\"line\":%u", agent->source.line);
	}
	if (whole && map.kind == VAL_MAP)
		tell_definition(call, &map);
	buf_addc(out, '}');
	return OK;
}

enum err handle_agents(struct op_call *call, struct api *api)
{
	const struct arg *limit = op_arg(call, "limit");
	struct read_agents page;
	enum err e = read_agents(api_reader(api), op_arg(call, "after")->text,
				 limit->given ? limit->count : 100, call->arena, &page, call->why);
	if (e)
		return e;
	buf_add(&call->answer, STR("{\"agents\":["));
	for (unsigned i = 0; i < page.n && !e; i++) {
		buf_add(&call->answer, i ? STR(",") : STR(""));
		e = tell_agent(call, api, &page.item[i], false);
	}
	buf_addc(&call->answer, ']');
	if (page.more && page.n)
		json_add_str(&call->answer, "after", page.item[page.n - 1].name);
	buf_addc(&call->answer, '}');
	return e;
}

static enum err find(struct op_call *call, struct api *api, struct read_agent *ret)
{
	struct str name = op_arg(call, "agent")->text;
	enum err e = read_agent(api_reader(api), name, call->arena, ret, call->why);
	if (!e && !ret->text.p)
		return why_set(call->why, E_NOTFOUND, WHY_NOWHERE,
			       "there is no agent '%.*s'; `rota ls agents` shows them", STR_SHORT(name));
	return e;
}

enum err handle_agent(struct op_call *call, struct api *api)
{
	struct read_agent agent;
	enum err e = find(call, api, &agent);
	return e ? e : tell_agent(call, api, &agent, true);
}

/* --- rm --- */

struct removing {
	struct api *api;
	struct op_call *call;
	struct str name;
	uint8_t res;
};

static void removed(void *arg)
{
	const struct removing *r = arg;
	enum err e = OK;
	if (r->res == ST_OK) {
		buf_add(&r->call->answer, STR("{\"done\":\"rm\""));
		json_add_str(&r->call->answer, "agent", r->name);
		buf_addc(&r->call->answer, '}');
	} else {
		e = why_set(r->call->why, E_CONFLICT, WHY_NOWHERE,
			    "agent '%.*s' was changed by somebody else just now", STR_SHORT(r->name));
	}
	api_finish(r->call, e);
}

/* On the daemon's thread. */
static void answered(void *ctx, const struct st_ack *ack)
{
	struct removing *r = ctx;
	r->res = ack->res;
	api_answer(r->api, removed, r);
}

enum err handle_agent_rm(struct op_call *call, struct api *api)
{
	struct read_agent agent;
	enum err e = find(call, api, &agent);
	if (!e)
		e = put_check_source(call, "agent", agent.name, &agent.source, STR(""));
	if (!e && api_cannot_write(call, api))
		e = E_BUSY;
	if (e)
		return e;
	struct removing *r = arena_alloc(call->arena, sizeof *r);
	if (!r)
		return E_NOMEM;
	*r = (struct removing){ .api = api, .call = call, .name = agent.name };
	struct st_req q = { .op = ST_AGENT,
			    .lane = LANE_USER,
			    .at = api_now(),
			    .agent = { .name = agent.name, .rev = agent.rev, .act = AGENT_DROP } };
	e = daemon_send(api_daemon(api), &q, answered, r);
	call->later = !e;
	return e;
}

/* --- for people --- */

static const char *place(struct op_call *call, const struct val *v)
{
	const char *source = val_text(call->arena, v, "source");
	return source ? arena_printf(call->arena, "%s:%s", source, val_text(call->arena, v, "line")) : NULL;
}

void show_agents(struct op_call *call, const struct val *v)
{
	static const char *const heading[] = { "AGENT", "RUNNER", "STATE", "FROM" };
	const struct val *list = val_get(v, STR("agents"));
	struct table t = table_new(call->arena, ARRAY_LEN(heading), heading);
	for (unsigned i = 0; list && i < list->list.n; i++) {
		const struct val *a = &list->list.item[i];
		table_row(&t, (const char *[]){
				      val_text(call->arena, a, "name"), val_text(call->arena, a, "runner"),
				      val_get(a, STR("blocked")) ? "blocked" : "ready", place(call, a) });
	}
	if (t.n > 1)
		table_print(&t, call->out);
	else if (op_arg(call, "after")->given)
		fprintf(call->out, "No agents after '%.*s'.\n", STR_SHORT(op_arg(call, "after")->text));
	else
		fputs("No agents. `rota apply -f FILE` takes one from a file.\n", call->out);
	if (val_get(v, STR("after")))
		fprintf(call->out, "More: --after '%s'\n", val_text(call->arena, v, "after"));
}

/* The keys one under the other; the prompt last, as it was written. */
static void print_definition(struct op_call *call, const struct val *d)
{
	const struct val *prompt = val_get(d, STR("prompt"));
	for (unsigned i = 0; i < d->map.n; i++) {
		const struct val_pair *p = &d->map.pair[i];
		struct buf text = { 0 };
		if (&p->value == prompt || str_eq(p->key, STR("name")))
			continue;
		json_write(&text, &p->value);
		fprintf(call->out, "  %.*s: ", STR_ARG(p->key));
		print_safe(call->out, p->value.kind == VAL_STR ? p->value.str : buf_str(&text));
		fputc('\n', call->out);
		buf_free(&text);
	}
	if (!prompt || prompt->kind != VAL_STR)
		return;
	struct str rest = prompt->str, line;
	fputs("  prompt:\n", call->out);
	while (str_line(&rest, &line)) {
		fputs("    ", call->out);
		print_safe(call->out, line);
		fputc('\n', call->out);
	}
}

void show_agent(struct op_call *call, const struct val *v)
{
	const struct val *d = val_get(v, STR("definition"));
	const char *blocked = val_text(call->arena, v, "blocked"), *from = val_text(call->arena, v, "source");
	fputs("agent ", call->out);
	print_safe(call->out, str_of(val_text(call->arena, v, "name")));
	fprintf(call->out, ": %s\n", blocked ? "blocked" : "ready");
	if (blocked)
		fprintf(call->out, "  blocked: %s\n", blocked);
	if (from) {
		fputs("  from: ", call->out);
		print_safe(call->out, str_of(from));
		fprintf(call->out, ", line %s\n", val_text(call->arena, v, "line"));
	}
	if (d && d->kind == VAL_MAP)
		print_definition(call, d);
}

/* --- check --- */

static void error_json(struct op_call *call, const char *file, struct buf *out)
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

static void show_checked(struct op_call *call, const struct docs_item *item)
{
	struct val document;
	const struct val *d = NULL;
	if (json_read(item->text, call->arena, &document, NULL) == OK)
		d = val_get(&document, STR("agent"));
	print_safe(call->out, item->id);
	fputs(": ", call->out);
	print_safe(call->out, str_of(item->file));
	fprintf(call->out, ", line %u\n", item->line);
	if (d)
		print_definition(call, d);
}

static enum err check(struct op_call *call, const struct arg *files)
{
	_cleanup_(docs_free) struct docs docs = { 0 };
	_cleanup_(buf_free) struct buf errors = { 0 };
	enum err first = OK;
	unsigned bad = 0;
	for (unsigned i = 0; i < files->count; i++) {
		const char *path = files->word[i].p;
		unsigned before = docs.agents.n;
		enum err e = docs_file(call, path, false, &docs);
		if (!e && docs.agents.n == before)
			e = why_set(call->why, E_INPUT, WHY_NOWHERE, "there is no agent in %.150s", path);
		if (!e)
			continue;
		error_json(call, path, &errors);
		bad++;
		first = first ? first : e;
		if (files->count > 1)
			report_error(stderr, e, call->why, call->source, call->source_name);
	}
	if (call->json)
		fputs("{\"agents\":[", call->out);
	for (unsigned i = 0; i < docs.agents.n; i++) {
		const struct docs_item *item = &docs.agents.item[i];
		if (!call->json) {
			show_checked(call, item);
			continue;
		}
		_cleanup_(buf_free) struct buf file = { 0 };
		json_write_str(&file, str_of(item->file));
		fprintf(call->out, "%s{\"file\":%s,\"line\":%u,%.*s", i ? "," : "",
			file.failed ? "\"\"" : file.p, item->line, STR_ARG(str_from(item->text, 1)));
	}
	if (call->json)
		fprintf(call->out, "],\"errors\":[%s]}\n", errors.n && !errors.failed ? errors.p : "");
	if (bad && files->count > 1) {
		call->source_name = NULL;
		return why_set(call->why, first, WHY_NOWHERE, "%u of %u files refused", bad, files->count);
	}
	return first;
}

/* `agent new` will be here. */
enum err op_agent(struct op_call *call)
{
	static const struct {
		const char *word, *row; /* NULL: it is done here */
	} actions[] = { { "check", NULL }, { "show", "get-agent" }, { "rm", "rm-agent" } };
	const struct arg *word = op_arg(call, "action"), *name = op_arg(call, "name");
	unsigned k = 0;
	if (!word->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "agent needs check, show or rm: %s",
			       call->op->example);
	while (k < ARRAY_LEN(actions) && !str_eq(word->text, str_of(actions[k].word)))
		k++;
	if (k == ARRAY_LEN(actions))
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "'%.*s' cannot be done with an agent; allowed are check, show and rm",
			       STR_SHORT(word->text));
	if (!name->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "agent %s needs %s", actions[k].word,
			       actions[k].row ? "the name of one" : "a file");
	if (!actions[k].row)
		return check(call, name);
	if (name->count > 1)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "agent %s takes one name", actions[k].word);
	return remote_row(call, actions[k].row, "agent", name->word[0]);
}
