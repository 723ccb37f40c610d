#pragma once
/* The one way out: every request that rota sends to the network goes through out_send, and its rules hold for
 * all of them.
 *
 *  - http and https only, HTTP/1.1, TLS always verified; no cookies, no netrc, no proxies, no user and
 *    password in the URL.
 *  - An address is looked up once and judged at the moment the connection is made, so there is no other
 * answer to be had in between. Private ones are refused unless allowed (out/address.h).
 *  - Redirects, at most OUT_REDIRECTS_MAX, are judged in the same way, each of them. One to another origin
 * gets no signature and no header that may hold a secret, nor do those after it; one from https to http is
 * not followed unless the request says so. 303 turns into GET; after the others method and body stay: a
 * message that arrives without its body has not arrived.
 *  - Time and the answer's size are bounded.
 *  - No text has the URL's path or a header's value in it: they may be secrets.
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
	const struct peer *allow; /* who is private and may be spoken to */
	unsigned allowed;
	struct str secret; /* where there is one it is signed (out/sign.h) … */
	struct str id;     /* … as this message: the same for every attempt … */
	int64_t timestamp; /* … at this second */
	int64_t connect_ms,
		total_ms;          /* 0: OUT_CONNECT_MS, OUT_TOTAL_MS; total is for all redirects together */
	size_t limit;              /* of the answer's body; 0: OUT_BODY_BYTES */
	bool downgrade;            /* from https to http */
	const char *ca;            /* file of trusted certificates; NULL: the machine's */
	const atomic_bool *cancel; /* looked at about every second; NULL: never */
};

struct out_answer {
	enum out_fault fault;
	int status;          /* of the last hop; 0: none */
	char address[64];    /* of whom we spoke to, or refused to; may be empty */
	unsigned redirects;  /* followed */
	int64_t retry_after; /* seconds; 0: it did not say */
	struct buf body;
	bool cut;                /* the body has more than `limit` */
	char text[WHY_TEXT_MAX]; /* all that in words, harmless on a terminal */
};

/* OK: it was sent, or tried: `ret` says how it ended, and out_answer_free gives it back. E_INPUT, E_LIMIT:
 * the request is wrong, and nothing was sent. */
must_check enum err out_send(const struct out_request *r, struct out_answer *ret, struct why *why);
void out_answer_free(struct out_answer *a);
/* What others wrote, made harmless on a terminal: printable ASCII. */
void out_make_printable(char *text);
