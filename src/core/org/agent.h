#pragma once
/* An agent in an org file: the first heading of level 1. Pure. */
#include "base/val.h"

/* Whether the file defines an agent: :RUNNER:, :MODEL: or :COMMAND: is in the heading's drawer, or `** System
 * prompt` is below the heading. Other org files are ignored. */
bool org_is_agent(struct str text);

/* The agent as a map with the same keys as in YAML, for agent_read, with places in `text`:
 *  - properties, in lower case and with '_' for '-';
 *  - `name`: :ID:, or else the heading;
 *  - `prompt`: the text of `** System prompt` up to the next heading of level 1 or 2, or else the text after
 * the drawer up to the next heading of level 1. */
must_check enum err org_agent(struct str text, struct arena *a, struct val *ret, struct why *why);
