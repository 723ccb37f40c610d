#pragma once
/* Shared within core/doc: the state while a schedule or an agent is read, and setters and writers of rows. */
#include "core/doc/doc.h"
#include "core/doc/keys.h"
#include "core/doc/run_scope.h"

/* A schedule or an agent that is being read. */
struct doc_reader {
	struct key_reader keys;
	const struct doc_env *env;
	struct schedule_doc *schedule; /* NULL: an agent is read */
	unsigned *unsupported;         /* of the schedule or of the agent */
	struct doc_list *list;         /* takes the warnings; NULL: warnings are dropped */
	/* Of a schedule: */
	struct ace by_key;               /* directives that were given as keys */
	const struct val *key[ACE_KEYS]; /* the values of these keys */
	const struct val *expression;
	struct ace by_expression;
	const struct val *retry; /* the value of the key `retry` */
	bool max_delay_only;     /* `retry` has only max_delay, which the directive RETRY does not have */
};

static inline struct doc_reader *reader_of(struct key_reader *r)
{
	return r->self;
}

#define IN_SCHEDULE(field) offsetof(struct schedule_doc, field)

enum { DOC_RETRY_DELAY = 60, DOC_RETRY_MAX_DELAY = 3600 }; /* the defaults, in seconds */

/* Kinds of values. */
enum {
	STRING = KEY_KIND(VAL_STR),
	LIST = KEY_KIND(VAL_LIST),
	MAP = KEY_KIND(VAL_MAP),
	SECONDS = KEY_KIND(VAL_STR) | KEY_KIND(VAL_INT)
};

/* --- doc.c --- */
void doc_warn(struct key_reader *r, size_t at, const char *fmt, ...) printf_like(3, 4);

/* --- schedule.c, schedule_keys.c --- */
extern const struct key schedule_keys[];
must_check enum err schedule_read(struct str source, const struct val *map, const struct doc_env *env,
				  struct arena *a, struct doc_list *list, struct schedule_doc *ret,
				  struct why *why);

/* --- agent/agent.c, agent/keys.c --- */
extern const struct key agent_keys[];
/* As agent_read; adds the warnings to `list`, which may be NULL. */
must_check enum err agent_read_into(struct str source, const struct val *map, const struct doc_env *env,
				    struct arena *a, struct doc_list *list, struct agent_doc *ret,
				    struct why *why);

/* --- names.c --- */
/* Letters, digits and _, not beginning with a digit. */
bool doc_is_variable_name(struct str s);
/* Checks that every key of a map is the name of a variable. */
must_check enum err doc_check_variable_names(struct key_reader *r, const struct val *map);
/* Checks the name of an agent, the value of the key `name`. */
must_check enum err doc_check_agent_name(struct key_reader *r, const char *name, const struct val *v);

/* --- unsupported.c --- */
/* Notes that the schedule or agent uses this feature at this place, and warns once. */
void doc_note_unsupported(struct key_reader *r, enum doc_unsupported feature, size_t at);

/* --- templates.c --- */
/* Checks all strings of a value, at any depth, as templates that may use these names. */
must_check enum err doc_check_templates(struct key_reader *r, const struct expr_names *names,
					const struct val *v);
/* Warns of a template in a command line for the shell, where it is not expanded. */
void doc_warn_shell_template(struct key_reader *r, const struct val *v);
/* Refuses a text with a template, because the interpreter `program` may execute that text. */
must_check enum err doc_refuse_template(struct key_reader *r, struct str program, const struct val *v);
/* The same for the value of an environment variable that programs execute. */
must_check enum err doc_refuse_variable_template(struct key_reader *r, struct str variable,
						 const struct val *v);

/* --- action.c --- */
key_set set_url; /* struct str: an address that a request can be sent to */
key_set set_env; /* struct val: a map of variables */

/* --- run_check_keys.c --- */
key_set set_check, set_expectations;
key_write write_check, write_expectations;

/* --- hook_keys.c --- */
key_set set_hook, set_hooks; /* struct doc_hook; the hooks of a schedule */
key_write write_hook, write_hooks;

/* --- limit_keys.c --- */
key_set set_budget, set_next_check, set_grants;
key_write write_budget, write_next_check, write_grants;

/* --- notification_keys.c --- */
key_set set_notification;
key_write write_notification;
