/* Pauses and resumes one schedule, the schedules with a tag, or all. */
#include "api/handlers/handlers.h"

#include "api/json_out.h"
#include "core/when/dur.h"
#include "sys/clock.h"

enum { TAGGED_PAGE = 200 }; /* schedules read at a time to find those with a tag */

struct pause_request {
	struct api *api;
	struct command command;
	struct str id, note; /* one schedule: its id, and the note of its present pause */
	/* Schedules with a tag. Tags are only in documents, so all schedules are read, page by page. */
	struct str tag;
	struct read_scheds page;
	unsigned at;     /* index of the next schedule in the page */
	struct str last; /* the last id of the previous page; p NULL: no page was read yet */
	bool some;       /* at least one was paused or resumed */
	struct not_paused {
		struct str id;
		struct not_paused *next;
	} * not_paused, **not_paused_end; /* resume: schedules that were not paused */
};

static bool is_pause(const struct pause_request *p)
{
	return p->command.kind == CMD_PAUSE;
}

/* Reads --for, a duration from now ("2h"); WALL_NEVER if it was not given. */
static enum err read_until(struct api_call *call, struct wall *ret)
{
	const struct arg *how_long = op_arg(&call->args, "for");
	int64_t seconds;
	*ret = WALL_NEVER;
	if (!how_long->given)
		return OK;
	if (dur_parse(how_long->text, &seconds, NULL) || seconds < 1)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "--for '%.*s' is not a duration above 0; write 90s, 10m, 2h, 3d or 1w",
			       STR_SHORT(how_long->text));
	ret->us = clock_wall().us + seconds * USEC;
	return OK;
}

static enum err pause_request_new(struct api_call *call, struct api *api, enum command_kind kind,
				  struct pause_request **ret)
{
	struct pause_request *p = arena_alloc(call->arena, sizeof *p);
	if (!p)
		return E_NOMEM;
	*p = (struct pause_request){ .api = api, .command = { .kind = (uint8_t)kind } };
	p->not_paused_end = &p->not_paused;
	call->ctx = *ret = p;
	if (kind != CMD_PAUSE)
		return OK;
	enum err e = read_until(call, &p->command.to);
	return e ? e : api_read_note(call, &p->command.note);
}

/* Adds the end of the pause and its note. */
static void add_pause(struct api_call *call, const struct pause_request *p)
{
	if (!is_pause(p))
		return;
	json_add_time(&call->answer, "paused_until", p->command.to);
	json_add_str(&call->answer, "note", p->command.note.p ? p->command.note : p->note);
}

/* --- one schedule, or all --- */

static enum err write_done(struct api_call *call, const struct pause_request *p, const struct reply *r)
{
	struct buf *out = &call->answer;
	struct read_hold all;
	buf_addf(out, "{\"done\":\"%s\"", is_pause(p) ? "pause" : "resume");
	if (p->id.n)
		json_add_str(out, "schedule", p->id);
	else
		buf_add(out, STR(",\"all\":true"));
	add_pause(call, p);
	enum err e = is_pause(p) ? OK : api_read_pause_all(call, p->api, &all);
	if (!e && !is_pause(p))
		buf_addf(out, ",\"was_paused\":%s,\"paused_all\":%s", r->count ? "true" : "false",
			 all.row.reason ? "true" : "false");
	buf_addc(out, '}');
	return e;
}

static void answer_pause(struct api_call *call, struct api *api, const struct reply *r)
{
	const struct pause_request *p = call->ctx;
	(void)api;
	enum err e = r->code == REPLY_OK ? write_done(call, p, r)
					 : api_refusal(call, r, is_pause(p) ? "not paused" : "not resumed");
	api_finish(call, e);
}

static enum err pause_schedule(struct api_call *call, struct api *api, enum command_kind kind)
{
	struct pause_request *p;
	struct read_sched s;
	enum err e = pause_request_new(call, api, kind, &p);
	if (!e)
		e = api_find_schedule(call, api, op_arg(&call->args, "schedule")->text, &s);
	if (e)
		return e;
	p->command.sid = s.row.sid;
	p->id = s.id;
	p->note = s.note;
	return api_command(call, api, &p->command, answer_pause);
}

