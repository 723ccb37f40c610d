/* Requests: MHD's callbacks, from the request line to the handler. */
#include "http/internal.h"
#include "wire/problem_document.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *const http_method_words[HTTP_METHODS] = {
	[HTTP_GET] = "GET", [HTTP_HEAD] = "HEAD",   [HTTP_POST] = "POST",
	[HTTP_PUT] = "PUT", [HTTP_PATCH] = "PATCH", [HTTP_DELETE] = "DELETE",
};

static const char *const header_names[HTTP_HEADERS] = {
	[HTTP_ACCEPT] = "Accept",
	[HTTP_AUTHORIZATION] = "Authorization",
	[HTTP_CONTENT_TYPE] = "Content-Type",
	[HTTP_COOKIE] = "Cookie",
	[HTTP_HOST] = "Host",
	[HTTP_IDEMPOTENCY_KEY] = "Idempotency-Key",
	[HTTP_IF_MATCH] = "If-Match",
	[HTTP_IF_NONE_MATCH] = "If-None-Match",
	[HTTP_LAST_EVENT_ID] = "Last-Event-ID",
	[HTTP_MCP_METHOD] = "Mcp-Method",
	[HTTP_MCP_NAME] = "Mcp-Name",
	[HTTP_MCP_PROTOCOL_VERSION] = "MCP-Protocol-Version",
	[HTTP_ORIGIN] = "Origin",
};

/* MHD keeps every value of the query in the connection's memory. If that is used up, it neither answers nor
 * closes the connection, so such a request is refused before. */
static bool has_long_query(const char *target)
{
	unsigned n = 0;
	for (const char *p = strchr(target, '?'); p && n <= HTTP_QUERY_MAX; p = strchr(p + 1, '&'))
		n++;
	return n > HTTP_QUERY_MAX;
}

/* MHD has read the request line. */
void *request_begin(void *cls, const char *target, struct MHD_Connection *mhd)
{
	struct http *h = cls;
	struct conn *c = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	struct server_request *r = calloc(1, sizeof *r);
	conn_enter(c, PH_READ);
	if (c->request) /* MHD answered the previous request by itself, without a callback */
		request_detach(c->request);
	if (has_long_query(target)) {
		free(r);
		conn_refuse_query(c);
		return NULL;
	}
	if (r && !(r->target = arena_dup(&r->pub.arena, str_of(target)))) {
		free(r);
		r = NULL;
	}
	c->request = r;
	if (r) {
		r->http = h;
		r->conn = c;
		r->pub.peer = c->peer;
		r->pub.owner = c->owner;
		r->body_most = h->limits.body_bytes;
	}
	return r;
}

void request_refuse(struct server_request *r, int status, enum err e, const char *fmt, ...)
{
	struct why why = { .at = WHY_NOWHERE };
	_cleanup_(buf_free) struct buf body = { 0 };
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why.text, sizeof why.text, fmt, ap);
	va_end(ap);
	status = problem_document_write(e, status, &why, STR(""), &body);
	answer_set(r, status,
		   body.failed ? NULL
			       : MHD_create_response_from_buffer(body.n, body.p, MHD_RESPMEM_MUST_COPY),
		   PROBLEM_DOCUMENT_TYPE);
}

static void refuse_body(struct server_request *r)
{
	request_refuse(r, 413, E_LIMIT, "the body is larger than %zu bytes", r->body_most);
}

static bool copy_headers(struct server_request *r, struct MHD_Connection *mhd)
{
	for (unsigned i = 0; i < HTTP_HEADERS; i++) {
		const char *value = MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, header_names[i]);
		char *copy = value ? arena_dup(&r->pub.arena, str_of(value)) : NULL;
		if (value && !copy)
			return false;
		if (value)
			r->pub.header[i] = str_of(copy);
	}
	return true;
}

/* Many clients send the whole body before they read the answer, and would not get it if the connection were
 * closed. A body that is not short would take too long. */
static bool is_body_short(struct MHD_Connection *mhd)
{
	const char *length = MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, "Content-Length");
	uint64_t n;
	return length && !MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, "Transfer-Encoding") &&
	       str_number(str_of(length), UINT64_MAX, &n) && n <= HTTP_DISCARD_BYTES_MAX;
}

struct header_check {
	struct MHD_Connection *mhd;
	const char *name; /* of the header that was checked last */
	bool malformed, twice;
};

