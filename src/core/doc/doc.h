#pragma once
/* Schedules as people write them: a value out of YAML or JSON to a schedule, and back to one canonical text.
 * Directives in the expression and keys of the document are one model; where both say the same thing they
 * must agree. What this version cannot do yet is refused by name. Pure: clock, zones and calendars come in as
 * arguments. See rota.yaml(5). */
#include "base/buf.h"
#include "base/val.h"
#include "core/engine/engine.h"
#include "core/when/when.h"

enum doc_action_kind { DOC_COMMAND, DOC_EVENT, DOC_ACTIONS };

struct doc_action {
	uint8_t kind;
	/* command: a line for the shell, or a program with its arguments */
	struct str shell;
	struct str *argv;
	unsigned argc;
	struct str cwd; /* absolute; empty: not said */
	struct str input;
	struct val env; /* a map of strings, or null */
	/* event */
	struct str name;
	struct val data; /* null: none */
};

struct doc_retry {
	int64_t count; /* further attempts after the first */
	uint8_t backoff;
	int64_t delay, most; /* seconds */
};

struct doc_notification {
	bool on_success, on_failure, on_missed, on_recovered;
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
	int64_t catch_up_limit, priority, max_failures;
	struct str concurrency_key;
	struct doc_action action;
	struct doc_notification notification;
};

#define DOC_NO_LIMIT ((int64_t)UINT32_MAX)

/* What is not in the document. */
struct doc_env {
	struct when_env when;         /* its id is not looked at */
	int64_t timeout[DOC_ACTIONS]; /* where the document says none */
	/* Said by a person just now (add, a tool): relative forms are resolved, and what lies in the past is
	 * refused. Documents refuse relative forms, and keep what has passed. */
	bool fresh;
};

struct doc_list {
	struct schedule_doc *doc;
	unsigned n;
};

/* The schedules of what was read from `source`: a list of documents, each with `schedule:`, with `schedules:`
 * and a list, or the bare map of one schedule; null has none. An id may be there once. What `ret` points to
 * lives in `a`, in the documents, in the zone source and the calendars. */
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
