#pragma once
/* Numbers for names. Rules hold no text: a zone, a set of excluded days, an agent, an account or a
 * concurrency key is a number in them. Who gives out a number must have it kept before the rules that use it:
 * names_unsaved tells of those that are new. Numbers are never given out twice. Any thread. */
#include "core/doc/doc.h"
#include "core/engine/engine.h"
#include "host/zoneinfo.h"

enum name_kind { NAME_ZONE, NAME_DAYS, NAME_OTHER, NAME_KINDS };

struct names;
must_check enum err names_new(struct names **ret);
void names_free(struct names *n);

/* As it was kept. A zone that this machine no longer has stands for UTC, and its rules are outdated. */
must_check enum err names_load(struct names *n, enum name_kind kind, uint32_t number, struct str text);
/* The number of a name, a new one if need be. E_LIMIT: there are too many. */
must_check enum err names_number(struct names *n, enum name_kind kind, struct str text, uint32_t *ret);
/* The names that were given out and not kept yet; each is told once. */
typedef void name_fn(void *ctx, enum name_kind kind, uint32_t number, struct str text);
void names_unsaved(struct names *n, name_fn *fn, void *ctx);
/* The text of a number of NAME_OTHER; empty: there is none. Valid as long as `n`. */
struct str names_text(struct names *n, uint32_t number);

/* The number of an agent, an account or a key that some rules use; 0: none do. */
uint32_t names_known(struct names *n, enum doc_name kind, struct str name);

/* Who stands for those that name no agent; empty: the only one. Before any other call; lives as long as `n`.
 */
void names_default_agent(struct names *n, struct str name);
/* An agent's definition is now the one with this print; 0: there is none any more. Rules that were compiled
 * with another are outdated when the engine is told (EV_AGENTS). On the engine's thread, or before there is
 * one. */
must_check enum err names_agent(struct names *n, struct str name, uint64_t print);

/* For doc_rules. */
struct doc_names names_for_documents(struct names *n);
/* The tables the engine looks into; they stay where they are and are filled as names come. */
void names_tables(struct names *n, struct engine_config *ret);
/* The zone's name; empty: there is none. Valid as long as `n`. */
struct str names_zone(struct names *n, uint32_t number);
/* The zone files have changed: reads them anew, which may take its time, and leaves the tables as they are.
 * Not for the engine's thread; … */
must_check enum err names_reread(struct names *n);
/* … that one takes over what was read, at the cost of a look per zone, and then the engine is told
 * (EV_ZONES). False: nothing was read. */
bool names_take_over(struct names *n);
