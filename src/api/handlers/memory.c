/* Adds, lists, searches and removes notes of agents. */
#include "api/handlers/handlers.h"

#include "api/json_out.h"
#include "base/json.h"
#include "sys/clock.h"

/* --- JSON --- */

static void write_note(struct buf *out, const struct read_memory *m)
{
	struct str rest = m->row.tags, tag;
	buf_addf(out, "{\"number\":%llu", (unsigned long long)m->row.number);
	json_add_str(out, "agent", m->row.agent);
	json_add_time(out, "at", m->row.at);
	if (m->row.run)
		buf_addf(out, ",\"run\":\"r%llu\"", (unsigned long long)m->row.run);
	if (m->schedule.p)
		json_add_str(out, "schedule", m->schedule);
	buf_add(out, STR(",\"tags\":["));
	for (const char *comma = ""; str_line(&rest, &tag); comma = ",") {
		buf_add(out, str_of(comma));
		json_write_str(out, tag);
	}
	buf_addc(out, ']');
	json_add_str(out, "text", m->row.text);
	buf_addc(out, '}');
}

/* `paged`: the list can be continued. */
static enum err write_notes(struct api_call *call, const struct read_memories *list, bool paged)
{
	buf_add(&call->answer, STR("{\"notes\":["));
	for (unsigned i = 0; i < list->n; i++) {
		buf_add(&call->answer, i ? STR(",") : STR(""));
		write_note(&call->answer, &list->item[i]);
	}
	buf_addc(&call->answer, ']');
	if (paged && list->more && list->n)
		buf_addf(&call->answer, ",\"before\":%llu",
			 (unsigned long long)list->item[list->n - 1].row.number);
	buf_addc(&call->answer, '}');
	return OK;
}

/* --- arguments --- */

static enum err read_agent_name(struct api_call *call, bool required, struct str *ret)
{
	const struct arg *agent = op_arg(&call->args, "agent");
	*ret = agent->text;
	if (!agent->given && required)
		return why_set(
			call->why, E_INPUT, WHY_NOWHERE,
			"say whose memory: --agent NAME (it may be left out within a run of that agent)");
	return agent->given ? api_check_agent_name(call, *ret) : OK;
}

/* Writes the tags one to a line. */
static enum err read_tags(struct api_call *call, struct buf *out)
{
	const struct val *tags = val_get(&call->body, STR("tags"));
	if (!tags)
		return OK;
	if (tags->kind != VAL_LIST)
		return why_set(call->why, E_INPUT, tags->at, "tags must be a list of strings");
	for (unsigned i = 0; i < tags->list.n; i++) {
		const struct val *tag = &tags->list.item[i];
		struct str s = tag->kind == VAL_STR ? str_trim(tag->str) : STR("");
		if (!s.n || memchr(s.p, '\n', s.n) || memchr(s.p, '\0', s.n))
			return why_set(call->why, E_INPUT, tag->at,
				       "a tag must be a line of text that is not empty");
		buf_addf(out, "%s%.*s", i ? "\n" : "", STR_ARG(s));
	}
	if (out->n > STORE_MEMORY_TAGS_MAX)
		return why_set(call->why, E_LIMIT, tags->at,
			       "all tags together have more than the allowed %d bytes",
			       STORE_MEMORY_TAGS_MAX);
	return out->failed ? E_NOMEM : OK;
}

static enum err read_note_text(struct api_call *call, struct str *ret)
{
	struct str text = str_trim(op_arg(&call->args, "text")->text);
	if (!text.n)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "a note needs a text");
	if (memchr(text.p, '\0', text.n))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "a note cannot contain a zero byte");
	if (text.n > STORE_MEMORY_BYTES_MAX)
		return why_set(call->why, E_LIMIT, WHY_NOWHERE,
			       "the note has %zu bytes; at most %d are allowed. Put long texts into a file",
			       text.n, STORE_MEMORY_BYTES_MAX);
	*ret = text;
	return OK;
}

/* --- add --- */

static enum err send_memory_change(struct api_call *call, struct api *api, const struct memory_change *change,
				   api_store_fn *then)
{
	struct st_req request = { .op = ST_MEMORY, .lane = LANE_USER, .at = clock_wall(), .memory = *change };
	return api_store_request(call, api, &request, then);
}

static void answer_add(struct api_call *call, struct api *api, const struct st_ack *ack)
{
	const struct str *agent = call->ctx;
	struct read_memory m;
	enum err e =
		ack->res == ST_OK
			? read_memory(api_reader(api), ack->note, call->arena, &m, call->why)
			: why_set(call->why, E_CONFLICT, WHY_NOWHERE,
				  "'%.*s' already has %d notes, the most allowed; `rota memory rm` removes "
				  "some",
				  STR_SHORT(*agent), STORE_MEMORIES_MAX);
	if (!e)
		write_note(&call->answer, &m);
	api_finish(call, e);
}

