#pragma once
/* A schedule's document and a run's record to what the launcher executes. Everything lives in the arena. */
#include "daemon/out_request.h"
#include "daemon/prepare/run_context.h"
#include "daemon/token.h"
#include "exec/launch.h"

/* What is the same for all runs. */
struct render_place {
	const char *socket; /* told to runs */
	const char *runs;   /* the directory of their files */
	struct out_service out;
	struct secret_list secrets; /* of which agents name those they are given */
	struct token_key token_key;
};

/* Templates are expanded in arguments, environment, input and requests, never in a line for the shell.
 * E_VALUE: one of them has no value. */
must_check enum err render_launch(const struct context_source *about, const struct render_place *place,
				  struct arena *a, struct launch *ret, struct why *why);
/* The check before it: where and as the run itself, but for its input; `timeout` in seconds. */
must_check enum err render_check(const struct context_source *about, const struct render_place *place,
				 int64_t timeout, struct arena *a, struct launch *ret, struct why *why);
