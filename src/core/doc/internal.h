#pragma once
/* Within core/doc: a schedule while it is being read, the table of its keys, and what their rows share. */
#include "core/doc/doc.h"
#include "core/doc/keys.h"
#include "core/doc/run_scope.h"

/* A schedule being read. */
struct doc_reader {
	struct key_reader keys;
	const struct doc_env *env;
	struct schedule_doc *d;          /* NULL: it is an agent */
	unsigned *needs;                 /* of the schedule, or of the agent */
	struct doc_list *list;           /* for warnings; NULL: nobody hears them */
	struct ace by_key;               /* directives that were said as keys */
	const struct val *key[ACE_KEYS]; /* and by which values */
	const struct val *expression;
	struct ace by_expression;
	const struct val *retry; /* the whole key */
	bool max_delay_only;     /* `retry` says nothing that RETRY does */
};

static inline struct doc_reader *reader_of(struct key_reader *r)
{
	return r->self;
}

#define IN_DOC(field) offsetof(struct schedule_doc, field)

enum { DOC_RETRY_DELAY = 60, DOC_RETRY_MOST = 3600 }; /* the defaults, in seconds */
enum { DOC_HOOK_TIMEOUT = 30 };

/* Kinds of values. */
enum {
	STRING = KEY_KIND(VAL_STR),
	LIST = KEY_KIND(VAL_LIST),
	MAP = KEY_KIND(VAL_MAP),
	SECONDS = KEY_KIND(VAL_STR) | KEY_KIND(VAL_INT)
};

extern const struct key doc_keys[];

/* --- action.c --- */
/* The variables of a program, at k->to. */
key_set set_env;

/* --- doc.c --- */
void doc_warn(struct key_reader *r, size_t at, const char *fmt, ...) printf_like(3, 4);

/* --- id.c --- */
/* Letters, digits and _, not beginning with a digit. */
bool doc_is_name(struct str s);

/* --- needs.c: what this version does not do yet, and text that is no text --- */
/* The schedule or agent asks for this, at that place. */
void doc_need(struct key_reader *r, enum doc_need need, size_t at);
/* Text that may hold templates, in which these names are in scope. */
must_check enum err doc_template(struct key_reader *r, const struct expr_names *names, const struct val *v);
/* A line for the shell, which never does. */
void doc_shell_line(struct key_reader *r, const struct val *v);

/* --- agent_keys.c, agent.c --- */
extern const struct key agent_keys[];
/* The same as agent_read, with its warnings. */
must_check enum err agent_read_one(struct str source, const struct val *map, const struct doc_env *env,
				   struct arena *a, struct doc_list *list, struct agent_doc *ret,
				   struct why *why);

/* --- doc_around.c: before and after a run --- */
key_set set_check, set_expectations, set_hooks;
void write_check(const void *from, struct buf *out);
void check_write(const struct doc_check *c, struct buf *out);
void write_expectations(const void *from, struct buf *out);
void write_hooks(const void *from, struct buf *out);

/* --- doc_notify.c: who is told --- */
key_set set_notification, set_ping;
void write_notification(const void *from, struct buf *out);
/* An address that can be sent to. */
must_check enum err doc_check_url(struct key_reader *r, const char *name, const struct val *v);

/* --- doc_bounds.c: what agents may use up and do --- */
key_set set_budget, set_next_check, set_grants;
void write_budget(const void *from, struct buf *out);
void budget_write(const struct doc_budget *b, struct buf *out);
void write_next_check(const void *from, struct buf *out);
void next_check_write(const struct doc_bounds *b, struct buf *out);
void write_grants(const void *from, struct buf *out);
