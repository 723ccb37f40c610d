/* Sends one request by libcurl, with its redirects, and checks every address before it connects. */
#include "out/out.h"
#include "out/address.h"
#include "out/headers.h"
#include "out/own_address.h"
#include "out/sign.h"
#include "out/url.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

/* One request, from the first URL to the last redirect. A hop is one exchange with one server. */
struct transfer {
	const struct out_request *req;
	struct out_answer *answer;
	CURL *curl;
	CURLU *url; /* of this hop */
	char *host; /* of this hop */
	struct curl_slist *headers;
	struct buf signature;
	struct str method;
	bool body;           /* the body is sent */
	bool foreign;        /* a redirect has left the first origin */
	size_t header_bytes; /* received so far */
	bool headers_too_long;
	unsigned refused, tried; /* addresses of this hop */
	enum address_kind kind;  /* of the first refused one */
	int64_t deadline;        /* CLOCK_MONOTONIC, ms */
	char detail[CURL_ERROR_SIZE];
};

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- the result --- */

void out_make_printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 32 || (unsigned char)*text >= 127)
			*text = '?';
}

/* Sets fault and text. The text may contain bytes from the receiver, so it is made printable. */
printf_like(3, 4) static enum err set_result(struct transfer *t, enum out_fault fault, const char *fmt, ...)
{
	char *text = t->answer->text;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof t->answer->text, fmt, ap);
	va_end(ap);
	out_make_printable(text);
	t->answer->fault = fault;
	return OK;
}

static enum out_fault fault_of(CURLcode code)
{
	static const struct {
		CURLcode code;
		enum out_fault fault;
	} rows[] = {
		{ CURLE_COULDNT_RESOLVE_HOST, OUT_RESOLVE },
		{ CURLE_COULDNT_CONNECT, OUT_CONNECT },
		{ CURLE_OPERATION_TIMEDOUT, OUT_TIMEOUT },
		{ CURLE_ABORTED_BY_CALLBACK, OUT_CANCELLED },
		{ CURLE_SSL_CONNECT_ERROR, OUT_TLS },
		{ CURLE_PEER_FAILED_VERIFICATION, OUT_TLS },
		{ CURLE_SSL_CACERT_BADFILE, OUT_TLS },
		{ CURLE_SSL_CERTPROBLEM, OUT_TLS },
		{ CURLE_SSL_CIPHER, OUT_TLS },
		{ CURLE_SSL_ISSUER_ERROR, OUT_TLS },
		/* For a header line that is too long, older versions of libcurl return the first code, later
		 * ones the second (CURLE_TOO_LARGE). */
		{ CURLE_OUT_OF_MEMORY, OUT_TOO_LARGE },
		{ (CURLcode)100, OUT_TOO_LARGE },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].code == code)
			return rows[i].fault;
	return OUT_BROKEN;
}

static enum err set_failure(struct transfer *t, CURLcode code)
{
	enum out_fault fault = t->headers_too_long ? OUT_TOO_LARGE : fault_of(code);
	if (code == CURLE_OUT_OF_MEMORY && !t->tried)
		return E_NOMEM;
	if (fault == OUT_TOO_LARGE)
		return set_result(t, OUT_TOO_LARGE, "%s sent more than %d bytes of headers", t->host,
				  OUT_HEAD_BYTES_MAX);
	if (t->refused && !t->tried)
		return set_result(
			t, OUT_REFUSED,
			"%s is at %s address (%s), which is not allowed; `out: {allow: ...}` can allow it",
			t->host, address_words[t->kind], t->answer->address);
	const char *text = t->detail[0] ? t->detail : curl_easy_strerror(code);
	return set_result(t, fault, "%s: %s", t->host, text);
}

/* --- callbacks of libcurl --- */

static bool ip_of(const struct sockaddr *address, struct ip *ret, char text[64])
{
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;
	struct ip ip = { .byte = { [10] = 0xff, [11] = 0xff } };
	if (address->sa_family == AF_INET)
		memcpy(ip.byte + 12, &v4->sin_addr, 4);
	else if (address->sa_family == AF_INET6)
		memcpy(ip.byte, &v6->sin6_addr, 16);
	else
		return false;
	*ret = ip;
	return inet_ntop(address->sa_family,
			 address->sa_family == AF_INET ? (const void *)&v4->sin_addr : &v6->sin6_addr, text,
			 64);
}