/* Whether c may be in the name of a header (RFC 9110, token). */
static bool is_name_char(char c)
{
	return is_alpha(c) || is_digit(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* Two readers could disagree about which of two values counts. Accept and Cookie are lists. */
static bool may_be_repeated(const char *name)
{
	static const char *const single[] = { "Content-Length", "Transfer-Encoding" };
	for (unsigned i = 0; i < ARRAY_LEN(single); i++)
		if (!strcasecmp(name, single[i]))
			return false;
	for (unsigned i = 0; i < HTTP_HEADERS; i++)
		if (i != HTTP_ACCEPT && i != HTTP_COOKIE && !strcasecmp(name, header_names[i]))
			return false;
	return true;
}

/* MHD calls this function for each header, and stops when it returns MHD_NO. */
static enum MHD_Result check_header(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct header_check *check = cls;
	(void)kind;
	size_t n = 0;
	while (is_name_char(name[n]))
		n++;
	check->name = name;
	check->malformed = !n || name[n];
	/* The first header with a name is the one that a search by the name finds. */
	check->twice = !may_be_repeated(name) &&
		       MHD_lookup_connection_value(check->mhd, MHD_HEADER_KIND, name) != value;
	return check->malformed || check->twice ? MHD_NO : MHD_YES;
}

/* Refuses headers by which this server and a proxy could disagree about the request or about where its body
 * ends. The connection is closed, because what follows may be such a body. */
static void check_headers(struct server_request *r, struct MHD_Connection *mhd)
{
	struct header_check check = { .mhd = mhd };
	MHD_get_connection_values(mhd, MHD_HEADER_KIND, check_header, &check);
	if (!check.malformed && !check.twice)
		return;
	if (!http_header_add(&r->pub, "Connection", "close"))
		request_refuse(r, 0, E_NOMEM, "out of memory");
	else if (check.malformed)
		request_refuse(r, 400, E_INPUT, "'%.*s' is not the name of a header",
			       STR_SHORT(str_of(check.name)));
	else
		request_refuse(r, 400, E_INPUT, "the header %s is given twice", check.name);
}

/* Checks the request line and the headers, before the body is read. */
static void check_head(struct server_request *r, struct MHD_Connection *mhd, const char *method,
		       const char *version)
{
	struct why why = { .at = WHY_NOWHERE };
	size_t size = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
	if (size > r->http->limits.header_bytes) {
		request_refuse(r, 431, E_LIMIT, "request line and headers are larger than %zu bytes",
			       r->http->limits.header_bytes);
		return;
	}
	unsigned m = 0;
	while (m < HTTP_METHODS && strcmp(http_method_words[m], method) != 0)
		m++;
	if (m == HTTP_METHODS) {
		request_refuse(r, 501, E_INPUT,
			       "method '%.*s' is not supported; methods are in capital letters: GET, HEAD, "
			       "POST, PUT, PATCH, DELETE",
			       STR_SHORT(str_of(method)));
		return;
	}
	r->pub.method = (enum http_method)m;
	if (!strcmp(version, "HTTP/1.1") && !MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, "Host")) {
		request_refuse(r, 400, E_INPUT, "the Host header is missing");
		return;
	}
	check_headers(r, mhd);
	if (r->response || r->conn->phase == PH_CUT)
		return;
	enum err e = url_parse(str_of(r->target), &r->pub.arena, &r->pub.url, &why);
	if (!e && !copy_headers(r, mhd))
		e = why_set(&why, E_NOMEM, WHY_NOWHERE, "out of memory");
	if (!e && r->http->o.admit)
		e = r->http->o.admit(r->http->o.ctx, &r->pub, &r->body_most, &why);
	if (e) {
		request_refuse(r, 0, e, "%s", why.text);
		r->discards = is_body_short(mhd);
		return;
	}
	const char *length = MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, "Content-Length");
	const char *coding = MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, "Transfer-Encoding");
	if (coding && strcasecmp(coding, "chunked") != 0) {
		request_refuse(r, 501, E_INPUT, "Transfer-Encoding '%.*s' is not supported; use chunked",
			       STR_SHORT(str_of(coding)));
		return;
	}
	if (coding && length) { /* two readers could disagree about where the body ends */
		request_refuse(
			r, 400, E_INPUT,
			"the request has both Content-Length and Transfer-Encoding; send only one of them");
		return;
	}
	uint64_t n;
	/* MHD refuses a Content-Length that is not a number. */
	if (length && str_number(str_of(length), UINT64_MAX, &n) && n > r->body_most)
		refuse_body(r);
}

