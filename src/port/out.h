#pragma once
/* How an outgoing request ends, as data: for whoever decides what comes next, and for whoever started
 * rota-out.
 *
 * rota-out sends one request. It reads it as JSON on its standard input, where secrets are safe:
 *
 *	url		needed
 *	method		GET HEAD POST PUT PATCH DELETE; default POST with a body, else GET
 *	headers		{name: value}
 *	body		text
 *	allow		[address, network or host, …] that may be private
 *	secret, id	signs it as message `id` (Standard Webhooks); several secrets with spaces between them
 *	timestamp	seconds since 1970 that are signed, default now
 *	timeout		seconds in all, default 30
 *	connect_timeout	seconds, default 10
 *	limit		bytes of the answer's body, default 1 MiB; the rest is left out
 *	downgrade	true: follow redirects from https to http
 *	ca		file of the certificates to trust instead of the machine's
 *
 * The answer's body goes to standard output, one line to standard error: "rota-out: WORD: TEXT", where WORD
 *is one of out_fault_word, or "input". Neither has the address's path in it, which may be a secret. It exits
 *with an enum out_exit. */
#include "base/attr.h"

enum out_fault {
	OUT_ANSWERED, /* there is a status */
	OUT_REFUSED,  /* ours: the address is private and not allowed */
	OUT_RESOLVE,  /* the name has no address, or nobody could be asked */
	OUT_CONNECT,  /* nobody answers there */
	OUT_TLS,      /* no handshake, or a certificate that proves nothing */
	OUT_TIMEOUT,
	OUT_BROKEN,    /* closed early, or no HTTP */
	OUT_TOO_LARGE, /* headers without end */
	OUT_REDIRECTS, /* too many, or one that is not followed */
	OUT_CANCELLED,
	OUT_FAULTS
};

static inline const char *out_fault_word(unsigned fault)
{
	static const char *const words[OUT_FAULTS] = {
		[OUT_ANSWERED] = "answered",
		[OUT_REFUSED] = "refused",
		[OUT_RESOLVE] = "resolve",
		[OUT_CONNECT] = "connect",
		[OUT_TLS] = "tls",
		[OUT_TIMEOUT] = "timeout",
		[OUT_BROKEN] = "broken",
		[OUT_TOO_LARGE] = "too_large",
		[OUT_REDIRECTS] = "redirects",
		[OUT_CANCELLED] = "cancelled",
	};
	return fault < OUT_FAULTS ? words[fault] : NULL;
}

/* What a status means to the sender. */
enum out_meaning { OUT_DONE, OUT_NO, OUT_GONE, OUT_LATER };

static inline enum out_meaning out_meaning(int status)
{
	if (status >= 200 && status < 300)
		return OUT_DONE;
	if (status == 410)
		return OUT_GONE;
	if (status == 408 || status == 425 || status == 429 || status >= 500)
		return OUT_LATER;
	return OUT_NO;
}

enum out_exit {
	OUT_EXIT_DONE = 0,   /* 2xx */
	OUT_EXIT_LOCAL = 1,  /* out of memory, or the answer could not be written */
	OUT_EXIT_INPUT = 2,  /* the request is wrong: nothing was sent */
	OUT_EXIT_NO = 3,     /* another status: the same again will not help */
	OUT_EXIT_GONE = 4,   /* 410 */
	OUT_EXIT_LATER = 5,  /* 408, 425, 429, 5xx */
	OUT_EXIT_FAULT = 16, /* and the enum out_fault on top */
};

static inline int out_exit(unsigned fault, int status)
{
	static const uint8_t of[] = {
		[OUT_DONE] = OUT_EXIT_DONE,
		[OUT_NO] = OUT_EXIT_NO,
		[OUT_GONE] = OUT_EXIT_GONE,
		[OUT_LATER] = OUT_EXIT_LATER,
	};
	return fault == OUT_ANSWERED ? of[out_meaning(status)] : OUT_EXIT_FAULT + (int)fault;
}
