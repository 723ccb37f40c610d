/* Passes answers from the handler to MHD. */
#include "http/internal.h"
#include "wire/problem_document.h"

#include <stdlib.h>

bool http_header_add(struct http_request *pub, const char *name, const char *value)
{
	struct server_request *r = (struct server_request *)pub;
	assert(!strpbrk(name, "\r\n") && !strpbrk(value, "\r\n")); /* a line end would forge headers */
	struct answer_header *h = arena_alloc(&pub->arena, sizeof *h);
	if (!h)
		return false;
	h->name = arena_dup(&pub->arena, str_of(name));
	h->value = arena_dup(&pub->arena, str_of(value));
	if (!h->name || !h->value)
		return false;
	h->next = r->headers;
	r->headers = h;
	return true;
}

void answer_set(struct server_request *r, int status, struct MHD_Response *response, const char *content_type)
{
	assert(r->conn && !r->response && !r->queued);
	bool ok = response != NULL;
	if (ok && content_type)
		ok = MHD_add_response_header(response, "Content-Type", content_type) == MHD_YES;
	if (ok && r->http->stopping)
		ok = MHD_add_response_header(response, "Connection", "close") == MHD_YES;
	for (struct answer_header *h = r->headers; h && ok; h = h->next)
		ok = MHD_add_response_header(response, h->name, h->value) == MHD_YES;
	if (!ok) {
		if (response)
			MHD_destroy_response(response);
		conn_cut(r->conn); /* out of memory, so no error can be sent either */
		return;
	}
	r->response = response;
	r->status = status;
	conn_enter(r->conn, PH_SEND);
	conn_resume(r->conn);
}

bool http_gone(const struct http_request *pub)
{
	const struct server_request *r = (const struct server_request *)pub;
	return !r->conn || r->conn->phase == PH_CUT || r->response || r->queued;
}

bool request_mark_answered(struct server_request *r)
{
	struct http *h = r->http;
	assert(r->handed && !r->answered);
	r->answered = true;
	*(r->prev ? &r->prev->next : &h->unanswered) = r->next;
	if (r->next)
		r->next->prev = r->prev;
	bool wanted = !http_gone(&r->pub);
	if (!r->conn)
		request_free(r);
	return wanted;
}

void http_answer(struct http_request *pub, int status, const char *content_type, struct str body)
{
	struct server_request *r = (struct server_request *)pub;
	if (!request_mark_answered(r))
		return;
	/* MHD copies the bytes, so casting const away is safe. */
	answer_set(r, status,
		   MHD_create_response_from_buffer(body.n, (void *)(uintptr_t)body.p, MHD_RESPMEM_MUST_COPY),
		   content_type);
}

void http_answer_error(struct http_request *pub, enum err e, const struct why *why, struct str source)
{
	_cleanup_(buf_free) struct buf body = { 0 };
	int status = problem_document_write(e, 0, why, source, &body);
	http_answer(pub, status, PROBLEM_DOCUMENT_TYPE, buf_str(&body));
}
