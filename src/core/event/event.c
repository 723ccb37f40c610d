/* The table of all events, and how they are written. */
#include "core/event/event.h"
#include "base/json.h"
#include "core/model.h"
#include "core/when/iso.h"

#include <stdio.h>

/* What a member of the data is. */
enum value {
	VALUE_SCHEDULE,
	VALUE_MISSION,
	VALUE_RUN,
	VALUE_ATTEMPT,
	VALUE_OUTCOME,
	VALUE_NO_OUTCOME, /* the event comes before the outcome */
	VALUE_REASON,
	VALUE_NO_REASON,
	VALUE_FIRST, /* the row's first time */
	VALUE_LAST,
	VALUE_FIRST_SKIPPED, /* of a run: its nominal time; of a range: its first and its last time */
	VALUE_LAST_SKIPPED,
	VALUE_EXPRESSION,
	VALUE_END_DATE,
	VALUE_NUMBER, /* of a problem or a message */
	VALUE_ALL,    /* whether a hold applies to all schedules */
	VALUE_SUBJECT,
	VALUE_BY,
	VALUE_NOTE,
	VALUE_ABOUT,
	VALUE_TO,
	VALUE_NAME,
	VALUE_TEXT,
	VALUE_RESULT,
};

#define OF_SCHEDULE                                                                                          \
	{ "scheduleId", VALUE_SCHEDULE },                                                                    \
	{                                                                                                    \
		"missionId", VALUE_MISSION                                                                   \
	}
#define OF_RUN                                                                                               \
	{ "run", VALUE_RUN }, { "schedule", VALUE_SCHEDULE }, { "attempt", VALUE_ATTEMPT },                  \
	{                                                                                                    \
		"nominal", VALUE_FIRST                                                                       \
	}
#define NOT_ENDED                                                                                            \
	{ "outcome", VALUE_NO_OUTCOME },                                                                     \
	{                                                                                                    \
		"reason", VALUE_NO_REASON                                                                    \
	}
#define ENDED                                                                                                \
	{ "outcome", VALUE_OUTCOME },                                                                        \
	{                                                                                                    \
		"reason", VALUE_REASON                                                                       \
	}
#define SKIPPED                                                                                              \
	{ "reason", VALUE_REASON }, { "first", VALUE_FIRST_SKIPPED }, { "last", VALUE_LAST_SKIPPED },        \
	{                                                                                                    \
		"run", VALUE_RUN                                                                             \
	}
#define OF_MESSAGE                                                                                           \
	{ "message", VALUE_NUMBER }, { "about", VALUE_ABOUT }, { "schedule", VALUE_SCHEDULE },               \
		{ "run", VALUE_RUN }, { "to", VALUE_TO }, { "name", VALUE_NAME },                            \
	{                                                                                                    \
		"text", VALUE_TEXT                                                                           \
	}

