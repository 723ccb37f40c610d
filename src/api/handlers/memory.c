#include "api/handlers/handlers.h"

#include "api/json_out.h"
#include "base/json.h"
#include "daemon/daemon.h"
#include "store/sqlite/read/reader.h"

static void tell_note(struct buf *out, const struct read_memory *m)
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

static enum err tell_notes(struct api_call *call, const struct read_memories *list, bool pages)
{
	buf_add(&call->answer, STR("{\"notes\":["));
	for (unsigned i = 0; i < list->n; i++) {
		buf_add(&call->answer, i ? STR(",") : STR(""));
		tell_note(&call->answer, &list->item[i]);
	}
	buf_addc(&call->answer, ']');
	if (pages && list->more && list->n)
		buf_addf(&call->answer, ",\"before\":%llu",
			 (unsigned long long)list->item[list->n - 1].row.number);
	buf_addc(&call->answer, '}');
	return OK;
}

enum { AGENT_BYTES = 4 * DOC_ID_MAX }; /* a name has so many characters */

static enum err whose(struct api_call *call, bool must, struct str *ret)
{
	const struct arg *agent = op_arg(&call->args, "agent");
	*ret = agent->text;
	if (agent->given ? !agent->text.n || agent->text.n > AGENT_BYTES : must)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       agent->given ? "an agent's name has 1 to %d bytes"
					    : "say whose it is: --agent NAME (within a run of an agent it is "
					      "known)",
			       AGENT_BYTES);
	return OK;
}

/* A line each. */
static enum err read_tags(struct api_call *call, struct buf *out)
{
	const struct val *tags = val_get(&call->body, STR("tags"));
	if (!tags)
		return OK;
	if (tags->kind != VAL_LIST)
		return why_set(call->why, E_INPUT, tags->at, "tags must be a list of words");
	for (unsigned i = 0; i < tags->list.n; i++) {
		const struct val *tag = &tags->list.item[i];
		struct str s = tag->kind == VAL_STR ? str_trim(tag->str) : STR("");
		if (!s.n || memchr(s.p, '\n', s.n) || memchr(s.p, '\0', s.n))
			return why_set(call->why, E_INPUT, tag->at, "a tag must be a word or a few");
		buf_addf(out, "%s%.*s", i ? "\n" : "", STR_ARG(s));
	}
	if (out->n > STORE_MEMORY_TAGS_MAX)
		return why_set(call->why, E_LIMIT, tags->at, "the tags are longer than %d bytes together",
			       STORE_MEMORY_TAGS_MAX);
	return out->failed ? E_NOMEM : OK;
}

static enum err read_note(struct api_call *call, struct str *ret)
{
	struct str text = str_trim(op_arg(&call->args, "text")->text);
	if (!text.n)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "a note needs a text");
	if (memchr(text.p, '\0', text.n))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "a note cannot have a byte 0 in it");
	if (text.n > STORE_MEMORY_BYTES_MAX)
		return why_set(call->why, E_LIMIT, WHY_NOWHERE,
			       "the note has %zu bytes; %d are the most. What is long belongs into a file",
			       text.n, STORE_MEMORY_BYTES_MAX);
	*ret = text;
	return OK;
}

/* A change under way. */
struct changing {
	struct api *api;
	struct api_call *call;
	struct str agent;
	uint64_t run, number; /* removed: all of this run, or this one */
	uint64_t removed;
	uint8_t res;
};

static struct changing *change_new(struct api_call *call, struct api *api)
{
	struct changing *c = arena_alloc(call->arena, sizeof *c);
	if (c)
		*c = (struct changing){ .api = api, .call = call };
	return c;
}

static enum err send(struct changing *c, const struct memory_change *said, store_answer_fn *done)
{
	struct st_req q = { .op = ST_MEMORY, .lane = LANE_USER, .at = api_now(), .memory = *said };
	if (api_cannot_write(c->call, c->api))
		return E_BUSY;
	enum err e = daemon_send(api_daemon(c->api), &q, done, c);
	c->call->later |= !e;
	return e;
}

static void added(void *arg)
{
	const struct changing *c = arg;
	struct api_call *call = c->call;
	struct read_memory m;
	enum err e =
		c->res == ST_OK
			? read_memory(api_reader(c->api), c->number, call->arena, &m, call->why)
			: why_set(call->why, E_CONFLICT, WHY_NOWHERE,
				  "'%.*s' has %d notes, which are the most; `rota memory rm` removes some",
				  STR_SHORT(c->agent), STORE_MEMORIES_MAX);
	if (!e)
		tell_note(&call->answer, &m);
	api_finish(call, e);
}

/* On the daemon's thread. */
static void add_answered(void *ctx, const struct st_ack *ack)
{
	struct changing *c = ctx;
	c->res = ack->res;
	c->number = ack->note;
	api_answer(c->api, added, c);
}

