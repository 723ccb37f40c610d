#pragma once
/* Documents: reads schedules and agents from a value of YAML or JSON, and writes a schedule as canonical
 * text. A directive of the expression and the key that means the same set the same field; giving both is an
 * error. Features that this version does not support are refused, or accepted with a warning and blocked.
 * Pure: clock, zones and calendars are arguments. See rota.yaml(5). */
#include "base/buf.h"
#include "base/val.h"
#include "core/schedule/rules.h"
#include "core/when/when.h"

/* A command line for the shell, or a program with its arguments. Both empty: no command. */
struct doc_command {
	struct str shell; /* empty: argv is used */
	struct str *argv;
	unsigned argc;
	/* The arguments from `text` up to `text_end` may be executed by an interpreter, as LINE in `sh -c
	 * LINE`; they are never expanded as templates (interpreter.h). */
	unsigned text, text_end;
};

static inline bool doc_has_command(const struct doc_command *c)
{
	return c->shell.n || c->argc;
}

enum doc_action_kind { DOC_COMMAND, DOC_EVENT, DOC_AGENT_TURN, DOC_WEBHOOK, DOC_WORKFLOW, DOC_ACTIONS };

struct doc_action {
	uint8_t kind;
	/* command */
	struct doc_command command;
	struct str cwd; /* absolute; empty: not given */
	struct str input;
	struct val env; /* a map of strings, or null */
	/* event */
	struct str name;
	struct val data; /* null: none */
	/* agent_turn */
	struct str message;
	/* webhook */
	struct str url;
	uint8_t method;     /* index of doc_methods */
	struct val headers; /* a map of strings, or null */
	struct val body;    /* a string, a list or a map that is sent as JSON, or null */
	/* workflow */
	struct str file;     /* the plan; absolute */
	struct str workflow; /* only this one; empty: all */
	struct val inputs;   /* a map, or null */
};
extern const char *const doc_methods[]; /* ends with NULL; the first is the default */

/* A program that is executed before each attempt to find out whether there is work. */
struct doc_check {
	struct doc_command command;
	struct str agenda; /* the file of `check: agenda FILE`; empty: the command is used */
	/* The plan whose first ready task is claimed after the check. Not part of the document: turn_resolve
	 * takes it from the agent. */
	struct str claim;
};

static inline bool doc_has_check(const struct doc_check *c)
{
	return doc_has_command(&c->command) || c->agenda.n || c->claim.n;
}

/* A condition that must hold after a run; otherwise the run has failed. */
enum doc_expectation_kind { DOC_SCRIPT, DOC_FILE_EXISTS };
struct doc_expectation {
	uint8_t kind; /* the first field, as keys_read_list requires */
	struct doc_command command;
	struct str *path;
	unsigned paths;
};

/* A receiver of notifications. */
enum doc_target_kind { DOC_TO_WEBHOOK, DOC_TO_COMMAND, DOC_TO_DESKTOP, DOC_TO_EVENT };
struct doc_target {
	uint8_t kind; /* the first field, as keys_read_list requires */
	struct str url, secret, name;
	struct doc_command command;
};

/* A program that may cancel a run, or a change of a schedule, before it happens. */
#define DOC_TRIGGER_HOOK "before:schedule:trigger"
#define DOC_CREATE_HOOK  "before:schedule:create"
enum doc_hook_error { HOOK_CANCELS, HOOK_PROCEEDS };
struct doc_hook {
	struct doc_command command; /* empty: there is no hook */
	int64_t timeout;            /* seconds; 0: that of requests */
	uint8_t on_error;           /* enum doc_hook_error: if the program is not found, killed or too slow */
};

/* Money or tokens. */
struct doc_amount {
	int64_t n; /* millionths of a dollar, or tokens; 0: no limit */
	bool tokens;
};
struct doc_budget {
	struct doc_amount run, day;
};

/* The range, in seconds from now, in which a run may set its schedule's next time. most 0: it may not. */
struct doc_next_check {
	int64_t least, most;
};

struct doc_retry {
	int64_t count; /* further attempts after the first */
	uint8_t backoff;
	int64_t delay, max_delay; /* seconds */
};

struct doc_notification {
	bool on_success, on_failure, on_missed, on_recovered;
	struct doc_target *to;
	unsigned targets;
};

/* Features that this version reads but does not support: they block the schedule or agent that uses them. */
enum doc_unsupported {
	DOC_UNSUPPORTED_BUDGET,
	DOC_UNSUPPORTED_RUNNER, /* an agent whose runner is not a command */
	DOC_UNSUPPORTED_COUNT
};

/* The agent that executes the schedule's turns. Not part of the document: turn_resolve fills it in. */
struct agent_doc;
struct doc_turn {
	const struct agent_doc *agent; /* NULL: none */
	struct str prompt;             /* the agent's */
	int64_t stall;                 /* seconds; 0: no limit */
	uint64_t fingerprint;          /* of the agent's definition; 0: there is none */
	uint8_t choice;                /* enum agent_choice */
	const char *blocked;           /* why no turn can run, for people; NULL: turns can run */
};