const struct event_form event_forms[EVENT_TYPES] = {
	[EVENT_SCHEDULE_CREATED] = { "schedule:created",
				     "a schedule was added",
				     { OF_SCHEDULE, { "nextRunAt", VALUE_FIRST } } },
	[EVENT_SCHEDULE_UPDATED] = { "schedule:updated",
				     "a schedule was changed, paused or resumed",
				     { OF_SCHEDULE, { "nextRunAt", VALUE_FIRST } } },
	[EVENT_SCHEDULE_DELETED] = { "schedule:deleted", "a schedule was removed", { OF_SCHEDULE } },
	[EVENT_SCHEDULE_TRIGGERED] = { "schedule:triggered",
				       "a run may start: all of its preconditions have agreed",
				       { OF_SCHEDULE, { "expression", VALUE_EXPRESSION } } },
	[EVENT_SCHEDULE_COMPLETED] = { "schedule:completed", "a run has finished", { OF_SCHEDULE } },
	[EVENT_SCHEDULE_EXPIRED] = { "schedule:expired",
				     "the end date has passed: there are no more times",
				     { OF_SCHEDULE, { "endDate", VALUE_END_DATE } } },
	[EVENT_SCHEDULE_SKIPPED] = { "schedule:skipped",
				     "one or more times did not run, by a rule or by a person",
				     { OF_SCHEDULE, SKIPPED } },
	[EVENT_SCHEDULE_MISSED] = { "schedule:missed",
				    "one or more times could not run",
				    { OF_SCHEDULE, SKIPPED } },
	[EVENT_RUN_CLAIMED] = { "run:claimed",
				"a time is due, and its run is recorded",
				{ OF_RUN, NOT_ENDED, { "due", VALUE_LAST } } },
	[EVENT_RUN_STARTED] = { "run:started", "an attempt was started", { OF_RUN, NOT_ENDED } },
	[EVENT_RUN_FAILED] = { "run:failed",
			       "an attempt has failed, and another one follows",
			       { OF_RUN, ENDED } },
	[EVENT_RUN_FINISHED] = { "run:finished", "a run has its final outcome", { OF_RUN, ENDED } },
	[EVENT_RUN_STEP] = { "run:step",
			     "a run reports a step (rota step)",
			     { OF_RUN, NOT_ENDED, { "text", VALUE_TEXT } } },
	[EVENT_RUN_NOTE] = { "run:note",
			     "a run reports a note (rota note)",
			     { OF_RUN, NOT_ENDED, { "text", VALUE_TEXT } } },
	[EVENT_RUN_GAVE_UP] = { "run:gave_up",
				"a run reports that it cannot succeed (rota report fail)",
				{ OF_RUN, NOT_ENDED, { "text", VALUE_TEXT } } },
	[EVENT_PROBLEM_OPENED] = { "problem:opened",
				   "something needs a person",
				   { { "problem", VALUE_NUMBER },
				     { "subject", VALUE_SUBJECT },
				     { "text", VALUE_TEXT } } },
	[EVENT_PROBLEM_ACKNOWLEDGED] = { "problem:acknowledged",
					 "a person has acknowledged a problem",
					 { { "problem", VALUE_NUMBER },
					   { "subject", VALUE_SUBJECT },
					   { "by", VALUE_BY },
					   { "note", VALUE_NOTE } } },
	[EVENT_PROBLEM_CLOSED] = { "problem:closed",
				   "the cause of a problem is gone",
				   { { "problem", VALUE_NUMBER }, { "subject", VALUE_SUBJECT } } },
	[EVENT_HOLD_SET] = { "hold:set",
			     "all schedules are paused, or an agent or account is held",
			     { { "all", VALUE_ALL }, { "reason", VALUE_REASON }, { "until", VALUE_FIRST } } },
	[EVENT_HOLD_FREED] = { "hold:freed", "such a hold has ended", { { "all", VALUE_ALL } } },
	[EVENT_MESSAGE_CREATED] = { "message:created",
				    "a message to a receiver was composed",
				    { OF_MESSAGE } },
	[EVENT_MESSAGE_DELIVERED] = { "message:delivered",
				      "its receiver has got it",
				      { OF_MESSAGE, { "said", VALUE_RESULT } } },
	[EVENT_MESSAGE_GIVEN_UP] = { "message:given_up",
				     "it could not be delivered",
				     { OF_MESSAGE, { "said", VALUE_RESULT } } },
	[EVENT_CUSTOM] = { "custom:", "the action `event` of a schedule: its name and its data", { { 0 } } },
};

/* --- JSON --- */

/* RFC 3339 with milliseconds, or null. */
static void write_time(struct buf *out, struct wall t)
{
	char text[ISO_SIZE];
	if (t.us == INT64_MAX || t.us == 0) {
		buf_add(out, STR("null"));
		return;
	}
	int64_t seconds = wall_seconds(t);
	buf_addf(out, "\"%.19s.%03dZ\"", iso_format_utc(seconds, text),
		 (int)((t.us - seconds * USEC) / 1000));
}

static void write_text(struct buf *out, struct str s)
{
	if (s.p)
		json_write_str(out, s);
	else
		buf_add(out, STR("null"));
}

static void write_word(struct buf *out, const char *const *words, unsigned i)
{
	write_text(out, i ? str_of(words[i]) : (struct str){ 0 });
}

static void write_value(struct buf *out, enum value value, const struct event_row *e,
			const struct event_texts *t)
{
	switch (value) {
	case VALUE_MISSION:
	case VALUE_NO_OUTCOME:
	case VALUE_NO_REASON:
		buf_add(out, STR("null"));
		return;
	case VALUE_RUN:
		if (e->run)
			buf_addf(out, "\"r%llu\"", (unsigned long long)e->run);
		else
			buf_add(out, STR("null"));
		return;
	case VALUE_ATTEMPT:
		buf_addf(out, "%u", e->attempt);
		return;
	case VALUE_NUMBER:
		buf_addf(out, "%llu", (unsigned long long)e->subject);
		return;
	case VALUE_ALL:
		buf_add(out, e->subject ? STR("false") : STR("true"));
		return;
	case VALUE_OUTCOME:
		write_word(out, outcome_words, e->outcome);
		return;
	case VALUE_REASON:
		write_word(out, reason_words, e->reason);
		return;
	case VALUE_FIRST:
	case VALUE_FIRST_SKIPPED:
		write_time(out, e->first);
		return;
	case VALUE_LAST:
		write_time(out, e->last);
		return;
	case VALUE_LAST_SKIPPED:
		write_time(out, e->run ? e->first : e->last);
		return;
	case VALUE_SCHEDULE:
	case VALUE_EXPRESSION:
	case VALUE_END_DATE:
	case VALUE_SUBJECT:
	case VALUE_BY:
	case VALUE_NOTE:
	case VALUE_ABOUT:
	case VALUE_TO:
	case VALUE_NAME:
	case VALUE_TEXT:
	case VALUE_RESULT:
		break;
	}
	const struct str texts[] = { [VALUE_SCHEDULE] = t->schedule,
				     [VALUE_EXPRESSION] = t->expression,
				     [VALUE_END_DATE] = t->end_date,
				     [VALUE_SUBJECT] = t->subject,
				     [VALUE_BY] = t->by,
				     [VALUE_NOTE] = t->note,
				     [VALUE_ABOUT] = t->about,
				     [VALUE_TO] = t->to,
				     [VALUE_NAME] = t->name,
				     [VALUE_RESULT] = t->result,
				     [VALUE_TEXT] = e->text.p ? e->text : t->text };
	write_text(out, texts[value]);
}

