/* agenda: what is overdue, due, ready, claimed and upcoming in plans, without a daemon. */
#include "cli/verbs/verbs.h"

#include "cli/plan_file.h"
#include "cli/table.h"
#include "core/plan/agenda.h"
#include "core/when/dur.h"
#include "core/when/iso.h"
#include "sys/print.h"

enum { STALE_SECONDS = 86400 };

static enum err read_plans(struct cli_call *call, struct agenda_query *q)
{
	const struct arg *files = op_arg(&call->args, "file");
	if (!files->count)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "agenda needs a file, for example: %s",
			       call->args.op->example);
	if (files->count > AGENDA_PLANS_MAX)
		return why_set(call->why, E_LIMIT, WHY_NOWHERE, "agenda takes at most %d files",
			       AGENDA_PLANS_MAX);
	struct agenda_plan *plan = arena_alloc(call->arena, files->count * sizeof *plan);
	if (!plan)
		return E_NOMEM;
	q->plan = plan;
	for (q->plans = 0; q->plans < files->count; q->plans++) {
		plan[q->plans].file = files->word[q->plans];
		enum err e = plan_file_read(call, files->word[q->plans], &plan[q->plans].org);
		if (e)
			return e;
	}
	return OK;
}

static enum err read_query(struct cli_call *call, struct agenda_query *ret)
{
	const struct arg *stale = op_arg(&call->args, "stale");
	struct agenda_query q = { .agent = op_arg(&call->args, "agent")->text, .stale_after = STALE_SECONDS };
	struct plan_clock clock;
	enum err e = plan_clock(call, &clock);
	if (!e && stale->given)
		e = cli_option_error(call, "stale", dur_parse(stale->text, &q.stale_after, call->why));
	if (!e)
		e = read_plans(call, &q);
	if (e)
		return e;
	q.zone = clock.zone;
	q.now = clock.now;
	*ret = q;
	return OK;
}

static const char *local_time(struct cli_call *call, const struct zone *z, int64_t at)
{
	char text[ISO_SIZE];
	iso_format_local(at + zone_offset(z, at), text);
	return at ? arena_printf(call->arena, "%.10s %.5s", text, text + 11) : NULL;
}

static void print_list(struct cli_call *call, const struct agenda_query *q, const struct agenda *agenda,
		       enum agenda_list list)
{
	static const char *const heading[] = { "", "STATE", "TASK", "AT", "AGENT", "PLACE" };
	_cleanup_(table_free) struct table t = table_new(ARRAY_LEN(heading), heading);
	for (unsigned i = 0; i < agenda->n[list]; i++) {
		const struct agenda_item *item = &agenda->item[list][i];
		const struct agenda_plan *plan = &q->plan[item->plan];
		const struct org_head *h = &plan->org.head[item->head];
		struct str holder = task_holder(&plan->org, h);
		table_row(&t, (const char *[]){
				      "", arena_dup(call->arena, org_text(&plan->org, h->state)),
				      arena_dup(call->arena, org_text(&plan->org, h->title)),
				      local_time(call, q->zone, item->at),
				      holder.n ? arena_dup(call->arena, holder) : NULL,
				      arena_printf(call->arena, "%.*s:%u", STR_ARG(plan->file), h->line) });
	}
	if (t.n < 2)
		return;
	print(call->out, "%s\n", agenda_list_words[list]);
	table_print(&t, call->out);
}

static enum err print_agenda(struct cli_call *call, const struct agenda_query *q, const struct agenda *agenda)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	unsigned all = 0;
	if (call->json) {
		agenda_write(q, agenda, &out);
		buf_addc(&out, '\n');
		if (out.failed)
			return E_NOMEM;
		print_json(call->out, buf_str(&out));
		return OK;
	}
	for (unsigned list = 0; list < AGENDA_LISTS; list++) {
		all += agenda->n[list];
		print_list(call, q, agenda, list);
	}
	if (!all)
		print(call->out, "Nothing is due, ready, claimed or upcoming.\n");
	return OK;
}

enum err verb_agenda(struct cli_call *call)
{
	bool check = op_arg(&call->args, "check")->given;
	struct agenda_query q;
	struct agenda agenda;
	enum err e = read_query(call, &q);
	if (!e)
		e = agenda_read(&q, call->arena, &agenda);
	if (!e)
		e = print_agenda(call, &q, &agenda);
	if (!check)
		return e;
	if (e)
		return plan_check_failure(e);
	return agenda.work ? OK : why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "nothing is due or ready");
}
