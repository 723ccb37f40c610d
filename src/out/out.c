#include "out/out.h"
#include "out/address.h"
#include "out/headers.h"
#include "out/sign.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

enum { WRONG_SIZE = 96 };

/* One request on its way, from its first address to the last redirect. */
struct call {
	const struct out_request *req;
	struct out_answer *answer;
	CURL *curl;
	CURLU *url; /* of this hop */
	char *host; /* of it */
	struct curl_slist *headers;
	struct buf signature;
	struct str method;
	bool body;    /* goes along */
	bool foreign; /* a redirect has left the first origin */
	size_t head;  /* bytes of headers so far */
	bool head_is_over;
	unsigned refused, tried; /* addresses of this hop */
	enum address_kind kind;  /* of the one refused */
	int64_t deadline;        /* CLOCK_MONOTONIC, ms */
	char detail[CURL_ERROR_SIZE];
};

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- what is said of it --- */

void out_make_printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 32 || (unsigned char)*text >= 127)
			*text = '?';
}

/* The end of a request. Some of the text may be the receiver's. */
printf_like(3, 4) static enum err ended(struct call *c, enum out_fault fault, const char *fmt, ...)
{
	char *text = c->answer->text;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof c->answer->text, fmt, ap);
	va_end(ap);
	out_make_printable(text);
	c->answer->fault = fault;
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
		{ CURLE_OUT_OF_MEMORY, OUT_TOO_LARGE }, /* said of a line of headers that does not end … */
		{ (CURLcode)100, OUT_TOO_LARGE },       /* … CURLE_TOO_LARGE of later versions */
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].code == code)
			return rows[i].fault;
	return OUT_BROKEN;
}

static enum err failed(struct call *c, CURLcode code)
{
	enum out_fault fault = c->head_is_over ? OUT_TOO_LARGE : fault_of(code);
	if (code == CURLE_OUT_OF_MEMORY && !c->tried)
		return E_NOMEM;
	if (fault == OUT_TOO_LARGE)
		return ended(c, OUT_TOO_LARGE, "%s answers with more than %d bytes of headers", c->host,
			     OUT_HEAD_BYTES_MAX);
	if (c->refused && !c->tried)
		return ended(c, OUT_REFUSED,
			     "%s is at %s address (%s), which `out: {allow: ...}` does not allow", c->host,
			     address_words[c->kind], c->answer->address);
	const char *text = c->detail[0] ? c->detail : curl_easy_strerror(code);
	return ended(c, fault, "%s: %s", c->host, text);
}

/* --- what libcurl asks us --- */

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

