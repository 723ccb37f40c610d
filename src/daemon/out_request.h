#pragma once
/* Requests for rota-out (port/out.h), which sends them: from a webhook action, or from a message of the
 * notifier. */
#include "base/arena.h"
#include "base/buf.h"
#include "core/doc/doc.h"

struct config_out;

/* The message if rota-out is missing. */
#define OUT_MISSING_TEXT                                                                                     \
	"rota-out, which sends requests, is not installed beside rota; ROTA_OUT can name its path"

/* The program that sends requests, and the rules for their addresses. */
struct out_service {
	const char *program; /* NULL: not installed */
	const struct config_out *rules;
};

/* Expands the templates in a text. `expand` keeps its errors in ctx. */
struct out_request_texts {
	struct str (*expand)(void *ctx, struct str text);
	void *ctx;
};

/* A copy of the value with all its strings expanded. */
must_check enum err out_expand_all(const struct val *v, const struct out_request_texts *texts,
				   struct arena *a, struct val *ret);

struct out_request {
	struct str text;          /* JSON */
	const struct str *secret; /* values of headers, to be masked in logs */
	unsigned secrets;
};

/* A message of the notifier; it is signed if there is a secret. */
struct out_request_message {
	struct str url;
	const char *type; /* content type of the body */
	struct str id, secret, body;
	int64_t seconds;
};
must_check enum err out_request_message(const struct out_request_message *m, const struct config_out *rules,
					struct arena *a, struct str *ret);

/* The results live in the arena. `timeout` in seconds, 0: none. Templates are expanded in the values of
 * headers and in all strings of the body, never in the url. */
must_check enum err out_request_render(const struct doc_action *action, int64_t timeout,
				       const struct config_out *rules, const struct out_request_texts *texts,
				       struct arena *a, struct out_request *ret);
