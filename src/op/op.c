/* The rows of the table, and how their arguments are looked up. */
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
#define COUNT(n, v, m, h)                                                                                    \
	{                                                                                                    \
		.name = (n), .value = (v), .kind = PARAM_COUNT, .most = (m), .help = (h)                     \
	}
#define FLAG(n, h, ...)                                                                                      \
	{                                                                                                    \
		.name = (n), .kind = PARAM_FLAG, .help = (h), __VA_ARGS__                                    \
	}
#define REST(n, v, h)                                                                                        \
	{                                                                                                    \
		.name = (n), .value = (v), .kind = PARAM_WORDS, .help = (h)                                  \
	}

#define JSON_PARAM     FLAG("json", "print JSON")
#define SOCKET_PARAM   OPTION("socket", "PATH", "the daemon's socket")
#define SCHEDULE_PARAM POSITIONAL("schedule", "SCHEDULE", "its id, or the beginning of it", .required = true)
#define AGENT_PARAM    OPTION("agent", "NAME", "the agent that takes its turns, or whose state it sees")
#define COMMAND_PARAM                                                                                        \
	REST("command", "-- COMMAND ...", "what to run (--command \"LINE\" for a line of shell)")

/* What add and edit say of a schedule besides its times. */
#define SCHEDULE_PARAMS                                                                                      \
	OPTION("tz", "ZONE", "its zone, where the expression names none"),                                   \
		OPTION("timeout", "DURATION", "how long a run may take (default 1h)"),                       \
		OPTION("window", "DURATION", "how late it may start"),                                       \
		COUNT("retry", "N", RETRY_MAX, "further attempts after one that failed"),                    \
		OPTION("missed", "POLICY", "execute_immediately, skip, execute_next or catch_up"),           \
		OPTION("overlap", "POLICY", "skip, queue_one, queue_all, cancel_running or allow"),          \
		OPTION("tag", "TAGS", "its tags, with commas between them")

