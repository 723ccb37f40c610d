#include "surface/op.h"
#include "surface/op_add.h"
#include "surface/op_agent.h"
#include "surface/op_apply.h"
#include "surface/op_backup.h"
#include "surface/op_completion.h"
#include "surface/op_config.h"
#include "surface/op_doctor.h"
#include "surface/op_eval.h"
#include "surface/op_events.h"
#include "surface/op_pause.h"
#include "surface/op_problem.h"
#include "surface/op_report.h"
#include "surface/op_run.h"
#include "surface/op_schedule.h"
#include "surface/op_serve.h"
#include "surface/op_state.h"
#include "surface/op_status.h"
#include "surface/op_stop.h"
#include "surface/op_when.h"
#include "surface/op_why.h"
#include "surface/put.h"
#include "surface/remote.h"
#include "surface/table.h"

static enum err run_version(struct op_call *call)
{
	if (call->json)
		fprintf(call->out, "{\"version\":\"" ROTA_VERSION "\"}\n");
	else
		fprintf(call->out, "rota " ROTA_VERSION "\n");
	return OK;
}

#define JSON_PARAM                                                                                           \
	{                                                                                                    \
		"json", NULL, OP_FLAG, false, 0, "print JSON"                                                \
	}

#define SOCKET_PARAM                                                                                         \
	{                                                                                                    \
		"socket", "PATH", OP_TEXT, false, 0, "the daemon's socket"                                   \
	}

#define SCHEDULE_PARAM                                                                                       \
	{                                                                                                    \
		"schedule", "SCHEDULE", OP_TEXT, true, 0, "its id, or the beginning of it", .required = true \
	}

/* What add and edit say of a schedule besides its times. */
#define SCHEDULE_PARAMS                                                                                           \
	{ "tz", "ZONE", OP_TEXT, false, 0, "its zone, where the expression names none" },                         \
		{ "timeout", "DURATION", OP_TEXT, false, 0, "how long a run may take (default 1h)" },             \
		{ "window", "DURATION", OP_TEXT, false, 0, "how late it may start" },                             \
		{ "retry", "N", OP_COUNT, false, RETRY_MAX, "further attempts after one that failed" },           \
		{ "missed", "POLICY", OP_TEXT, false, 0, "execute_immediately, skip, execute_next or catch_up" }, \
		{ "overlap", "POLICY", OP_TEXT,                                                                   \
		  false,     0,        "skip, queue_one, queue_all, cancel_running or allow" },                   \
	{                                                                                                         \
		"tag", "TAGS", OP_TEXT, false, 0, "its tags, with commas between them"                            \
	}

#define AGENT_PARAM                                                                                          \
	{                                                                                                    \
		"agent", "NAME", OP_TEXT, false, 0, "the agent that takes its turns, or whose state it sees" \
	}

#define COMMAND_PARAM(needed)                                                                                \
	{                                                                                                    \
		"command", "-- COMMAND ...", OP_WORDS, false, 0,                                             \
			"what to run (--command \"LINE\" for a line of shell)", .required = (needed)         \
	}

