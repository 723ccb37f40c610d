/* The keys of a schedule: their table, and the setters and writers that only schedules use. */
#include "base/json.h"
#include "core/doc/action.h"
#include "core/doc/agent/agent.h"
#include "core/doc/internal.h"
#include "core/when/civil.h"
#include "core/when/dur.h"
#include "core/when/iso.h"

/* --- keys with a setter of their own --- */

static enum err set_id(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	*KEY_FIELD(struct str, into, k) = v->str;
	return keys_error_in(r, v, doc_check_id(v->str, r->why));
}

static enum err set_tags(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct schedule_doc *d = into;
	d->tag = arena_alloc(r->arena, (v->list.n + 1) * sizeof *d->tag);
	if (!d->tag)
		return E_NOMEM;
	if (v->list.n > TAGS_MAX)
		return why_set(r->why, E_LIMIT, v->at, "a schedule can have at most %d tags", TAGS_MAX);
	for (; d->tags < v->list.n; d->tags++) {
		const struct val *tag = &v->list.item[d->tags];
		if (tag->kind != VAL_STR)
			return keys_wrong_kind(r, "a tag", KEY_KIND(VAL_STR), tag);
		if (!tag->str.n)
			return why_set(r->why, E_INPUT, tag->at, "a tag is empty");
		for (unsigned i = 0; i < d->tags; i++)
			if (str_eq(d->tag[i], tag->str))
				return why_set(r->why, E_INPUT, tag->at, "%s: '%.*s' is given twice", k->name,
					       STR_SHORT(tag->str));
		d->tag[d->tags] = tag->str;
	}
	return OK;
}

static void write_tags(const void *from, const struct key *k, struct buf *out)
{
	const struct schedule_doc *d = from;
	(void)k;
	keys_write_strs(d->tag, d->tags, out);
}

static const char *const after_words[] = {
	[AFTER_DONE] = "done", [AFTER_FAILED] = "failed", [AFTER_ANY] = "any", NULL
};

static const struct key after_keys[] = {
	{ "schedule", KEY_TEXT, .offset = IN_SCHEDULE(after.schedule) },
	{ "outcome", KEY_WORD, .offset = IN_SCHEDULE(after.outcome), .words = after_words,
	  .default_value = AFTER_DONE },
	{ 0 },
};

static enum err set_after(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct schedule_doc *d = into;
	enum err e = keys_read(r, k->name, after_keys, into, v, NULL);
	if (e)
		return e;
	const struct val *schedule = val_get(v, STR("schedule"));
	if (!schedule)
		return why_set(r->why, E_INPUT, v->at,
			       "%s needs the key 'schedule', the id of the schedule to follow", k->name);
	return keys_error_in(r, schedule, doc_check_id(d->after.schedule, r->why));
}

static void write_after(const void *from, const struct key *k, struct buf *out)
{
	(void)k;
	keys_write_map(after_keys, from, out);
}

static enum err set_agent(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	*KEY_FIELD(struct str, into, k) = v->str;
	return doc_check_agent_name(r, k->name, v);
}

static enum err set_variables(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	enum err e = doc_check_variable_names(r, v);
	if (!e)
		e = doc_check_templates(r, &run_scope_variable_names, v);
	*KEY_FIELD(struct val, into, k) = *v;
	return e;
}

static enum err set_action(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	return action_read(r, v, KEY_FIELD(struct doc_action, into, k));
}

static void write_action(const void *from, const struct key *k, struct buf *out)
{
	action_write(KEY_CONST_FIELD(struct doc_action, from, k), out);
}

/* --- keys that mean the same as a directive --- */

static enum err set_expression(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_reader *d = reader_of(r);
	(void)into;
	(void)k;
	d->expression = v;
	return keys_error_in(r, v, ace_split(v->str, &d->by_expression, r->why));
}

/* Keeps the value as the text of its directive. */
static enum err set_directive(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_reader *d = reader_of(r);
	(void)into;
	struct str text = v->str;
	if (v->kind == VAL_INT) {
		char *seconds = arena_printf(r->arena, "%llds", (long long)v->integer);
		if (!seconds)
			return E_NOMEM;
		if (v->integer < 0)
			return why_set(r->why, E_INPUT, v->at, "%s must not be negative", k->name);
		text = str_of(seconds);
	}
	text = str_trim(text);
	if (!text.n)
		return why_set(r->why, E_INPUT, v->at, "%s is empty", k->name);
	d->by_key.value[k->directive] = text;
	d->key[k->directive] = v;
	return OK;
}

/* A list of dates, or the text that EXCEPT takes. */
static enum err set_except(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_reader *d = reader_of(r);
	if (v->kind == VAL_STR)
		return set_directive(r, into, k, v);
	_cleanup_(buf_free) struct buf all = { 0 };
	for (unsigned i = 0; i < v->list.n; i++) {
		const struct val *date = &v->list.item[i];
		int32_t day;
		enum err e = keys_read_day(r, "a date of except", date, &day);
		if (e)
			return e;
		buf_addf(&all, "%s%.*s", i ? "," : "", STR_ARG(date->str));
	}
	char *text = all.failed ? NULL : arena_dup(r->arena, buf_str(&all));
	if (!text)
		return E_NOMEM;
	if (v->list.n == 0)
		return OK; /* no day is excluded */
	d->by_key.value[ACE_EXCEPT] = str_of(text);
	d->key[ACE_EXCEPT] = v;
	return OK;
}

