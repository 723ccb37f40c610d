#pragma once
/* Numbers for names. Rules hold no text: a zone, a set of excluded days, an agent, an account or a
 * concurrency key is a number in them. Who gives out a number must have it kept before the rules that use it:
 * intern_unsaved tells of those that are new. Numbers are never given out twice. Any thread. */
#include "core/doc/doc.h"
#include "core/engine/engine.h"
#include "host/zoneinfo.h"

enum name_kind { NAME_ZONE, NAME_DAYS, NAME_OTHER, NAME_KINDS };

struct intern;
must_check enum err intern_new(struct intern **ret);
void intern_free(struct intern *n);

/* As it was kept. A zone that this machine no longer has stands for UTC, and its rules are outdated. */
must_check enum err intern_load(struct intern *n, enum name_kind kind, uint32_t number, struct str text);
/* The number of a name, a new one if need be. E_LIMIT: there are too many. */
must_check enum err intern_number(struct intern *n, enum name_kind kind, struct str text, uint32_t *ret);
/* The names that were given out and not kept yet; each is told once. */
typedef void name_fn(void *ctx, enum name_kind kind, uint32_t number, struct str text);
void intern_unsaved(struct intern *n, name_fn *fn, void *ctx);
/* The text of a number of NAME_OTHER; empty: there is none. Valid as long as `n`. */
struct str intern_text(struct intern *n, uint32_t number);

/* The number of an agent, an account or a key that some rules use; 0: none do. */
uint32_t intern_known(struct intern *n, enum doc_name kind, struct str name);

/* Who stands for those that name no agent; empty: the only one. Before any other call; lives as long as `n`.
 */
void intern_default_agent(struct intern *n, struct str name);
/* An agent's definition is now the one with this print; 0: there is none any more. Rules that were compiled
 * with another are outdated when the engine is told (EV_AGENTS). On the engine's thread, or before there is
 * one. */
must_check enum err intern_agent(struct intern *n, struct str name, uint64_t print);

/* For doc_rules. */
struct doc_names intern_for_documents(struct intern *n);
/* The tables the engine looks into; they stay where they are and are filled as names come. */
void intern_tables(struct intern *n, struct engine_config *ret);
/* The zone's name; empty: there is none. Valid as long as `n`. */
struct str intern_zone(struct intern *n, uint32_t number);
/* The zone files have changed: reads them anew, which may take its time, and leaves the tables as they are.
 * Not for the engine's thread; … */
must_check enum err intern_reread(struct intern *n);
/* … that one takes over what was read, at the cost of a look per zone, and then the engine is told
 * (EV_ZONES). False: nothing was read. */
bool intern_take_over(struct intern *n);
