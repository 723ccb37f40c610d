/* next, explain and zones: answer questions about expressions and time zones without a daemon. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "cli/when_preview.h"
#include "core/when/iso.h"
#include "sys/clock.h"

#include <errno.h>
#include <string.h>

/* What the configuration says about expressions. */
struct expression_config {
	struct settings settings;
	struct calendars calendars;
};

static enum err load_config(struct cli_call *call, struct expression_config *ret)
{
	enum err e = cli_expression_settings(call, &ret->settings);
	if (!e)
		ret->calendars = config_calendars(&ret->settings.config);
	return e;
}

/* --- batch --- */

static enum err read_answer_batch_line(const struct val *line, struct preview_query *q, struct why *why)
{
	static const char *const known[] = { "expr", "tz", "after", "count", "id" };
	struct str *text[] = { &q->expr, &q->tz, &q->after, NULL, &q->id };
	if (line->kind != VAL_MAP)
		return why_set(why, E_INPUT, line->at,
			       "expected a JSON object such as {\"expr\":\"0 9 * * *\"}");
	for (unsigned i = 0; i < line->map.n; i++) {
		const struct val_pair *p = &line->map.pair[i];
		unsigned k = 0;
		while (k < ARRAY_LEN(known) && !str_eq(p->key, str_of(known[k])))
			k++;
		if (k == ARRAY_LEN(known))
			return why_set(why, E_INPUT, p->at,
				       "key \"%.*s\" is not known; allowed are expr, tz, after, count, id",
				       STR_SHORT(p->key));
		if (text[k] && p->value.kind != VAL_STR)
			return why_set(why, E_INPUT, p->value.at, "%s must be a string", known[k]);
		if (text[k]) {
			*text[k] = p->value.str;
			continue;
		}
		if (p->value.kind != VAL_INT || p->value.integer < 1 || p->value.integer > NEXT_COUNT_MAX)
			return why_set(why, E_INPUT, p->value.at, "count must be a whole number of 1-%d",
				       NEXT_COUNT_MAX);
		q->count = (unsigned)p->value.integer;
	}
	if (!q->expr.p)
		return why_set(why, E_INPUT, line->at, "\"expr\" is missing");
	return OK;
}

static void answer_batch_line(struct cli_call *call, const struct expression_config *with, struct arena *a,
			      struct str line, struct buf *out)
{
	struct preview_query q = { .count = 5,
				   .default_zone = with->settings.config.timezone,
				   .calendars = &with->calendars,
				   .after_name = "after",
				   .tz_name = "tz" };
	struct preview r = { 0 };
	struct why why = { 0 };
	struct val v;
	struct str source = line;
	enum err e = json_read(line, a, &v, &why);
	if (!e)
		e = read_answer_batch_line(&v, &q, &why);
	if (!e) {
		source = q.expr;
		e = preview_compute(&q, zoneinfo_source(call->zones), a, &r, &why);
	}
	if (!e) {
		buf_add(out, STR("{\"next\":"));
		preview_write_times(&r, out);
		buf_add(out, STR("}\n"));
		return;
	}
	_cleanup_(buf_free) struct buf text = { 0 };
	err_describe(e, &why, source, &text);
	buf_add(out, STR("{\"error\":"));
	json_write_str(out, buf_str(&text));
	buf_add(out, STR("}\n"));
}

/* Reads a line of any length. Stores its first `room` bytes in `line`, and the length of the whole line in
 * *length. False: end of file. */
static bool read_line(FILE *in, char *line, size_t room, size_t *length)
{
	int c;
	*length = 0;
	while ((c = getc_unlocked(in)) != EOF && c != '\n') {
		if (*length < room)
			line[*length] = (char)c;
		++*length;
	}
	return c != EOF || *length > 0;
}

