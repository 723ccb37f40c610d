#pragma once
/* An agent in an org file: its first heading of level 1. Pure. */
#include "base/val.h"

/* Does the file mean to be one? :RUNNER:, :MODEL: or :COMMAND: in the heading's drawer, or `** System prompt`
 * below it. Other org files are somebody else's. */
bool org_is_agent(struct str text);

/* The map of its keys as YAML has them, for agent_read, with places in `text`: properties in lower case and
 * with '_', `name` out of :ID: or else the heading, `prompt` out of `** System prompt`, up to the next
 * heading of level 1 or 2, or else what comes after the drawer, up to the next of level 1. */
must_check enum err org_agent(struct str text, struct arena *a, struct val *ret, struct why *why);
