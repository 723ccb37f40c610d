#pragma once
/* One delivery: renders the program that the launcher executes to deliver a message, and decides what happens
 * next when the program has ended. rota-out sends requests; it reads a request, including its secrets, from
 * standard input. Commands read the message from standard input. */
#include "core/schedule/delivery_retry.h"
#include "daemon/out_request.h"
#include "exec/launch.h"
#include "port/store.h"

struct config_pass_env;

/* E_INPUT: the message can never be sent. E_IO, E_NOMEM: it cannot be sent now. The result lives in the
 * arena. */
must_check enum err delivery_render(const struct message_row *m, const struct out_service *out,
				    const struct config_pass_env *pass, struct arena *a, struct launch *ret,
				    struct why *why);

/* A request that is no message. */
struct delivery_request {
	struct str url, secret, id, body;
	const char *type; /* of the body */
};
/* The same for a request with this number in the notifier's directory. */
must_check enum err delivery_render_request(const struct delivery_request *q, uint64_t number,
					    const struct out_service *out, const struct config_pass_env *pass,
					    struct arena *a, struct launch *ret, struct why *why);
/* How an attempt ended whose files are in `dir`; `request`: by rota-out. Appends the result for people. */
struct delivery_attempt delivery_read_end(const char *dir, uint64_t number, unsigned attempt, bool request,
					  const struct rn_report *report, struct buf *text);

struct delivery_end {
	struct delivery_decision decision;
	struct buf text; /* the result, for people */
};
/* Decides what follows from the end of attempt m->attempts + 1, whose files are in `dir`. `chance`: see
 * delivery_retry_decide. */
void delivery_judge(const struct message_row *m, const struct rn_report *report, const char *dir,
		    uint32_t chance, struct delivery_end *ret);
/* The decision for an attempt that could not be started. */
struct delivery_decision delivery_not_started(const struct message_row *m, uint32_t chance);
