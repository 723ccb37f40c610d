/* Prints one run: its record, its attempts and its reports. */
#include "cli/verbs/verbs.h"

#include "base/utf8.h"
#include "cli/table.h"

#include <string.h>

static void print_field(struct cli_call *call, const char *name, const char *text)
{
	if (!text)
		return;
	print(call->out, "  %-11s ", name);
	print_text(call->out, str_of(text));
	print(call->out, "\n");
}

static const char *signal_text(struct cli_call *call, const struct val *v)
{
	const struct val *n = val_get(v, STR("signal"));
	if (!n || n->kind != VAL_INT)
		return NULL;
	const char *name = sigabbrev_np((int)n->integer);
	return name ? arena_printf(call->arena, "%lld (SIG%s)", (long long)n->integer, name)
		    : arena_printf(call->arena, "%lld", (long long)n->integer);
}

static const char *log_text(struct cli_call *call, const struct val *v)
{
	const struct val *log = val_get(v, STR("log"));
	if (!log || log->kind != VAL_MAP)
		return NULL;
	const struct val *out = val_get(log, STR("left_out"));
	const char *kept = val_text(call->arena, log, "kept"), *left = "";
	if (out && out->integer)
		left = arena_printf(call->arena, ", %lld %s", (long long)out->integer,
				    kept && !strcmp(kept, "cut") ? "lost because they could not be written"
								 : "left out in the middle");
	return arena_printf(call->arena, "%s (%s bytes%s)", val_text(call->arena, log, "path"),
			    val_text(call->arena, log, "bytes"), left ? left : "");
}

/* How a check or hook ended, and where its log is. */
static const char *program_text(struct cli_call *call, const struct val *c)
{
	if (!c || c->kind != VAL_MAP)
		return NULL;
	const char *code = val_text(call->arena, c, "exit_code"), *cause = val_text(call->arena, c, "cause"),
		   *note = val_text(call->arena, c, "note"), *log = log_text(call, c);
	const char *end = code    ? arena_printf(call->arena, "exit code %s", code)
			  : note  ? note
			  : cause ? cause
				  : "running";
	return log ? arena_printf(call->arena, "%s, %s", end, log) : end;
}

static void print_hooks(struct cli_call *call, const struct val *list)
{
	for (unsigned i = 0; list && list->kind == VAL_LIST && i < list->list.n; i++) {
		const struct val *hook = &list->list.item[i];
		print_field(call, "hook",
			    arena_printf(call->arena, "%s: %s", val_text(call->arena, hook, "of"),
					 program_text(call, hook)));
	}
}

static const char *seconds_text(struct cli_call *call, const struct val *v)
{
	const struct val *d = val_get(v, STR("duration"));
	double s = !d ? -1 : d->kind == VAL_FLOAT ? d->real : d->kind == VAL_INT ? (double)d->integer : -1;
	return s < 0 ? NULL : arena_printf(call->arena, "%.3f s", s);
}

static void print_attempts(struct cli_call *call, const struct val *list)
{
	static const char *const heading[] = {
		"ATTEMPT", "STARTED", "TOOK", "CAUSE", "EXIT", "SIGNAL", "LOG"
	};
	_cleanup_(table_free) struct table t = table_new(ARRAY_LEN(heading), heading);
	if (!list || list->list.n < 2)
		return;
	for (unsigned i = 0; i < list->list.n; i++) {
		const struct val *a = &list->list.item[i], *log = val_get(a, STR("log"));
		table_row(&t,
			  (const char *[]){ val_text(call->arena, a, "attempt"),
					    cli_time(call, val_text(call->arena, a, "started_at")),
					    seconds_text(call, a), val_text(call->arena, a, "cause"),
					    val_text(call->arena, a, "exit_code"), signal_text(call, a),
					    log && log->kind == VAL_MAP ? val_text(call->arena, log, "path")
									: NULL });
	}
	print(call->out, "\n");
	table_print(&t, call->out);
}

static void print_reports(struct cli_call *call, const struct val *list)
{
	enum { REPORTS_SHOWN = 10 }; /* the last ones */
	unsigned n = list && list->kind == VAL_LIST ? list->list.n : 0;
	for (unsigned i = n > REPORTS_SHOWN ? n - REPORTS_SHOWN : 0; i < n; i++) {
		const struct val *report = &list->list.item[i];
		const char *kind = val_text(call->arena, report, "report"),
			   *text = val_text(call->arena, report, "text");
		print_field(call, kind, text ? text : "");
	}
}

static const char *last_note(struct cli_call *call, const struct val *list)
{
	return list && list->list.n ? val_text(call->arena, &list->list.item[list->list.n - 1], "note")
				    : NULL;
}

/* The beginning of a text, on one line. */
static const char *excerpt(struct cli_call *call, const struct val *v, const char *name)
{
	enum { EXCERPT_BYTES = 400 };
	const char *text = val_line(call->arena, v, name);
	struct str all = str_of(text ? text : "");
	size_t n = 0;
	while (n < EXCERPT_BYTES && n < all.n) {
		unsigned more = utf8_length(str_from(all, n));
		n += more ? more : 1;
	}
	return all.n ? arena_printf(call->arena, "%.*s%s", (int)n, all.p, n < all.n ? " …" : "") : NULL;
}