/* libcurl connects to exactly this address, so no later answer of a name server can change it. */
static curl_socket_t open_socket(void *self, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct transfer *t = self;
	struct ip ip;
	char text[64];
	if (purpose != CURLSOCKTYPE_IPCXN || !ip_of(&to->addr, &ip, text))
		return CURL_SOCKET_BAD;
	enum address_kind kind = address_kind(&ip);
	struct ip decides = address_contained(&ip);
	bool own = kind == ADDRESS_PUBLIC && own_address(&decides);
	if (!address_allowed(&ip, own, str_of(t->host), t->req->allow, t->req->allowed)) {
		if (!t->refused++) {
			t->kind = own ? ADDRESS_OWN : kind;
			memcpy(t->answer->address, text, sizeof text);
		}
		return CURL_SOCKET_BAD;
	}
	t->tried++;
	return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

static size_t on_header(char *p, size_t size, size_t n, void *self)
{
	struct transfer *t = self;
	(void)p;
	t->header_bytes += size * n;
	t->headers_too_long = t->header_bytes > OUT_HEAD_BYTES_MAX;
	return t->headers_too_long ? 0 : n;
}

static size_t on_body(char *p, size_t size, size_t n, void *self)
{
	struct transfer *t = self;
	size_t limit = t->req->limit ? t->req->limit : OUT_BODY_BYTES;
	size_t room = limit - t->answer->body.n, take = size * n < room ? size * n : room;
	buf_add(&t->answer->body, (struct str){ p, take });
	t->answer->cut = take < size * n;
	return t->answer->body.failed ? 0 : take;
}

static int on_progress(void *self, curl_off_t a, curl_off_t b, curl_off_t d, curl_off_t e)
{
	const struct transfer *t = self;
	(void)a, (void)b, (void)d, (void)e;
	return t->req->cancel && atomic_load(t->req->cancel);
}

/* --- redirects --- */

static enum err set_url(struct transfer *t, CURLU *url)
{
	curl_url_cleanup(t->url);
	t->url = url;
	curl_free(t->host);
	t->host = NULL;
	return curl_url_get(url, CURLUPART_HOST, &t->host, 0) ? E_NOMEM : OK;
}

static bool is_redirect(int status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* *again: there is another hop. */
static enum err follow_redirect(struct transfer *t, bool *again)
{
	struct curl_header *to = NULL;
	CURLU *url = NULL;
	char wrong[OUT_URL_WRONG];
	*again = false;
	/* Does not use CURLINFO_REDIRECT_URL, which is not set if the body was truncated. */
	if (!is_redirect(t->answer->status) ||
	    curl_easy_header(t->curl, "location", 0, CURLH_HEADER, -1, &to))
		return OK;
	if (t->answer->redirects == OUT_REDIRECTS_MAX)
		return set_result(t, OUT_REDIRECTS, "%s sent another redirect after %d redirects", t->host,
				  OUT_REDIRECTS_MAX);
	enum err e = out_url_read(to->value, t->url, &url, wrong);
	if (e == E_INPUT)
		return set_result(t, OUT_REDIRECTS, "%s redirects to a url that %s", t->host, wrong);
	if (e)
		return e;
	if (out_url_has_scheme(t->url, "https") && out_url_has_scheme(url, "http") && !t->req->downgrade) {
		curl_url_cleanup(url);
		return set_result(t, OUT_REDIRECTS, "%s redirects from https to http, which is not allowed",
				  t->host);
	}
	t->foreign |= !out_url_same_origin(t->url, url);
	if (t->answer->status == 303) {
		t->method = str_eq(t->method, STR("HEAD")) ? t->method : STR("GET");
		t->body = false;
	}
	t->answer->redirects++;
	*again = true;
	return set_url(t, url);
}

/* --- one hop --- */

static bool add_header(struct transfer *t, struct str name, struct str value)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	buf_add(&line, name);
	buf_add(&line, value.n ? STR(": ") : STR(";")); /* libcurl's form of a header without a value */
	buf_add(&line, value);
	struct curl_slist *list = line.failed ? NULL : curl_slist_append(t->headers, line.p);
	t->headers = list ? list : t->headers;
	return list;
}

static bool make_headers(struct transfer *t)
{
	const struct out_request *r = t->req;
	char timestamp[24];
	bool whole = t->body || !r->body.n; /* the body, which the signature covers, is sent */
	curl_slist_free_all(t->headers);
	t->headers = curl_slist_append(NULL, "Expect:"); /* do not wait for 100 Continue */
	bool fine = t->headers != NULL;
	for (unsigned i = 0; i < r->headers && fine; i++)
		if (!t->foreign || header_is_harmless(r->header[i].name))
			fine = add_header(t, r->header[i].name, r->header[i].value);
	if (fine && !headers_have(r, STR("user-agent")))
		fine = add_header(t, STR("User-Agent"), STR("rota/" ROTA_VERSION));
	if (fine && !headers_have(r, STR("content-type"))) {
		/* Send no Content-Type, instead of libcurl's default for forms. */
		struct curl_slist *list = curl_slist_append(t->headers, "Content-Type:");
		t->headers = list ? list : t->headers;
		fine = list != NULL;
	}
	if (!fine || !r->secret.n || t->foreign || !whole)
		return fine;
	snprintf(timestamp, sizeof timestamp, "%lld", (long long)r->timestamp);
	return add_header(t, STR("webhook-id"), r->id) &&
	       add_header(t, STR("webhook-timestamp"), str_of(timestamp)) &&
	       add_header(t, STR("webhook-signature"), buf_str(&t->signature));
}

#define SET(option, value) code = code ? code : curl_easy_setopt(t->curl, (option), (value))

/* The options that are the same for every hop. */
static CURLcode set_rules(struct transfer *t)
{
	const struct out_request *r = t->req;
	CURLcode code = CURLE_OK;
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (r->ca)
		SET(CURLOPT_CAINFO, r->ca);
	SET(CURLOPT_PROXY, ""); /* ignore the variables of the environment, too */
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_DNS_CACHE_TIMEOUT, -1L); /* keep the address of a name for the whole request */
	SET(CURLOPT_QUICK_EXIT, 1L);         /* do not wait for a name server after the timeout */
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)(r->connect_ms ? r->connect_ms : OUT_CONNECT_MS));
	SET(CURLOPT_ERRORBUFFER, t->detail);
	SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
	SET(CURLOPT_OPENSOCKETDATA, t);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, t);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, t);
	SET(CURLOPT_XFERINFOFUNCTION, on_progress);
	SET(CURLOPT_XFERINFODATA, t);
	SET(CURLOPT_NOPROGRESS, 0L);
	return code;
}

