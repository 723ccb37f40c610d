/* The table of the functions that carry out verbs and print answers. */
#include "cli/verbs/verbs.h"

#include "cli/remote.h"

static enum err verb_version(struct cli_call *call)
{
	print(call->out, call->json ? "{\"version\":\"%s\"}\n" : "rota %s\n", ROTA_VERSION);
	return OK;
}

/* A row without an entry is a verb of admin/, or a request that a verb sends and whose answer that verb
 * prints itself. */
const struct cli_verb cli_verbs[OPS] = {
	[OP_STATUS] = { remote_run, show_status },
	[OP_ADD] = { verb_add, show_added },
	[OP_APPLY] = { verb_apply, show_applied },
	[OP_LS] = { verb_ls, NULL },
	[OP_SHOW] = { verb_show, NULL },
	[OP_EDIT] = { verb_edit, show_added },
	[OP_RM] = { remote_run, show_done },
	[OP_RUN] = { verb_run, show_done },
	[OP_STOP] = { verb_stop, NULL },
	[OP_PAUSE] = { verb_pause, show_paused },
	[OP_RESUME] = { verb_pause, show_paused },
	[OP_RUNS] = { remote_run, show_runs },
	[OP_LOGS] = { verb_logs, NULL },
	[OP_WHY] = { remote_run, show_why },
	[OP_ACK] = { remote_run, show_acked },
	[OP_AGENT] = { verb_agent, NULL },
	[OP_AGENDA] = { verb_agenda, NULL },
	[OP_CLAIM] = { verb_claim, NULL },
	[OP_RELEASE] = { verb_release, NULL },
	[OP_ADVANCE] = { verb_advance, NULL },
	[OP_STATE] = { verb_state, NULL },
	[OP_MEMORY] = { verb_memory, NULL },
	[OP_NOTIFY] = { verb_notify, NULL },
	[OP_BACKFILL] = { remote_run, show_backfilled },
	[OP_EVENTS] = { verb_events, NULL },
	[OP_CLOCK] = { remote_run, show_done },
	[OP_CONFIG] = { verb_config, NULL },
	[OP_VERSION] = { verb_version, NULL },
	[OP_COMPLETION] = { verb_completion, NULL },
	[OP_NEXT] = { verb_next, NULL },
	[OP_EXPLAIN] = { verb_explain, NULL },
	[OP_ZONES] = { verb_zones, NULL },
	[OP_REPORT] = { verb_report, NULL },
	[OP_STEP] = { verb_report, NULL },
	[OP_NOTE] = { verb_report, NULL },
	[OP_NEXT_CHECK] = { verb_next_check, NULL },
	[OP_ORG] = { verb_org, NULL },
	[OP_PLAN] = { verb_plan, NULL },
	[OP_EVAL] = { verb_eval, NULL },
	[OP_RENDER] = { verb_render, NULL },
	[OP_SET_NEXT_CHECK] = { NULL, show_next_check },
	[OP_LIST_SCHEDULES] = { NULL, show_schedules },
	[OP_GET_SCHEDULE] = { NULL, show_schedule },
	[OP_LIST_AGENTS] = { NULL, show_agents },
	[OP_GET_AGENT] = { NULL, show_agent },
	[OP_RM_AGENT] = { NULL, show_done },
	[OP_GET_RUN] = { NULL, show_run },
	[OP_LIST_PROBLEMS] = { NULL, show_problems },
	[OP_GET_PROBLEM] = { NULL, show_problem },
	[OP_PAUSE_MANY] = { NULL, show_paused },
	[OP_RESUME_MANY] = { NULL, show_paused },
	[OP_STOP_RUN] = { NULL, show_stopped },
	[OP_STOP_SCHEDULE] = { NULL, show_stopped },
	[OP_GET_STATE] = { NULL, show_state },
	[OP_SET_STATE] = { NULL, show_state },
	[OP_ADD_MEMORY] = { NULL, show_memory },
	[OP_LIST_MEMORY] = { NULL, show_memories },
	[OP_SEARCH_MEMORY] = { NULL, show_memories },
	[OP_REMOVE_MEMORY] = { NULL, show_removed_notes },
	[OP_REMOVE_RUN_MEMORY] = { NULL, show_removed_notes },
	[OP_GET_NOTIFY] = { NULL, show_notify },
	[OP_SET_NOTIFY] = { NULL, show_notify },
	[OP_GET_MESSAGES] = { NULL, show_notify },
};
