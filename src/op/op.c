/* The table of operations, and the lookup of verbs and arguments. */
#include "op/op.h"
#include "base/buf.h"
#include "base/limits.h"

#include <string.h>

/* Parameters; further members may follow the help text. */
#define POSITIONAL(n, v, h, ...)                                                                             \
	{                                                                                                    \
		.name = (n), .value = (v), .kind = PARAM_TEXT, .positional = true, .help = (h), __VA_ARGS__  \
	}
#define LIST(n, v, h, ...)                                                                                   \
	{                                                                                                    \
		.name = (n), .value = (v), .kind = PARAM_LIST, .positional = true, .help = (h), __VA_ARGS__  \
	}
#define OPTION(n, v, h, ...)                                                                                 \
	{                                                                                                    \
		.name = (n), .value = (v), .kind = PARAM_TEXT, .help = (h), __VA_ARGS__                      \
	}
#define COUNT_FROM(l, n, v, m, h)                                                                            \
	{                                                                                                    \
		.name = (n), .value = (v), .kind = PARAM_COUNT, .least = (l), .most = (m), .help = (h)       \
	}
#define COUNT(n, v, m, h) COUNT_FROM(1, n, v, m, h)
#define FLAG(n, h, ...)                                                                                      \
	{                                                                                                    \
		.name = (n), .kind = PARAM_FLAG, .help = (h), __VA_ARGS__                                    \
	}
#define REST(n, v, h)                                                                                        \
	{                                                                                                    \
		.name = (n), .value = (v), .kind = PARAM_WORDS, .help = (h)                                  \
	}

#define JSON_PARAM   FLAG("json", "print JSON")
#define SOCKET_PARAM OPTION("socket", "PATH", "socket on which the daemon serves clients")
#define SCHEDULE_PARAM                                                                                       \
	POSITIONAL("schedule", "SCHEDULE", "id of the schedule, or a unique prefix of it", .required = true)
#define AGENT_PARAM                                                                                          \
	OPTION("agent", "NAME",                                                                              \
	       "agent that gets the message; with a command, agent whose state the condition reads")
#define NOW_PARAM OPTION("now", "TIME", "the time, instead of the clock's: 2026-11-16T09:00")
#define PLAN_TZ_PARAM                                                                                        \
	OPTION("tz", "ZONE",                                                                                 \
	       "time zone of the plan (default: that of the configuration, else this machine's)")
#define TASK_PARAMS                                                                                          \
	POSITIONAL("file", "FILE", "the plan, an org file", .required = true),                               \
		POSITIONAL("task", "TASK", "the task: its :ID:, or its exact title", .required = true)
#define COMMAND_PARAM                                                                                        \
	REST("command", "-- COMMAND ...", "command to run; --command \"LINE\" for a shell command line")

/* Options that add and edit have in common. */
#define SCHEDULE_PARAMS                                                                                      \
	OPTION("tz", "ZONE", "time zone, unless the expression names one"),                                  \
		OPTION("timeout", "DURATION",                                                                \
		       "maximum duration of a run (default: 1h for commands, 15m for agents)"),              \
		OPTION("window", "DURATION", "how long after its due time a run may still start"),           \
		COUNT_FROM(0, "retry", "N", RETRY_MAX, "number of retries after a failed attempt"),          \
		OPTION("missed", "POLICY",                                                                   \
		       "missed runs: execute_immediately, skip, execute_next or catch_up"),                  \
		OPTION("overlap", "POLICY",                                                                  \
		       "due while a run is active: skip, queue_one, queue_all, cancel_running or allow"),    \
		OPTION("tag", "TAGS", "tags, separated by commas")

