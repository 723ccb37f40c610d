#include "base/json.h"
#include "core/doc/action.h"
#include "core/doc/agent/agent.h"
#include "core/doc/internal.h"
#include "core/doc/text_position.h"
#include "core/when/civil.h"
#include "core/when/dur.h"
#include "core/when/iso.h"

/* --- keys of their own kind --- */

static enum err set_id(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	enum err e = doc_check_id(v->str, r->why);
	(void)k;
	if (e && r->why)
		r->why->at = inside(r->source, v, r->why->at);
	((struct schedule_doc *)into)->id = v->str;
	return e;
}

static void write_id(const void *from, struct buf *out)
{
	json_write_str(out, ((const struct schedule_doc *)from)->id);
}

static enum err set_tags(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct schedule_doc *d = into;
	d->tag = arena_alloc(r->arena, (v->list.n + 1) * sizeof *d->tag);
	if (!d->tag)
		return E_NOMEM;
	if (v->list.n > TAGS_MAX)
		return why_set(r->why, E_LIMIT, v->at, "a schedule has at most %d tags", TAGS_MAX);
	for (; d->tags < v->list.n; d->tags++) {
		const struct val *tag = &v->list.item[d->tags];
		if (tag->kind != VAL_STR)
			return keys_wrong(r, "a tag", KEY_KIND(VAL_STR), tag);
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

static void write_tags(const void *from, struct buf *out)
{
	const struct schedule_doc *d = from;
	for (unsigned i = 0; i < d->tags; i++) {
		buf_addc(out, i ? ',' : '[');
		json_write_str(out, d->tag[i]);
	}
	if (d->tags)
		buf_addc(out, ']');
}

static const char *const after_words[] = {
	[AFTER_DONE] = "done", [AFTER_FAILED] = "failed", [AFTER_ANY] = "any", NULL
};

static const struct key after_keys[] = {
	{ "schedule", KEY_TEXT, .to = IN_DOC(after.schedule) },
	{ "outcome", KEY_WORD, .to = IN_DOC(after.outcome), .words = after_words, .usual = AFTER_DONE },
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
		return why_set(r->why, E_INPUT, v->at, "after needs schedule, the id of the one to follow");
	e = doc_check_id(d->after.schedule, r->why);
	if (e && r->why)
		r->why->at = inside(r->source, schedule, r->why->at);
	return e;
}

static void write_after(const void *from, struct buf *out)
{
	if (!((const struct schedule_doc *)from)->after.schedule.n)
		return;
	buf_addc(out, '{');
	keys_write(after_keys, from, true, out);
	buf_addc(out, '}');
}

/* One line, since it is shown as a name. */
static enum err set_agent(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	if (!agent_is_name(v->str))
		return why_set(r->why, E_INPUT, v->at, "%s must be a name of 1 to %d characters", k->name,
			       DOC_ID_MAX);
	((struct schedule_doc *)into)->agent = v->str;
	return OK;
}

static void write_agent(const void *from, struct buf *out)
{
	struct str name = ((const struct schedule_doc *)from)->agent;
	if (name.n)
		json_write_str(out, name);
}

/* Its strings, however deep. */
static enum err check_variable(struct key_reader *r, const struct val *v)
{
	enum err e = v->kind == VAL_STR ? doc_template(r, &scope_names_of_variables, v) : OK;
	for (unsigned i = 0; v->kind == VAL_LIST && i < v->list.n && !e; i++)
		e = check_variable(r, &v->list.item[i]);
	for (unsigned i = 0; v->kind == VAL_MAP && i < v->map.n && !e; i++)
		e = check_variable(r, &v->map.pair[i].value);
	return e;
}

static enum err set_variables(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	(void)k;
	for (unsigned i = 0; i < v->map.n; i++) {
		const struct val_pair *p = &v->map.pair[i];
		if (!doc_is_name(p->key))
			return why_set(r->why, E_INPUT, p->at, "'%.*s' cannot be the name of a variable",
				       STR_SHORT(p->key));
		enum err e = check_variable(r, &p->value);
		if (e)
			return e;
	}
	((struct schedule_doc *)into)->variables = *v;
	return OK;
}

static void write_variables(const void *from, struct buf *out)
{
	const struct val *v = &((const struct schedule_doc *)from)->variables;
	if (v->kind == VAL_MAP && v->map.n)
		json_write(out, v);
}

static void write_ping(const void *from, struct buf *out)
{
	struct str url = ((const struct schedule_doc *)from)->ping;
	if (url.n)
		json_write_str(out, url);
}

static enum err set_action(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	(void)k;
	return action_read(r, v, &((struct schedule_doc *)into)->action);
}

static void write_action(const void *from, struct buf *out)
{
	action_write(&((const struct schedule_doc *)from)->action, out);
}

/* --- keys that are directives --- */

static enum err set_expression(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_reader *d = reader_of(r);
	(void)into;
	(void)k;
	d->expression = v;
	enum err e = ace_split(v->str, &d->by_expression, r->why);
	if (e && r->why)
		r->why->at = inside(r->source, v, r->why->at);
	return e;
}

/* What the key says, as the text of its directive. */
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
			return why_set(r->why, E_INPUT, v->at, "%s is negative", k->name);
		text = str_of(seconds);
	}
	text = str_trim(text);
	if (!text.n)
		return why_set(r->why, E_INPUT, v->at, "%s is empty", k->name);
	d->by_key.value[k->ace] = text;
	d->key[k->ace] = v;
	return OK;
}

