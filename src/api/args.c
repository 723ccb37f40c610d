/* Arguments and lookups that several handlers share. */
#include "api/api.h"

#include "core/doc/doc.h"
#include "core/when/dur.h"
#include "core/when/iso.h"
#include "sys/clock.h"

enum err api_find_schedule(struct api_call *call, struct api *a, struct str name, struct read_sched *ret)
{
	struct read_match match;
	enum err e = read_sched_named(api_reader(a), name, call->arena, &match, call->why);
	if (e == E_NOTFOUND)
		return why_set(call->why, e, WHY_NOWHERE,
			       "no schedule is called '%.*s'; `rota ls` lists them", STR_SHORT(name));
	if (e)
		return e;
	if (match.n > 1) {
		struct buf list = { 0 };
		for (unsigned i = 0; i < match.n; i++)
			buf_addf(&list, "%s%.*s", i ? ", " : "", STR_ARG(match.id[i]));
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE, "several schedules begin with '%.*s': %s%s",
			    STR_SHORT(name), buf_str(&list).p, match.more ? ", …" : "");
		buf_free(&list);
		return e;
	}
	*ret = match.sched;
	return OK;
}

enum err api_find_schedule_or_removed(struct api_call *call, struct api *a, struct str name,
				      struct read_sched *ret)
{
	struct why why;
	enum err e = api_find_schedule(call, a, name, ret);
	if (e == E_NOTFOUND && read_sched_removed(api_reader(a), name, call->arena, ret, &why) == OK)
		e = OK;
	return e;
}

enum err api_read_time(struct api_call *call, const char *what, struct str text, struct wall *ret)
{
	const struct zone_source *zones = zoneinfo_source(call->zones);
	const struct zone *zone = zones->find(zones->self, zoneinfo_local(call->zones));
	struct iso t;
	int64_t seconds;
	if (str_eq(text, STR("now")))
		*ret = clock_wall();
	else if (dur_parse(text, &seconds, NULL) == OK)
		*ret = (struct wall){ clock_wall().us - seconds * USEC };
	else if (iso_parse(text, &t, NULL) == OK)
		*ret = wall_of(iso_utc(&t, zone, NULL));
	else
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "%s '%.*s' is not a time; allowed are 2026-11-16T08:30, 2026-11-16, 2h (ago) "
			       "and now",
			       what, STR_SHORT(text));
	return OK;
}

enum err api_read_run_number(struct api_call *call, struct str text, uint64_t *ret)
{
	struct str digits = text.n && (text.p[0] == 'r' || text.p[0] == 'R') ? str_from(text, 1) : text;
	if (!str_number(digits, UINT64_C(1) << 48, ret) || !*ret)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "'%.*s' is not a run; runs are called r1, r2, …", STR_SHORT(text));
	return OK;
}

enum err api_read_before(struct api_call *call, const char *of, uint64_t *ret)
{
	const struct arg *before = op_arg(&call->args, "before");
	*ret = 0;
	if (before->given && !str_number(before->text, INT64_MAX, ret))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "'%.*s' is not the number of a %s",
			       STR_SHORT(before->text), of);
	return OK;
}

enum err api_check_agent_name(struct api_call *call, struct str name)
{
	return doc_is_agent_name(name) ? OK
				       : why_set(call->why, E_INPUT, WHY_NOWHERE,
						 "the name of an agent must have 1 to %d characters, no "
						 "control characters and no spaces at its ends",
						 DOC_ID_MAX);
}

enum err api_read_note(struct api_call *call, struct str *ret)
{
	const struct arg *note = op_arg(&call->args, "note");
	*ret = (struct str){ 0 };
	if (!note->given)
		return OK;
	if (note->text.n > NOTE_BYTES_MAX)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "the note has %zu bytes; at most %u are allowed", note->text.n,
			       NOTE_BYTES_MAX);
	*ret = (struct str){ note->text.p ? note->text.p : "", note->text.n };
	return OK;
}

enum err api_run_detail(struct api_call *call, struct api *a, const struct run_row *run, struct str *ret)
{
	*ret = (struct str){ 0 };
	/* If a condition failed at first and became true later, the text of its failure is still recorded,
	 * but does not apply any more. */
	if (run->state == RUN_CLAIMED ||
	    (run->state == RUN_FINISHED && run->outcome != OUTCOME_FAILED && run->outcome != OUTCOME_KILLED))
		return OK;
	return read_run_text(api_reader(a), run->run, RUN_TEXT_DETAIL, call->arena, ret, call->why);
}

enum err api_read_pause_all(struct api_call *call, struct api *a, struct read_hold *ret)
{
	struct read_holds holds;
	enum err e = read_holds(api_reader(a), call->arena, &holds, call->why);
	if (!e)
		*ret = (struct read_hold){ 0 };
	for (unsigned i = 0; !e && i < holds.n; i++)
		if (!holds.item[i].row.key)
			*ret = holds.item[i];
	return e;
}
