#include "api/handlers/handlers.h"

#include "api/json_out.h"
#include "core/when/dur.h"

/* --- what is asked for --- */

/* A pause or its end, on its way to one schedule, to those of a tag, or to all. */
struct pausing {
	struct api *api;
	struct command command;
	struct str id, note; /* of one: its id, and the note it has already */
	struct str tag, last;
	struct read_scheds page; /* tags stand in documents only: page by page */
	unsigned at;
	bool some;
	struct idle {
		struct str id;
		struct idle *next;
	} * idle, **last_idle; /* those that were not paused */
};

static bool pauses(const struct pausing *p)
{
	return p->command.kind == CMD_PAUSE;
}

/* "2h" from now; not given: for ever. */
static enum err until_of(struct api_call *call, struct wall *ret)
{
	const struct arg *how_long = op_arg(&call->args, "for");
	int64_t seconds;
	*ret = WALL_NEVER;
	if (!how_long->given)
		return OK;
	if (dur_parse(how_long->text, &seconds, NULL))
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "--for '%.*s' is not a duration; write 90s, 10m, 2h, 3d or 1w",
			       STR_SHORT(how_long->text));
	ret->us = api_now().us + seconds * USEC;
	return OK;
}

static enum err begin(struct api_call *call, struct api *api, enum command_kind kind, struct pausing **ret)
{
	struct pausing *p = arena_alloc(call->arena, sizeof *p);
	if (!p)
		return E_NOMEM;
	*p = (struct pausing){ .api = api, .command = { .kind = (uint8_t)kind } };
	p->last_idle = &p->idle;
	call->ctx = *ret = p;
	if (kind != CMD_PAUSE)
		return OK;
	enum err e = until_of(call, &p->command.to);
	return e ? e : api_note(call, &p->command.note);
}

static void tell_pause(struct api_call *call, const struct pausing *p)
{
	if (!pauses(p))
		return;
	json_add_time(&call->answer, "paused_until", p->command.to);
	json_add_str(&call->answer, "note", p->command.note.p ? p->command.note : p->note);
}

/* --- one, or everything --- */

static enum err tell_done(struct api_call *call, const struct pausing *p, const struct reply *r)
{
	struct buf *out = &call->answer;
	struct read_hold all;
	buf_addf(out, "{\"done\":\"%s\"", pauses(p) ? "pause" : "resume");
	if (p->id.n)
		json_add_str(out, "schedule", p->id);
	else
		buf_add(out, STR(",\"all\":true"));
	tell_pause(call, p);
	enum err e = pauses(p) ? OK : api_paused_all(call, p->api, &all);
	if (!e && !pauses(p))
		buf_addf(out, ",\"was_paused\":%s,\"paused_all\":%s", r->count ? "true" : "false",
			 all.row.reason ? "true" : "false");
	buf_addc(out, '}');
	return e;
}

static void done(struct api_call *call, struct api *api, const struct reply *r)
{
	const struct pausing *p = call->ctx;
	(void)api;
	enum err e = r->code != REPLY_OK
			     ? api_refusal(call, r, pauses(p) ? "it was not paused" : "it was not resumed")
			     : tell_done(call, p, r);
	api_finish(call, e);
}

static enum err one(struct api_call *call, struct api *api, enum command_kind kind)
{
	struct pausing *p;
	struct read_sched s;
	enum err e = begin(call, api, kind, &p);
	if (!e)
		e = api_sched(call, api, op_arg(&call->args, "schedule")->text, &s);
	if (e)
		return e;
	p->command.sid = s.row.sid;
	p->id = s.id;
	p->note = s.note;
	return api_order(call, api, &p->command, done);
}

enum err handle_pause(struct api_call *call, struct api *api)
{
	return one(call, api, CMD_PAUSE);
}

enum err handle_resume(struct api_call *call, struct api *api)
{
	return one(call, api, CMD_RESUME);
}

/* --- those with a tag --- */