/* A list of dates, or what EXCEPT takes. */
static enum err set_except(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_reader *d = reader_of(r);
	if (v->kind == VAL_STR)
		return set_directive(r, into, k, v);
	_cleanup_(buf_free) struct buf all = { 0 };
	for (unsigned i = 0; i < v->list.n; i++) {
		const struct val *item = &v->list.item[i];
		struct iso t;
		if (item->kind != VAL_STR)
			return keys_wrong(r, "a date of except", KEY_KIND(VAL_STR), item);
		enum err e = iso_parse(item->str, &t, r->why);
		if (!e && t.has_time)
			e = why_set(r->why, E_INPUT, 0, "except takes whole days such as 2026-12-25");
		if (e) {
			if (r->why)
				r->why->at = inside(r->source, item, r->why->at);
			return e;
		}
		buf_addf(&all, "%s%.*s", i ? "," : "", STR_ARG(item->str));
	}
	char *text = all.failed ? NULL : arena_dup(r->arena, buf_str(&all));
	if (!text)
		return E_NOMEM;
	if (v->list.n == 0)
		return OK; /* nothing is left out */
	d->by_key.value[ACE_EXCEPT] = str_of(text);
	d->key[ACE_EXCEPT] = v;
	return OK;
}

struct retry_said {
	int64_t max_attempts, retries, delay, most;
	uint8_t backoff;
};
#define IN_RETRY(field) offsetof(struct retry_said, field)

/* Written with max_attempts; read with either name. */
static const struct key retry_keys[] = {
	{ "max_attempts", KEY_NUMBER, .to = IN_RETRY(max_attempts), .least = 0, .most = RETRY_MAX,
	  .usual = -1 },
	{ "retries", KEY_NUMBER, .to = IN_RETRY(retries), .least = 0, .most = RETRY_MAX, .usual = -1 },
	{ "backoff", KEY_WORD, .to = IN_RETRY(backoff), .words = backoff_words,
	  .usual = BACKOFF_EXPONENTIAL },
	{ "initial_delay", KEY_DURATION, .to = IN_RETRY(delay), .least = 1, .most = RETRY_SECONDS_MAX,
	  .usual = DOC_RETRY_DELAY },
	{ "max_delay", KEY_DURATION, .to = IN_RETRY(most), .least = 1, .most = RETRY_SECONDS_MAX,
	  .usual = DOC_RETRY_MOST },
	{ 0 },
};
static const struct retry_said retry_usual = { -1, -1, DOC_RETRY_DELAY, DOC_RETRY_MOST, BACKOFF_EXPONENTIAL };