enum err handle_memory_add(struct api_call *call, struct api *api)
{
	_cleanup_(buf_free) struct buf tags = { 0 };
	struct memory_change change = { .act = MEMORY_ADD };
	struct str *agent = arena_alloc(call->arena, sizeof *agent);
	enum err e = agent ? read_agent_name(call, true, agent) : E_NOMEM;
	if (!e)
		e = read_note_text(call, &change.text);
	if (!e)
		e = read_tags(call, &tags);
	if (e)
		return e;
	call->ctx = agent;
	change.agent = *agent;
	change.run = call->caller_run ? call->caller_run->run : 0; /* the caller cannot choose it */
	change.tags = buf_str(&tags);
	return send_memory_change(call, api, &change, answer_add);
}

/* --- list and search --- */

enum err handle_memory_list(struct api_call *call, struct api *api)
{
	const struct arg *limit = op_arg(&call->args, "limit"), *run = op_arg(&call->args, "run");
	struct read_memories list;
	struct str agent;
	uint64_t before, of_run = 0;
	enum err e = read_agent_name(call, false, &agent);
	if (!e)
		e = api_read_before(call, "note", &before);
	if (!e && run->given)
		e = api_read_run_number(call, run->text, &of_run);
	if (!e)
		e = read_memories(api_reader(api), agent, of_run, before, limit->given ? limit->count : 100,
				  call->arena, &list, call->why);
	return e ? e : write_notes(call, &list, true);
}

enum err handle_memory_search(struct api_call *call, struct api *api)
{
	const struct arg *limit = op_arg(&call->args, "limit"), *words = op_arg(&call->args, "words");
	const unsigned most = limit->given ? limit->count : 20;
	struct read_memories list;
	struct str agent;
	enum err e = read_agent_name(call, false, &agent);
	if (!e && !str_trim(words->text).n)
		e = why_set(call->why, E_INPUT, WHY_NOWHERE, "search needs words to search for");
	if (!e)
		e = read_memories_about(api_reader(api), agent, words->text, 0, most, call->arena, &list,
					call->why);
	if (e == E_LIMIT) /* too many notes have these words to rank them: list the newest of them */
		e = read_memories_with(api_reader(api), agent, words->text, most, call->arena, &list,
				       call->why);
	return e ? e : write_notes(call, &list, false);
}

/* --- remove --- */

/* The removal of all notes of a run. */
struct run_notes_removal {
	struct str agent; /* empty: any agent */
	uint64_t run;
	uint64_t removed; /* so far */
};

static void write_removed(struct api_call *call, uint64_t n)
{
	buf_addf(&call->answer, "{\"removed\":%llu}", (unsigned long long)n);
}

static void answer_removed(struct api_call *call, struct api *api, const struct st_ack *ack)
{
	(void)api;
	(void)ack; /* no error: if the store has not found the note, another request has removed it */
	write_removed(call, 1);
	api_finish(call, OK);
}

enum err handle_memory_remove(struct api_call *call, struct api *api)
{
	struct str text = op_arg(&call->args, "note")->text;
	struct memory_change change = { .act = MEMORY_REMOVE };
	struct read_memory m;
	enum err e = read_agent_name(call, false, &change.agent);
	if (!e && (!str_number(text, INT64_MAX, &change.number) || !change.number))
		e = why_set(call->why, E_INPUT, WHY_NOWHERE,
			    "'%.*s' is not the number of a note; `rota memory ls` lists them",
			    STR_SHORT(text));
	if (!e)
		e = read_memory(api_reader(api), change.number, call->arena, &m, call->why);
	if (!e && change.agent.n && !str_eq(m.row.agent, change.agent))
		e = why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "note %.*s does not belong to '%.*s'",
			    STR_SHORT(text), STR_SHORT(change.agent));
	return e ? e : send_memory_change(call, api, &change, answer_removed);
}

static void remove_next_batch(struct api_call *call, struct api *api, const struct st_ack *ack);

/* Sends the removal of one batch of notes, so that other requests can be written in between. *done: no note
 * is left. */
static enum err remove_batch(struct api_call *call, struct api *api, bool *done)
{
	struct run_notes_removal *r = call->ctx;
	struct read_memories list;
	struct memory_change change = { .act = MEMORY_REMOVE_RUN, .run = r->run };
	enum err e = read_memories(api_reader(api), r->agent, r->run, 0, MEMORY_REMOVE_BATCH, call->arena,
				   &list, call->why);
	*done = !e && !list.n;
	if (e || *done)
		return e;
	change.number = list.item[list.n - 1].row.number;
	if (r->agent.n)
		change.agent = r->agent;
	r->removed += list.n;
	return send_memory_change(call, api, &change, remove_next_batch);
}

static void remove_next_batch(struct api_call *call, struct api *api, const struct st_ack *ack)
{
	const struct run_notes_removal *r = call->ctx;
	bool done;
	(void)ack;
	enum err e = remove_batch(call, api, &done);
	if (!e && !done)
		return;
	write_removed(call, r->removed);
	api_finish(call, e);
}

enum err handle_memory_remove_run(struct api_call *call, struct api *api)
{
	struct run_notes_removal *r = arena_alloc(call->arena, sizeof *r);
	bool done = false;
	enum err e = r ? read_agent_name(call, false, &r->agent) : E_NOMEM;
	if (!e)
		e = api_read_run_number(call, op_arg(&call->args, "run")->text, &r->run);
	call->ctx = r;
	if (!e)
		e = remove_batch(call, api, &done);
	if (!e && done)
		write_removed(call, 0);
	return e;
}
