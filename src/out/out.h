#pragma once
/* Outgoing requests: every request that rota sends to the network goes through out_send, under these rules:
 *
 *  - http and https only, HTTP/1.1, TLS always verified; no cookies, no netrc, no proxies, no user and
 *    password in the URL.
 *  - An address is looked up once, and checked when the socket for it is opened, so that a later answer of a
 *    name server cannot replace it. Private addresses are refused unless allowed (out/address.h).
 *  - At most OUT_REDIRECTS_MAX redirects are followed; each is checked in the same way. After a redirect to
 *    another origin, neither the signature nor headers that may be secret are sent any more. A redirect from
 *    https to http is followed only if the request allows it. 303 changes the method to GET; after other
 *    redirects method and body stay, because a message without its body would not be delivered.
 *  - Time and the size of the response are bounded.
 *  - No text contains the path of the URL or the value of a header, which may be secrets.
 *
 * Blocks; may be called by several threads at once. */
#include "base/buf.h"
#include "base/net.h"
#include "port/out.h"

#include <stdatomic.h>

struct out_header {
	struct str name, value;
};

struct out_request {
	struct str url;
	struct str method; /* empty: POST with a body, else GET */
	const struct out_header *header;
	unsigned headers;
	struct str body;
	const struct peer *allow; /* private addresses that may be reached */
	unsigned allowed;
	struct str secret;         /* not empty: sign the request (out/sign.h) */
	struct str id;             /* of the signed message; the same for every attempt */
	int64_t timestamp;         /* of the signed message, in seconds */
	int64_t connect_ms;        /* 0: OUT_CONNECT_MS */
	int64_t total_ms;          /* with all redirects; 0: OUT_TOTAL_MS */
	size_t limit;              /* bytes of the response body; 0: OUT_BODY_BYTES */
	bool downgrade;            /* follow redirects from https to http */
	const char *ca;            /* file of trusted certificates; NULL: the machine's */
	const atomic_bool *cancel; /* checked about once a second; may be NULL */
};

struct out_answer {
	enum out_fault fault;
	int status;          /* of the last hop; 0: none */
	char address[64];    /* connected to, or refused; may be empty */
	unsigned redirects;  /* followed */
	int64_t retry_after; /* seconds; 0: not given */
	struct buf body;
	bool cut;                /* the body was longer than `limit` */
	char text[WHY_TEXT_MAX]; /* for people; printable ASCII */
};

/* OK: the request was sent, or sending it failed; `ret` says how it ended, and must be freed with
 * out_answer_free. E_INPUT, E_LIMIT: the request is wrong, and nothing was sent. */
must_check enum err out_send(const struct out_request *r, struct out_answer *ret, struct why *why);
void out_answer_free(struct out_answer *a);
/* Replaces everything but printable ASCII, so that text from the network is harmless on a terminal. */
void out_make_printable(char *text);
