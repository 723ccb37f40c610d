#pragma once
/* The handlers of operations; see call.h for how a handler answers. */
#include "api/api.h"

typedef enum err api_handler(struct api_call *call, struct api *api);

extern api_handler *const api_handlers[OPS]; /* NULL: the operation cannot be requested by HTTP */

/* add.c */
api_handler handle_add, handle_edit;
/* agents.c */
api_handler handle_agents, handle_agent, handle_agent_rm;
/* ../apply/apply.c */
api_handler handle_apply;
/* doctor.c */
api_handler handle_doctor;
/* events.c */
api_handler handle_events;
/* memory.c */
api_handler handle_memory_add, handle_memory_list, handle_memory_search, handle_memory_remove,
	handle_memory_remove_run;
/* next_check.c */
api_handler handle_next_check;
/* messages.c */
api_handler handle_messages, handle_message;
/* notify.c */
api_handler handle_notify, handle_set_notify, handle_test_notify;
/* pause.c */
api_handler handle_pause, handle_resume, handle_pause_many, handle_resume_many;
/* problems.c */
api_handler handle_problems, handle_problem, handle_ack;
/* report.c */
api_handler handle_report;
/* run_detail.c */
api_handler handle_get_run;
/* runs.c */
api_handler handle_runs, handle_logs;
/* schedules.c */
api_handler handle_schedules, handle_schedule, handle_rm, handle_run, handle_clock, handle_backfill;
/* state.c */
api_handler handle_state, handle_state_change;
/* status.c */
api_handler handle_status;
/* stop.c */
api_handler handle_stop, handle_stop_schedule;
/* why.c */
api_handler handle_why;
