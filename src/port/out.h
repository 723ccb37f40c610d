#pragma once
/* rota-out, seen from outside: its request, its output and exit codes, and what an answer means.
 *
 * rota-out sends one HTTP request. It reads the request as JSON from standard input, so that secrets appear
 * in no argument list:
 *
 *	url		required
 *	method		GET HEAD POST PUT PATCH DELETE; default POST with a body, else GET
 *	headers		{name: value}
 *	body		text
 *	allow		[address, network or host, …] that may be reached although they are private
 *	secret, id	sign the request as message `id` (Standard Webhooks); several secrets are separated by
 *			spaces
 *	timestamp	seconds since 1970, part of the signed text; default now
 *	timeout		seconds for the whole request, default 30
 *	connect_timeout	seconds, default 10
 *	limit		bytes of the response body to keep, default 1 MiB; the rest is not read
 *	downgrade	true: follow redirects from https to http
 *	ca		file of certificates to trust instead of the machine's
 *
 * The response body goes to standard output, one line to standard error: "rota-out: WORD: TEXT", where WORD
 * is an out_fault_word, "input" (the request is wrong) or "local". The line never contains the path of
 * the URL, which may be a secret. The exit code is an enum out_exit. */
#include "base/attr.h"

enum out_fault {
	OUT_ANSWERED, /* no fault: there is a status */
	OUT_REFUSED,  /* rota refused: the address is private and not allowed */
	OUT_RESOLVE,  /* the name has no address, or no name server answered */
	OUT_CONNECT,  /* the connection was refused or failed */
	OUT_TLS,      /* the handshake failed, or the certificate is not trusted */
	OUT_TIMEOUT,
	OUT_BROKEN,    /* the connection was closed early, or the response is not HTTP */
	OUT_TOO_LARGE, /* the response headers are too long */
	OUT_REDIRECTS, /* too many redirects, or one that is not followed */
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

/* What a status means for delivery. */
enum out_meaning {
	OUT_DONE,
	OUT_NO,    /* sending the message again will not help */
	OUT_GONE,  /* the receiver wants no further messages */
	OUT_LATER, /* try again later */
};

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
	OUT_EXIT_LOCAL = 1,  /* out of memory, or the response could not be written */
	OUT_EXIT_INPUT = 2,  /* the request is wrong: nothing was sent */
	OUT_EXIT_NO = 3,     /* any other status */
	OUT_EXIT_GONE = 4,   /* 410 */
	OUT_EXIT_LATER = 5,  /* 408, 425, 429, 5xx */
	OUT_EXIT_FAULT = 16, /* plus the enum out_fault: there was no status */
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
