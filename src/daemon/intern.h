#pragma once
/* Numbers for names. Rules hold no texts: a zone, a set of excluded days, an agent, an account or a
 * concurrency key is a number in them. Numbers come in blocks from the store, none is ever given to another
 * name, and the store must have a name before it has rules that use it: see intern_unsaved. The store decides
 * which number a name has. A new name is used with a number of the block at once; if the store answers that
 * another node has named it before, that number is withdrawn, and rules that use it are outdated. Functions
 * may be called from any thread, unless their comment says otherwise. */
#include "core/doc/doc.h"
#include "core/engine/engine.h"
#include "host/zoneinfo.h"

enum name_kind { NAME_ZONE, NAME_DAYS, NAME_OTHER /* agents, accounts, concurrency keys */, NAME_KINDS };

struct intern;
must_check enum err intern_new(struct intern **ret);
void intern_free(struct intern *n);

/* --- numbers --- */

/* Calls `ask` whenever a block of numbers is needed; it must lead to intern_add_numbers. False: it could not
 * ask now. May be called on any thread. To be set before there are other threads. */
typedef bool ask_numbers_fn(void *ctx, enum name_kind kind, uint32_t n);
void intern_ask_numbers(struct intern *n, ask_numbers_fn *ask, void *ctx);
/* The numbers `first` to `first` + count - 1 may be given to names of this kind. */
void intern_add_numbers(struct intern *n, enum name_kind kind, uint64_t first, uint32_t count);

/* --- names --- */

/* Adds a name with the number it has in the store; a name that has several is found by the first. A zone that
 * this machine no longer has becomes UTC, which makes the rules that use it outdated. */
must_check enum err intern_load(struct intern *n, enum name_kind kind, uint32_t number, struct str text);
/* Calls fn once for every name with a new number, to be stored. */
typedef void name_fn(void *ctx, enum name_kind kind, uint32_t number, struct str text);
void intern_unsaved(struct intern *n, name_fn *fn, void *ctx);
/* The store's answer to the request (ST_NAME) that stores a name. True: the number of the request is
 * withdrawn; EV_ZONES must follow. On the engine's thread. */
must_check bool intern_answered(struct intern *n, const struct name_row *asked, const struct st_ack *ack);
/* The name of kind NAME_OTHER that has the number; empty: no name has it. Valid as long as `n`. */
struct str intern_text(struct intern *n, uint32_t number);
/* The number of an agent, account or concurrency key; 0: it has none, so no rules use it. */
uint32_t intern_known(struct intern *n, enum doc_name kind, struct str name);
/* The name of the agent with this number; empty: no agent has it. Valid as long as `n`. */
struct str intern_agent_name(struct intern *n, uint32_t number);
/* The functions by which doc_rules gets the numbers of names. E_BUSY: a new name, and the store has given no
 * number for INTERN_WAIT_MS; E_LIMIT: too many names, or a name above
 * STORE_NAME_BYTES_MAX. Not on the daemon's thread, which receives the numbers.
 */
struct doc_names intern_for_documents(struct intern *n);
/* The tables that the engine reads; they do not move, and are filled as names are added. */
void intern_tables(struct intern *n, struct engine_config *ret);

/* --- agents --- */

/* Sets the name of the default agent; empty: the only agent is the default. To be called before all other
 * functions. The name must live as long as `n`. */
void intern_default_agent(struct intern *n, struct str name);
/* Sets the fingerprint of an agent's definition; 0: the agent is gone. Rules that were compiled with another
 * fingerprint are outdated when the engine gets EV_AGENTS. On the engine's thread, or before there is one. */
must_check enum err intern_agent(struct intern *n, struct str name, uint64_t fingerprint);

/* --- zones --- */

/* Sets the name of the zone of the configuration. To be called before all other functions. The name must live
 * as long as `n`. */
void intern_default_zone(struct intern *n, struct str name);
/* Gives that zone a number, unless the store has one for it. To be called when all names are loaded, and
 * before other threads use `n`: the engine reads the number without a lock. E_LIMIT: there are too many
 * zones; the schedules that follow the configuration are outdated then. */
must_check enum err intern_number_default_zone(struct intern *n);

/* The name of the zone that has the number; empty: no zone has it. Valid as long as `n`. */
struct str intern_zone(struct intern *n, uint32_t number);
/* Reads the zone files again, which may take a while, and leaves the tables unchanged. Not on the engine's
 * thread. */
must_check enum err intern_reread(struct intern *n);
/* Puts the zones of intern_reread into the tables, before the engine gets EV_ZONES. On the engine's thread.
 * False: intern_reread has not read zones since the last call. */
bool intern_take_over(struct intern *n);