const struct op ops[] = {
	/* Verbs in the order in which people meet them; then what no person types; the toolbox last. */
	{ .name = "status",
	  .summary = "problems, what runs, what waits (also plain `rota`)",
	  .example = "rota",
	  .param = { SOCKET_PARAM, JSON_PARAM },
	  .run = remote_run,
	  .method = "GET",
	  .route = "/api/v1/status",
	  .handle = handle_status,
	  .show = show_status },
	{ .name = "add",
	  .summary = "add a schedule in one line",
	  .example = "rota add \"weekdays at 8:30\" -- ./backup.sh --full",
	  .param = { { "expression", "EXPR", OP_TEXT, true, 0, "when: any expression of rota-when(7)",
		       .required = true },
		     { "message", "MESSAGE", OP_TEXT, true, 0, "what the agent is told" },
		     AGENT_PARAM,
		     { "id", "ID", OP_TEXT, false, 0, "its id (default: made of the command's words)" },
		     { "update", NULL, OP_FLAG, false, 0, "change the schedule of that id if there is one" },
		     SCHEDULE_PARAMS,
		     COMMAND_PARAM(false),
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = op_add,
	  .notes = "Either a command after --, or an agent and a message: --agent NAME \"MESSAGE\".\n"
		   "The command keeps this directory and this PATH. What the options say can also be said\n"
		   "in the expression: \"0 9 * * * TZ=Europe/Berlin RETRY 3\".",
	  .method = "POST",
	  .route = "/api/v1/schedules",
	  .handle = handle_add,
	  .show = put_show },
	{ .name = "apply",
	  .summary = "make schedules and agents what files say",
	  .example = "rota apply -f ops/ --dry-run",
	  .param = { { "file", "FILE|DIR", OP_TEXT, false, 0,
		       "a document, or a directory of *.yaml, *.yml, *.json and *.org", 'f',
		       .required = true },
		     { "dry-run", NULL, OP_FLAG, false, 0, "say what would change, and change nothing" },
		     { "prune", NULL, OP_FLAG, false, 0, "remove what came from there and is there no more" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = op_apply,
	  .notes = "If any file is refused, nothing is applied. Documents are described in rota.yaml(5).",
	  .method = "POST",
	  .route = "/api/v1/apply",
	  .handle = handle_apply,
	  .show = show_applied },
	{ .name = "ls",
	  .summary = "schedules, agents, runs or problems",
	  .example = "rota ls runs --failed --since 1d",
	  .param = { { "kind", "KIND", OP_TEXT, true, 0, "schedules (the default), agents, runs, problems" },
		     { "limit", "N", OP_COUNT, false, 1000, "how many" },
		     { "after", "ID", OP_TEXT, false, 0, "schedules, agents: go on after this one" },
		     { "before", "RUN|N", OP_TEXT, false, 0, "runs, problems: go on after this one" },
		     { "failed", NULL, OP_FLAG, false, 0, "runs: only those that did not succeed" },
		     { "since", "TIME", OP_TEXT, false, 0, "runs: from this time on, or 1d for a day ago" },
		     { "all", NULL, OP_FLAG, false, 0, "problems: the closed ones, too" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = op_ls },
	{ .name = "show",
	  .summary = "one schedule, agent, run or problem",
	  .example = "rota show backup",
	  .param = { { "name", "NAME", OP_TEXT, true, 0,
		       "a schedule (or the beginning of its id), an agent, a run (r7), a problem (1)",
		       .required = true },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = op_show },
	{ .name = "edit",
	  .summary = "change a schedule, and keep the rest of it",
	  .example = "rota edit backup --when \"weekdays at 9\"",
	  .param = { SCHEDULE_PARAM,
		     { "when", "EXPR", OP_TEXT, false, 0, "another expression" },
		     { "message", "TEXT", OP_TEXT, false, 0, "what the agent is told" },
		     AGENT_PARAM,
		     SCHEDULE_PARAMS,
		     COMMAND_PARAM(false),
		     { "file", "FILE", OP_TEXT, false, 0, "the whole of it from a file", 'f' },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = op_edit,
	  .method = "PATCH",
	  .route = "/api/v1/schedules/{schedule}",
	  .handle = handle_edit,
	  .show = put_show },
	{ .name = "rm",
	  .summary = "remove a schedule; its running attempt finishes",
	  .example = "rota rm backup",
	  .param = { SCHEDULE_PARAM,
		     { "kill", NULL, OP_FLAG, false, 0, "end its live runs, too" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = remote_run,
	  .method = "DELETE",
	  .route = "/api/v1/schedules/{schedule}",
	  .handle = handle_rm,
	  .show = show_done },
	{ .name = "run",
	  .summary = "run a schedule now",
	  .example = "rota run backup --watch",
	  .param = { SCHEDULE_PARAM,
		     { "wait", NULL, OP_FLAG, false, 0,
		       "until it has ended; exit 0 for done or no_work, else 1" },
		     { "watch", NULL, OP_FLAG, false, 0, "the same, showing what it prints" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = op_run_now,
	  .method = "POST",
	  .route = "/api/v1/schedules/{schedule}/run",
	  .handle = handle_run,
	  .show = show_done },
	{ .name = "stop",
	  .summary = "end a live run, or all of a schedule's",
	  .example = "rota stop r7",
	  .param = { { "name", "RUN|SCHEDULE", OP_TEXT, true, 0,
		       "a run, or a schedule for all its runs that are alive or wait", .required = true },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = op_stop,
	  .notes = "It answers when they have ended: SIGTERM first, SIGKILL 5 seconds later." },
	{ .name = "pause",
	  .summary = "pause a schedule, those of a tag, or all",
	  .example = "rota pause --all --for 2h --note \"deploy\"",
	  .param = { { "schedule", "SCHEDULE", OP_TEXT, true, 0, "its id, or the beginning of it" },
		     { "tag", "TAG", OP_TEXT, false, 0, "all schedules with this tag" },
		     { "all", NULL, OP_FLAG, false, 0, "everything" },
		     { "for", "DURATION", OP_TEXT, false, 0, "how long (default: until it is resumed)" },
		     { "note", "TEXT", OP_TEXT, false, 0, "what others should know" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = op_pause,
	  .notes = "What runs goes on to its end. A second pause replaces the end of the first one, and its\n"
		   "note, if it has one; the end of a pause takes its note away.",
	  .method = "POST",
	  .route = "/api/v1/schedules/{schedule}/pause",
	  .handle = handle_pause,
	  .show = show_paused },
	{ .name = "resume",
	  .summary = "end a pause",
	  .example = "rota resume backup",
	  .param = { { "schedule", "SCHEDULE", OP_TEXT, true, 0, "its id, or the beginning of it" },
		     { "tag", "TAG", OP_TEXT, false, 0, "all schedules with this tag" },
		     { "all", NULL, OP_FLAG, false, 0, "what `rota pause --all` paused" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = op_pause,
	  .method = "POST",
	  .route = "/api/v1/schedules/{schedule}/resume",
	  .handle = handle_resume,
	  .show = show_paused },
	{ .name = "runs",
	  .summary = "what ran, the newest first",
	  .example = "rota runs backup --failed --since 1d",
	  .param = { { "schedule", "SCHEDULE", OP_TEXT, true, 0, "only of this one" },
		     { "failed", NULL, OP_FLAG, false, 0, "only those that did not succeed" },
		     { "since", "TIME", OP_TEXT, false, 0, "from this time on, or 1d for a day ago" },
		     { "limit", "N", OP_COUNT, false, 1000, "how many (default 20)" },
		     { "before", "RUN", OP_TEXT, false, 0, "go on after this one" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = remote_run,
	  .method = "GET",
	  .route = "/api/v1/runs",
	  .handle = handle_runs,
	  .show = show_runs },
	{ .name = "logs",
	  .summary = "what a run printed",
	  .example = "rota logs backup -f",
	  .param = { { "name", "RUN|SCHEDULE", OP_TEXT, true, 0, "a run, or a schedule for its latest",
		       .required = true },
		     { "from", "BYTE", OP_TEXT, false, 0, "where to begin" },
		     { "follow", NULL, OP_FLAG, false, 0, "go on until the run has ended", 'f' },
		     { "raw", NULL, OP_FLAG, false, 0, "pass control sequences on to the terminal" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = op_logs,
	  .method = "GET",
	  .route = "/api/v1/logs/{name}",
	  .handle = handle_logs },
	{ .name = "why",
	  .summary = "why a schedule ran, did not run, or will run at a time",
	  .example = "rota why backup 2026-11-16T08:30",
	  .param = { SCHEDULE_PARAM,
		     { "time", "TIME", OP_TEXT, true, 0,
		       "past or future: 2026-11-16T08:30, 2026-11-16, 08:30, now (default: its next)" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = remote_run,
	  .method = "GET",
	  .route = "/api/v1/schedules/{schedule}/why",
	  .handle = handle_why,
	  .show = show_why },
	{ .name = "ack",
	  .summary = "take a problem",
	  .example = "rota ack 1 --note \"on it\"",
	  .param = { { "problem", "N", OP_TEXT, true, 0, "its number", .required = true },
		     { "note", "TEXT", OP_TEXT, false, 0, "what others should know" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = remote_run,
	  .method = "POST",
	  .route = "/api/v1/problems/{problem}/ack",
	  .handle = handle_ack,
	  .show = show_acked },
	{ .name = "agent",
	  .summary = "check an agent's file; show or remove one",
	  .example = "rota agent check agents/desk.org",
	  .param = { { "action", "check|show|rm", OP_TEXT, true, 0, "what to do", .required = true },
		     { "name", "FILE|NAME ...", OP_MANY, true, 0,
		       "check: files (*.org, *.yaml, *.yml, *.json); otherwise an agent's name",
		       .required = true },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = op_agent,
	  .notes =
		  "`agent check` needs no daemon. Agents come from files, by `rota apply` and `rota serve`:\n"
		  "they are described in rota.yaml(5)." },
	{ .name = "state",
	  .summary = "what an agent knows, or the user's profile",
	  .example = "rota state set preferences.morning_summary true --user",
	  .param = { { "action", "get|set", OP_TEXT, true, 0, "look, or change", .required = true },
		     { "path", "PATH", OP_TEXT, true, 0, "keys with dots between them; . means the whole" },
		     { "value", "VALUE", OP_TEXT, true, 0, "JSON, or plain text; null removes" },
		     { "agent", "NAME", OP_TEXT, false, 0, "whose (default, within a run: its agent)" },
		     { "user", NULL, OP_FLAG, false, 0, "the user's profile" },
		     { "rev", "N", OP_TEXT, false, 0, "set: only if its revision is still this one" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = op_state,
	  .notes =
		  "A change is merged: keys that are not named stay. Conditions that wait are asked again." },
	{ .name = "backfill",
	  .summary = "run what did not run in a stretch of time",
	  .example = "rota backfill backup --from 2026-11-01 --to 2026-11-07",
	  .param = { SCHEDULE_PARAM,
		     { "from", "TIME", OP_TEXT, false, 0, "its beginning, or 2h for two hours ago",
		       .required = true },
		     { "to", "TIME", OP_TEXT, false, 0, "its end", .required = true },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = remote_run,
	  .method = "POST",
	  .route = "/api/v1/schedules/{schedule}/backfill",
	  .handle = handle_backfill,
	  .show = show_filled },
	{ .name = "events",
	  .summary = "what happens",
	  .example = "rota events -f",
	  .param = { { "follow", NULL, OP_FLAG, false, 0, "as it happens", 'f' }, SOCKET_PARAM, JSON_PARAM },
	  .run = op_events,
	  .notes = "With --follow it goes on after a restart of the daemon, with all events the new one has, "
		   "and\n"
		   "says so on stderr. When the daemon stays away for 30 seconds it ends with exit code 69.",
	  .method = "GET",
	  .route = "/api/v1/events",
	  .handle = handle_events },
	{ .name = "serve",
	  .summary = "the daemon, in the foreground",
	  .example = "rota serve ops/",
	  .param = { { "directory", "DIR", OP_TEXT, true, 0,
		       "documents (*.yaml, *.yml, *.json, *.org) to keep in force" },
		     { "data", "DIR", OP_TEXT, false, 0, "its directory" },
		     SOCKET_PARAM,
		     { "config", "FILE", OP_TEXT, false, 0, "its configuration" },
		     { "slots", "N", OP_TEXT, false, 0, "runs at once in all" },
		     JSON_PARAM },
	  .run = op_serve },
	{ .name = "doctor",
	  .summary = "look the installation over, and say what to do",
	  .example = "rota doctor",
	  .param = { { "config", "FILE", OP_TEXT, false, 0, "as if given to `rota serve`" },
		     { "data", "DIR", OP_TEXT, false, 0, "as if given to `rota serve`" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .run = op_doctor,
	  .method = "GET",
	  .route = "/api/v1/doctor",
	  .handle = handle_doctor },
	{ .name = "clock",
	  .summary = "accept a clock that ran far ahead",
	  .example = "rota clock",
	  .param = { SOCKET_PARAM, JSON_PARAM },
	  .run = remote_run,
	  .method = "POST",
	  .route = "/api/v1/clock",
	  .handle = handle_clock,
	  .show = show_done },
	{ .name = "backup",
	  .summary = "copy the store, while it is in use",
	  .example = "rota backup /mnt/backup/rota-monday.db",
	  .param = { { "file", "FILE", OP_TEXT, true, 0, "a new file; one that exists is not overwritten" },
		     { "data", "DIR", OP_TEXT, false, 0, "as if given to `rota serve`" },
		     { "config", "FILE", OP_TEXT, false, 0, "as if given to `rota serve`" },
		     JSON_PARAM },
	  .run = op_backup,
	  .notes =
		  "It holds schedules, runs, problems and holds as of one moment, and is checked when it is\n"
		  "written. Logs are not in it." },
	{ .name = "restore",
	  .summary = "bring a backup back; the daemon must be stopped",
	  .example = "rota restore /mnt/backup/rota-monday.db",
	  .param = { { "file", "FILE", OP_TEXT, true, 0, "what `rota backup` made" },
		     { "data", "DIR", OP_TEXT, false, 0, "as if given to `rota serve`" },
		     { "config", "FILE", OP_TEXT, false, 0, "as if given to `rota serve`" },
		     JSON_PARAM },
	  .run = op_restore,
	  .notes = "What came due since the backup is recorded as missed/restored, and not run again. The "
		   "old\n"
		   "store is kept beside the new one." },
	{ .name = "config",
	  .summary = "every setting, and where its value came from",
	  .example = "rota config --json",
	  .param = { { "config", "FILE", OP_TEXT, false, 0,
		       "the configuration, instead of the usual rota.yaml" },
		     { "data", "DIR", OP_TEXT, false, 0, "as if given to `rota serve`" },
		     { "socket", "PATH", OP_TEXT, false, 0, "as if given to `rota serve`" },
		     JSON_PARAM },
	  .run = op_config,
	  .notes = "A flag counts for more than a ROTA_* variable, that for more than the file, that for "
		   "more\n"
		   "than the default. The settings are described in rota.yaml(5)." },
	{ .name = "version",
	  .summary = "the version of this program",
	  .example = "rota version",
	  .param = { JSON_PARAM },
	  .run = run_version },
	{ .name = "completion",
	  .summary = "what a shell needs to complete a line",
	  .example = "rota completion bash > ~/.local/share/bash-completion/completions/rota",
	  .param = { { "shell", "bash|zsh|fish", OP_TEXT, true, 0, "which shell", .required = true },
		     JSON_PARAM },
	  .run = op_completion },
	{ .name = "next",
	  .summary = "when an expression fires next",
	  .example = "rota next \"weekdays at 8:30\" --tz Europe/Berlin --count 3",
	  .param = { { "expression", "EXPR", OP_TEXT, true, 0,
		       "cron, ACE, @every, a time, <org timestamp>, or a phrase" },
		     { "tz", "ZONE", OP_TEXT, false, 0,
		       "zone where the expression names none (default: this machine's)" },
		     { "after", "TIME", OP_TEXT, false, 0, "count from here instead of now" },
		     { "count", "N", OP_COUNT, false, NEXT_COUNT_MAX, "how many runs (default 5)" },
		     { "id", "ID", OP_TEXT, false, 0, "the schedule's id, which H and JITTER depend on" },
		     { "batch", "FILE", OP_TEXT, false, 0,
		       "answer JSON lines from FILE (- for standard input)" },
		     JSON_PARAM },
	  .run = op_next,
	  .notes = "Lines of --batch are {\"expr\",\"tz\"?,\"after\"?,\"count\"?,\"id\"?}; each is answered, "
		   "in order, by\n"
		   "{\"next\":[...]} or {\"error\":\"...\"}. There, the zone is UTC where none is named.\n"
		   "Expressions are described in rota-when(7)." },
	{ .name = "explain",
	  .summary = "an expression in words, its next five runs, and warnings",
	  .example = "rota explain \"0 9 * * 1\"",
	  .param = { { "expression", "EXPR", OP_TEXT, true, 0, "any expression", .required = true },
		     { "tz", "ZONE", OP_TEXT, false, 0,
		       "zone where the expression names none (default: this machine's)" },
		     { "after", "TIME", OP_TEXT, false, 0, "count from here instead of now" },
		     { "id", "ID", OP_TEXT, false, 0, "the schedule's id, which H and JITTER depend on" },
		     JSON_PARAM },
	  .run = op_explain,
	  .notes = "Expressions are described in rota-when(7)." },
	{ .name = "zones",
	  .summary = "the known time zones with their offset now",
	  .example = "rota zones berlin",
	  .param = { { "pattern", "PATTERN", OP_TEXT, true, 0, "only names that contain this, in any case" },
		     JSON_PARAM },
	  .run = op_zones },
	{ .name = "report",
	  .summary = "within a run: say what it does, thinks, or could not do",
	  .example = "rota report fail \"no access to the calendar\"",
	  .param = { { "kind", "fail|step|note", OP_TEXT, true, 0, "what kind of report", .required = true },
		     { "text", "TEXT", OP_TEXT, true, 0, "in words", .required = true },
		     JSON_PARAM },
	  .run = op_report,
	  .notes = "After `report fail` the run is failed/reported, whatever its exit code. `rota show RUN` "
		   "has "
		   "all of it." },
	{ .name = "step",
	  .summary = "within a run: short for report step",
	  .example = "rota step \"ran the tests\"",
	  .param = { { "text", "TEXT", OP_TEXT, true, 0, "in words", .required = true }, JSON_PARAM },
	  .run = op_report },
	{ .name = "note",
	  .summary = "within a run: short for report note",
	  .example = "rota note \"the build is broken since Monday\"",
	  .param = { { "text", "TEXT", OP_TEXT, true, 0, "in words", .required = true }, JSON_PARAM },
	  .run = op_report },
	{ .name = "eval",
	  .summary = "compute an expression of conditions and templates",
	  .example = "rota eval 'size(previous.result) > 0 && now.getHours() < 12' --context state.yaml",
	  .param = { { "expression", "EXPR", OP_TEXT, true, 0, "a part of CEL; see rota(1)" },
		     { "context", "FILE", OP_TEXT, false, 0,
		       "its names: a map in YAML or JSON (- for standard input)" },
		     JSON_PARAM },
	  .run = op_eval,
	  .notes = "Prints the value as JSON. An expression that has no value exits with 1, one that is "
		   "wrong with 2." },
	{ .name = "render",
	  .summary = "fill in a template",
	  .example = "rota render message.txt --context state.yaml",
	  .param = { { "file", "FILE|-", OP_TEXT, true, 0, "text with expressions in {{ }}" },
		     { "context", "FILE", OP_TEXT, false, 0,
		       "its names: a map in YAML or JSON (- for standard input)" },
		     JSON_PARAM },
	  .run = op_render },

	/* Asked for by verbs, by the page and by tools. */
	{ .name = "list-schedules",
	  .summary = "the schedules",
	  .param = { { "limit", "N", OP_COUNT, false, 1000, "how many (default 100)" },
		     { "after", "ID", OP_TEXT, false, 0, "go on after this one" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .method = "GET",
	  .route = "/api/v1/schedules",
	  .handle = handle_schedules,
	  .show = show_schedules },
	{ .name = "get-schedule",
	  .summary = "one schedule with its document",
	  .param = { SCHEDULE_PARAM, SOCKET_PARAM, JSON_PARAM },
	  .method = "GET",
	  .route = "/api/v1/schedules/{schedule}",
	  .handle = handle_schedule,
	  .show = show_schedule },
	{ .name = "list-agents",
	  .summary = "the agents",
	  .param = { { "limit", "N", OP_COUNT, false, 1000, "how many (default 100)" },
		     { "after", "NAME", OP_TEXT, false, 0, "go on after this one" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .method = "GET",
	  .route = "/api/v1/agents",
	  .handle = handle_agents,
	  .show = show_agents },
	{ .name = "get-agent",
	  .summary = "one agent with its definition",
	  .param = { { "agent", "NAME", OP_TEXT, true, 0, "its name", .required = true },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .method = "GET",
	  .route = "/api/v1/agents/{agent}",
	  .handle = handle_agent,
	  .show = show_agent },
	{ .name = "rm-agent",
	  .summary = "remove an agent whose file is gone",
	  .param = { { "agent", "NAME", OP_TEXT, true, 0, "its name", .required = true },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .method = "DELETE",
	  .route = "/api/v1/agents/{agent}",
	  .handle = handle_agent_rm,
	  .show = show_done },
	{ .name = "get-run",
	  .summary = "one run",
	  .param = { { "run", "RUN", OP_TEXT, true, 0, "the run" }, SOCKET_PARAM, JSON_PARAM },
	  .method = "GET",
	  .route = "/api/v1/runs/{run}",
	  .handle = handle_get_run,
	  .show = show_run },
	{ .name = "list-problems",
	  .summary = "the problems, the newest first",
	  .param = { { "limit", "N", OP_COUNT, false, 1000, "how many (default 100)" },
		     { "before", "N", OP_TEXT, false, 0, "go on after this one" },
		     { "all", NULL, OP_FLAG, false, 0, "the closed ones, too" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .method = "GET",
	  .route = "/api/v1/problems",
	  .handle = handle_problems,
	  .show = show_problems },
	{ .name = "get-problem",
	  .summary = "one problem",
	  .param = { { "problem", "N", OP_TEXT, true, 0, "its number" }, SOCKET_PARAM, JSON_PARAM },
	  .method = "GET",
	  .route = "/api/v1/problems/{problem}",
	  .handle = handle_problem,
	  .show = show_problem },
	{ .name = "pause-many",
	  .summary = "pause all schedules, or those with a tag",
	  .param = { { "tag", "TAG", OP_TEXT, false, 0, "those with this tag" },
		     { "all", NULL, OP_FLAG, false, 0, "everything" },
		     { "for", "DURATION", OP_TEXT, false, 0, "how long" },
		     { "note", "TEXT", OP_TEXT, false, 0, "what others should know" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .method = "POST",
	  .route = "/api/v1/pause",
	  .handle = handle_pause_many,
	  .show = show_paused },
	{ .name = "resume-many",
	  .summary = "resume all schedules, or those with a tag",
	  .param = { { "tag", "TAG", OP_TEXT, false, 0, "those with this tag" },
		     { "all", NULL, OP_FLAG, false, 0, "everything" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .method = "POST",
	  .route = "/api/v1/resume",
	  .handle = handle_resume_many,
	  .show = show_paused },
	{ .name = "stop-run",
	  .summary = "end a live run",
	  .param = { { "run", "RUN", OP_TEXT, true, 0, "the run" }, SOCKET_PARAM, JSON_PARAM },
	  .method = "POST",
	  .route = "/api/v1/runs/{run}/stop",
	  .handle = handle_stop,
	  .show = show_stopped },
	{ .name = "stop-schedule",
	  .summary = "end all live runs of a schedule",
	  .param = { SCHEDULE_PARAM, SOCKET_PARAM, JSON_PARAM },
	  .method = "POST",
	  .route = "/api/v1/schedules/{schedule}/stop",
	  .handle = handle_stop_schedule,
	  .show = show_stopped },
	{ .name = "get-state",
	  .summary = "what an agent knows, or the user's profile",
	  .param = { { "path", "PATH", OP_TEXT, false, 0, "keys with dots between them; . means the whole" },
		     { "agent", "NAME", OP_TEXT, false, 0, "whose" },
		     { "user", NULL, OP_FLAG, false, 0, "the user's profile" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .method = "GET",
	  .route = "/api/v1/state",
	  .handle = handle_state,
	  .show = show_state },
	{ .name = "set-state",
	  .summary = "change it by a merge patch",
	  .param = { { "agent", "NAME", OP_TEXT, false, 0, "whose" },
		     { "user", NULL, OP_FLAG, false, 0, "the user's profile" },
		     SOCKET_PARAM,
		     JSON_PARAM },
	  .method = "PATCH",
	  .route = "/api/v1/state",
	  .handle = handle_state_change,
	  .show = show_state },
	{ 0 },
};

const struct op *op_find(struct str name)
{
	for (const struct op *op = ops; op->name; op++)
		if (op->run && str_eq(name, str_of(op->name)))
			return op;
	return NULL;
}

const struct op *op_row(const char *name)
{
	const struct op *op = ops;
	while (op->name && strcmp(op->name, name) != 0)
		op++;
	assert(op->name);
	return op;
}

const struct arg *op_arg_if(const struct op_call *call, const char *name)
{
	for (unsigned i = 0; i < OP_PARAMS_MAX && call->op->param[i].name; i++)
		if (strcmp(call->op->param[i].name, name) == 0)
			return &call->arg[i];
	return NULL;
}

const struct arg *op_arg(const struct op_call *call, const char *name)
{
	const struct arg *arg = op_arg_if(call, name);
	assert(arg);
	return arg;
}

const char *op_time(struct op_call *call, const char *iso)
{
	return time_text(call->arena, iso, zoneinfo_source(call->zones), zoneinfo_local(call->zones));
}