enum err handle_memory_add(struct api_call *call, struct api *api)
{
	_cleanup_(buf_free) struct buf tags = { 0 };
	struct memory_change said = { .act = MEMORY_ADD };
	struct changing *c = change_new(call, api);
	enum err e = c ? whose(call, true, &said.agent) : E_NOMEM;
	if (!e)
		e = read_note(call, &said.text);
	if (!e)
		e = read_tags(call, &tags);
	if (e)
		return e;
	said.run = call->within ? call->within->run : 0; /* as the daemon knows it, whatever is said */
	said.tags = buf_str(&tags);
	c->agent = said.agent;
	return send(c, &said, add_answered);
}

static enum err read_before(struct api_call *call, uint64_t *ret)
{
	const struct arg *before = op_arg(&call->args, "before");
	*ret = 0;
	if (before->given && !str_number(before->text, INT64_MAX, ret))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "'%.*s' is not the number of a note",
			       STR_SHORT(before->text));
	return OK;
}

enum err handle_memory_list(struct api_call *call, struct api *api)
{
	const struct arg *limit = op_arg(&call->args, "limit"), *run = op_arg(&call->args, "run");
	struct read_memories list;
	struct str agent;
	uint64_t before = 0, of = 0;
	enum err e = whose(call, false, &agent);
	if (!e)
		e = read_before(call, &before);
	if (!e && run->given)
		e = api_run_number(call, run->text, &of);
	if (!e)
		e = read_memories(api_reader(api), agent, of, before, limit->given ? limit->count : 100,
				  call->arena, &list, call->why);
	return e ? e : tell_notes(call, &list, true);
}

enum err handle_memory_search(struct api_call *call, struct api *api)
{
	const struct arg *limit = op_arg(&call->args, "limit"), *words = op_arg(&call->args, "words");
	const unsigned most = limit->given ? limit->count : 20;
	struct read_memories list;
	struct str agent;
	enum err e = whose(call, false, &agent);
	if (!e && !str_trim(words->text).n)
		e = why_set(call->why, E_INPUT, WHY_NOWHERE, "search needs words to look for");
	if (!e)
		e = read_memories_about(api_reader(api), agent, words->text, 0, most, call->arena, &list,
					call->why);
	if (e == E_LIMIT) /* for what others have written: the newest, then */
		e = read_memories_with(api_reader(api), agent, words->text, most, call->arena, &list,
				       call->why);
	return e ? e : tell_notes(call, &list, false);
}

static void remove_more(void *arg);

/* On the daemon's thread. */
static void remove_answered(void *ctx, const struct st_ack *ack)
{
	struct changing *c = ctx;
	c->res = ack->res;
	api_answer(c->api, remove_more, c);
}

/* What there is, a part at a time: others want to write as well. Removed for good when nothing is found. */
static enum err remove_some(struct changing *c, bool *done)
{
	struct api_call *call = c->call;
	struct read_memories list;
	struct memory_change said = { .act = MEMORY_REMOVE_RUN, .run = c->run };
	enum err e = read_memories(api_reader(c->api), c->agent, c->run, 0, MEMORY_REMOVE_BATCH, call->arena,
				   &list, call->why);
	*done = !e && !list.n;
	if (e || *done)
		return e;
	said.number = list.item[list.n - 1].row.number;
	if (c->agent.n)
		said.agent = c->agent;
	c->removed += list.n;
	return send(c, &said, remove_answered);
}

static void remove_more(void *arg)
{
	struct changing *c = arg;
	bool done = c->run == 0;
	enum err e = c->run ? remove_some(c, &done) : OK;
	if (!e && !done)
		return;
	buf_addf(&c->call->answer, "{\"removed\":%llu}", (unsigned long long)c->removed);
	api_finish(c->call, e);
}

enum err handle_memory_remove(struct api_call *call, struct api *api)
{
	struct str text = op_arg(&call->args, "note")->text;
	struct memory_change said = { .act = MEMORY_REMOVE };
	struct read_memory m;
	struct changing *c = change_new(call, api);
	enum err e = c ? whose(call, false, &said.agent) : E_NOMEM;
	if (!e && (!str_number(text, INT64_MAX, &said.number) || !said.number))
		e = why_set(call->why, E_INPUT, WHY_NOWHERE,
			    "'%.*s' is not the number of a note; `rota memory ls` shows them",
			    STR_SHORT(text));
	if (!e)
		e = read_memory(api_reader(api), said.number, call->arena, &m, call->why);
	if (!e && said.agent.n && !str_eq(m.row.agent, said.agent))
		e = why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "note %.*s is not of '%.*s'", STR_SHORT(text),
			    STR_SHORT(said.agent));
	if (e)
		return e;
	c->removed = 1;
	return send(c, &said, remove_answered);
}

enum err handle_memory_remove_run(struct api_call *call, struct api *api)
{
	struct changing *c = change_new(call, api);
	bool done = false;
	enum err e = c ? whose(call, false, &c->agent) : E_NOMEM;
	if (!e)
		e = api_run_number(call, op_arg(&call->args, "run")->text, &c->run);
	if (!e)
		e = remove_some(c, &done);
	if (!e && done)
		buf_add(&call->answer, STR("{\"removed\":0}"));
	return e;
}