/* Prints the agent, program and message of an agent's turn. */
static void print_origin(struct cli_call *call, const struct val *v)
{
	struct arena *a = call->arena;
	const struct val *program = v && v->kind == VAL_MAP ? val_get(v, STR("program")) : NULL;
	_cleanup_(buf_free) struct buf text = { 0 };
	if (!program || program->kind != VAL_LIST)
		return;
	const char *model = val_text(a, v, "model");
	print_field(call, "agent",
		    arena_printf(a, "%s, definition %s%s%s", val_text(a, v, "agent"),
				 val_text(a, v, "definition"), model ? ", model " : "", model ? model : ""));
	for (unsigned i = 0; i < program->list.n; i++)
		buf_addf(&text, "%s%.*s", i ? " " : "", STR_ARG(program->list.item[i].str));
	print_field(call, "program", text.failed ? NULL : arena_dup(a, buf_str(&text)));
	print_field(call, "message", excerpt(call, v, "message"));
}

/* How late the run was taken up, and whether that is within the window or the grace; NULL: in time. */
static const char *late_text(struct cli_call *call, const struct val *v)
{
	const struct val *late = val_get(v, STR("late_s")), *grace = val_get(v, STR("grace_s"));
	if (!late || !grace)
		return NULL;
	return arena_printf(call->arena, "%lld s, %s the grace of %lld s", (long long)late->integer,
			    late->integer <= grace->integer ? "within" : "beyond", (long long)grace->integer);
}

void show_run(struct cli_call *call, const struct val *v)
{
	struct arena *a = call->arena;
	const char *outcome = val_text(a, v, "outcome"), *reason = val_text(a, v, "reason"),
		   *text = val_text(a, v, "reason_text"), *state = val_text(a, v, "state"),
		   *limited = val_text(a, v, "attempts_not_counted"), *due = val_text(a, v, "due"),
		   *nominal = val_text(a, v, "nominal"), *cost = val_text(a, v, "cost_usd");
	const struct val *tokens = val_get(v, STR("tokens"));
	const char *in = tokens ? val_text(a, tokens, "in") : NULL,
		   *out = tokens ? val_text(a, tokens, "out") : NULL;
	print(call->out, "%s: %s%s%s%s%s\n", val_text(a, v, "id"), outcome ? outcome : state,
	      reason ? "/" : "", reason ? reason : "", text ? ": " : "", text ? text : "");
	print_field(call, "schedule",
		    arena_printf(a, "%s, version %s%s", val_text(a, v, "schedule"), val_text(a, v, "rev"),
				 val_is_true(v, "removed") ? " (removed)" : ""));
	print_field(call, "detail", val_text(a, v, "detail"));
	print_field(call, "state", state);
	print_field(call, "kind", val_text(a, v, "kind"));
	print_field(call, "nominal", cli_time(call, nominal));
	if (due && nominal && strcmp(due, nominal) != 0)
		print_field(call, "due", cli_time(call, due));
	print_field(call, "late", late_text(call, v));
	print_field(call, "started", cli_time(call, val_text(a, v, "started_at")));
	print_field(call, "ended", cli_time(call, val_text(a, v, "ended_at")));
	print_field(call, "took", seconds_text(call, v));
	print_field(call, "attempts",
		    limited && strcmp(limited, "0") != 0
			    ? arena_printf(a, "%s, %s not counted", val_text(a, v, "attempt"), limited)
			    : val_text(a, v, "attempt"));
	if (val_get(v, STR("superseded_by")))
		print_field(call, "retries",
			    arena_printf(a, "dropped when %s was claimed", val_text(a, v, "superseded_by")));
	else
		print_field(call, "retries dropped", cli_time(call, val_text(a, v, "retry_dropped_at")));
	print_field(call, "retry at", cli_time(call, val_text(a, v, "retry_at")));
	if (!signal_text(call, v)) /* after a signal, the exit code only repeats the number of the signal, as
				      in shells */
		print_field(call, "exit code", val_text(a, v, "exit_code"));
	print_field(call, "signal", signal_text(call, v));
	print_field(call, "note", last_note(call, val_get(v, STR("attempts"))));
	print_hooks(call, val_get(v, STR("hooks")));
	print_field(call, "check", program_text(call, val_get(v, STR("check"))));
	print_reports(call, val_get(v, STR("reports")));
	print_field(call, "cost", cost ? arena_printf(a, "$%s", cost) : NULL);
	if (in && out && (strcmp(in, "0") != 0 || strcmp(out, "0") != 0))
		print_field(call, "tokens", arena_printf(a, "%s in, %s out", in, out));
	print_origin(call, val_get(v, STR("origin")));
	print_field(call, "answer", excerpt(call, v, "answer"));
	print_field(call, "log", log_text(call, v));
	print_messages(call, val_get(v, STR("messages")), "notified");
	print_attempts(call, val_get(v, STR("attempts")));
}
