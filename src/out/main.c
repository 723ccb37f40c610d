/* rota-out: sends one request. Its input, output and exit codes are described in port/out.h. */
#include "out/request.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Reads a stream until its end, or until it is too long. */
static bool read_all(FILE *from, struct buf *ret)
{
	char piece[65536];
	for (size_t n; ret->n <= OUT_REQUEST_BYTES_MAX && (n = fread(piece, 1, sizeof piece, from)) > 0;)
		buf_add(ret, (struct str){ piece, n });
	return !ferror(from);
}

static int print_error(enum err e, const struct why *why, struct str source)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	err_describe(e, why, source, &text);
	if (text.n)
		out_make_printable(text.p);
	fprintf(stderr, "rota-out: %s: %s\n", e == E_INPUT || e == E_LIMIT ? "input" : "local",
		buf_str(&text).p);
	return e == E_INPUT || e == E_LIMIT ? OUT_EXIT_INPUT : OUT_EXIT_LOCAL;
}

static int print_answer(const struct out_answer *a)
{
	fwrite(buf_str(&a->body).p, 1, a->body.n, stdout);
	if (fflush(stdout) != 0) {
		fprintf(stderr, "rota-out: local: cannot write the response to standard output\n");
		return OUT_EXIT_LOCAL;
	}
	fprintf(stderr, "rota-out: %s: %s", out_fault_word(a->fault), a->text);
	if (a->retry_after)
		fprintf(stderr, "; retry after %lld s", (long long)a->retry_after);
	if (a->cut)
		fprintf(stderr, "; the body was truncated");
	fprintf(stderr, "\n");
	return out_exit(a->fault, a->status);
}

int main(int argc, char **argv)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_(arena_free) struct arena arena = { 0 };
	_cleanup_(out_answer_free) struct out_answer answer = { 0 };
	struct out_request request;
	struct why why = { .at = WHY_NOWHERE };
	(void)argv;
	/* Libraries read SSLKEYLOGFILE, SSL_CERT_FILE, OPENSSL_CONF, HOSTALIASES and others, which would
	 * change where requests go, or write their keys to a file. */
	clearenv();
	if (argc > 1) {
		fprintf(stderr,
			"rota-out: input: no arguments are allowed; give the request as JSON on standard "
			"input\n");
		return OUT_EXIT_INPUT;
	}
	signal(SIGPIPE, SIG_IGN);
	if (!read_all(stdin, &text))
		return print_error(E_IO, NULL, (struct str){ 0 });
	if (text.failed)
		return print_error(E_NOMEM, NULL, (struct str){ 0 });
	enum err e = text.n > OUT_REQUEST_BYTES_MAX
			     ? why_set(&why, E_LIMIT, WHY_NOWHERE, "the request has more than %u bytes",
				       OUT_REQUEST_BYTES_MAX)
			     : out_request_read(buf_str(&text), &arena, &request, &why);
	if (!e && !request.timestamp)
		request.timestamp = time(NULL);
	if (!e)
		e = out_send(&request, &answer, &why);
	return e ? print_error(e, &why, buf_str(&text)) : print_answer(&answer);
}