static enum err set_retry(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_reader *d = reader_of(r);
	struct retry_said said = retry_usual;
	const struct val *given[ARRAY_LEN(retry_keys)] = { 0 };
	enum err e = keys_read(r, k->name, retry_keys, &said, v, given);
	if (e)
		return e;
	if (given[0] && given[1])
		return why_set(r->why, E_INPUT, given[1]->at,
			       "max_attempts and retries mean the same; give one of them");
	((struct schedule_doc *)into)->retry.most = said.most;
	d->retry = v;
	d->max_delay_only = !given[0] && !given[1] && !given[2] && !given[3];
	if (d->max_delay_only)
		return OK; /* RETRY in the expression may say the rest */
	if (!given[0] && !given[1])
		return why_set(r->why, E_INPUT, v->at, "retry needs max_attempts");
	char *text = arena_printf(r->arena, "%lld %s %llds",
				  (long long)(given[0] ? said.max_attempts : said.retries),
				  backoff_words[said.backoff], (long long)said.delay);
	if (!text)
		return E_NOMEM;
	d->by_key.value[ACE_RETRY] = str_of(text);
	d->key[ACE_RETRY] = v;
	return OK;
}

static void write_retry(const void *from, struct buf *out)
{
	const struct doc_retry *r = &((const struct schedule_doc *)from)->retry;
	if (!r->count)
		return; /* the rest means nothing */
	struct retry_said said = { r->count, -1, r->delay, r->most, r->backoff };
	buf_addc(out, '{');
	keys_write(retry_keys, &said, true, out);
	buf_addc(out, '}');
}

static void write_expression(const void *from, struct buf *out)
{
	struct str form = ((const struct schedule_doc *)from)->expression;
	if (form.n)
		json_write_str(out, form);
}

static void write_directive(const void *from, enum ace_key key, struct buf *out)
{
	struct str said = ((const struct schedule_doc *)from)->when.said.value[key];
	if (said.p)
		json_write_str(out, said);
}

static void write_seconds(int64_t seconds, struct buf *out)
{
	if (!seconds)
		return;
	buf_addc(out, '"');
	dur_format(seconds, out);
	buf_addc(out, '"');
}

static void write_timezone(const void *from, struct buf *out)
{
	write_directive(from, ACE_TZ, out);
}

static void write_condition(const void *from, struct buf *out)
{
	write_directive(from, ACE_IF, out);
}

static void write_window(const void *from, struct buf *out)
{
	write_seconds(((const struct schedule_doc *)from)->window, out);
}

static void write_jitter(const void *from, struct buf *out)
{
	write_seconds(((const struct schedule_doc *)from)->when.rule.jitter, out);
}

static void write_gap(const void *from, struct buf *out)
{
	write_directive(from, ACE_GAP, out);
}

static void write_fold(const void *from, struct buf *out)
{
	write_directive(from, ACE_FOLD, out);
}

static void write_start(const void *from, struct buf *out)
{
	write_directive(from, ACE_FROM, out);
}

static void write_end(const void *from, struct buf *out)
{
	write_directive(from, ACE_UNTIL, out);
}

/* What was said, and not the setting that was in force when it was read. */
static void write_timeout(const void *from, struct buf *out)
{
	const struct when *w = &((const struct schedule_doc *)from)->when;
	if (w->said.value[ACE_TIMEOUT].p)
		write_seconds(w->timeout, out);
}

static void write_missed(const void *from, struct buf *out)
{
	uint8_t missed = ((const struct schedule_doc *)from)->missed;
	if (missed != MISSED_EXECUTE_IMMEDIATELY)
		buf_addf(out, "\"%s\"", missed_words[missed]);
}

static void write_overlap(const void *from, struct buf *out)
{
	uint8_t overlap = ((const struct schedule_doc *)from)->overlap;
	if (overlap != OVERLAP_SKIP)
		buf_addf(out, "\"%s\"", overlap_words[overlap]);
}

/* A calendar by its name, which may come to mean other days; days as days. */
static void write_except(const void *from, struct buf *out)
{
	const struct when *w = &((const struct schedule_doc *)from)->when;
	struct str said = w->said.value[ACE_EXCEPT];
	if (!said.p)
		return;
	if (!is_digit(said.p[0])) {
		json_write_str(out, said);
		return;
	}
	for (unsigned i = 0; i < w->except.n; i++) {
		char day[ISO_SIZE];
		buf_addf(out, "%s\"%.10s\"", i ? "," : "[", iso_format_utc(w->except.day[i] * DAY, day));
	}
	buf_addc(out, ']');
}

/* --- the table of keys --- */

#define OWN(key, kind, setter, writer)                                                                       \
	{                                                                                                    \
		.name = (key), .type = KEY_OTHER, .kinds = (kind), .set = (setter), .write = (writer),       \
		.ace = ACE_KEYS                                                                              \
	}