static bool has_tag(struct api_call *call, const struct read_sched *s, struct str tag)
{
	struct val doc;
	const struct val *tags = NULL;
	if (s->document.n && json_read(s->document, call->arena, &doc, NULL) == OK)
		tags = val_get(&doc, STR("tags"));
	for (unsigned i = 0; tags && tags->kind == VAL_LIST && i < tags->list.n; i++)
		if (str_eq(tags->list.item[i].str, tag))
			return true;
	return false;
}

static void tagged_done(struct api_call *call, enum err e)
{
	struct pausing *p = call->ctx;
	if (!e && !p->some && !p->idle)
		e = why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "no schedule has the tag '%.*s'",
			    STR_SHORT(p->tag));
	buf_add(&call->answer, STR("]"));
	if (!pauses(p)) {
		buf_add(&call->answer, STR(",\"not_paused\":["));
		for (const struct idle *i = p->idle; i; i = i->next) {
			json_write_str(&call->answer, i->id);
			buf_add(&call->answer, i->next ? STR(",") : STR(""));
		}
		buf_add(&call->answer, STR("]"));
	}
	tell_pause(call, p);
	buf_addc(&call->answer, '}');
	api_finish(call, e);
}

static void next_tagged(void *arg);

static void one_tagged(struct api_call *call, struct api *api, const struct reply *r)
{
	struct pausing *p = call->ctx;
	(void)api;
	if (r->code != REPLY_OK && r->code != REPLY_NOT_FOUND) {
		tagged_done(call, api_refusal(call, r, "not all were reached"));
		return;
	}
	struct str id = p->page.item[p->at].id;
	struct idle *idle;
	if (r->code == REPLY_OK && (pauses(p) || r->count)) {
		buf_add(&call->answer, p->some ? STR(",") : STR(""));
		json_write_str(&call->answer, id);
		p->some = true;
	} else if (r->code == REPLY_OK && (idle = arena_alloc(call->arena, sizeof *idle))) {
		*idle = (struct idle){ .id = id };
		*p->last_idle = idle;
		p->last_idle = &idle->next;
	}
	p->at++;
	next_tagged(call);
}

/* A page at a time, so that others are answered in between. */
static void next_tagged(void *arg)
{
	struct api_call *call = arg;
	struct pausing *p = call->ctx;
	while (p->at < p->page.n && !has_tag(call, &p->page.item[p->at], p->tag))
		p->at++;
	enum err e = OK;
	if (p->at < p->page.n) {
		p->command.sid = p->page.item[p->at].row.sid;
		e = api_order(call, p->api, &p->command, one_tagged);
	} else if (p->last.p && !p->page.more) {
		tagged_done(call, OK);
		return;
	} else {
		p->last = p->page.n ? p->page.item[p->page.n - 1].id : STR("");
		p->at = 0;
		e = read_scheds(api_reader(p->api), p->last, 200, call->arena, &p->page, call->why);
		if (!e)
			e = api_post(p->api, next_tagged, call);
	}
	if (e)
		tagged_done(call, e);
}

static enum err many(struct api_call *call, struct api *api, enum command_kind kind)
{
	const struct arg *tag = op_arg(&call->args, "tag");
	struct pausing *p;
	if (!tag->given && !op_arg(&call->args, "all")->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "say which: a tag, or all");
	enum err e = begin(call, api, kind, &p);
	if (e)
		return e;
	if (!tag->given)
		return api_order(call, api, &p->command, done);
	p->tag = tag->text;
	buf_addf(&call->answer, "{\"done\":\"%s\"", pauses(p) ? "pause" : "resume");
	json_add_str(&call->answer, "tag", p->tag);
	buf_add(&call->answer, STR(",\"schedules\":["));
	e = api_post(api, next_tagged, call);
	call->later = !e;
	return e;
}

enum err handle_pause_many(struct api_call *call, struct api *api)
{
	return many(call, api, CMD_PAUSE);
}

enum err handle_resume_many(struct api_call *call, struct api *api)
{
	return many(call, api, CMD_RESUME);
}