enum err handle_pause(struct api_call *call, struct api *api)
{
	return pause_schedule(call, api, CMD_PAUSE);
}

enum err handle_resume(struct api_call *call, struct api *api)
{
	return pause_schedule(call, api, CMD_RESUME);
}

/* --- schedules with a tag --- */

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

static void finish_tagged(struct api_call *call, enum err e)
{
	struct pause_request *p = call->ctx;
	if (!e && !p->some && !p->not_paused)
		e = why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "no schedule has the tag '%.*s'",
			    STR_SHORT(p->tag));
	buf_add(&call->answer, STR("]"));
	if (!is_pause(p)) {
		buf_add(&call->answer, STR(",\"not_paused\":["));
		for (const struct not_paused *n = p->not_paused; n; n = n->next) {
			json_write_str(&call->answer, n->id);
			buf_add(&call->answer, n->next ? STR(",") : STR(""));
		}
		buf_add(&call->answer, STR("]"));
	}
	add_pause(call, p);
	buf_addc(&call->answer, '}');
	api_finish(call, e);
}

static void pause_next_tagged(void *arg);

static void note_tagged(struct api_call *call, struct api *api, const struct reply *r)
{
	struct pause_request *p = call->ctx;
	(void)api;
	if (r->code != REPLY_OK && r->code != REPLY_NOT_FOUND) {
		finish_tagged(call, api_refusal(call, r,
						is_pause(p) ? "not all schedules were paused"
							    : "not all schedules were resumed"));
		return;
	}
	struct str id = p->page.item[p->at].id;
	struct not_paused *n;
	if (r->code == REPLY_OK && (is_pause(p) || r->count)) {
		buf_add(&call->answer, p->some ? STR(",") : STR(""));
		json_write_str(&call->answer, id);
		p->some = true;
	} else if (r->code == REPLY_OK && (n = arena_alloc(call->arena, sizeof *n))) {
		*n = (struct not_paused){ .id = id };
		*p->not_paused_end = n;
		p->not_paused_end = &n->next;
	}
	p->at++;
	pause_next_tagged(call);
}

/* Other requests have their turn between pages. */
static void pause_next_tagged(void *arg)
{
	struct api_call *call = arg;
	struct pause_request *p = call->ctx;
	while (p->at < p->page.n && !has_tag(call, &p->page.item[p->at], p->tag))
		p->at++;
	enum err e = OK;
	if (p->at < p->page.n) {
		p->command.sid = p->page.item[p->at].row.sid;
		e = api_command(call, p->api, &p->command, note_tagged);
	} else if (p->last.p && !p->page.more) {
		finish_tagged(call, OK);
		return;
	} else {
		p->last = p->page.n ? p->page.item[p->page.n - 1].id : STR("");
		p->at = 0;
		e = read_scheds(api_reader(p->api), p->last, TAGGED_PAGE, call->arena, &p->page, call->why);
		if (!e)
			e = api_add_task(call, p->api, pause_next_tagged);
	}
	if (e)
		finish_tagged(call, e);
}

static enum err pause_tagged_or_all(struct api_call *call, struct api *api, enum command_kind kind)
{
	const struct arg *tag = op_arg(&call->args, "tag");
	struct pause_request *p;
	if (!tag->given && !op_arg(&call->args, "all")->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "say which schedules: a tag, or all");
	enum err e = pause_request_new(call, api, kind, &p);
	if (e)
		return e;
	if (!tag->given)
		return api_command(call, api, &p->command, answer_pause);
	p->tag = tag->text;
	buf_addf(&call->answer, "{\"done\":\"%s\"", is_pause(p) ? "pause" : "resume");
	json_add_str(&call->answer, "tag", p->tag);
	buf_add(&call->answer, STR(",\"schedules\":["));
	return api_add_task(call, api, pause_next_tagged);
}

enum err handle_pause_many(struct api_call *call, struct api *api)
{
	return pause_tagged_or_all(call, api, CMD_PAUSE);
}

enum err handle_resume_many(struct api_call *call, struct api *api)
{
	return pause_tagged_or_all(call, api, CMD_RESUME);
}
