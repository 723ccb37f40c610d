#pragma once
/* Renders the program that the launcher executes, from a schedule's document and a run's record. Results live
 * in the arena. */
#include "daemon/out_request.h"
#include "daemon/prepare/run_context.h"
#include "daemon/token.h"
#include "exec/launch.h"

/* Values that are the same for all runs. */
struct render_place {
	const char *socket; /* ROTA_SOCKET */
	const char *runs;   /* the directory of their files */
	struct out_service out;
	const char *rota;          /* the program, for agendas, claims and workflows; NULL: not known */
	struct str timezone;       /* of plans */
	int64_t component_seconds; /* default for a component of a workflow */
	const struct config_pass_env
		*pass_env;          /* variables of the daemon that runs get; NULL: the usual ones */
	struct secret_list secrets; /* a turn of an agent gets those that the agent's definition names */
	const struct token_key *token_key;
	const struct config_hooks *hooks; /* of the configuration; NULL: none */
	const char *hooks_cwd;            /* the directory in which these are executed; NULL: / */
};

/* Renders an attempt. Templates are expanded in arguments, environment, input and requests, but never in a
 * shell command line, because the shell would execute the expanded text. E_VALUE: a template has no value.
 * E_INPUT: the schedule cannot run. */
must_check enum err render_launch(const struct context_source *source, const struct render_place *place,
				  struct arena *a, struct launch *ret, struct why *why);
/* Renders the check before an attempt. It is executed like the attempt, but without input; `timeout` in
 * seconds. */
must_check enum err render_check(const struct context_source *source, const struct render_place *place,
				 int64_t timeout, struct arena *a, struct launch *ret, struct why *why);
/* Renders a hook of the run. It gets no token and no secrets: a hook answers, it sends no requests. `input`
 * is its standard input; if p is NULL, the run is described there. */
must_check enum err render_hook(const struct context_source *source, const struct render_place *place,
				enum run_hook hook, int64_t timeout, struct str input, struct arena *a,
				struct launch *ret, struct why *why);
/* The hook of this kind; one without a command: there is none. */
const struct doc_hook *render_hook_of(const struct render_place *place, const struct schedule_doc *doc,
				      enum run_hook hook);