/* The address is the one that will be connected to, whatever a name server says by now. */
static curl_socket_t open_socket(void *self, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct call *c = self;
	struct ip ip;
	char text[64];
	if (purpose != CURLSOCKTYPE_IPCXN || !ip_of(&to->addr, &ip, text))
		return CURL_SOCKET_BAD;
	if (!address_allowed(&ip, str_of(c->host), c->req->allow, c->req->allowed)) {
		if (!c->refused++) {
			c->kind = address_kind(&ip);
			memcpy(c->answer->address, text, sizeof text);
		}
		return CURL_SOCKET_BAD;
	}
	c->tried++;
	return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

static size_t take_head(char *p, size_t size, size_t n, void *self)
{
	struct call *c = self;
	(void)p;
	c->head += size * n;
	c->head_is_over = c->head > OUT_HEAD_BYTES_MAX;
	return c->head_is_over ? 0 : n;
}

static size_t take_body(char *p, size_t size, size_t n, void *self)
{
	struct call *c = self;
	size_t limit = c->req->limit ? c->req->limit : OUT_BODY_BYTES;
	size_t room = limit - c->answer->body.n, take = size * n < room ? size * n : room;
	buf_add(&c->answer->body, (struct str){ p, take });
	c->answer->cut = take < size * n;
	return c->answer->body.failed ? 0 : take;
}

static int called_off(void *self, curl_off_t a, curl_off_t b, curl_off_t d, curl_off_t e)
{
	const struct call *c = self;
	(void)a, (void)b, (void)d, (void)e;
	return c->req->cancel && atomic_load(c->req->cancel);
}

/* --- where it goes --- */

static bool same_part(CURLU *a, CURLU *b, CURLUPart part)
{
	char *x = NULL, *y = NULL;
	bool same = !curl_url_get(a, part, &x, CURLU_DEFAULT_PORT) &&
		    !curl_url_get(b, part, &y, CURLU_DEFAULT_PORT) && str_ieq(str_of(x), str_of(y));
	curl_free(x);
	curl_free(y);
	return same;
}

static bool same_origin(CURLU *a, CURLU *b)
{
	return same_part(a, b, CURLUPART_SCHEME) && same_part(a, b, CURLUPART_HOST) &&
	       same_part(a, b, CURLUPART_PORT);
}

static bool has_scheme(CURLU *url, const char *scheme)
{
	char *text = NULL;
	bool has = !curl_url_get(url, CURLUPART_SCHEME, &text, 0) && str_eq(str_of(text), str_of(scheme));
	curl_free(text);
	return has;
}

/* How libcurl would turn the letters of a host into ASCII depends on the process's locale. */
static bool has_plain_host(CURLU *url)
{
	char *host = NULL;
	bool plain = !curl_url_get(url, CURLUPART_HOST, &host, 0);
	for (const char *p = host; plain && *p; p++)
		plain = (unsigned char)*p > 32 && (unsigned char)*p < 127;
	curl_free(host);
	return plain;
}

/* `base`: where it may be relative to, or NULL. What is wrong with it goes into `wrong`; the text of the URL
 * does not. */
static enum err read_url(const char *text, CURLU *base, CURLU **ret, char wrong[WRONG_SIZE])
{
	CURLU *url = base ? curl_url_dup(base) : curl_url();
	unsigned flags = CURLU_DISALLOW_USER | CURLU_NON_SUPPORT_SCHEME;
	if (!url)
		return E_NOMEM;
	if (base)
		flags |= CURLU_URLENCODE | CURLU_ALLOW_SPACE; /* as browsers take them */
	CURLUcode code = curl_url_set(url, CURLUPART_URL, text, flags);
	bool web = !code && (has_scheme(url, "http") || has_scheme(url, "https"));
	if (web && has_plain_host(url)) {
		*ret = url;
		return OK;
	}
	if (code == CURLUE_USER_NOT_ALLOWED)
		snprintf(wrong, WRONG_SIZE, "has a user or a password in it; they belong into a header");
	else if (web)
		snprintf(wrong, WRONG_SIZE, "has a host beyond ASCII; write it in its form with xn--");
	else if (code == CURLUE_BAD_SCHEME || !code)
		snprintf(wrong, WRONG_SIZE, "begins neither with http:// nor with https://");
	else
		snprintf(wrong, WRONG_SIZE, "cannot be read (%s)", curl_url_strerror(code));
	curl_url_cleanup(url);
	return code == CURLUE_OUT_OF_MEMORY ? E_NOMEM : E_INPUT;
}

static enum err go_to(struct call *c, CURLU *url)
{
	curl_url_cleanup(c->url);
	c->url = url;
	curl_free(c->host);
	c->host = NULL;
	return curl_url_get(url, CURLUPART_HOST, &c->host, 0) ? E_NOMEM : OK;
}

static bool is_redirect(int status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* OK with *again: there is another request to be made. */
static enum err follow(struct call *c, bool *again)
{
	struct curl_header *to = NULL;
	CURLU *url = NULL;
	char wrong[WRONG_SIZE];
	*again = false;
	/* Not CURLINFO_REDIRECT_URL, which is not there if the body was cut. */
	if (!is_redirect(c->answer->status) ||
	    curl_easy_header(c->curl, "location", 0, CURLH_HEADER, -1, &to))
		return OK;
	if (c->answer->redirects == OUT_REDIRECTS_MAX)
		return ended(c, OUT_REDIRECTS, "%s redirects once more after %d redirects", c->host,
			     OUT_REDIRECTS_MAX);
	enum err e = read_url(to->value, c->url, &url, wrong);
	if (e == E_INPUT)
		return ended(c, OUT_REDIRECTS, "%s redirects to an address that %s", c->host, wrong);
	if (e)
		return e;
	if (has_scheme(c->url, "https") && has_scheme(url, "http") && !c->req->downgrade) {
		curl_url_cleanup(url);
		return ended(c, OUT_REDIRECTS, "%s redirects from https to http, which is not followed",
			     c->host);
	}
	c->foreign |= !same_origin(c->url, url);
	if (c->answer->status == 303) {
		c->method = str_eq(c->method, STR("HEAD")) ? c->method : STR("GET");
		c->body = false;
	}
	c->answer->redirects++;
	*again = true;
	return go_to(c, url);
}

/* --- what is sent --- */

static bool add_header(struct call *c, struct str name, struct str value)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	buf_add(&line, name);
	buf_add(&line,
		value.n ? STR(": ") : STR(";")); /* libcurl would not send it with a colon and nothing */
	buf_add(&line, value);
	struct curl_slist *list = line.failed ? NULL : curl_slist_append(c->headers, line.p);
	c->headers = list ? list : c->headers;
	return list;
}

static bool put_headers(struct call *c)
{
	const struct out_request *r = c->req;
	char timestamp[24];
	bool whole = c->body || !r->body.n; /* the signature is of all of it */
	curl_slist_free_all(c->headers);
	c->headers = curl_slist_append(NULL, "Expect:"); /* no waiting for 100 Continue */
	bool fine = c->headers != NULL;
	for (unsigned i = 0; i < r->headers && fine; i++)
		if (!c->foreign || header_is_harmless(r->header[i].name))
			fine = add_header(c, r->header[i].name, r->header[i].value);
	if (fine && !headers_have(r, STR("user-agent")))
		fine = add_header(c, STR("User-Agent"), STR("rota/" ROTA_VERSION));
	if (fine && !headers_have(r, STR("content-type"))) {
		struct curl_slist *list = curl_slist_append(c->headers, "Content-Type:"); /* not a form */
		c->headers = list ? list : c->headers;
		fine = list != NULL;
	}
	if (!fine || !r->secret.n || c->foreign || !whole)
		return fine;
	snprintf(timestamp, sizeof timestamp, "%lld", (long long)r->timestamp);
	return add_header(c, STR("webhook-id"), r->id) &&
	       add_header(c, STR("webhook-timestamp"), str_of(timestamp)) &&
	       add_header(c, STR("webhook-signature"), buf_str(&c->signature));
}

#define SET(option, value) code = code ? code : curl_easy_setopt(c->curl, (option), (value))

/* What holds for every hop. */
static CURLcode set_rules(struct call *c)
{
	const struct out_request *r = c->req;
	CURLcode code = CURLE_OK;
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (r->ca)
		SET(CURLOPT_CAINFO, r->ca);
	SET(CURLOPT_PROXY, ""); /* not even the environment's */
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_DNS_CACHE_TIMEOUT, -1L); /* a name keeps its address for all of the request */
	SET(CURLOPT_QUICK_EXIT, 1L);         /* do not wait for a name server past the time given */
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)(r->connect_ms ? r->connect_ms : OUT_CONNECT_MS));
	SET(CURLOPT_ERRORBUFFER, c->detail);
	SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
	SET(CURLOPT_OPENSOCKETDATA, c);
	SET(CURLOPT_HEADERFUNCTION, take_head);
	SET(CURLOPT_HEADERDATA, c);
	SET(CURLOPT_WRITEFUNCTION, take_body);
	SET(CURLOPT_WRITEDATA, c);
	SET(CURLOPT_XFERINFOFUNCTION, called_off);
	SET(CURLOPT_XFERINFODATA, c);
	SET(CURLOPT_NOPROGRESS, 0L);
	return code;
}