void event_write_type(struct buf *out, const struct event_row *e, const struct event_texts *texts)
{
	buf_add(out, str_of(event_forms[e->type].name));
	if (e->type == EVENT_CUSTOM)
		buf_add(out, texts->name.p ? texts->name : STR("unknown"));
}

void event_write(struct buf *out, const struct event_row *e, const struct event_texts *texts)
{
	const struct event_member *m = event_forms[e->type].member;
	_cleanup_(buf_free) struct buf type = { 0 };
	event_write_type(&type, e, texts);
	buf_addf(out, "{\"seq\":%llu,\"ts\":", (unsigned long long)e->number);
	write_time(out, e->at);
	buf_add(out, STR(",\"type\":"));
	json_write_str(out, buf_str(&type));
	buf_add(out, STR(",\"data\":"));
	if (e->type == EVENT_CUSTOM) {
		buf_add(out, texts->data.p ? texts->data : STR("null"));
	} else {
		for (unsigned i = 0; i < EVENT_MEMBERS_MAX && m[i].name; i++) {
			buf_addf(out, "%s\"%s\":", i ? "," : "{", m[i].name);
			write_value(out, (enum value)m[i].value, e, texts);
		}
		buf_addc(out, '}');
	}
	buf_addc(out, '}');
	out->failed |= type.failed;
}

/* --- what wording needs --- */

static bool has_value(unsigned type, enum value value)
{
	const struct event_member *m = event_forms[type].member;
	for (unsigned i = 0; i < EVENT_MEMBERS_MAX && m[i].name; i++)
		if (m[i].value == value)
			return true;
	return false;
}

bool event_needs_document(unsigned type)
{
	return type == EVENT_CUSTOM || has_value(type, VALUE_EXPRESSION) || has_value(type, VALUE_END_DATE);
}

bool event_needs_problem(unsigned type)
{
	return has_value(type, VALUE_SUBJECT);
}

bool event_needs_message(unsigned type)
{
	return has_value(type, VALUE_ABOUT);
}

/* --- choosing types --- */

/* Takes the next item of a list that is separated by commas. */
static struct str next_item(struct str *list)
{
	const char *comma = list->n ? memchr(list->p, ',', list->n) : NULL;
	struct str item = comma ? str_sub(*list, 0, (size_t)(comma - list->p)) : *list;
	*list = str_from(*list, comma ? item.n + 1 : item.n);
	return str_trim(item);
}

/* "run:*" */
static bool is_group(struct str item)
{
	return item.n > 2 && item.p[item.n - 1] == '*' && item.p[item.n - 2] == ':';
}

static bool item_fits(struct str item, struct str type)
{
	if (is_group(item))
		return str_starts(type, str_sub(item, 0, item.n - 1));
	return str_eq(item, type);
}

/* The types that an item may mean. An item "custom:NAME" means EVENT_CUSTOM. */
static uint32_t item_types(struct str item)
{
	uint32_t types = 0;
	for (unsigned i = 0; i < EVENT_TYPES; i++) {
		struct str name = str_of(event_forms[i].name);
		bool custom = i == EVENT_CUSTOM && item.n > name.n && str_starts(item, name);
		if (custom || (i != EVENT_CUSTOM && item_fits(item, name)))
			types |= 1u << i;
	}
	return types;
}

static enum err refuse_type(struct str item, struct why *why)
{
	char known[160] = "";
	const char *colon = memchr(item.p, ':', item.n);
	struct str group = colon ? str_sub(item, 0, (size_t)(colon - item.p) + 1) : (struct str){ 0 };
	size_t n = 0;
	for (unsigned i = 0; i < EVENT_TYPES; i++)
		if (group.n && n < sizeof known && str_starts(str_of(event_forms[i].name), group))
			n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "",
					      event_forms[i].name);
	if (!n)
		snprintf(known, sizeof known,
			 "schedule:*, run:*, problem:*, hold:*, message:* and custom:NAME");
	return why_set(why, E_INPUT, WHY_NOWHERE, "there is no event type '%.*s'; allowed are %s",
		       STR_SHORT(item), known);
}

enum err event_choose(struct str list, struct event_choice *ret, struct why *why)
{
	struct event_choice c = { .list = str_trim(list) };
	for (struct str rest = c.list; rest.n;) {
		struct str item = next_item(&rest);
		uint32_t types = item.n ? item_types(item) : 0;
		if (!types)
			return refuse_type(item, why);
		c.types |= types;
	}
	*ret = c;
	return OK;
}

bool event_is_chosen(const struct event_choice *c, struct str type)
{
	for (struct str rest = c->list; rest.n;)
		if (item_fits(next_item(&rest), type))
			return true;
	return !c->list.n;
}