/* clang-format off */
const struct op ops[OPS] = {
	[OP_STATUS] = {
		.name = "status",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "show problems, runs and what is due next (also plain `rota`)",
		.example = "rota",
		.param = { SOCKET_PARAM, JSON_PARAM },
		.method = "GET",
		.route = "/api/v1/status",
	},
	[OP_ADD] = {
		.name = "add",
		.role = ROLE_ADMIN,
		.within = WITHIN_GRANTED,
		.summary = "add a schedule",
		.example = "rota add \"weekdays at 8:30\" -- ./backup.sh --full",
		.param = {
			POSITIONAL("expression", "EXPR", "when to run: any expression of rota-when(7)",
				.required = true),
			POSITIONAL("message", "MESSAGE", "message for the agent"),
			AGENT_PARAM,
			OPTION("id", "ID", "id of the schedule (default: derived from the command or the message)"),
			FLAG("update", "change the schedule if the id already exists"),
			SCHEDULE_PARAMS,
			COMMAND_PARAM,
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "Give either a command after --, or an agent and a message: --agent NAME \"MESSAGE\".\n"
			 "The command runs in the current directory with the current PATH. Options can also be written\n"
			 "as directives in the expression: \"0 9 * * * TZ=Europe/Berlin RETRY 3\".",
		.method = "POST",
		.route = "/api/v1/schedules",
		.takes = { { "document", MEMBER_MAP }, { "update", MEMBER_FLAG }, { "derived", MEMBER_FLAG } },
	},
	[OP_APPLY] = {
		.name = "apply",
		.role = ROLE_ADMIN,
		.within = WITHIN_NOT,
		.summary = "create, change and remove schedules and agents as documents say",
		.example = "rota apply -f ops/ --dry-run",
		.param = {
			OPTION("file", "FILE|DIR",
				"a document, or a directory of *.yaml, *.yml, *.json and *.org",
					.letter = 'f', .required = true),
			FLAG("dry-run", "show what would change, without changing anything"),
			FLAG("prune", "remove schedules and agents that came from FILE|DIR and are no longer in it"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "If any file has an error, nothing is applied. Documents are described in rota.yaml(5).",
		.method = "POST",
		.route = "/api/v1/apply",
		.takes = { { "documents", MEMBER_LIST }, { "files", MEMBER_LIST }, { "places", MEMBER_LIST }, { "prune", MEMBER_LIST }, { "gone", MEMBER_LIST }, { "dry_run", MEMBER_FLAG } },
	},
	[OP_LS] = {
		.name = "ls",
		.within = WITHIN_NOT,
		.summary = "list schedules, agents, runs or problems",
		.example = "rota ls runs --failed --since 1d",
		.param = {
			POSITIONAL("kind", "KIND", "schedules (default), agents, runs or problems"),
			COUNT("limit", "N", 1000, "maximum number of rows"),
			OPTION("after", "ID", "schedules, agents: only those that sort after this one"),
			OPTION("before", "RUN|N", "runs, problems: only those older than this one"),
			FLAG("failed", "runs: only runs that did not succeed"),
			OPTION("since", "TIME", "runs: only runs since this time; 1d means a day ago"),
			FLAG("all", "problems: include closed problems"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
	},
	[OP_SHOW] = {
		.name = "show",
		.within = WITHIN_OWN_RUN,
		.summary = "show one schedule, agent, run or problem",
		.example = "rota show backup",
		.param = {
			POSITIONAL("name", "NAME",
				"a schedule (or a unique prefix of its id), an agent, a run (r7) or a problem (1)", .required = true),
			SOCKET_PARAM,
			JSON_PARAM,
		},
	},
	[OP_EDIT] = {
		.name = "edit",
		.role = ROLE_ADMIN,
		.within = WITHIN_GRANTED,
		.summary = "change parts of a schedule",
		.example = "rota edit backup --when \"weekdays at 9\"",
		.param = {
			SCHEDULE_PARAM,
			OPTION("when", "EXPR", "new expression"),
			OPTION("message", "TEXT", "new message for the agent"),
			AGENT_PARAM,
			SCHEDULE_PARAMS,
			COMMAND_PARAM,
			OPTION("file", "FILE", "replace the whole schedule by the one in FILE", .letter = 'f'),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "PATCH",
		.route = "/api/v1/schedules/{schedule}",
		.takes = { { "document", MEMBER_MAP }, { "whole", MEMBER_FLAG } },
	},
	[OP_RM] = {
		.name = "rm",
		.role = ROLE_ADMIN,
		.within = WITHIN_GRANTED,
		.summary = "remove a schedule; running attempts finish",
		.example = "rota rm backup",
		.param = {
			SCHEDULE_PARAM,
			FLAG("kill", "stop its running attempts as well"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "DELETE",
		.route = "/api/v1/schedules/{schedule}",
		.takes = { { "kill" } },
	},
	[OP_RUN] = {
		.name = "run",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "run a schedule now, or the workflows of a plan",
		.example = "rota run backup --watch",
		.param = {
			POSITIONAL("schedule", "SCHEDULE|FILE.org",
				"id of the schedule, or a unique prefix of it; or a plan, as for `rota plan run`", .required = true),
			FLAG("wait", "wait for the end of the run; exit with 0 if it is done or no_work, else with 1"),
			FLAG("watch", "like --wait, and show the output of the run"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/schedules/{schedule}/run",
	},
	[OP_STOP] = {
		.name = "stop",
		.within = WITHIN_NOT,
		.summary = "stop a run, or all runs of a schedule",
		.example = "rota stop r7",
		.param = {
			POSITIONAL("name", "RUN|SCHEDULE",
				"a run, or a schedule for all its running and waiting runs",
					.required = true),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "Processes get SIGTERM, and SIGKILL 5 seconds later. The command waits until they have ended.",
	},
	[OP_PAUSE] = {
		.name = "pause",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "pause a schedule, all schedules with a tag, or all schedules",
		.example = "rota pause --all --for 2h --note \"deploy\"",
		.param = {
			POSITIONAL("schedule", "SCHEDULE", "id of the schedule, or a unique prefix of it"),
			OPTION("tag", "TAG", "all schedules with this tag"),
			FLAG("all", "all schedules"),
			OPTION("for", "DURATION", "duration of the pause (default: until it is resumed)"),
			OPTION("note", "TEXT", "note that is shown with the pause"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "Running attempts finish. A second pause replaces the end of the first one, and its note if the\n"
			 "second has one. The note is removed when the pause ends.",
		.method = "POST",
		.route = "/api/v1/schedules/{schedule}/pause",
		.takes = { { "for" }, { "note" } },
	},
	[OP_RESUME] = {
		.name = "resume",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "end a pause",
		.example = "rota resume backup",
		.param = {
			POSITIONAL("schedule", "SCHEDULE", "id of the schedule, or a unique prefix of it"),
			OPTION("tag", "TAG", "all schedules with this tag"),
			FLAG("all", "end the pause of `rota pause --all`"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/schedules/{schedule}/resume",
	},
	[OP_RUNS] = {
		.name = "runs",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "list runs, newest first",
		.example = "rota runs backup --failed --since 1d",
		.param = {
			POSITIONAL("schedule", "SCHEDULE", "only runs of this schedule"),
			FLAG("failed", "only runs that did not succeed"),
			OPTION("since", "TIME", "only runs since this time; 1d means a day ago"),
			COUNT("limit", "N", 1000, "maximum number of runs (default 20)"),
			OPTION("before", "RUN", "only runs older than this one"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/runs",
		.takes = { { "schedule" }, { "failed" }, { "since" }, { "limit" }, { "before" } },
	},
	[OP_LOGS] = {
		.name = "logs",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "show the output of a run",
		.example = "rota logs backup -f",
		.param = {
			POSITIONAL("name", "RUN|SCHEDULE", "a run, or a schedule for its latest run",
				.required = true),
			OPTION("from", "BYTE", "offset of the first byte to show"),
			FLAG("follow", "continue until the run has ended", .letter = 'f'),
			FLAG("raw", "do not escape control sequences"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/logs/{name}",
		.takes = { { "from" } },
	},
	[OP_WHY] = {
		.name = "why",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "explain why a schedule ran, did not run, or will run at a time",
		.example = "rota why backup 2026-11-16T08:30",
		.param = {
			SCHEDULE_PARAM,
			POSITIONAL("time", "TIME",
				"past or future: 2026-11-16T08:30, 2026-11-16, 08:30, now (default: the next due time)"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/schedules/{schedule}/why",
		.takes = { { "time" } },
	},
	[OP_ACK] = {
		.name = "ack",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "acknowledge a problem",
		.example = "rota ack 1 --note \"on it\"",
		.param = {
			POSITIONAL("problem", "N", "number of the problem", .required = true),
			OPTION("note", "TEXT", "note that is shown with the problem"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/problems/{problem}/ack",
		.takes = { { "note" } },
	},
	[OP_AGENT] = {
		.name = "agent",
		.within = WITHIN_FREE,
		.summary = "check agent files; show or remove an agent",
		.example = "rota agent check agents/desk.org",
		.param = {
			POSITIONAL("action", "check|show|rm", "action", .required = true),
			LIST("name", "FILE|NAME ...",
				"check: files (*.org, *.yaml, *.yml, *.json); show, rm: name of an agent",
					.required = true),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "`agent check` needs no daemon. Agents are defined in files, which `rota apply` and\n"
			 "`rota serve` read; see rota.yaml(5).",
	},
	[OP_AGENDA] = {
		.name = "agenda",
		.within = WITHIN_FREE,
		.summary = "show what is overdue, due, ready, claimed and upcoming in plans",
		.example = "rota agenda plan.org",
		.param = {
			LIST("file", "FILE ...", "plans: org files", .required = true),
			NOW_PARAM,
			OPTION("agent", "NAME", "for this agent: tasks that it has claimed come first, and those of others are not ready"),
			OPTION("stale", "DURATION", "age of a claim that is stale (default 1d)"),
			PLAN_TZ_PARAM,
			FLAG("check", "exit with 1 if nothing is due or ready, with 2 if a plan cannot be read"),
			JSON_PARAM,
		},
	},
	[OP_CLAIM] = {
		.name = "claim",
		.within = WITHIN_FREE,
		.summary = "claim a task of a plan in git, before any other agent",
		.example = "rota claim plan.org \"Write the report\" --agent wren",
		.param = {
			TASK_PARAMS,
			OPTION("agent", "NAME", "agent that claims the task (default within a run: its own agent)"),
			FLAG("first", "instead of TASK: the first ready task, as JSON; exit with 1 if nothing is ready"),
			REST("command", "-- COMMAND ...", "with --first: only if this command succeeds, else exit with 1 or 2"),
			NOW_PARAM,
			PLAN_TZ_PARAM,
			JSON_PARAM,
		},
		.notes = "The task becomes DOING with :AGENT: and :CLAIMED:, in a commit of its own on the branch of the origin, or\n"
			 "without an origin on the branch of the main work tree. If another agent has it, nothing changes and the\n"
			 "exit code is 75.",
	},
	[OP_RELEASE] = {
		.name = "release",
		.within = WITHIN_FREE,
		.summary = "give up the claim of a task",
		.example = "rota release plan.org \"Write the report\" --agent wren",
		.param = {
			TASK_PARAMS,
			OPTION("agent", "NAME", "only if this agent has it (default within a run: its own agent)"),
			NOW_PARAM,
			PLAN_TZ_PARAM,
			JSON_PARAM,
		},
		.notes = "The task returns to the first state of its sequence. It is published as a claim is.",
	},
	[OP_ADVANCE] = {
		.name = "advance",
		.within = WITHIN_FREE,
		.summary = "set the state of a task in a plan",
		.example = "rota advance plan.org \"Write the report\" DONE",
		.param = {
			TASK_PARAMS,
			POSITIONAL("state", "STATE", "a TODO keyword of the plan", .required = true),
			NOW_PARAM,
			PLAN_TZ_PARAM,
			JSON_PARAM,
		},
		.notes = "Only the file changes; commit it with the work. :AGENT: and :CLAIMED: are removed. A task with a repeater\n"
			 "that becomes done moves on to its next time, as in Emacs.",
	},
	[OP_STATE] = {
		.name = "state",
		.within = WITHIN_OWN_AGENT,
		.summary = "read or change the state of an agent or the user's profile",
		.example = "rota state set preferences.morning_summary true --user",
		.param = {
			POSITIONAL("action", "get|set", "read or change", .required = true),
			POSITIONAL("path", "PATH", "keys separated by dots; . is the whole document"),
			POSITIONAL("value", "VALUE", "JSON or plain text; null removes the key"),
			OPTION("agent", "NAME", "name of the agent (default within a run: its own agent)"),
			FLAG("user", "the user's profile instead of the state of an agent"),
			OPTION("rev", "N", "set: only if the revision is still N"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "A change is merged: other keys stay as they are. Waiting conditions are evaluated again.",
	},
	[OP_MEMORY] = {
		.name = "memory",
		.within = WITHIN_OWN_AGENT,
		.summary = "add, find and remove notes that the runs of an agent get",
		.example = "rota memory add \"the supplier answers on Mondays only\" --tag orders --agent desk",
		.param = {
			POSITIONAL("action", "add|search|ls|rm", "action",
				.required = true),
			POSITIONAL("text", "TEXT|WORDS|N", "add: the note; search: words; rm: number of the note"),
			OPTION("tag", "TAGS", "add: tags, separated by commas"),
			OPTION("agent", "NAME", "name of the agent (default within a run: its own agent)"),
			OPTION("run", "RUN", "ls, rm: all notes of this run"),
			COUNT("limit", "N", 1000, "search, ls: maximum number of notes"),
			OPTION("before", "N", "ls: only notes older than this one"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "The notes that are most relevant to a schedule are in the context of its runs, marked as data.\n"
			 "Notes are kept longer than the record of their run; `rota memory rm --run RUN` removes them.",
	},
	[OP_NOTIFY] = {
		.name = "notify",
		.within = WITHIN_NOT,
		.summary = "show, set and test the targets of notifications",
		.example = "rota notify set --webhook https://example.org/hook --secret /etc/rota/key",
		.param = {
			POSITIONAL("action", "ls|set|test", "list sent messages; set the targets; send a test message"),
			OPTION("webhook", "URL", "set: send to this URL"),
			OPTION("secret", "FILE", "set: file with the key that signs messages, whsec_..."),
			FLAG("desktop", "set: show on this desktop by notify-send"),
			FLAG("none", "set: no targets"),
			FLAG("add", "set: keep the present targets"),
			OPTION("events", "LIST",
				"set: success, failure, missed, recovered, problem (default: all)"),
			COUNT("limit", "N", READ_LIST_MAX, "ls: maximum number of messages (default 20)"),
			REST("command", "-- COMMAND ...",
				"set: run this program with the message as JSON on standard input"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "Without an action it shows the targets. They get messages about every problem, and about schedules\n"
			 "that name no targets. test sends a message to each target, waits, and exits with 1 if one fails.",
	},
	[OP_BACKFILL] = {
		.name = "backfill",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "run the due times of a period that did not run",
		.example = "rota backfill backup --from 2026-11-01 --to 2026-11-07",
		.param = {
			SCHEDULE_PARAM,
			OPTION("from", "TIME", "start of the period; 2h means two hours ago", .required = true),
			OPTION("to", "TIME", "end of the period", .required = true),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/schedules/{schedule}/backfill",
		.takes = { { "from" }, { "to" } },
	},
	[OP_EVENTS] = {
		.name = "events",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "show events",
		.example = "rota events -f",
		.param = { FLAG("follow", "continue with new events", .letter = 'f'), SOCKET_PARAM, JSON_PARAM },
		.notes = "With --follow it reconnects after a restart of the daemon, prints that on stderr, and continues with\n"
			 "all events of the new daemon. If there is no daemon for 30 seconds, it exits with 69.",
		.method = "GET",
		.route = "/api/v1/events",
		.takes = { { "follow" } },
	},
	[OP_SERVE] = {
		.name = "serve",
		.within = WITHIN_NOT,
		.summary = "run the daemon in the foreground",
		.example = "rota serve ops/",
		.param = {
			POSITIONAL("directory", "DIR",
				"directory of documents (*.yaml, *.yml, *.json, *.org) to apply and watch"),
			OPTION("data", "DIR", "directory of the store and of the run files"),
			SOCKET_PARAM,
			OPTION("config", "FILE", "configuration file"),
			OPTION("slots", "N", "most runs at the same time"),
			JSON_PARAM,
		},
	},
	[OP_DOCTOR] = {
		.name = "doctor",
		.role = ROLE_ADMIN,
		.within = WITHIN_NOT,
		.summary = "check the installation and say what to do",
		.example = "rota doctor",
		.param = {
			OPTION("config", "FILE", "configuration file, as for `rota serve`"),
			OPTION("data", "DIR", "data directory, as for `rota serve`"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/doctor",
	},
	[OP_CLOCK] = {
		.name = "clock",
		.role = ROLE_ADMIN,
		.within = WITHIN_NOT,
		.summary = "accept a clock that jumped far ahead",
		.example = "rota clock",
		.param = { SOCKET_PARAM, JSON_PARAM },
		.method = "POST",
		.route = "/api/v1/clock",
	},
	[OP_BACKUP] = {
		.name = "backup",
		.within = WITHIN_NOT,
		.summary = "back up the store, also while the daemon runs",
		.example = "rota backup /mnt/backup/rota-monday.db",
		.param = {
			POSITIONAL("file", "FILE", "file to create; an existing file is not overwritten", .required = true),
			OPTION("data", "DIR", "data directory, as for `rota serve`"),
			OPTION("config", "FILE", "configuration file, as for `rota serve`"),
			JSON_PARAM,
		},
		.notes = "The backup has schedules, runs, problems and holds as of one moment, and is checked after it is\n"
			 "written. It does not include logs.",
	},
	[OP_RESTORE] = {
		.name = "restore",
		.within = WITHIN_NOT,
		.summary = "restore a backup; the daemon must be stopped",
		.example = "rota restore /mnt/backup/rota-monday.db",
		.param = {
			POSITIONAL("file", "FILE", "file made by `rota backup`", .required = true),
			OPTION("data", "DIR", "data directory, as for `rota serve`"),
			OPTION("config", "FILE", "configuration file, as for `rota serve`"),
			JSON_PARAM,
		},
		.notes = "Runs that came due since the backup are recorded as missed/restored and do not run again. The old\n"
			 "store is kept beside the new one.",
	},
	[OP_CONFIG] = {
		.name = "config",
		.within = WITHIN_FREE,
		.summary = "show every setting and where its value comes from",
		.example = "rota config --json",
		.param = {
			OPTION("config", "FILE", "configuration file instead of the default rota.yaml"),
			OPTION("data", "DIR", "data directory, as for `rota serve`"),
			OPTION("socket", "PATH", "socket, as for `rota serve`"),
			JSON_PARAM,
		},
		.notes = "A flag overrides a ROTA_* variable, which overrides the file, which overrides the default.\n"
			 "The settings are described in rota.yaml(5).",
	},
	[OP_VERSION] = {
		.name = "version",
		.within = WITHIN_FREE,
		.summary = "show the version",
		.example = "rota version",
		.param = { JSON_PARAM },
	},
	[OP_COMPLETION] = {
		.name = "completion",
		.within = WITHIN_FREE,
		.summary = "print a completion script for a shell",
		.example = "rota completion bash > ~/.local/share/bash-completion/completions/rota",
		.param = {
			POSITIONAL("shell", "bash|zsh|fish", "shell", .required = true),
			JSON_PARAM,
		},
	},
	[OP_NEXT] = {
		.name = "next",
		.within = WITHIN_FREE,
		.summary = "show when an expression fires next",
		.example = "rota next \"weekdays at 8:30\" --tz Europe/Berlin --count 3",
		.param = {
			POSITIONAL("expression", "EXPR",
				"cron, ACE, @every, a time, <org timestamp>, or a phrase"),
			OPTION("tz", "ZONE",
				"time zone, unless the expression names one (default: that of rota.yaml, else this machine's)"),
			OPTION("after", "TIME", "show times after TIME instead of now"),
			COUNT("count", "N", NEXT_COUNT_MAX, "number of times (default 5)"),
			OPTION("id", "ID", "id of the schedule, which H and JITTER depend on"),
			OPTION("batch", "FILE", "read JSON lines from FILE (- for standard input)"),
			JSON_PARAM,
		},
		.notes = "A line of --batch is {\"expr\",\"tz\"?,\"after\"?,\"count\"?,\"id\"?}; the answers, in the same order, are\n"
			 "{\"next\":[...]} or {\"error\":\"...\"}. The default time zone is that of rota.yaml, else UTC.\n"
			 "Expressions are described in rota-when(7).",
	},
	[OP_EXPLAIN] = {
		.name = "explain",
		.within = WITHIN_FREE,
		.summary = "show an expression in words, its next five runs, and warnings",
		.example = "rota explain \"0 9 * * 1\"",
		.param = {
			POSITIONAL("expression", "EXPR", "any expression", .required = true),
			OPTION("tz", "ZONE",
				"time zone, unless the expression names one (default: that of rota.yaml, else this machine's)"),
			OPTION("after", "TIME", "show times after TIME instead of now"),
			OPTION("id", "ID", "id of the schedule, which H and JITTER depend on"),
			JSON_PARAM,
		},
		.notes = "Expressions are described in rota-when(7).",
	},
	[OP_ZONES] = {
		.name = "zones",
		.within = WITHIN_FREE,
		.summary = "list time zones with their current offset",
		.example = "rota zones berlin",
		.param = {
			POSITIONAL("pattern", "PATTERN", "only names that contain PATTERN; case does not matter"),
			JSON_PARAM,
		},
	},
	[OP_REPORT] = {
		.name = "report",
		.within = WITHIN_OWN_RUN,
		.summary = "within a run: report a failure, a step or a note",
		.example = "rota report fail \"no access to the calendar\"",
		.param = {
			POSITIONAL("kind", "fail|step|note", "kind of report", .required = true),
			POSITIONAL("text", "TEXT", "text of the report", .required = true),
			JSON_PARAM,
		},
		.notes = "After `report fail` the run is failed/reported, whatever its exit code. `rota show RUN` lists the reports.",
	},
	[OP_STEP] = {
		.name = "step",
		.within = WITHIN_OWN_RUN,
		.summary = "within a run: short for report step",
		.example = "rota step \"ran the tests\"",
		.param = { POSITIONAL("text", "TEXT", "text of the report", .required = true), JSON_PARAM },
	},
	[OP_NOTE] = {
		.name = "note",
		.within = WITHIN_OWN_RUN,
		.summary = "within a run: short for report note",
		.example = "rota note \"the build is broken since Monday\"",
		.param = { POSITIONAL("text", "TEXT", "text of the report", .required = true), JSON_PARAM },
	},
	[OP_NEXT_CHECK] = {
		.name = "next-check",
		.within = WITHIN_OWN_RUN,
		.summary = "within a run: set when its schedule runs next",
		.example = "rota next-check 30m",
		.param = {
			POSITIONAL("in", "DURATION", "time from now until the next run", .required = true),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "It must be within the bounds of the schedule's next_check, and applies once: earlier due times are\n"
			 "skipped, and afterwards the schedule continues as before.",
	},
	[OP_ORG] = {
		.name = "org",
		.within = WITHIN_FREE,
		.summary = "show timestamps and headlines of org files as JSON",
		.example = "rota org parse plan.org",
		.param = {
			POSITIONAL("action", "timestamp|parse", "read one timestamp, or the headlines of a file",
				.required = true),
			POSITIONAL("text", "TEXT|FILE", "timestamp: its text; parse: the file", .required = true),
			JSON_PARAM,
		},
		.notes = "`org timestamp` prints {\"at\",\"repeat\",\"active\"}, or null if the text is not a timestamp.",
	},
	[OP_PLAN] = {
		.name = "plan",
		.within = WITHIN_FREE,
		.summary = "show, check, compare and run the workflows of plans",
		.example = "rota plan run report.org --input '{\"sales\": \"1 2 3\"}'",
		.param = {
			POSITIONAL("action", "show|check|diff|run", "action", .required = true),
			LIST("file", "FILE ...", "the plan, an org file; diff: the old and the new one", .required = true),
			OPTION("input", "JSON|-", "run, check: an object with inputs that no component produces (- for standard input)"),
			OPTION("name", "NAME", "run: only this workflow"),
			COUNT("jobs", "N", WORKFLOW_JOBS_MAX, "run: components at the same time (default 4)"),
			OPTION("timeout", "DURATION", "run: longest time of a component without :timeout (default 15m)"),
			FLAG("dry-run", "run: execute nothing, and list the components"),
			JSON_PARAM,
		},
		.notes = "`plan check` and `plan diff` exit with 2 if there are errors among the findings. `plan run` exits with 1 if\n"
			 "a component is not done. Plans are described in docs/plans.md.",
	},
	[OP_EVAL] = {
		.name = "eval",
		.within = WITHIN_FREE,
		.summary = "evaluate an expression, as conditions and templates do",
		.example = "rota eval 'size(previous.result) > 0 && now.getHours() < 12' --context state.yaml",
		.param = {
			POSITIONAL("expression", "EXPR", "expression in a subset of CEL; see rota(1)", .required = true),
			OPTION("context", "FILE", "variables: a map in YAML or JSON (- for standard input)"),
			JSON_PARAM,
		},
		.notes = "Prints the value as JSON. It exits with 1 if the expression has no value, with 2 if it is not valid.",
	},
	[OP_RENDER] = {
		.name = "render",
		.within = WITHIN_FREE,
		.summary = "render a template",
		.example = "rota render message.txt --context state.yaml",
		.param = {
			POSITIONAL("file", "FILE|-", "template: text with expressions in {{ }}", .required = true),
			OPTION("context", "FILE", "variables: a map in YAML or JSON (- for standard input)"),
			JSON_PARAM,
		},
	},

	/* Requested by verbs, by pages and by tools. */
	[OP_SET_NEXT_CHECK] = {
		.name = "set-next-check",
		.role = ROLE_ADMIN,
		.within = WITHIN_OWN_RUN,
		.summary = "set the next time of the schedule of a run",
		.param = {
			POSITIONAL("run", "RUN", "the run"),
			OPTION("in", "DURATION", "time from now until the next run"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/runs/{run}/next-check",
		.takes = { { "in" } },
	},
	[OP_ADD_REPORT] = {
		.name = "add-report",
		.role = ROLE_ADMIN,
		.within = WITHIN_OWN_RUN,
		.summary = "add a report of a run",
		.param = {
			POSITIONAL("run", "RUN", "the run"),
			OPTION("kind", "fail|step|note", "kind of report"),
			OPTION("text", "TEXT", "text of the report"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/runs/{run}/reports",
		.takes = { { "kind" }, { "text" }, { "written", MEMBER_FLAG } },
	},
	[OP_LIST_SCHEDULES] = {
		.name = "list-schedules",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "list schedules",
		.param = {
			COUNT("limit", "N", 1000, "maximum number of schedules (default 100)"),
			OPTION("after", "ID", "only schedules that sort after this one"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/schedules",
		.takes = { { "limit" }, { "after" } },
	},
	[OP_GET_SCHEDULE] = {
		.name = "get-schedule",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "show one schedule with its document",
		.param = { SCHEDULE_PARAM, SOCKET_PARAM, JSON_PARAM },
		.method = "GET",
		.route = "/api/v1/schedules/{schedule}",
	},
	[OP_LIST_AGENTS] = {
		.name = "list-agents",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "list agents",
		.param = {
			COUNT("limit", "N", 1000, "maximum number of agents (default 100)"),
			OPTION("after", "NAME", "only agents that sort after this one"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/agents",
		.takes = { { "limit" }, { "after" } },
	},
	[OP_GET_AGENT] = {
		.name = "get-agent",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "show one agent with its definition",
		.param = {
			POSITIONAL("agent", "NAME", "name of the agent", .required = true),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/agents/{agent}",
	},
	[OP_RM_AGENT] = {
		.name = "rm-agent",
		.role = ROLE_ADMIN,
		.within = WITHIN_NOT,
		.summary = "remove an agent whose file no longer exists",
		.param = {
			POSITIONAL("agent", "NAME", "name of the agent", .required = true),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "DELETE",
		.route = "/api/v1/agents/{agent}",
	},
	[OP_GET_RUN] = {
		.name = "get-run",
		.role = ROLE_VIEWER,
		.within = WITHIN_OWN_RUN,
		.summary = "show one run",
		.param = { POSITIONAL("run", "RUN", "the run"), SOCKET_PARAM, JSON_PARAM },
		.method = "GET",
		.route = "/api/v1/runs/{run}",
	},
	[OP_LIST_PROBLEMS] = {
		.name = "list-problems",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "list problems, newest first",
		.param = {
			COUNT("limit", "N", 1000, "maximum number of problems (default 100)"),
			OPTION("before", "N", "only problems older than this one"),
			FLAG("all", "include closed problems"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/problems",
		.takes = { { "limit" }, { "before" }, { "all" } },
	},
	[OP_GET_PROBLEM] = {
		.name = "get-problem",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "show one problem",
		.param = { POSITIONAL("problem", "N", "number of the problem"), SOCKET_PARAM, JSON_PARAM },
		.method = "GET",
		.route = "/api/v1/problems/{problem}",
	},
	[OP_PAUSE_MANY] = {
		.name = "pause-many",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "pause all schedules, or all schedules with a tag",
		.param = {
			OPTION("tag", "TAG", "all schedules with this tag"),
			FLAG("all", "all schedules"),
			OPTION("for", "DURATION", "duration of the pause"),
			OPTION("note", "TEXT", "note that is shown with the pause"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/pause",
		.takes = { { "tag" }, { "all" }, { "for" }, { "note" } },
	},
	[OP_RESUME_MANY] = {
		.name = "resume-many",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "resume all schedules, or all schedules with a tag",
		.param = {
			OPTION("tag", "TAG", "all schedules with this tag"),
			FLAG("all", "end the pause of all schedules"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/resume",
		.takes = { { "tag" }, { "all" } },
	},
	[OP_STOP_RUN] = {
		.name = "stop-run",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "stop a run",
		.param = { POSITIONAL("run", "RUN", "the run"), SOCKET_PARAM, JSON_PARAM },
		.method = "POST",
		.route = "/api/v1/runs/{run}/stop",
	},
	[OP_STOP_SCHEDULE] = {
		.name = "stop-schedule",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "stop all runs of a schedule",
		.param = { SCHEDULE_PARAM, SOCKET_PARAM, JSON_PARAM },
		.method = "POST",
		.route = "/api/v1/schedules/{schedule}/stop",
	},
	[OP_GET_STATE] = {
		.name = "get-state",
		.role = ROLE_VIEWER,
		.within = WITHIN_OWN_AGENT,
		.summary = "read the state of an agent, or the user's profile",
		.param = {
			OPTION("path", "PATH", "keys separated by dots; . is the whole document"),
			OPTION("agent", "NAME", "name of the agent"),
			FLAG("user", "the user's profile instead of the state of an agent"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/state",
		.takes = { { "path" }, { "agent" }, { "user" } },
	},
	[OP_SET_STATE] = {
		.name = "set-state",
		.role = ROLE_OPERATOR,
		.within = WITHIN_OWN_AGENT,
		.summary = "change the state of an agent, or the user's profile, by a merge patch",
		.param = {
			OPTION("agent", "NAME", "name of the agent"),
			FLAG("user", "the user's profile instead of the state of an agent"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "PATCH",
		.route = "/api/v1/state",
		.takes = { { "agent" }, { "user" }, { "patch", MEMBER_MAP }, { "rev", MEMBER_NUMBER } },
	},
	[OP_ADD_MEMORY] = {
		.name = "add-memory",
		.role = ROLE_OPERATOR,
		.within = WITHIN_OWN_AGENT,
		.summary = "add a note to an agent",
		.param = {
			OPTION("text", "TEXT", "the note", .required = true),
			OPTION("agent", "NAME", "name of the agent"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/memory",
		.takes = { { "text" }, { "agent" }, { "tags", MEMBER_LIST } },
	},
	[OP_LIST_MEMORY] = {
		.name = "list-memory",
		.role = ROLE_VIEWER,
		.within = WITHIN_OWN_AGENT,
		.summary = "list notes, newest first",
		.param = {
			OPTION("agent", "NAME", "name of the agent (default: all agents)"),
			OPTION("run", "RUN", "only notes of this run"),
			COUNT("limit", "N", 1000, "maximum number of notes (default 100)"),
			OPTION("before", "N", "only notes older than this one"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/memory",
		.takes = { { "agent" }, { "run" }, { "limit" }, { "before" } },
	},
	[OP_SEARCH_MEMORY] = {
		.name = "search-memory",
		.role = ROLE_VIEWER,
		.within = WITHIN_OWN_AGENT,
		.summary = "find notes that contain words, best match first",
		.param = {
			OPTION("words", "WORDS", "words to search for", .required = true),
			OPTION("agent", "NAME", "name of the agent (default: all agents)"),
			COUNT("limit", "N", 1000, "maximum number of notes (default 20)"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/memory/search",
		.takes = { { "words" }, { "agent" }, { "limit" } },
	},
	[OP_REMOVE_MEMORY] = {
		.name = "remove-memory",
		.role = ROLE_OPERATOR,
		.within = WITHIN_OWN_AGENT,
		.summary = "remove a note",
		.param = {
			POSITIONAL("note", "N", "number of the note"),
			OPTION("agent", "NAME", "only if the note is this agent's"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "DELETE",
		.route = "/api/v1/memory/{note}",
		.takes = { { "agent" } },
	},
	[OP_REMOVE_RUN_MEMORY] = {
		.name = "remove-run-memory",
		.role = ROLE_OPERATOR,
		.within = WITHIN_OWN_AGENT,
		.summary = "remove all notes of a run",
		.param = {
			POSITIONAL("run", "RUN", "the run"),
			OPTION("agent", "NAME", "only notes of this agent"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "DELETE",
		.route = "/api/v1/runs/{run}/memory",
		.takes = { { "agent" } },
	},
	[OP_GET_NOTIFY] = {
		.name = "get-notify",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "show the default targets of notifications",
		.param = { SOCKET_PARAM, JSON_PARAM },
		.method = "GET",
		.route = "/api/v1/notify",
	},
	[OP_SET_NOTIFY] = {
		.name = "set-notify",
		.role = ROLE_ADMIN,
		.within = WITHIN_NOT,
		.summary = "set the default targets of notifications",
		.param = { SOCKET_PARAM, JSON_PARAM },
		.method = "PUT",
		.route = "/api/v1/notify",
		.takes = { { "notify", MEMBER_MAP }, { "add", MEMBER_FLAG } },
	},
	[OP_TEST_NOTIFY] = {
		.name = "test-notify",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "send a test message to each target",
		.param = { SOCKET_PARAM, JSON_PARAM },
		.method = "POST",
		.route = "/api/v1/notify/test",
	},
	[OP_GET_MESSAGES] = {
		.name = "get-messages",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "list sent messages with their results",
		.param = {
			COUNT("limit", "N", READ_LIST_MAX, "maximum number of messages (default 20)"),
			OPTION("before", "NUMBER", "only messages older than this one"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/messages",
		.takes = { { "limit" }, { "before" } },
	},
	[OP_GET_MESSAGE] = {
		.name = "get-message",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "show one message",
		.param = {
			POSITIONAL("message", "NUMBER", "number of the message", .required = true),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/messages/{message}",
	},
};
/* clang-format on */

bool op_is_verb(const struct op *op)
{
	return op->example != NULL;
}

const struct op *op_find_verb(struct str name)
{
	for (const struct op *op = ops; op < ops + OPS; op++)
		if (op_is_verb(op) && str_eq(name, str_of(op->name)))
			return op;
	return NULL;
}

unsigned op_split_route(const struct op *op, struct str ret[static OP_SEGMENTS_MAX])
{
	struct str route = str_of(op->route);
	unsigned n = 0;
	for (size_t at = 1; at <= route.n && n < OP_SEGMENTS_MAX;) {
		size_t end = at;
		while (end < route.n && route.p[end] != '/')
			end++;
		ret[n++] = str_sub(route, at, end);
		at = end + 1;
	}
	return n;
}

struct str op_placeholder(struct str segment)
{
	bool is = segment.n > 2 && segment.p[0] == '{';
	return is ? str_sub(segment, 1, segment.n - 1) : (struct str){ 0 };
}

bool op_uses_query(const struct op *op)
{
	return !strcmp(op->method, "GET") || !strcmp(op->method, "DELETE");
}

const struct op_member *op_find_member(const struct op *op, struct str name)
{
	for (unsigned i = 0; i < OP_MEMBERS_MAX && op->takes[i].name; i++)
		if (str_eq(name, str_of(op->takes[i].name)))
			return &op->takes[i];
	return NULL;
}

const struct arg *op_arg_if(const struct op_args *args, const char *name)
{
	for (unsigned i = 0; i < OP_PARAMS_MAX && args->op->param[i].name; i++)
		if (strcmp(args->op->param[i].name, name) == 0)
			return &args->arg[i];
	return NULL;
}

const struct arg *op_arg(const struct op_args *args, const char *name)
{
	const struct arg *arg = op_arg_if(args, name);
	assert(arg);
	return arg;
}

void op_set_arg(struct op_args *args, const char *name, struct str text)
{
	*(struct arg *)op_arg(args, name) = (struct arg){ .given = true, .text = text };
}

struct op_args op_args_for(enum op_id id, const struct op_args *from)
{
	struct op_args args = { .op = &ops[id] };
	for (unsigned i = 0; i < OP_PARAMS_MAX && args.op->param[i].name; i++) {
		const struct arg *arg = op_arg_if(from, args.op->param[i].name);
		if (arg)
			args.arg[i] = *arg;
	}
	return args;
}

enum err op_deny(const struct op *op, struct why *why)
{
	_cleanup_(buf_free) struct buf list = { 0 };
	for (const struct op *own = ops; own < ops + OPS; own++)
		if (op_is_verb(own) && (own->within == WITHIN_OWN_RUN || own->within == WITHIN_OWN_AGENT))
			buf_addf(&list, "%s%s", list.n ? ", " : "", own->name);
	return why_set(why, E_DENIED, WHY_NOWHERE,
		       "%s is not permitted within a run; permitted for the run itself: %s", op->name,
		       list.failed ? "reports" : list.p);
}