static enum err answer_batch(struct cli_call *call, struct str path)
{
	char *name = arena_dup(call->arena, path);
	bool std = str_eq(path, STR("-"));
	struct expression_config with;
	enum err e = name ? load_config(call, &with) : E_NOMEM;
	if (e)
		return e;
	FILE *in = std ? stdin : fopen(name, "re");
	if (!in)
		return why_set(call->why, E_IO, WHY_NOWHERE, "cannot read %.*s: %s", STR_SHORT(path),
			       strerror(errno));
	static char line[BATCH_LINE_BYTES_MAX];
	_cleanup_(arena_free) struct arena own = { 0 };
	_cleanup_(buf_free) struct buf out = { 0 };
	for (size_t n; read_line(in, line, sizeof line, &n);) {
		if (n > sizeof line)
			buf_addf(&out, "{\"error\":\"a line can have at most %zu bytes\"}\n", sizeof line);
		else
			answer_batch_line(call, &with, &own, (struct str){ line, n }, &out);
		arena_reset(&own);
		if (out.n > 65536) {
			print_json(call->out, buf_str(&out));
			out.n = 0;
		}
	}
	int failed = ferror(in) ? errno : 0;
	if (!std)
		fclose(in);
	print_json(call->out, buf_str(&out));
	if (out.failed)
		return E_NOMEM; /* answers are missing */
	if (failed)
		return why_set(call->why, E_IO, WHY_NOWHERE, "cannot read %.*s: %s", STR_SHORT(path),
			       strerror(failed));
	return OK;
}

/* --- the operations --- */

static enum err print_preview(struct cli_call *call, unsigned count, bool all)
{
	const struct arg *expr = op_arg(&call->args, "expression");
	if (!expr->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "%s needs an expression, for example: %s",
			       call->args.op->name, call->args.op->example);
	struct expression_config with;
	enum err e = load_config(call, &with);
	if (e)
		return e;
	struct default_zone zone = cli_default_zone(call, &with.settings.config);
	struct preview_query q = { .expr = expr->text,
				   .tz = op_arg(&call->args, "tz")->text,
				   .after = op_arg(&call->args, "after")->text,
				   .after_name = "--after",
				   .tz_name = "--tz",
				   .id = op_arg(&call->args, "id")->text,
				   .count = count,
				   .default_zone = zone.name,
				   .default_why = zone.why,
				   .calendars = &with.calendars };
	struct preview r = { 0 };
	call->source = q.expr;
	e = preview_compute(&q, zoneinfo_source(call->zones), call->arena, &r, call->why);
	if (e)
		return e;
	preview_warn(&r, call->arena);
	_cleanup_(buf_free) struct buf out = { 0 };
	if (call->json)
		preview_write_json(&r, &out);
	else
		preview_write_text(&r, all, &out);
	if (out.failed)
		return E_NOMEM;
	if (call->json)
		print_json(call->out, buf_str(&out));
	else
		print_lines(call->out, buf_str(&out));
	return OK;
}

enum err verb_next(struct cli_call *call)
{
	const struct arg *from = op_arg(&call->args, "batch"), *count = op_arg(&call->args, "count");
	if (!from->given)
		return print_preview(call, count->given ? count->count : 5, false);
	for (const struct op_param *p = call->args.op->param; p->name; p++)
		if (op_arg(&call->args, p->name)->given && strcmp(p->name, "batch") != 0 &&
		    strcmp(p->name, "json") != 0)
			return why_set(call->why, E_INPUT, WHY_NOWHERE,
				       "--batch reads %s from each line of its file; it cannot be combined "
				       "with %s%s",
				       p->name, p->positional ? "" : "--",
				       p->positional ? p->value : p->name);
	return answer_batch(call, from->text);
}

enum err verb_explain(struct cli_call *call)
{
	return print_preview(call, 5, true);
}

static bool contains_ignoring_case(struct str text, struct str part)
{
	for (size_t i = 0; i + part.n <= text.n; i++)
		if (str_ieq(str_sub(text, i, i + part.n), part))
			return true;
	return false;
}

enum err verb_zones(struct cli_call *call)
{
	const struct zone_source *s = zoneinfo_source(call->zones);
	struct str pattern = op_arg(&call->args, "pattern")->text, name;
	int64_t now = wall_seconds(clock_wall());
	unsigned found = 0;
	if (call->json)
		print(call->out, "[");
	for (unsigned i = 0; (name = s->name(s->self, i)).n; i++) {
		const struct zone *z = contains_ignoring_case(name, pattern) ? s->find(s->self, name) : NULL;
		if (!z)
			continue;
		char offset[ISO_SIZE];
		iso_format_offset(zone_offset(z, now), offset);
		if (call->json)
			print(call->out, "%s{\"name\":\"%.*s\",\"offset\":\"%s\"}", found ? "," : "",
			      STR_ARG(name), offset);
		else
			print(call->out, "%-32.*s %s\n", STR_ARG(name), offset);
		found++;
	}
	if (call->json)
		print(call->out, "]\n");
	if (!found)
		return why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "no zone's name contains '%.*s'",
			       STR_SHORT(pattern));
	return OK;
}
