/* A request on its way in: MHD's callbacks, up to the handler. */
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

/* The request line is there. */
void *request_begin(void *cls, const char *target, struct MHD_Connection *mhd)
{
	struct http *h = cls;
	struct conn *c = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	struct request *r = calloc(1, sizeof *r);
	conn_enter(c, PH_READ);
	if (c->request) /* one that MHD answered by itself, and told us nothing of */
		request_leave(c->request);
	if (r && !(r->target = arena_dup(&r->pub.arena, str_of(target)))) {
		free(r);
		r = NULL;
	}
	c->request = r;
	if (r) {
		r->http = h;
		r->conn = c;
		r->pub.peer = c->peer;
	}
	return r;
}

void request_refuse(struct request *r, int status, enum err e, const char *fmt, ...)
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

static void too_large(struct request *r)
{
	request_refuse(r, 413, E_LIMIT, "the body is larger than %zu bytes", r->http->limits.body_bytes);
}

/* The headers are there: what can be refused for them is refused before the body comes. */
static void check_head(struct request *r, struct MHD_Connection *mhd, const char *method, const char *version)
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
		request_refuse(r, 501, E_INPUT, "'%.*s' is no method that is known here",
			       STR_SHORT(str_of(method)));
		return;
	}
	r->pub.method = (enum http_method)m;
	if (!strcmp(version, "HTTP/1.1") && !MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, "Host")) {
		request_refuse(r, 400, E_INPUT, "the request has no Host");
		return;
	}
	enum err e = url_parse(str_of(r->target), &r->pub.arena, &r->pub.url, &why);
	if (e) {
		request_refuse(r, 0, e, "%s", why.text);
		return;
	}
	const char *length = MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, "Content-Length");
	const char *coding = MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, "Transfer-Encoding");
	if (coding && strcasecmp(coding, "chunked") != 0) {
		request_refuse(r, 501, E_INPUT, "the only Transfer-Encoding known here is chunked");
		return;
	}
	if (coding && length) { /* two readers could disagree about where it ends */
		request_refuse(r, 400, E_INPUT,
			       "a body has a Content-Length or a Transfer-Encoding, not both");
		return;
	}
	uint64_t n;
	/* What is no number MHD refuses. */
	if (length && str_number(str_of(length), UINT64_MAX, &n) && n > r->http->limits.body_bytes)
		too_large(r);
}

static void take_body(struct request *r, struct str data)
{
	struct http *h = r->http;
	if (r->trouble) /* thrown away; MHD takes no answer before the end, and the deadline bounds that */
		return;
	if (r->body.n + data.n > h->limits.body_bytes)
		r->trouble = E_LIMIT;
	else if (h->bodies + data.n > h->limits.bodies_bytes)
		r->trouble = E_BUSY;
	else
		buf_add(&r->body, data);
	if (r->body.failed)
		r->trouble = E_NOMEM;
	size_t counted = r->trouble ? 0 : r->body.n;
	h->bodies += counted - r->counted;
	r->counted = counted;
	if (r->trouble)
		buf_free(&r->body);
}

static bool copy_headers(struct request *r, struct MHD_Connection *mhd)
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

static void hand_over(struct request *r, struct MHD_Connection *mhd)
{
	struct http *h = r->http;
	if (r->trouble == E_LIMIT) {
		too_large(r);
	} else if (r->trouble == E_BUSY) {
		request_refuse(r, 503, E_BUSY, "too much is being sent here at once; try again");
	} else if (h->stopping) {
		request_refuse(r, 503, E_BUSY, "the daemon is stopping");
	} else if (r->trouble || !copy_headers(r, mhd)) {
		request_refuse(r, 0, E_NOMEM, "out of memory");
	} else {
		r->pub.body = buf_str(&r->body);
		r->handed = true;
		r->next = h->kept;
		if (r->next)
			r->next->prev = r;
		h->kept = r;
		h->stats.requests++;
		conn_enter(r->conn, PH_HELD);
		h->o.handle(h->o.ctx, &r->pub);
	}
}

static enum MHD_Result queue(struct request *r, struct MHD_Connection *mhd)
{
	enum MHD_Result ok = MHD_queue_response(mhd, (unsigned)r->status, r->response);
	MHD_destroy_response(r->response); /* MHD keeps its own reference */
	r->response = NULL;
	r->queued = true;
	return ok;
}

/* Called with the headers, for each part of the body, at the end, and again when it is resumed. */
enum MHD_Result request_access(void *cls, struct MHD_Connection *mhd, const char *url, const char *method,
			       const char *version, const char *data, size_t *size, void **ctx)
{
	(void)cls, (void)url;
	struct request *r = *ctx;
	if (!r || r->conn->phase == PH_CUT)
		return MHD_NO; /* closes it */
	if (!r->begun) {
		r->begun = true;
		check_head(r, mhd, method, version);
		if (r->conn->phase == PH_CUT)
			return MHD_NO;
		return r->response ? queue(r, mhd) : MHD_YES;
	}
	if (*size) {
		take_body(r, (struct str){ data, *size });
		*size = 0;
		return MHD_YES;
	}
	if (!r->handed && !r->response)
		hand_over(r, mhd);
	if (r->conn->phase == PH_CUT)
		return MHD_NO;
	if (r->response)
		return queue(r, mhd);
	conn_suspend(r->conn);
	return MHD_YES;
}

void request_completed(void *cls, struct MHD_Connection *mhd, void **ctx, enum MHD_RequestTerminationCode why)
{
	(void)mhd, (void)why;
	struct http *h = cls;
	struct request *r = *ctx;
	*ctx = NULL;
	if (!r)
		return;
	struct conn *c = r->conn;
	request_leave(r);
	if (h->stopping)
		conn_cut(c);
	else
		conn_enter(c, PH_IDLE);
}

void request_leave(struct request *r)
{
	r->conn->request = NULL;
	r->conn = NULL;
	if (r->response)
		MHD_destroy_response(r->response);
	r->response = NULL;
	if (r->stream)
		stream_leave(r->stream);
	r->stream = NULL;
	if (r->answered || !r->handed)
		request_free(r);
}

void request_free(struct request *r)
{
	r->http->bodies -= r->counted;
	buf_free(&r->body);
	arena_free(&r->pub.arena);
	free(r);
}