static CURLcode set_hop(struct call *c, int64_t left_ms)
{
	CURLcode code = CURLE_OK;
	bool post = c->body || str_eq(c->method, STR("POST")) || str_eq(c->method, STR("PUT")) ||
		    str_eq(c->method, STR("PATCH"));
	SET(CURLOPT_CURLU, c->url);
	SET(CURLOPT_TIMEOUT_MS, (long)left_ms);
	SET(CURLOPT_HTTPHEADER, c->headers);
	SET(CURLOPT_HTTPGET, 1L);
	if (post) {
		SET(CURLOPT_POST, 1L);
		SET(CURLOPT_POSTFIELDS, c->body ? c->req->body.p : "");
		SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(c->body ? c->req->body.n : 0));
	}
	SET(CURLOPT_NOBODY, str_eq(c->method, STR("HEAD")) ? 1L : 0L);
	SET(CURLOPT_CUSTOMREQUEST, c->method.p);
	return code;
}

static void note(struct call *c)
{
	long status = 0;
	curl_off_t after = 0;
	char *address = NULL;
	curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(c->curl, CURLINFO_RETRY_AFTER, &after);
	curl_easy_getinfo(c->curl, CURLINFO_PRIMARY_IP, &address);
	c->answer->status = (int)status;
	c->answer->retry_after = after < 0 ? 0 : after > RETRY_SECONDS_MAX ? RETRY_SECONDS_MAX : after;
	if (address && address[0])
		snprintf(c->answer->address, sizeof c->answer->address, "%s", address);
}

