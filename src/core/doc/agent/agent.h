#pragma once
/* Agents: reads the definition of an agent from a value of org, YAML or JSON, and writes it as canonical
 * text. One table has the keys for all three formats. Pure. See rota.yaml(5). */
#include "core/doc/doc.h"

/* The program that executes the agent. This version supports commands; an agent with another runner is
 * accepted with a warning, and blocked. */
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

extern const char *const agent_runner_words[AGENT_RUNNERS + 1]; /* ends with NULL */

struct word_list {
	struct str *word;
	unsigned n;
};

struct agent_doc {
	uint32_t at;       /* offset in the source */
	struct str name;   /* 1 to DOC_ID_MAX characters, no control characters, no spaces at its ends */
	struct str prompt; /* never empty; not a template */
	uint8_t runner;    /* enum agent_runner */
	struct str model;
	/* Command and arguments as they are written in the definition; agent_command joins them. Words of
	 * lists may be templates, as in the action of a schedule. */
	struct doc_command command;
	struct word_list args;
	struct str workdir;     /* relative to the directory of the file; empty: that directory */
	int64_t timeout, stall; /* seconds; 0: not given */
	uint8_t allow;          /* enum agent_allow; the default is AGENT_EDIT */
	struct str mode;
	struct word_list toolkits;
	struct val env;           /* a map of strings, which may be templates, or null */
	struct word_list secrets; /* names, not values */
	struct str account;
	struct doc_budget budget;
	int64_t concurrency; /* runs at the same time; the default is 1 */
	struct {
		int16_t from, to; /* minutes of the day, 0 to 1440; equal: always; from > to: over midnight */
		struct str zone;  /* empty: the zone of the configuration */
	} hours;
	struct doc_check check; /* for schedules without a check of their own */
	struct doc_next_check next_check;
	struct str plan;
	uint8_t claim;        /* enum agent_claim */
	uint8_t session;      /* enum agent_session */
	unsigned unsupported; /* the features it uses, bits of enum doc_unsupported */
};

/* Reads the map of one definition. Zones are looked up in `env`. `ret` points into `a`, the map and the
 * source. Warnings are dropped; doc_read, which finds agents in documents, returns them. */
must_check enum err agent_read(struct str source, const struct val *map, const struct doc_env *env,
			       struct arena *a, struct agent_doc *ret, struct why *why);

/* Writes the canonical text, JSON that agent_read reads: keys in the order of their table, no defaults. Equal
 * agents have equal texts. */
void agent_write(const struct agent_doc *d, struct buf *out);

/* Why the agent does not run in this version, for people; NULL: it is not blocked. */
const char *agent_blocked(const struct agent_doc *d);

/* Joins command and args. A command line for the shell gets the args as "$@". Without a command, `ret` is
 * empty. */
must_check enum err agent_command(const struct agent_doc *d, struct arena *a, struct doc_command *ret);

/* Whether a variable of `env` looks like a secret: by its name, or by a value with the shape of a known key.
 */
bool agent_looks_secret(struct str name, struct str value);
/* Replaces the values of such variables by [redacted] in a definition that is shown to people. */
void agent_redact(struct val *definition);