static CURLcode set_hop(struct transfer *t, int64_t left_ms)
{
	CURLcode code = CURLE_OK;
	bool post = t->body || str_eq(t->method, STR("POST")) || str_eq(t->method, STR("PUT")) ||
		    str_eq(t->method, STR("PATCH"));
	SET(CURLOPT_CURLU, t->url);
	SET(CURLOPT_TIMEOUT_MS, (long)left_ms);
	SET(CURLOPT_HTTPHEADER, t->headers);
	SET(CURLOPT_HTTPGET, 1L);
	if (post) {
		SET(CURLOPT_POST, 1L);
		SET(CURLOPT_POSTFIELDS, t->body ? t->req->body.p : "");
		SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(t->body ? t->req->body.n : 0));
	}
	SET(CURLOPT_NOBODY, str_eq(t->method, STR("HEAD")) ? 1L : 0L);
	SET(CURLOPT_CUSTOMREQUEST, t->method.p);
	return code;
}

static void note_answer(struct transfer *t)
{
	long status = 0;
	curl_off_t after = 0;
	char *address = NULL;
	curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(t->curl, CURLINFO_RETRY_AFTER, &after);
	curl_easy_getinfo(t->curl, CURLINFO_PRIMARY_IP, &address);
	t->answer->status = (int)status;
	t->answer->retry_after = after < 0 ? 0 : after > RETRY_SECONDS_MAX ? RETRY_SECONDS_MAX : after;
	if (address && address[0])
		snprintf(t->answer->address, sizeof t->answer->address, "%s", address);
}

static enum err send_hop(struct transfer *t)
{
	int64_t left = t->deadline - now_ms();
	t->refused = t->tried = 0;
	t->answer->body.n = 0;
	t->answer->cut = false;
	if (left <= 0)
		return set_result(t, OUT_TIMEOUT, "%s: the timeout expired before this redirect", t->host);
	if (!make_headers(t) || set_hop(t, left))
		return E_NOMEM;
	CURLcode code = curl_easy_perform(t->curl);
	note_answer(t);
	if (t->answer->body.failed)
		return E_NOMEM;
	if (code == CURLE_WRITE_ERROR && t->answer->cut)
		code = CURLE_OK;
	if (code)
		return set_failure(t, code);
	return set_result(t, OUT_ANSWERED, "%d from %s (%s)", t->answer->status, t->host, t->answer->address);
}