/* The keys of `retry` as they are written. max_attempts and retries mean the same; -1: not given. */
struct retry_values {
	int64_t max_attempts, retries, delay, max_delay;
	uint8_t backoff;
};
#define IN_RETRY(field) offsetof(struct retry_values, field)

static const struct key retry_keys[] = {
	{ "max_attempts", KEY_NUMBER, .offset = IN_RETRY(max_attempts), .least = 0, .most = RETRY_MAX,
	  .default_value = -1 },
	{ "retries", KEY_NUMBER, .offset = IN_RETRY(retries), .least = 0, .most = RETRY_MAX,
	  .default_value = -1 },
	{ "backoff", KEY_WORD, .offset = IN_RETRY(backoff), .words = backoff_words,
	  .default_value = BACKOFF_EXPONENTIAL },
	{ "initial_delay", KEY_DURATION, .offset = IN_RETRY(delay), .least = 1, .most = RETRY_SECONDS_MAX,
	  .default_value = DOC_RETRY_DELAY },
	{ "max_delay", KEY_DURATION, .offset = IN_RETRY(max_delay), .least = 1, .most = RETRY_SECONDS_MAX,
	  .default_value = DOC_RETRY_MAX_DELAY },
	{ 0 },
};

static enum err set_retry(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_reader *d = reader_of(r);
	struct retry_values retry;
	const struct val *given[ARRAY_LEN(retry_keys)] = { 0 };
	keys_set_defaults(retry_keys, &retry);
	enum err e = keys_read(r, k->name, retry_keys, &retry, v, given);
	if (e)
		return e;
	if (given[0] && given[1])
		return why_set(r->why, E_INPUT, given[1]->at,
			       "max_attempts and retries mean the same; give one of them");
	((struct schedule_doc *)into)->retry.max_delay = retry.max_delay;
	d->retry = v;
	d->max_delay_only = !given[0] && !given[1] && !given[2] && !given[3];
	if (d->max_delay_only)
		return OK; /* the directive RETRY may give the other values */
	if (!given[0] && !given[1])
		return why_set(r->why, E_INPUT, v->at, "%s needs the key 'max_attempts'", k->name);
	char *text = arena_printf(r->arena, "%lld %s %llds",
				  (long long)(given[0] ? retry.max_attempts : retry.retries),
				  backoff_words[retry.backoff], (long long)retry.delay);
	if (!text)
		return E_NOMEM;
	d->by_key.value[ACE_RETRY] = str_of(text);
	d->key[ACE_RETRY] = v;
	return OK;
}

static void write_retry(const void *from, const struct key *k, struct buf *out)
{
	const struct doc_retry *r = KEY_CONST_FIELD(struct doc_retry, from, k);
	struct retry_values retry = { r->count, -1, r->delay, r->max_delay, r->backoff };
	if (r->count) /* without retries the other values have no effect */
		keys_write_map(retry_keys, &retry, out);
}

static void write_directive(const void *from, const struct key *k, struct buf *out)
{
	struct str text = ((const struct schedule_doc *)from)->when.written.value[k->directive];
	if (text.p)
		json_write_str(out, text);
}

static void write_seconds(int64_t seconds, struct buf *out)
{
	if (!seconds)
		return;
	buf_addc(out, '"');
	dur_format(seconds, out);
	buf_addc(out, '"');
}

static void write_window(const void *from, const struct key *k, struct buf *out)
{
	(void)k;
	write_seconds(((const struct schedule_doc *)from)->window, out);
}

static void write_jitter(const void *from, const struct key *k, struct buf *out)
{
	(void)k;
	write_seconds(((const struct schedule_doc *)from)->when.rule.jitter, out);
}

/* Writes only a timeout that was given, not the default that applied when the document was read. */
static void write_timeout(const void *from, const struct key *k, struct buf *out)
{
	const struct when *w = &((const struct schedule_doc *)from)->when;
	if (w->written.value[k->directive].p)
		write_seconds(w->timeout, out);
}

static void write_missed(const void *from, const struct key *k, struct buf *out)
{
	uint8_t missed = ((const struct schedule_doc *)from)->missed;
	(void)k;
	if (missed != MISSED_EXECUTE_IMMEDIATELY)
		buf_addf(out, "\"%s\"", missed_words[missed]);
}

static void write_overlap(const void *from, const struct key *k, struct buf *out)
{
	uint8_t overlap = ((const struct schedule_doc *)from)->overlap;
	(void)k;
	if (overlap != OVERLAP_SKIP)
		buf_addf(out, "\"%s\"", overlap_words[overlap]);
}