/* clang-format off */
const struct op ops[OPS] = {
	[OP_STATUS] = {
		.name = "status",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "problems, what runs, what waits (also plain `rota`)",
		.example = "rota",
		.param = { SOCKET_PARAM, JSON_PARAM },
		.method = "GET",
		.route = "/api/v1/status",
	},
	[OP_ADD] = {
		.name = "add",
		.role = ROLE_ADMIN,
		.within = WITHIN_GRANTED,
		.summary = "add a schedule in one line",
		.example = "rota add \"weekdays at 8:30\" -- ./backup.sh --full",
		.param = {
			POSITIONAL("expression", "EXPR", "when: any expression of rota-when(7)",
				.required = true),
			POSITIONAL("message", "MESSAGE", "what the agent is told"),
			AGENT_PARAM,
			OPTION("id", "ID", "its id (default: made of the command's words)"),
			FLAG("update", "change the schedule of that id if there is one"),
			SCHEDULE_PARAMS,
			COMMAND_PARAM,
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "Either a command after --, or an agent and a message: --agent NAME \"MESSAGE\".\n"
			 "The command keeps this directory and this PATH. What the options say can also be said\n"
			 "in the expression: \"0 9 * * * TZ=Europe/Berlin RETRY 3\".",
		.method = "POST",
		.route = "/api/v1/schedules",
	},
	[OP_APPLY] = {
		.name = "apply",
		.role = ROLE_ADMIN,
		.within = WITHIN_NOT,
		.summary = "make schedules and agents what files say",
		.example = "rota apply -f ops/ --dry-run",
		.param = {
			OPTION("file", "FILE|DIR",
				"a document, or a directory of *.yaml, *.yml, *.json and *.org",
					.letter = 'f', .required = true),
			FLAG("dry-run", "say what would change, and change nothing"),
			FLAG("prune", "remove what came from there and is there no more"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "If any file is refused, nothing is applied. Documents are described in rota.yaml(5).",
		.method = "POST",
		.route = "/api/v1/apply",
	},
	[OP_LS] = {
		.name = "ls",
		.within = WITHIN_NOT,
		.summary = "schedules, agents, runs or problems",
		.example = "rota ls runs --failed --since 1d",
		.param = {
			POSITIONAL("kind", "KIND", "schedules (the default), agents, runs, problems"),
			COUNT("limit", "N", 1000, "how many"),
			OPTION("after", "ID", "schedules, agents: go on after this one"),
			OPTION("before", "RUN|N", "runs, problems: go on after this one"),
			FLAG("failed", "runs: only those that did not succeed"),
			OPTION("since", "TIME", "runs: from this time on, or 1d for a day ago"),
			FLAG("all", "problems: the closed ones, too"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
	},
	[OP_SHOW] = {
		.name = "show",
		.within = WITHIN_OWN_RUN,
		.summary = "one schedule, agent, run or problem",
		.example = "rota show backup",
		.param = {
			POSITIONAL("name", "NAME",
				"a schedule (or the beginning of its id), an agent, a run (r7), a problem (1)", .required = true),
			SOCKET_PARAM,
			JSON_PARAM,
		},
	},
	[OP_EDIT] = {
		.name = "edit",
		.role = ROLE_ADMIN,
		.within = WITHIN_GRANTED,
		.summary = "change a schedule, and keep the rest of it",
		.example = "rota edit backup --when \"weekdays at 9\"",
		.param = {
			SCHEDULE_PARAM,
			OPTION("when", "EXPR", "another expression"),
			OPTION("message", "TEXT", "what the agent is told"),
			AGENT_PARAM,
			SCHEDULE_PARAMS,
			COMMAND_PARAM,
			OPTION("file", "FILE", "the whole of it from a file", .letter = 'f'),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "PATCH",
		.route = "/api/v1/schedules/{schedule}",
	},
	[OP_RM] = {
		.name = "rm",
		.role = ROLE_ADMIN,
		.within = WITHIN_GRANTED,
		.summary = "remove a schedule; its running attempt finishes",
		.example = "rota rm backup",
		.param = {
			SCHEDULE_PARAM,
			FLAG("kill", "end its live runs, too"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "DELETE",
		.route = "/api/v1/schedules/{schedule}",
	},
	[OP_RUN] = {
		.name = "run",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "run a schedule now",
		.example = "rota run backup --watch",
		.param = {
			SCHEDULE_PARAM,
			FLAG("wait", "until it has ended; exit 0 for done or no_work, else 1"),
			FLAG("watch", "the same, showing what it prints"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/schedules/{schedule}/run",
	},
	[OP_STOP] = {
		.name = "stop",
		.within = WITHIN_NOT,
		.summary = "end a live run, or all of a schedule's",
		.example = "rota stop r7",
		.param = {
			POSITIONAL("name", "RUN|SCHEDULE",
				"a run, or a schedule for all its runs that are alive or wait",
					.required = true),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "It answers when they have ended: SIGTERM first, SIGKILL 5 seconds later.",
	},
	[OP_PAUSE] = {
		.name = "pause",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "pause a schedule, those of a tag, or all",
		.example = "rota pause --all --for 2h --note \"deploy\"",
		.param = {
			POSITIONAL("schedule", "SCHEDULE", "its id, or the beginning of it"),
			OPTION("tag", "TAG", "all schedules with this tag"),
			FLAG("all", "everything"),
			OPTION("for", "DURATION", "how long (default: until it is resumed)"),
			OPTION("note", "TEXT", "what others should know"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "What runs goes on to its end. A second pause replaces the end of the first one, and its\n"
			 "note, if it has one; the end of a pause takes its note away.",
		.method = "POST",
		.route = "/api/v1/schedules/{schedule}/pause",
	},
	[OP_RESUME] = {
		.name = "resume",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "end a pause",
		.example = "rota resume backup",
		.param = {
			POSITIONAL("schedule", "SCHEDULE", "its id, or the beginning of it"),
			OPTION("tag", "TAG", "all schedules with this tag"),
			FLAG("all", "what `rota pause --all` paused"),
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
		.summary = "what ran, the newest first",
		.example = "rota runs backup --failed --since 1d",
		.param = {
			POSITIONAL("schedule", "SCHEDULE", "only of this one"),
			FLAG("failed", "only those that did not succeed"),
			OPTION("since", "TIME", "from this time on, or 1d for a day ago"),
			COUNT("limit", "N", 1000, "how many (default 20)"),
			OPTION("before", "RUN", "go on after this one"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/runs",
	},
	[OP_LOGS] = {
		.name = "logs",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "what a run printed",
		.example = "rota logs backup -f",
		.param = {
			POSITIONAL("name", "RUN|SCHEDULE", "a run, or a schedule for its latest",
				.required = true),
			OPTION("from", "BYTE", "where to begin"),
			FLAG("follow", "go on until the run has ended", .letter = 'f'),
			FLAG("raw", "pass control sequences on to the terminal"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/logs/{name}",
	},
	[OP_WHY] = {
		.name = "why",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "why a schedule ran, did not run, or will run at a time",
		.example = "rota why backup 2026-11-16T08:30",
		.param = {
			SCHEDULE_PARAM,
			POSITIONAL("time", "TIME",
				"past or future: 2026-11-16T08:30, 2026-11-16, 08:30, now (default: its next)"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/schedules/{schedule}/why",
	},
	[OP_ACK] = {
		.name = "ack",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "take a problem",
		.example = "rota ack 1 --note \"on it\"",
		.param = {
			POSITIONAL("problem", "N", "its number", .required = true),
			OPTION("note", "TEXT", "what others should know"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/problems/{problem}/ack",
	},
	[OP_AGENT] = {
		.name = "agent",
		.within = WITHIN_FREE,
		.summary = "check an agent's file; show or remove one",
		.example = "rota agent check agents/desk.org",
		.param = {
			POSITIONAL("action", "check|show|rm", "what to do", .required = true),
			LIST("name", "FILE|NAME ...",
				"check: files (*.org, *.yaml, *.yml, *.json); otherwise an agent's name",
					.required = true),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "`agent check` needs no daemon. Agents come from files, by `rota apply` and `rota serve`:\n"
			 "they are described in rota.yaml(5).",
	},
	[OP_STATE] = {
		.name = "state",
		.within = WITHIN_OWN_AGENT,
		.summary = "what an agent knows, or the user's profile",
		.example = "rota state set preferences.morning_summary true --user",
		.param = {
			POSITIONAL("action", "get|set", "look, or change", .required = true),
			POSITIONAL("path", "PATH", "keys with dots between them; . means the whole"),
			POSITIONAL("value", "VALUE", "JSON, or plain text; null removes"),
			OPTION("agent", "NAME", "whose (default, within a run: its agent)"),
			FLAG("user", "the user's profile"),
			OPTION("rev", "N", "set: only if its revision is still this one"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "A change is merged: keys that are not named stay. Conditions that wait are asked again.",
	},
	[OP_MEMORY] = {
		.name = "memory",
		.within = WITHIN_OWN_AGENT,
		.summary = "notes of an agent, which its runs are told of",
		.example = "rota memory add \"the supplier answers on Mondays only\" --tag orders --agent desk",
		.param = {
			POSITIONAL("action", "add|search|ls|rm", "write, find, list, remove",
				.required = true),
			POSITIONAL("text", "TEXT|WORDS|N", "the note, what to look for, a number"),
			OPTION("tag", "TAGS", "add: its tags, with commas between them"),
			OPTION("agent", "NAME", "whose (default, within a run: its agent)"),
			OPTION("run", "RUN", "ls, rm: all that this run wrote"),
			COUNT("limit", "N", 1000, "search, ls: how many"),
			OPTION("before", "N", "ls: go on after this one"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "What is most relevant to a schedule is in the context of its runs, as data. Notes stay when\n"
			 "their run is forgotten; `rota memory rm --run RUN` removes what a run wrote.",
	},
	[OP_NOTIFY] = {
		.name = "notify",
		.within = WITHIN_NOT,
		.summary = "who is told of failures and problems",
		.example = "rota notify set --webhook https://example.org/hook --secret /etc/rota/key",
		.param = {
			POSITIONAL("action", "ls|set|test", "what was told; say who is; see if it works"),
			OPTION("webhook", "URL", "set: this address"),
			OPTION("secret", "FILE", "set: has the key that signs it, whsec_..."),
			FLAG("desktop", "set: this desktop, by notify-send"),
			FLAG("none", "set: nobody"),
			FLAG("add", "set: besides those who are"),
			OPTION("events", "LIST",
				"set: success, failure, missed, recovered, problem (default: all)"),
			COUNT("limit", "N", READ_LIST_MAX, "ls: so many (default 20)"),
			REST("command", "-- COMMAND ...",
				"set: this program, which reads what happened as JSON"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "Alone it says who is told. These hear of schedules that name nobody themselves, and of every\n"
			 "problem. test sends a message to each, waits, and exits with 1 if one did not arrive.",
	},
	[OP_BACKFILL] = {
		.name = "backfill",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "run what did not run in a stretch of time",
		.example = "rota backfill backup --from 2026-11-01 --to 2026-11-07",
		.param = {
			SCHEDULE_PARAM,
			OPTION("from", "TIME", "its beginning, or 2h for two hours ago", .required = true),
			OPTION("to", "TIME", "its end", .required = true),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/schedules/{schedule}/backfill",
	},
	[OP_EVENTS] = {
		.name = "events",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "what happens",
		.example = "rota events -f",
		.param = { FLAG("follow", "as it happens", .letter = 'f'), SOCKET_PARAM, JSON_PARAM },
		.notes = "With --follow it goes on after a restart of the daemon, with all events the new one has, and\n"
			 "says so on stderr. When the daemon stays away for 30 seconds it ends with exit code 69.",
		.method = "GET",
		.route = "/api/v1/events",
	},
	[OP_SERVE] = {
		.name = "serve",
		.within = WITHIN_NOT,
		.summary = "the daemon, in the foreground",
		.example = "rota serve ops/",
		.param = {
			POSITIONAL("directory", "DIR",
				"documents (*.yaml, *.yml, *.json, *.org) to keep in force"),
			OPTION("data", "DIR", "its directory"),
			SOCKET_PARAM,
			OPTION("config", "FILE", "its configuration"),
			OPTION("slots", "N", "runs at once in all"),
			JSON_PARAM,
		},
	},
	[OP_DOCTOR] = {
		.name = "doctor",
		.role = ROLE_ADMIN,
		.within = WITHIN_NOT,
		.summary = "look the installation over, and say what to do",
		.example = "rota doctor",
		.param = {
			OPTION("config", "FILE", "as if given to `rota serve`"),
			OPTION("data", "DIR", "as if given to `rota serve`"),
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
		.summary = "accept a clock that ran far ahead",
		.example = "rota clock",
		.param = { SOCKET_PARAM, JSON_PARAM },
		.method = "POST",
		.route = "/api/v1/clock",
	},
	[OP_BACKUP] = {
		.name = "backup",
		.within = WITHIN_NOT,
		.summary = "copy the store, while it is in use",
		.example = "rota backup /mnt/backup/rota-monday.db",
		.param = {
			POSITIONAL("file", "FILE", "a new file; one that exists is not overwritten"),
			OPTION("data", "DIR", "as if given to `rota serve`"),
			OPTION("config", "FILE", "as if given to `rota serve`"),
			JSON_PARAM,
		},
		.notes = "It holds schedules, runs, problems and holds as of one moment, and is checked when it is\n"
			 "written. Logs are not in it.",
	},
	[OP_RESTORE] = {
		.name = "restore",
		.within = WITHIN_NOT,
		.summary = "bring a backup back; the daemon must be stopped",
		.example = "rota restore /mnt/backup/rota-monday.db",
		.param = {
			POSITIONAL("file", "FILE", "what `rota backup` made"),
			OPTION("data", "DIR", "as if given to `rota serve`"),
			OPTION("config", "FILE", "as if given to `rota serve`"),
			JSON_PARAM,
		},
		.notes = "What came due since the backup is recorded as missed/restored, and not run again. The old\n"
			 "store is kept beside the new one.",
	},
	[OP_CONFIG] = {
		.name = "config",
		.within = WITHIN_FREE,
		.summary = "every setting, and where its value came from",
		.example = "rota config --json",
		.param = {
			OPTION("config", "FILE", "the configuration, instead of the usual rota.yaml"),
			OPTION("data", "DIR", "as if given to `rota serve`"),
			OPTION("socket", "PATH", "as if given to `rota serve`"),
			JSON_PARAM,
		},
		.notes = "A flag counts for more than a ROTA_* variable, that for more than the file, that for more\n"
			 "than the default. The settings are described in rota.yaml(5).",
	},
	[OP_VERSION] = {
		.name = "version",
		.within = WITHIN_FREE,
		.summary = "the version of this program",
		.example = "rota version",
		.param = { JSON_PARAM },
	},
	[OP_COMPLETION] = {
		.name = "completion",
		.within = WITHIN_FREE,
		.summary = "what a shell needs to complete a line",
		.example = "rota completion bash > ~/.local/share/bash-completion/completions/rota",
		.param = {
			POSITIONAL("shell", "bash|zsh|fish", "which shell", .required = true),
			JSON_PARAM,
		},
	},
	[OP_NEXT] = {
		.name = "next",
		.within = WITHIN_FREE,
		.summary = "when an expression fires next",
		.example = "rota next \"weekdays at 8:30\" --tz Europe/Berlin --count 3",
		.param = {
			POSITIONAL("expression", "EXPR",
				"cron, ACE, @every, a time, <org timestamp>, or a phrase"),
			OPTION("tz", "ZONE",
				"zone where the expression names none (default: this machine's)"),
			OPTION("after", "TIME", "count from here instead of now"),
			COUNT("count", "N", NEXT_COUNT_MAX, "how many runs (default 5)"),
			OPTION("id", "ID", "the schedule's id, which H and JITTER depend on"),
			OPTION("batch", "FILE", "answer JSON lines from FILE (- for standard input)"),
			JSON_PARAM,
		},
		.notes = "Lines of --batch are {\"expr\",\"tz\"?,\"after\"?,\"count\"?,\"id\"?}; each is answered, in order, by\n"
			 "{\"next\":[...]} or {\"error\":\"...\"}. There, the zone is UTC where none is named.\n"
			 "Expressions are described in rota-when(7).",
	},
	[OP_EXPLAIN] = {
		.name = "explain",
		.within = WITHIN_FREE,
		.summary = "an expression in words, its next five runs, and warnings",
		.example = "rota explain \"0 9 * * 1\"",
		.param = {
			POSITIONAL("expression", "EXPR", "any expression", .required = true),
			OPTION("tz", "ZONE",
				"zone where the expression names none (default: this machine's)"),
			OPTION("after", "TIME", "count from here instead of now"),
			OPTION("id", "ID", "the schedule's id, which H and JITTER depend on"),
			JSON_PARAM,
		},
		.notes = "Expressions are described in rota-when(7).",
	},
	[OP_ZONES] = {
		.name = "zones",
		.within = WITHIN_FREE,
		.summary = "the known time zones with their offset now",
		.example = "rota zones berlin",
		.param = {
			POSITIONAL("pattern", "PATTERN", "only names that contain this, in any case"),
			JSON_PARAM,
		},
	},
	[OP_REPORT] = {
		.name = "report",
		.within = WITHIN_OWN_RUN,
		.summary = "within a run: say what it does, thinks, or could not do",
		.example = "rota report fail \"no access to the calendar\"",
		.param = {
			POSITIONAL("kind", "fail|step|note", "what kind of report", .required = true),
			POSITIONAL("text", "TEXT", "in words", .required = true),
			JSON_PARAM,
		},
		.notes = "After `report fail` the run is failed/reported, whatever its exit code. `rota show RUN` has all of it.",
	},
	[OP_STEP] = {
		.name = "step",
		.within = WITHIN_OWN_RUN,
		.summary = "within a run: short for report step",
		.example = "rota step \"ran the tests\"",
		.param = { POSITIONAL("text", "TEXT", "in words", .required = true), JSON_PARAM },
	},
	[OP_NOTE] = {
		.name = "note",
		.within = WITHIN_OWN_RUN,
		.summary = "within a run: short for report note",
		.example = "rota note \"the build is broken since Monday\"",
		.param = { POSITIONAL("text", "TEXT", "in words", .required = true), JSON_PARAM },
	},
	[OP_NEXT_CHECK] = {
		.name = "next-check",
		.within = WITHIN_OWN_RUN,
		.summary = "within a run: say when its schedule runs next",
		.example = "rota next-check 30m",
		.param = {
			POSITIONAL("in", "DURATION", "from now on", .required = true),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.notes = "Within the bounds of the schedule's next_check, and once: what would come before it is skipped,\n"
			 "after it the schedule goes on as before.",
	},
	[OP_EVAL] = {
		.name = "eval",
		.within = WITHIN_FREE,
		.summary = "compute an expression of conditions and templates",
		.example = "rota eval 'size(previous.result) > 0 && now.getHours() < 12' --context state.yaml",
		.param = {
			POSITIONAL("expression", "EXPR", "a part of CEL; see rota(1)"),
			OPTION("context", "FILE", "its names: a map in YAML or JSON (- for standard input)"),
			JSON_PARAM,
		},
		.notes = "Prints the value as JSON. An expression that has no value exits with 1, one that is wrong with 2.",
	},
	[OP_RENDER] = {
		.name = "render",
		.within = WITHIN_FREE,
		.summary = "fill in a template",
		.example = "rota render message.txt --context state.yaml",
		.param = {
			POSITIONAL("file", "FILE|-", "text with expressions in {{ }}"),
			OPTION("context", "FILE", "its names: a map in YAML or JSON (- for standard input)"),
			JSON_PARAM,
		},
	},

	/* Asked for by verbs, by the page and by tools. */
	[OP_SET_NEXT_CHECK] = {
		.name = "set-next-check",
		.role = ROLE_ADMIN,
		.within = WITHIN_OWN_RUN,
		.summary = "when the schedule of a run runs next",
		.param = {
			POSITIONAL("run", "RUN", "the run"),
			OPTION("in", "DURATION", "from now on"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/runs/{run}/next-check",
	},
	[OP_ADD_REPORT] = {
		.name = "add-report",
		.role = ROLE_ADMIN,
		.within = WITHIN_OWN_RUN,
		.summary = "what a run says of itself",
		.param = {
			POSITIONAL("run", "RUN", "the run"),
			OPTION("kind", "fail|step|note", "what kind of report"),
			OPTION("text", "TEXT", "in words"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/runs/{run}/reports",
	},
	[OP_LIST_SCHEDULES] = {
		.name = "list-schedules",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "the schedules",
		.param = {
			COUNT("limit", "N", 1000, "how many (default 100)"),
			OPTION("after", "ID", "go on after this one"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/schedules",
	},
	[OP_GET_SCHEDULE] = {
		.name = "get-schedule",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "one schedule with its document",
		.param = { SCHEDULE_PARAM, SOCKET_PARAM, JSON_PARAM },
		.method = "GET",
		.route = "/api/v1/schedules/{schedule}",
	},
	[OP_LIST_AGENTS] = {
		.name = "list-agents",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "the agents",
		.param = {
			COUNT("limit", "N", 1000, "how many (default 100)"),
			OPTION("after", "NAME", "go on after this one"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/agents",
	},
	[OP_GET_AGENT] = {
		.name = "get-agent",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "one agent with its definition",
		.param = {
			POSITIONAL("agent", "NAME", "its name", .required = true),
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
		.summary = "remove an agent whose file is gone",
		.param = {
			POSITIONAL("agent", "NAME", "its name", .required = true),
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
		.summary = "one run",
		.param = { POSITIONAL("run", "RUN", "the run"), SOCKET_PARAM, JSON_PARAM },
		.method = "GET",
		.route = "/api/v1/runs/{run}",
	},
	[OP_LIST_PROBLEMS] = {
		.name = "list-problems",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "the problems, the newest first",
		.param = {
			COUNT("limit", "N", 1000, "how many (default 100)"),
			OPTION("before", "N", "go on after this one"),
			FLAG("all", "the closed ones, too"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/problems",
	},
	[OP_GET_PROBLEM] = {
		.name = "get-problem",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "one problem",
		.param = { POSITIONAL("problem", "N", "its number"), SOCKET_PARAM, JSON_PARAM },
		.method = "GET",
		.route = "/api/v1/problems/{problem}",
	},
	[OP_PAUSE_MANY] = {
		.name = "pause-many",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "pause all schedules, or those with a tag",
		.param = {
			OPTION("tag", "TAG", "those with this tag"),
			FLAG("all", "everything"),
			OPTION("for", "DURATION", "how long"),
			OPTION("note", "TEXT", "what others should know"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/pause",
	},
	[OP_RESUME_MANY] = {
		.name = "resume-many",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "resume all schedules, or those with a tag",
		.param = {
			OPTION("tag", "TAG", "those with this tag"),
			FLAG("all", "everything"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/resume",
	},
	[OP_STOP_RUN] = {
		.name = "stop-run",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "end a live run",
		.param = { POSITIONAL("run", "RUN", "the run"), SOCKET_PARAM, JSON_PARAM },
		.method = "POST",
		.route = "/api/v1/runs/{run}/stop",
	},
	[OP_STOP_SCHEDULE] = {
		.name = "stop-schedule",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "end all live runs of a schedule",
		.param = { SCHEDULE_PARAM, SOCKET_PARAM, JSON_PARAM },
		.method = "POST",
		.route = "/api/v1/schedules/{schedule}/stop",
	},
	[OP_GET_STATE] = {
		.name = "get-state",
		.role = ROLE_VIEWER,
		.within = WITHIN_OWN_AGENT,
		.summary = "what an agent knows, or the user's profile",
		.param = {
			OPTION("path", "PATH", "keys with dots between them; . means the whole"),
			OPTION("agent", "NAME", "whose"),
			FLAG("user", "the user's profile"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/state",
	},
	[OP_SET_STATE] = {
		.name = "set-state",
		.role = ROLE_OPERATOR,
		.within = WITHIN_OWN_AGENT,
		.summary = "change it by a merge patch",
		.param = {
			OPTION("agent", "NAME", "whose"),
			FLAG("user", "the user's profile"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "PATCH",
		.route = "/api/v1/state",
	},
	[OP_ADD_MEMORY] = {
		.name = "add-memory",
		.role = ROLE_OPERATOR,
		.within = WITHIN_OWN_AGENT,
		.summary = "a note for an agent",
		.param = {
			OPTION("text", "TEXT", "the note", .required = true),
			OPTION("agent", "NAME", "whose"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "POST",
		.route = "/api/v1/memory",
	},
	[OP_LIST_MEMORY] = {
		.name = "list-memory",
		.role = ROLE_VIEWER,
		.within = WITHIN_OWN_AGENT,
		.summary = "notes, the newest first",
		.param = {
			OPTION("agent", "NAME", "whose (default: all)"),
			OPTION("run", "RUN", "those that this run wrote"),
			COUNT("limit", "N", 1000, "how many (default 100)"),
			OPTION("before", "N", "go on after this one"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/memory",
	},
	[OP_SEARCH_MEMORY] = {
		.name = "search-memory",
		.role = ROLE_VIEWER,
		.within = WITHIN_OWN_AGENT,
		.summary = "notes in which words stand, the best first",
		.param = {
			OPTION("words", "WORDS", "what to look for", .required = true),
			OPTION("agent", "NAME", "whose (default: all)"),
			COUNT("limit", "N", 1000, "how many (default 20)"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/memory/search",
	},
	[OP_REMOVE_MEMORY] = {
		.name = "remove-memory",
		.role = ROLE_OPERATOR,
		.within = WITHIN_OWN_AGENT,
		.summary = "remove a note",
		.param = {
			POSITIONAL("note", "N", "its number"),
			OPTION("agent", "NAME", "only if it is this agent's"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "DELETE",
		.route = "/api/v1/memory/{note}",
	},
	[OP_REMOVE_RUN_MEMORY] = {
		.name = "remove-run-memory",
		.role = ROLE_OPERATOR,
		.within = WITHIN_OWN_AGENT,
		.summary = "remove what a run wrote",
		.param = {
			POSITIONAL("run", "RUN", "the run"),
			OPTION("agent", "NAME", "only for this agent"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "DELETE",
		.route = "/api/v1/runs/{run}/memory",
	},
	[OP_GET_NOTIFY] = {
		.name = "get-notify",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "who is told by the configuration",
		.param = { SOCKET_PARAM, JSON_PARAM },
		.method = "GET",
		.route = "/api/v1/notify",
	},
	[OP_SET_NOTIFY] = {
		.name = "set-notify",
		.role = ROLE_ADMIN,
		.within = WITHIN_NOT,
		.summary = "say who is",
		.param = { SOCKET_PARAM, JSON_PARAM },
		.method = "PUT",
		.route = "/api/v1/notify",
	},
	[OP_TEST_NOTIFY] = {
		.name = "test-notify",
		.role = ROLE_OPERATOR,
		.within = WITHIN_NOT,
		.summary = "a message to each of them",
		.param = { SOCKET_PARAM, JSON_PARAM },
		.method = "POST",
		.route = "/api/v1/notify/test",
	},
	[OP_GET_MESSAGES] = {
		.name = "get-messages",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "what was told, and what came of it",
		.param = {
			COUNT("limit", "N", READ_LIST_MAX, "so many (default 20)"),
			OPTION("before", "NUMBER", "older ones than this"),
			SOCKET_PARAM,
			JSON_PARAM,
		},
		.method = "GET",
		.route = "/api/v1/messages",
	},
	[OP_GET_MESSAGE] = {
		.name = "get-message",
		.role = ROLE_VIEWER,
		.within = WITHIN_NOT,
		.summary = "one of them",
		.param = {
			POSITIONAL("message", "NUMBER", "its number", .required = true),
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
		       "%s is not permitted within a run; permitted, about itself, are %s", op->name,
		       list.failed ? "reports" : list.p);
}
