#pragma once
/* A webhook's action to the request that rota-out reads (port/out.h). */
#include "base/arena.h"
#include "base/buf.h"
#include "core/doc/doc.h"

struct config_out;

/* For people, if there is no program to send requests. */
#define WAY_OUT_MISSING                                                                                      \
	"rota-out, which sends requests, is not installed beside rota; ROTA_OUT can name its path"

/* Where requests may go, and the program that sends them. */
struct way_out {
	const char *program; /* NULL: it is not installed */
	const struct config_out *rules;
};

/* A text whose templates are expanded; what fails is for the one who asks to know. */
struct out_request_texts {
	struct str (*expand)(void *ctx, struct str text);
	void *ctx;
};

/* What came of the action, in the arena. */
struct request {
	struct str text;          /* JSON */
	const struct str *secret; /* values of headers, which no log must have */
	unsigned secrets;
};

/* A message of our own, signed if there is a secret. In the arena, as is what comes of it. */
struct out_request_message {
	struct str url;
	const char *type; /* of its body */
	struct str id, secret, body;
	int64_t seconds;
};
must_check enum err out_request_message(const struct out_request_message *m, const struct config_out *rules,
					struct arena *a, struct str *ret);

/* `timeout` in seconds, 0: none. Templates are expanded in the values of headers and in all strings of the
 * body, never in the address. */
must_check enum err out_request_render(const struct doc_action *action, int64_t timeout,
				       const struct config_out *rules, const struct out_request_texts *texts,
				       struct arena *a, struct request *ret);