/* Changes how many bytes of the body are counted as held in memory. */
static void count_body(struct server_request *r, size_t counted)
{
	struct http *h = r->http;
	h->bodies_held += counted - r->body_counted;
	if (r->pub.owner.guest)
		h->guest_bodies_held += counted - r->body_counted;
	r->body_counted = counted;
}

/* Guests may have half of the room, so that they do not keep the others from sending bodies. */
static bool has_room_for_body(const struct server_request *r, size_t more)
{
	const struct http *h = r->http;
	return h->bodies_held + more <= h->limits.bodies_bytes &&
	       (!r->pub.owner.guest || h->guest_bodies_held + more <= h->limits.bodies_bytes / 2);
}

static void append_body(struct server_request *r, struct str data)
{
	if (r->body_error) /* the rest of the body is discarded, because MHD takes no answer before the end of
			      the body */
		return;
	if (r->body.n + data.n > r->body_most)
		r->body_error = E_LIMIT;
	else if (!has_room_for_body(r, data.n))
		r->body_error = E_BUSY;
	else
		buf_add(&r->body, data);
	if (r->body.failed)
		r->body_error = E_NOMEM;
	count_body(r, r->body_error ? 0 : r->body.n);
	if (r->body_error)
		buf_free(&r->body);
}

static void hand_to_handler(struct server_request *r)
{
	struct http *h = r->http;
	if (r->body_error == E_LIMIT) {
		refuse_body(r);
	} else if (r->body_error == E_BUSY) {
		request_refuse(r, 503, E_BUSY,
			       "the request bodies in progress are larger than %zu bytes together; try again",
			       h->limits.bodies_bytes);
	} else if (h->stopping) {
		request_refuse(r, 503, E_BUSY, "the daemon is stopping");
	} else if (r->body_error) {
		request_refuse(r, 0, E_NOMEM, "out of memory");
	} else {
		r->pub.body = buf_str(&r->body);
		r->handed = true;
		r->next = h->unanswered;
		if (r->next)
			r->next->prev = r;
		h->unanswered = r;
		h->stats.requests++;
		conn_enter(r->conn, PH_HANDLER);
		h->o.handle(h->o.ctx, &r->pub);
	}
}

static enum MHD_Result queue_answer(struct server_request *r, struct MHD_Connection *mhd)
{
	enum MHD_Result ok = MHD_queue_response(mhd, (unsigned)r->status, r->response);
	MHD_destroy_response(r->response); /* MHD keeps its own reference */
	r->response = NULL;
	r->queued = true;
	return ok;
}

/* Called after the headers, for each part of the body, at its end, and when the connection is resumed. */
enum MHD_Result request_access(void *cls, struct MHD_Connection *mhd, const char *url, const char *method,
			       const char *version, const char *data, size_t *size, void **ctx)
{
	(void)cls, (void)url;
	struct server_request *r = *ctx;
	if (!r || r->conn->phase == PH_CUT)
		return MHD_NO; /* closes the connection */
	if (!r->head_checked) {
		r->head_checked = true;
		check_head(r, mhd, method, version);
		if (r->conn->phase == PH_CUT)
			return MHD_NO;
		return r->response && !r->discards ? queue_answer(r, mhd) : MHD_YES;
	}
	if (*size) {
		if (!r->discards)
			append_body(r, (struct str){ data, *size });
		*size = 0;
		return MHD_YES;
	}
	if (!r->handed && !r->response)
		hand_to_handler(r);
	if (r->conn->phase == PH_CUT)
		return MHD_NO;
	if (r->response)
		return queue_answer(r, mhd);
	conn_suspend(r->conn);
	return MHD_YES;
}

void request_completed(void *cls, struct MHD_Connection *mhd, void **ctx, enum MHD_RequestTerminationCode why)
{
	(void)mhd, (void)why;
	struct http *h = cls;
	struct server_request *r = *ctx;
	*ctx = NULL;
	if (!r)
		return;
	struct conn *c = r->conn;
	request_detach(r);
	if (h->stopping)
		conn_cut(c);
	else
		conn_enter(c, PH_IDLE);
}

void request_detach(struct server_request *r)
{
	r->conn->request = NULL;
	r->conn = NULL;
	if (r->response)
		MHD_destroy_response(r->response);
	r->response = NULL;
	if (r->stream)
		stream_detach(r->stream);
	r->stream = NULL;
	if (r->answered || !r->handed)
		request_free(r);
}

void request_free(struct server_request *r)
{
	count_body(r, 0);
	buf_free(&r->body);
	arena_free(&r->pub.arena);
	free(r);
}
