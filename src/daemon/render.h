#pragma once
/* A schedule's document and a run's record to what the launcher executes. Everything lives in the arena. */
#include "daemon/gather.h"
#include "host/launch.h"

/* Templates are expanded in arguments, environment and input, never in a line for the shell. E_VALUE: one of
 * them has no value. */
must_check enum err render_launch(const struct gather *about, const char *socket, struct arena *a,
				  struct launch *ret, struct why *why);
/* The check before it: where and as the run itself, but for its input; `timeout` in seconds. */
must_check enum err render_check(const struct gather *about, const char *socket, int64_t timeout,
				 struct arena *a, struct launch *ret, struct why *why);