/* --- the whole request --- */

static enum err check_request(const struct out_request *r, struct why *why)
{
	if (r->url.n > OUT_URL_BYTES_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE, "the url has more than %d bytes",
			       OUT_URL_BYTES_MAX);
	if (r->url.n && memchr(r->url.p, 0, r->url.n))
		return why_set(why, E_INPUT, WHY_NOWHERE, "the url contains a 0 byte");
	if (r->limit > OUT_BODY_BYTES_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE, "limit may be at most %u bytes",
			       OUT_BODY_BYTES_MAX);
	if (r->connect_ms < 0 || r->connect_ms > OUT_TOTAL_MS_MAX || r->total_ms < 0 ||
	    r->total_ms > OUT_TOTAL_MS_MAX)
		return why_set(why, E_INPUT, WHY_NOWHERE,
			       "a timeout is out of range; it must be 1 to %d seconds",
			       OUT_TOTAL_MS_MAX / 1000);
	return headers_check(r, why);
}

static enum err choose_method(struct transfer *t, struct why *why)
{
	static const char *const known[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE" };
	t->body = t->req->body.n > 0;
	t->method = t->body ? STR("POST") : STR("GET");
	if (!t->req->method.n)
		return OK;
	for (unsigned i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(t->req->method, str_of(known[i]))) {
			t->method = str_of(known[i]);
			return t->body && i == 1 ? why_set(why, E_INPUT, WHY_NOWHERE,
							   "a HEAD request cannot have a body")
						 : OK;
		}
	return why_set(why, E_INPUT, WHY_NOWHERE,
		       "method '%.*s' is not known; allowed are GET, HEAD, POST, PUT, PATCH, DELETE",
		       STR_SHORT(t->req->method));
}

static enum err prepare_transfer(struct transfer *t, struct why *why)
{
	const struct out_request *r = t->req;
	_cleanup_(buf_free) struct buf text = { 0 };
	CURLU *url = NULL;
	char wrong[OUT_URL_WRONG];
	enum err e = check_request(r, why);
	if (!e)
		e = choose_method(t, why);
	if (!e && r->secret.n)
		e = sign_webhook(r->secret, r->id, r->timestamp, r->body, &t->signature, why);
	if (e)
		return e;
	buf_add(&text, r->url);
	buf_addc(&text, 0);
	if (text.failed || t->signature.failed)
		return E_NOMEM;
	e = out_url_read(text.p, NULL, &url, wrong);
	if (e == E_INPUT)
		return why_set(why, E_INPUT, WHY_NOWHERE, "the url %s", wrong);
	if (!e)
		e = set_url(t, url);
	if (e)
		return e;
	t->curl = curl_easy_init();
	CURLcode code = t->curl ? set_rules(t) : CURLE_OUT_OF_MEMORY;
	if (code && code != CURLE_OUT_OF_MEMORY)
		return why_set(why, E_IO, WHY_NOWHERE,
			       "this version of libcurl does not support a required option: %s",
			       curl_easy_strerror(code));
	return code ? E_NOMEM : OK;
}

enum err out_send(const struct out_request *r, struct out_answer *ret, struct why *why)
{
	struct out_answer answer = { 0 };
	struct transfer t = { .req = r, .answer = &answer };
	bool again = true;
	t.deadline = now_ms() + (r->total_ms ? r->total_ms : OUT_TOTAL_MS);
	enum err e = prepare_transfer(&t, why);
	while (!e && again) {
		e = send_hop(&t);
		again = false;
		if (!e && answer.fault == OUT_ANSWERED)
			e = follow_redirect(&t, &again);
	}
	curl_easy_cleanup(t.curl);
	curl_url_cleanup(t.url);
	curl_free(t.host);
	curl_slist_free_all(t.headers);
	buf_free(&t.signature);
	if (e)
		out_answer_free(&answer);
	else
		*ret = answer;
	return e;
}

void out_answer_free(struct out_answer *a)
{
	buf_free(&a->body);
}