struct schedule_doc {
	uint32_t at; /* offset in the source */
	struct str id, name, description;
	struct str *tag;
	unsigned tags;
	bool enabled;
	/* When it is due: by an expression, or after the runs of another schedule. */
	struct str expression; /* without directives; empty: `after` is used */
	struct when when;      /* with all directives, from the expression and from keys */
	struct {
		struct str schedule;
		uint8_t outcome; /* enum after_outcome */
	} after;
	int64_t max_runs; /* DOC_NO_LIMIT: no limit */
	int64_t window;   /* seconds; 0: none */
	int64_t timeout;  /* seconds; the default of its action if none is given; 0: none */
	struct doc_retry retry;
	uint8_t missed, overlap;
	int64_t catch_up_limit, priority;
	int64_t max_failures; /* -1: not given */
	struct str concurrency_key, agent, ping;
	struct doc_action action;
	struct val variables; /* a map, or null */
	struct doc_check check;
	struct doc_expectation *expectation;
	unsigned expectations;
	struct doc_budget budget;
	struct doc_notification notification;
	struct doc_hook hook; /* before a run */
	struct doc_next_check next_check;
	struct {
		int64_t schedules; /* how many its runs may create; 0: none */
		int64_t interval;  /* the least seconds between two times of each */
	} grants;
	unsigned unsupported; /* the features it uses, bits of enum doc_unsupported */
	struct doc_turn turn;
};

#define DOC_NO_LIMIT ((int64_t)UINT32_MAX)

/* The condition of a schedule; empty: none. */
static inline struct str doc_condition(const struct schedule_doc *d)
{
	return d->when.written.value[ACE_IF];
}

/* Why the schedule does not run in this version, for people; NULL: it is not blocked. */
const char *doc_blocked(const struct schedule_doc *d);

/* The environment in which a document is read. */
struct doc_env {
	struct when_env when;         /* its id is not used */
	int64_t timeout[DOC_ACTIONS]; /* defaults, in seconds, by type of action */
	struct str default_agent; /* for schedules that name none; empty: the only agent, if there is one */
	/* The schedule is being created now (rota add, a tool), not read from a document. Relative forms such
	 * as "in 20 minutes" are resolved, and an expression without a future time is refused. A document
	 * cannot have relative forms, and may have times that have passed. */
	bool fresh;
};

/* Something that was accepted but may not be what the author meant. */
struct doc_warning {
	uint32_t at;
	const char *text;
};

struct doc_list {
	struct schedule_doc *doc;
	unsigned n;
	struct agent_doc *agent;
	unsigned agents;
	struct doc_warning *warning; /* the first DOC_WARNINGS_MAX, in the order of the source */
	unsigned warnings;
};

/* Reads the schedules and agents of a list of documents. A document is a map with any of `schedule`,
 * `schedules` (a list), `agent` and `agents` (a list), or the map of one schedule, or null. The ids of the
 * schedules must differ, and so must the names of the agents. `ret` points into `a`, the documents, the zone
 * source and the calendars. */
must_check enum err doc_read(struct str source, const struct val *documents, const struct doc_env *env,
			     struct arena *a, struct doc_list *ret, struct why *why);

/* Reads an expression as that of a document: as when_parse, and its condition is checked, too. */
must_check enum err doc_read_expression(struct str text, const struct when_env *env, struct arena *a,
					struct when *ret, struct why *why);

/* Writes the canonical text, a JSON map that doc_read reads as one schedule: keys in the order of their
 * table, no defaults, directives as keys. Equal schedules have equal texts. */
void doc_write(const struct schedule_doc *d, struct buf *out);

/* Reads only `notification` and `ping` of a canonical text. ping->p is NULL if the key is not given. */
must_check enum err doc_read_notification(struct str document, struct arena *a, struct doc_notification *ret,
					  struct str *ping, struct why *why);

/* The key that means the same as a directive; NULL: there is none. */
const char *doc_key_of(enum ace_key directive);

/* The engine uses numbers instead of names; the caller assigns them. */
enum doc_name { DOC_AGENT, DOC_ACCOUNT, DOC_CONCURRENCY_KEY };
struct doc_names {
	enum err (*zone)(void *self, struct str name, const struct zone *zone, uint16_t *ret);
	/* For excluded days; not called if there are none. */
	enum err (*days)(void *self, const struct days *days, uint16_t *ret);
	enum err (*name)(void *self, enum doc_name kind, struct str name, uint32_t *ret);
	void *self;
};
/* Compiles the rules that the engine decides by. They do not contain `enabled`, `max_runs` and the schedule
 * of `after`: the caller passes those to the engine. */
must_check enum err doc_rules(const struct schedule_doc *d, const struct doc_names *names, struct rules *ret);

enum { DOC_ID_MAX = 128 };
/* Checks an id: [A-Za-z0-9_.-]{1,128}, not beginning with sched- or keeper, which are reserved for rota. */
must_check enum err doc_check_id(struct str id, struct why *why);
/* Is it 1 to DOC_ID_MAX characters, without control characters and without spaces at its ends? */
bool doc_is_agent_name(struct str name);
/* Derives an id from the words of a command: "backup.sh-full" from "./bin/backup.sh --full /". The id is
 * valid but need not be unique. */
void doc_derive_id(const struct str *word, unsigned words, char ret[DOC_ID_MAX + 1]);
