#pragma once
/* Turns: combines a schedule with the agent that executes its turns. Values that the schedule does not set
 * are taken from the agent's definition. Pure: the caller looks up the agent. */
#include "core/doc/agent/agent.h"

/* The agent that a schedule names, or for a turn without a name the default agent or the only one. */
struct turn_agent {
	struct str name;               /* empty: there is no agent, or there are several and no default */
	bool several;                  /* with an empty name: there are several */
	struct str text;               /* the canonical text of the definition; p NULL: it does not exist */
	const struct agent_doc *agent; /* the definition; NULL: it cannot be read */
	const char *fault;             /* why it cannot be read */
	struct str zone;               /* for active hours that name no zone */
	struct str home;               /* directory that `workdir` is relative to, and its default */
};

/* Changes `d` into the schedule that is executed: agent, command, directory, environment, timeout, check and
 * next_check come from the agent where the schedule does not set them, and d->turn says which agent it is or
 * why no turn can run. Canonical text must be written before. Fails with E_NOMEM only. */
must_check enum err turn_resolve(const struct turn_agent *found, struct arena *a, struct schedule_doc *d);

/* The standard input of a turn: the agent's prompt, a blank line, the message; p NULL: no memory. */
struct str turn_input(const struct schedule_doc *d, struct str message, struct arena *a);
/* The message in an input that turn_input has made. */
struct str turn_message(const struct schedule_doc *d, struct str input);

/* A fingerprint of a definition; never 0. */
uint64_t turn_fingerprint(struct str name, struct str text);
