#pragma once
/* The verbs of the command line: the functions that carry out rows of the table of operations in the caller's
 * process. */
#include "base/val.h"
#include "cli/call.h"

typedef enum err cli_run(struct cli_call *call);
typedef void cli_show(struct cli_call *call, const struct val *answer);

struct cli_verb {
	cli_run *run;   /* carries out a verb; remote_run: only sends the request. NULL: not a verb */
	cli_show *show; /* prints the daemon's answer for people; NULL: its JSON is printed */
};

extern const struct cli_verb cli_verbs[OPS];

/* add.c */
cli_run verb_add, verb_edit;
cli_show show_added;
/* Warns on standard error, and returns true, if the answer says that the schedule is blocked. `file` is empty
 * if the schedule is not from a file. */
bool warn_if_blocked(struct cli_call *call, const struct val *answer, struct str file, unsigned line);
/* agenda.c */
cli_run verb_agenda;
/* agents.c */
cli_run verb_agent;
cli_show show_agents, show_agent;
/* apply.c */
cli_run verb_apply;
cli_show show_applied;
/* claim.c */
cli_run verb_claim, verb_release, verb_advance;
/* completion.c */
cli_run verb_completion;
/* config.c */
cli_run verb_config;
/* eval.c */
cli_run verb_eval, verb_render;
/* events.c */
cli_run verb_events;
/* memory.c */
cli_run verb_memory;
cli_show show_memory, show_memories, show_removed_notes;
/* next_check.c */
cli_run verb_next_check;
cli_show show_next_check;
/* notify.c */
cli_run verb_notify;
cli_show show_notify;
/* Prints the messages about a run, one line each. */
void print_messages(struct cli_call *call, const struct val *list, const char *heading);
/* org.c */
cli_run verb_org;
/* pause.c */
cli_run verb_pause; /* for pause and resume */
cli_show show_paused;
/* plan.c */
cli_run verb_plan;
enum err plan_run(struct cli_call *call,
		  struct str file); /* `plan run`; options that the row does not have get their defaults */
/* problems.c */
cli_show show_problems, show_problem, show_acked;
void print_problems(struct cli_call *call, const struct val *list);
/* report.c */
cli_run verb_report; /* for report, step and note */
/* run_detail.c */
cli_show show_run;
/* runs.c */
cli_run verb_run, verb_logs;
cli_show show_runs;
void print_runs(struct cli_call *call, const struct val *list);
/* schedules.c */
cli_run verb_ls, verb_show;
cli_show show_schedules, show_schedule, show_done, show_backfilled;
void print_note(struct cli_call *call, const struct val *v); /* prints the note, if there is one */
/* state.c */
cli_run verb_state;
cli_show show_state;
/* status.c */
cli_show show_status;
/* stop.c */
cli_run verb_stop;
cli_show show_stopped;
/* when.c */
cli_run verb_next, verb_explain, verb_zones;
/* why.c */
cli_show show_why;