#define SHARED(key, field, kind, setter, writer)                                                             \
	{                                                                                                    \
		.name = (key), .type = KEY_OTHER, .to = IN_DOC(field), .kinds = (kind), .set = (setter),     \
		.write = (writer), .ace = ACE_KEYS                                                           \
	}
#define DIRECTIVE(key, kind, directive, writer)                                                              \
	{                                                                                                    \
		.name = (key), .type = KEY_OTHER, .kinds = (kind), .set = set_directive, .write = (writer),  \
		.ace = (directive)                                                                           \
	}
#define TEXT(key, field)                                                                                     \
	{                                                                                                    \
		.name = (key), .type = KEY_TEXT, .to = IN_DOC(field), .ace = ACE_KEYS                        \
	}
#define NUMBER(key, field, from, upto, default_)                                                             \
	{                                                                                                    \
		.name = (key), .type = KEY_NUMBER, .to = IN_DOC(field), .least = (from), .most = (upto),     \
		.usual = (default_), .ace = ACE_KEYS                                                         \
	}

/* Every key of the specification, in the order in which they are written. */
const struct key doc_keys[] = {
	OWN("id", STRING, set_id, write_id),
	TEXT("name", name),
	TEXT("description", description),
	OWN("tags", LIST, set_tags, write_tags),
	{ "enabled", KEY_BOOL, .to = IN_DOC(enabled), .usual = true, .ace = ACE_KEYS },
	OWN("expression", STRING, set_expression, write_expression),
	DIRECTIVE("timezone", STRING, ACE_TZ, write_timezone),
	DIRECTIVE("condition", STRING, ACE_IF, write_condition),
	DIRECTIVE("window", SECONDS, ACE_WINDOW, write_window),
	DIRECTIVE("jitter", SECONDS, ACE_JITTER, write_jitter),
	DIRECTIVE("gap", STRING, ACE_GAP, write_gap),
	DIRECTIVE("fold", STRING, ACE_FOLD, write_fold),
	DIRECTIVE("start_date", STRING, ACE_FROM, write_start),
	DIRECTIVE("end_date", STRING, ACE_UNTIL, write_end),
	NUMBER("max_runs", max_runs, 1, DOC_NO_LIMIT - 1, DOC_NO_LIMIT),
	{ "except", KEY_OTHER, .kinds = STRING | LIST, .set = set_except, .write = write_except,
	  .ace = ACE_EXCEPT },
	OWN("after", MAP, set_after, write_after),
	OWN("agent", STRING, set_agent, write_agent),
	OWN("action", MAP, set_action, write_action),
	OWN("variables", MAP, set_variables, write_variables),
	SHARED("check", check, STRING | LIST, set_check, write_check),
	OWN("expectations", LIST, set_expectations, write_expectations),
	{ "retry", KEY_OTHER, .kinds = MAP, .set = set_retry, .write = write_retry, .ace = ACE_RETRY },
	DIRECTIVE("timeout", SECONDS, ACE_TIMEOUT, write_timeout),
	DIRECTIVE("missed_schedule_policy", STRING, ACE_MISSED, write_missed),
	NUMBER("catch_up_limit", catch_up_limit, 1, CATCH_UP_MAX, 100),
	DIRECTIVE("overlap", STRING, ACE_OVERLAP, write_overlap),
	TEXT("concurrency_key", concurrency_key),
	NUMBER("priority", priority, -PRIORITY_MAX, PRIORITY_MAX, 0),
	SHARED("budget", budget, MAP, set_budget, write_budget),
	NUMBER("max_failures", max_failures, 0, UINT16_MAX, -1),
	OWN("notification", MAP, set_notification, write_notification),
	OWN("ping", STRING, set_ping, write_ping),
	OWN("hooks", MAP, set_hooks, write_hooks),
	SHARED("next_check", next_check, STRING, set_next_check, write_next_check),
	OWN("grants", MAP, set_grants, write_grants),
	{ 0 },
};

void doc_write(const struct schedule_doc *d, struct buf *out)
{
	buf_addc(out, '{');
	keys_write(doc_keys, d, true, out);
	buf_addc(out, '}');
}

const char *doc_key_of(enum ace_key directive)
{
	for (const struct key *k = doc_keys; k->name; k++)
		if (k->ace == directive)
			return k->name;
	return NULL;
}
