#pragma once
/* Schedules as people write them: a value out of YAML or JSON to a schedule, and back to one canonical text.
 * Directives in the expression and keys of the document are one model; the same thing is said by one of them.
 * What this version does not do yet is refused by name, or accepted with a warning and blocked. Pure: clock,
 * zones and calendars come in as arguments. See rota.yaml(5). */
#include "base/buf.h"
#include "base/val.h"
#include "core/schedule/rules.h"
#include "core/when/when.h"

/* A line for the shell, or a program with its arguments. */
struct doc_command {
	struct str shell; /* empty: argv counts; both empty: none */
	struct str *argv;
	unsigned argc;
	unsigned script; /* the word that a shell reads as a line, as in `sh -c LINE`; 0: none. Never a
			    template */
};

enum doc_action_kind { DOC_COMMAND, DOC_EVENT, DOC_AGENT_TURN, DOC_WEBHOOK, DOC_ACTIONS };

struct doc_action {
	uint8_t kind;
	/* command */
	struct doc_command command;
	struct str cwd; /* absolute; empty: not said */
	struct str input;
	struct val env; /* a map of strings, or null */
	/* event */
	struct str name;
	struct val data; /* null: none */
	/* agent_turn */
	struct str message;
	/* webhook */
	struct str url;
	uint8_t method;     /* of doc_methods */
	struct val headers; /* a map of strings, or null */
	struct val body;    /* text, a list or a map to be sent as JSON, or null */
};
extern const char *const doc_methods[]; /* ends with NULL; the first is the default */

/* Asked before each attempt: is there anything to do? */
struct doc_check {
	struct doc_command command;
	struct str agenda; /* a plan that is looked into instead; empty: the command */
};

/* What must hold after a run for it to be done. */
enum doc_expectation_kind { DOC_SCRIPT, DOC_FILE_EXISTS };
struct doc_expectation {
	uint8_t kind; /* first: keys_read_list knows */
	struct doc_command command;
	struct str *path;
	unsigned paths;
};

/* Who is told. */
enum doc_target_kind { DOC_TO_WEBHOOK, DOC_TO_COMMAND, DOC_TO_DESKTOP, DOC_TO_EVENT };
struct doc_target {
	uint8_t kind; /* first */
	struct str url, secret, name;
	struct doc_command command;
};

enum doc_hook_event { DOC_BEFORE_TRIGGER, DOC_BEFORE_CREATE, DOC_HOOKS };
struct doc_hook {
	struct doc_command command; /* none: there is no such hook */
	int64_t timeout;            /* seconds */
	uint8_t on_error;           /* where it cannot be asked: 0 cancels, 1 proceeds */
};

/* Money or tokens; 0: no limit. */
struct doc_amount {
	int64_t n; /* millionths of a dollar, or tokens */
	bool tokens;
};
struct doc_budget {
	struct doc_amount run, day;
};

/* How soon and how late a run may set its next check, in seconds; 0: not at all. */
struct doc_bounds {
	int64_t least, most;
};

struct doc_retry {
	int64_t count; /* further attempts after the first */
	uint8_t backoff;
	int64_t delay, most; /* seconds */
};

struct doc_notification {
	bool on_success, on_failure, on_missed, on_recovered;
	struct doc_target *to;
	unsigned targets;
};

/* What a schedule may ask for besides starting a command. */
enum doc_need {
	DOC_NEEDS_AGENDA,
	DOC_NEEDS_BUDGET,
	DOC_NEEDS_HOOK,
	DOC_NEEDS_NEXT_CHECK,
	DOC_NEEDS_GRANT,
	DOC_NEEDS_RUNNER, /* of an agent: one that is no command */
	DOC_NEEDS
};
#define DOC_NEED(need) (1u << (need))
/* What of it this version does; whoever makes one of them work adds it here. The rest is accepted with a
 * warning, and most of it blocks the schedule: doc_blocked. */
#define DOC_ABLE (DOC_NEED(DOC_NEEDS_NEXT_CHECK) | DOC_NEED(DOC_NEEDS_GRANT))

/* Who takes its turns: no part of the document, found out by whoever knows the agents (turn.h). */
struct agent_doc;
struct doc_turn {
	const struct agent_doc *by; /* NULL: nobody */
	struct str prompt;          /* of that one */
	int64_t stall;              /* seconds; 0: never */
	uint64_t print;             /* of the definition; 0: there is none */
	uint8_t chosen;             /* enum agent_choice */
	const char *lacks;          /* why it cannot be taken, in words; NULL: it can */
};

