#pragma once
/* Agents as people write them: a value out of org, YAML or JSON to a definition, and back to one canonical
 * text. Their keys are in one table, whatever they were written in. Pure. See rota.yaml(5). */
#include "core/doc/doc.h"

/* What runs it. This version runs programs; the other names are accepted with a warning, and blocked. */
enum agent_runner {
	AGENT_COMMAND,
	AGENT_CLAUDE,
	AGENT_CODEX,
	AGENT_GEMINI,
	AGENT_OPENCODE,
	AGENT_GOOSE,
	AGENT_AIDER,
	AGENT_CHAT,
	AGENT_RUNNERS
};
enum agent_allow { AGENT_READ, AGENT_EDIT, AGENT_SHELL, AGENT_ALL, AGENT_ALLOWS };
enum agent_claim { AGENT_CLAIM_NONE, AGENT_CLAIM_AUTO, AGENT_CLAIMS };
enum agent_session { AGENT_FRESH, AGENT_CONTINUE, AGENT_SESSIONS };

extern const char *const agent_runner_words[AGENT_RUNNERS + 1]; /* all of them end with NULL */
extern const char *const agent_allow_words[AGENT_ALLOWS + 1];
extern const char *const agent_claim_words[AGENT_CLAIMS + 1];
extern const char *const agent_session_words[AGENT_SESSIONS + 1];

struct agent_words {
	struct str *word;
	unsigned n;
};

struct agent_doc {
	uint32_t at;       /* where it stood in its source */
	struct str name;   /* 1 to DOC_ID_MAX characters, no control ones, no blanks around it */
	struct str prompt; /* never empty; no template */
	uint8_t runner;    /* enum agent_runner */
	struct str model;
	/* As they were said; agent_command puts them together. The words of a list may hold templates, as
	 * those of a schedule's action may. */
	struct doc_command command;
	struct agent_words args;
	struct str workdir;     /* seen from the directory of its file; empty: that one */
	int64_t timeout, stall; /* seconds; 0: not said */
	uint8_t allow;          /* enum agent_allow; AGENT_EDIT where nothing is said */
	struct str mode;
	struct agent_words toolkits;
	struct val env;             /* a map of strings, which may hold templates, or null */
	struct agent_words secrets; /* names, not values */
	struct str account;
	struct doc_budget budget;
	int64_t concurrency; /* runs at a time, 1 where nothing is said */
	struct {
		int16_t from,
			to; /* minutes of the day, 0 to 1440; equal: always. from > to goes over midnight */
		struct str zone; /* empty: the configuration's */
	} hours;
	struct doc_check check; /* for schedules that have none of their own */
	struct doc_bounds next_check;
	struct str plan;
	uint8_t claim;   /* enum agent_claim */
	uint8_t session; /* enum agent_session */
	unsigned needs;  /* bits of enum doc_need */
};

/* One definition: the map of its keys. `env`: zones are looked up in it. What `ret` points to lives in `a`,
 * in the map and in its source. Warnings are told by doc_read, which finds agents in documents. */
must_check enum err agent_read(struct str source, const struct val *map, const struct doc_env *env,
			       struct arena *a, struct agent_doc *ret, struct why *why);

/* The canonical text, JSON that agent_read takes: keys in the order of their table, defaults left out. Equal
 * agents have equal texts. */
void agent_write(const struct agent_doc *d, struct buf *out);

/* Why no run of it starts in this version, in words; NULL: nothing stands in its way. */
const char *agent_blocked(const struct agent_doc *d);

/* What is executed: its command with its args, which a line for the shell gets as its "$@". Neither shell nor
 * argv where there is no command. */
must_check enum err agent_command(const struct agent_doc *d, struct arena *a, struct doc_command *ret);

/* What may be the name of an agent. */
bool agent_is_name(struct str name);

/* Would a person keep this variable from others? Its name says so, or its value has the shape of a known key.
 */
bool agent_is_secret(struct str name, struct str value);
/* Puts [redacted] in the place of such values, in the map of a definition that is to be shown. */
void agent_hide(struct val *definition);