/* A calendar is written as its name, since its days may change; dates are written as a list. */
static void write_except(const void *from, const struct key *k, struct buf *out)
{
	const struct when *w = &((const struct schedule_doc *)from)->when;
	struct str text = w->written.value[k->directive];
	if (!text.p)
		return;
	if (!is_digit(text.p[0])) {
		json_write_str(out, text);
		return;
	}
	for (unsigned i = 0; i < w->except.n; i++) {
		char day[ISO_SIZE];
		buf_addf(out, "%s\"%.10s\"", i ? "," : "[", iso_format_utc(w->except.day[i] * DAY, day));
	}
	buf_addc(out, ']');
}

/* --- the table of keys --- */

#define OWN(key, field, kind, setter, writer)                                                                \
	{                                                                                                    \
		.name = (key), .type = KEY_OTHER, .offset = IN_SCHEDULE(field), .kinds = (kind),             \
		.set = (setter), .write = (writer), .directive = ACE_KEYS                                    \
	}
#define DIRECTIVE(key, kind, means, setter, writer)                                                          \
	{                                                                                                    \
		.name = (key), .type = KEY_OTHER, .kinds = (kind), .set = (setter), .write = (writer),       \
		.directive = (means)                                                                         \
	}
#define TEXT(key, field)                                                                                     \
	{                                                                                                    \
		.name = (key), .type = KEY_TEXT, .offset = IN_SCHEDULE(field), .directive = ACE_KEYS         \
	}
#define NUMBER(key, field, from, upto, default_)                                                             \
	{                                                                                                    \
		.name = (key), .type = KEY_NUMBER, .offset = IN_SCHEDULE(field), .least = (from),            \
		.most = (upto), .default_value = (default_), .directive = ACE_KEYS                           \
	}

/* Every key of the specification, in the order in which they are written. */
const struct key schedule_keys[] = {
	OWN("id", id, STRING, set_id, keys_write_str),
	TEXT("name", name),
	TEXT("description", description),
	OWN("tags", tag, LIST, set_tags, write_tags),
	{ "enabled", KEY_BOOL, .offset = IN_SCHEDULE(enabled), .default_value = true, .directive = ACE_KEYS },
	OWN("expression", expression, STRING, set_expression, keys_write_str),
	DIRECTIVE("timezone", STRING, ACE_TZ, set_directive, write_directive),
	DIRECTIVE("condition", STRING, ACE_IF, set_directive, write_directive),
	DIRECTIVE("window", SECONDS, ACE_WINDOW, set_directive, write_window),
	DIRECTIVE("jitter", SECONDS, ACE_JITTER, set_directive, write_jitter),
	DIRECTIVE("gap", STRING, ACE_GAP, set_directive, write_directive),
	DIRECTIVE("fold", STRING, ACE_FOLD, set_directive, write_directive),
	DIRECTIVE("start_date", STRING, ACE_FROM, set_directive, write_directive),
	DIRECTIVE("end_date", STRING, ACE_UNTIL, set_directive, write_directive),
	NUMBER("max_runs", max_runs, 1, DOC_NO_LIMIT - 1, DOC_NO_LIMIT),
	DIRECTIVE("except", STRING | LIST, ACE_EXCEPT, set_except, write_except),
	OWN("after", after, MAP, set_after, write_after),
	OWN("agent", agent, STRING, set_agent, keys_write_str),
	OWN("action", action, MAP, set_action, write_action),
	OWN("variables", variables, MAP, set_variables, keys_write_val),
	OWN("check", check, STRING | LIST, set_check, write_check),
	OWN("expectations", expectation, LIST, set_expectations, write_expectations),
	{ "retry", KEY_OTHER, .offset = IN_SCHEDULE(retry), .kinds = MAP, .set = set_retry,
	  .write = write_retry, .directive = ACE_RETRY },
	DIRECTIVE("timeout", SECONDS, ACE_TIMEOUT, set_directive, write_timeout),
	DIRECTIVE("missed_schedule_policy", STRING, ACE_MISSED, set_directive, write_missed),
	NUMBER("catch_up_limit", catch_up_limit, 1, CATCH_UP_MAX, 100),
	DIRECTIVE("overlap", STRING, ACE_OVERLAP, set_directive, write_overlap),
	TEXT("concurrency_key", concurrency_key),
	NUMBER("priority", priority, -PRIORITY_MAX, PRIORITY_MAX, 0),
	OWN("budget", budget, MAP, set_budget, write_budget),
	NUMBER("max_failures", max_failures, 0, UINT16_MAX, -1),
	OWN("notification", notification, MAP, set_notification, write_notification),
	OWN("ping", ping, STRING, set_url, keys_write_str),
	OWN("hooks", hook, MAP, set_hooks, write_hooks),
	OWN("next_check", next_check, STRING, set_next_check, write_next_check),
	OWN("grants", grants, MAP, set_grants, write_grants),
	{ 0 },
};

void doc_write(const struct schedule_doc *d, struct buf *out)
{
	buf_addc(out, '{');
	keys_write(schedule_keys, d, true, out);
	buf_addc(out, '}');
}

const char *doc_key_of(enum ace_key directive)
{
	for (const struct key *k = schedule_keys; k->name; k++)
		if (k->directive == directive)
			return k->name;
	return NULL;
}