struct schedule_doc {
	uint32_t at; /* where it stood in its source */
	struct str id, name, description;
	struct str *tag;
	unsigned tags;
	bool enabled;
	/* When: an expression, or the end of another schedule's run. */
	struct str expression; /* the form alone, without directives; empty: it follows `after` */
	struct when when;      /* with all directives, wherever they were said */
	struct {
		struct str schedule;
		uint8_t outcome; /* enum after_outcome */
	} after;
	int64_t max_runs; /* DOC_NO_LIMIT: no limit */
	int64_t window;   /* seconds; 0: none */
	int64_t timeout;  /* seconds, the default for its action where none is said; 0: none */
	struct doc_retry retry;
	uint8_t missed, overlap;
	int64_t catch_up_limit, priority;
	int64_t max_failures; /* -1: not said */
	struct str concurrency_key, agent, ping;
	struct doc_action action;
	struct val variables; /* a map, or null */
	struct doc_check check;
	struct doc_expectation *expectation;
	unsigned expectations;
	struct doc_budget budget;
	struct doc_notification notification;
	struct doc_hook hook[DOC_HOOKS];
	struct doc_bounds next_check;
	struct {
		int64_t schedules, interval; /* at most so many, each at most so often; 0: none */
	} grants;
	unsigned needs; /* bits of enum doc_need */
	struct doc_turn turn;
};

#define DOC_NO_LIMIT ((int64_t)UINT32_MAX)

/* Its condition; empty: none. */
static inline struct str doc_condition(const struct schedule_doc *d)
{
	return d->when.said.value[ACE_IF];
}

/* Why nothing of it runs in this version, in words; NULL: nothing stands in its way. `by_hand`: what a
 * person's word passes over does not count. */
const char *doc_blocked(const struct schedule_doc *d, bool by_hand);

/* What is not in the document. */
struct doc_env {
	struct when_env when;         /* its id is not looked at */
	int64_t timeout[DOC_ACTIONS]; /* where the document says none */
	struct str default_agent;     /* where it names none; empty: the only one there is */
	/* Said by a person just now (add, a tool): relative forms are resolved, and what lies in the past is
	 * refused. Documents refuse relative forms, and keep what has passed. */
	bool fresh;
};

/* What is accepted and worth a second look. */
struct doc_warning {
	uint32_t at;
	const char *text;
};

struct doc_list {
	struct schedule_doc *doc;
	unsigned n;
	struct agent_doc *agent;
	unsigned agents;
	struct doc_warning *warning; /* in the order of the source, the first DOC_WARNINGS_MAX of them */
	unsigned warnings;
};

/* The schedules and agents of what was read from `source`: a list of documents, each with any of `schedule:`,
 * `schedules:` and a list, `agent:`, and `agents:` and a list, or the bare map of one schedule; null has
 * none. An id may be there once, and so may an agent's name. What `ret` points to lives in `a`, in the
 * documents, in the zone source and the calendars. */
must_check enum err doc_read(struct str source, const struct val *documents, const struct doc_env *env,
			     struct arena *a, struct doc_list *ret, struct why *why);

/* The canonical text, JSON that doc_read takes as a bare map: keys in the order of their table, defaults left
 * out, directives as keys. Equal schedules have equal texts. */
void doc_write(const struct schedule_doc *d, struct buf *out);

/* The key that says the same as a directive; NULL: none does. */
const char *doc_key_of(enum ace_key directive);

/* The engine knows names only by numbers: the caller gives them out. */
enum doc_name { DOC_AGENT, DOC_ACCOUNT, DOC_CONCURRENCY_KEY };
struct doc_names {
	enum err (*zone)(void *self, struct str name, const struct zone *zone, uint16_t *ret);
	/* Days that are left out; not asked where there are none. */
	enum err (*days)(void *self, const struct days *days, uint16_t *ret);
	enum err (*name)(void *self, enum doc_name kind, struct str name, uint32_t *ret);
	void *self;
};
/* What the engine works with. The rest of a command (enabled, max_runs, whom it follows) is the caller's to
 * take over. */
must_check enum err doc_rules(const struct schedule_doc *d, const struct doc_names *names, struct rules *ret);

enum { DOC_ID_MAX = 128 };
/* [A-Za-z0-9_.-]{1,128}, and not one of rota's own: sched-… and keeper… */
must_check enum err doc_check_id(struct str id, struct why *why);
/* An id out of the words of a command: "backup.sh-full" of "./bin/backup.sh --full /". Valid, never empty;
 * not unique. */
void doc_derive_id(const struct str *word, unsigned words, char ret[DOC_ID_MAX + 1]);
