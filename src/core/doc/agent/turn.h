#pragma once
/* A schedule and the agent who takes its turns, put together: what the schedule leaves open, its agent says.
 * Pure: who knows the agents brings along what was found. */
#include "core/doc/agent/agent.h"

/* The agent that a schedule names; for a turn without a name the default one, or the only one. */
struct turn_found {
	struct str name;               /* empty: nobody is meant, for there are none, or several */
	bool several;                  /* … it is the latter */
	struct str text;               /* the definition as it is kept; p NULL: there is none of that name */
	const struct agent_doc *agent; /* the same, read; NULL: it cannot be … */
	const char *fault;             /* … and why */
	struct str zone;               /* of active hours that name none */
	struct str home;               /* where its runs are executed if it does not say */
};

/* From now on `d` is what runs: agent, command, directory, environment, timeout, check and bounds are the
 * agent's where the schedule says nothing, and turn says who takes it or what is lacking. Canonical text is
 * written before. E_NOMEM. */
must_check enum err turn_settle(const struct turn_found *f, struct arena *a, struct schedule_doc *d);

/* What goes in: the agent's prompt, a blank line, the message; p NULL: no memory. And the message of it. */
struct str turn_input(const struct schedule_doc *d, struct str message, struct arena *a);
struct str turn_message(const struct schedule_doc *d, struct str input);

/* Of a definition; never 0. */
uint64_t turn_print(struct str name, struct str text);