/* One hop; a fault of the answer, or its status. */
static enum err send_once(struct call *c)
{
	int64_t left = c->deadline - now_ms();
	c->refused = c->tried = 0;
	c->answer->body.n = 0;
	c->answer->cut = false;
	if (left <= 0)
		return ended(c, OUT_TIMEOUT, "%s: no time is left for a redirect", c->host);
	if (!put_headers(c) || set_hop(c, left))
		return E_NOMEM;
	CURLcode code = curl_easy_perform(c->curl);
	note(c);
	if (c->answer->body.failed)
		return E_NOMEM;
	if (code == CURLE_WRITE_ERROR && c->answer->cut)
		code = CURLE_OK;
	if (code)
		return failed(c, code);
	return ended(c, OUT_ANSWERED, "%d from %s (%s)", c->answer->status, c->host, c->answer->address);
}

/* --- the whole of it --- */

static enum err check(const struct out_request *r, struct why *why)
{
	if (r->url.n > OUT_URL_BYTES_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE, "the url has more than %d bytes",
			       OUT_URL_BYTES_MAX);
	if (r->url.n && memchr(r->url.p, 0, r->url.n))
		return why_set(why, E_INPUT, WHY_NOWHERE, "the url has a zero byte in it");
	if (r->limit > OUT_BODY_BYTES_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE, "limit is more than %u bytes", OUT_BODY_BYTES_MAX);
	if (r->connect_ms < 0 || r->connect_ms > OUT_TOTAL_MS_MAX || r->total_ms < 0 ||
	    r->total_ms > OUT_TOTAL_MS_MAX)
		return why_set(why, E_INPUT, WHY_NOWHERE, "a timeout is out of range 1 s to %d s",
			       OUT_TOTAL_MS_MAX / 1000);
	return headers_check(r, why);
}

static enum err choose_method(struct call *c, struct why *why)
{
	static const char *const known[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE" };
	c->body = c->req->body.n > 0;
	c->method = c->body ? STR("POST") : STR("GET");
	if (!c->req->method.n)
		return OK;
	for (unsigned i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(c->req->method, str_of(known[i]))) {
			c->method = str_of(known[i]);
			return c->body && i == 1 ? why_set(why, E_INPUT, WHY_NOWHERE, "HEAD has no body")
						 : OK;
		}
	return why_set(why, E_INPUT, WHY_NOWHERE,
		       "method '%.*s' is not known; allowed are GET, HEAD, POST, PUT, PATCH, DELETE",
		       STR_SHORT(c->req->method));
}

static enum err prepare(struct call *c, struct why *why)
{
	const struct out_request *r = c->req;
	_cleanup_(buf_free) struct buf text = { 0 };
	CURLU *url = NULL;
	char wrong[WRONG_SIZE];
	enum err e = check(r, why);
	if (!e)
		e = choose_method(c, why);
	if (!e && r->secret.n)
		e = sign_webhook(r->secret, r->id, r->timestamp, r->body, &c->signature, why);
	if (e)
		return e;
	buf_add(&text, r->url);
	buf_addc(&text, 0);
	if (text.failed || c->signature.failed)
		return E_NOMEM;
	e = read_url(text.p, NULL, &url, wrong);
	if (e == E_INPUT)
		return why_set(why, E_INPUT, WHY_NOWHERE, "the url %s", wrong);
	if (!e)
		e = go_to(c, url);
	if (e)
		return e;
	c->curl = curl_easy_init();
	CURLcode code = c->curl ? set_rules(c) : CURLE_OUT_OF_MEMORY;
	if (code && code != CURLE_OUT_OF_MEMORY)
		return why_set(why, E_IO, WHY_NOWHERE, "this libcurl does not keep the rules: %s",
			       curl_easy_strerror(code));
	return code ? E_NOMEM : OK;
}

enum err out_send(const struct out_request *r, struct out_answer *ret, struct why *why)
{
	struct out_answer answer = { 0 };
	struct call c = { .req = r, .answer = &answer };
	bool again = true;
	c.deadline = now_ms() + (r->total_ms ? r->total_ms : OUT_TOTAL_MS);
	enum err e = prepare(&c, why);
	while (!e && again) {
		e = send_once(&c);
		again = false;
		if (!e && answer.fault == OUT_ANSWERED)
			e = follow(&c, &again);
	}
	curl_easy_cleanup(c.curl);
	curl_url_cleanup(c.url);
	curl_free(c.host);
	curl_slist_free_all(c.headers);
	buf_free(&c.signature);
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
