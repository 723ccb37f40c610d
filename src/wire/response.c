#include "wire/response.h"

static enum err not_http(struct why *why, const char *what)
{
	return why_set(why, E_INPUT, WHY_NOWHERE, "the answer is not HTTP: %s", what);
}

static enum err status_line(struct response *r, struct str line, struct why *why)
{
	uint64_t status;
	if (!str_starts(line, STR("HTTP/1.")) || line.n < 12 || line.p[8] != ' ' ||
	    !str_number(str_sub(line, 9, 12), 999, &status) || status < 100)
		return not_http(why, "its first line is no status");
	r->status = (int)status;
	return OK;
}

static bool has_token(struct str list, struct str token)
{
	while (list.n) {
		const char *comma = memchr(list.p, ',', list.n);
		struct str one = { list.p, comma ? (size_t)(comma - list.p) : list.n };
		if (str_ieq(str_trim(one), token))
			return true;
		list = str_from(list, comma ? one.n + 1 : one.n);
	}
	return false;
}

/* What the headers say of the body. */
struct framing {
	bool chunked, has_length;
	uint64_t length;
};

static enum err header(struct response *r, struct str line, struct framing *f, struct why *why)
{
	const char *colon = memchr(line.p, ':', line.n);
	if (!colon)
		return not_http(why, "a header has no colon");
	struct str name = { line.p, (size_t)(colon - line.p) };
	struct str value = str_trim(str_from(line, name.n + 1));
	if (str_ieq(name, STR("Content-Length"))) {
		uint64_t n;
		if (!str_number(value, INT64_MAX, &n) || (f->has_length && f->length != n))
			return not_http(why, "its length is no number");
		f->has_length = true;
		f->length = n;
	} else if (str_ieq(name, STR("Transfer-Encoding"))) {
		f->chunked |= has_token(value, STR("chunked"));
	} else if (str_ieq(name, STR("Content-Type"))) {
		r->type.n = 0;
		buf_add(&r->type, value);
	} else if (str_ieq(name, STR("ETag"))) {
		r->etag.n = 0;
		buf_add(&r->etag, value);
	}
	return OK;
}

static enum err whole_head(struct response *r, struct why *why)
{
	struct str rest = buf_str(&r->head), line;
	struct framing f = { 0 };
	str_line(&rest, &line);
	enum err e = status_line(r, line, why);
	while (!e && str_line(&rest, &line) && line.n)
		e = header(r, line, &f, why);
	r->head.n = 0;
	if (e)
		return e;
	if (r->status < 200)
		r->status = 0; /* the real one follows */
	else if (r->bodyless || r->status == 204 || r->status == 304)
		r->state = RESPONSE_DONE;
	else if (f.chunked)
		r->state = RESPONSE_CHUNK;
	else if (f.has_length)
		r->state = f.length ? RESPONSE_LENGTH : RESPONSE_DONE;
	else
		r->state = RESPONSE_CLOSE;
	r->left = f.length;
	return OK;
}

/* Gathers bytes in r->head up to the end of a line, or of all lines; true when it is there. */
static bool run_context(struct response *r, struct str *in, bool empty_line)
{
	while (in->n && r->head.n < CLIENT_HEAD_BYTES_MAX) {
		buf_addc(&r->head, in->p[0]);
		*in = str_from(*in, 1);
		struct str got = buf_str(&r->head);
		if (r->head.failed)
			return false;
		if (got.p[got.n - 1] != '\n')
			continue;
		if (!empty_line)
			return true;
		if ((got.n >= 4 && memcmp(got.p + got.n - 4, "\r\n\r\n", 4) == 0) ||
		    (got.n >= 2 && got.p[got.n - 2] == '\n'))
			return true;
	}
	return false;
}

static enum err read_head(struct response *r, struct str *in, struct str *body, struct why *why)
{
	(void)body;
	return run_context(r, in, true) ? whole_head(r, why) : OK;
}

static enum err read_some(struct response *r, struct str *in, struct str *body, enum response_state then)
{
	size_t n = in->n < r->left ? in->n : (size_t)r->left;
	*body = str_sub(*in, 0, n);
	*in = str_from(*in, n);
	r->left -= n;
	if (!r->left)
		r->state = then;
	return OK;
}

static enum err read_length(struct response *r, struct str *in, struct str *body, struct why *why)
{
	(void)why;
	return read_some(r, in, body, RESPONSE_DONE);
}

static enum err read_data(struct response *r, struct str *in, struct str *body, struct why *why)
{
	(void)why;
	return read_some(r, in, body, RESPONSE_AFTER);
}

static enum err read_close(struct response *r, struct str *in, struct str *body, struct why *why)
{
	(void)r, (void)why;
	*body = *in;
	*in = str_from(*in, in->n);
	return OK;
}

static bool hex_number(struct str s, uint64_t *ret)
{
	uint64_t v = 0;
	if (!s.n || s.n > 15)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = to_lower(s.p[i]);
		if (!is_digit(c) && (c < 'a' || c > 'f'))
			return false;
		v = v * 16 + (unsigned)(is_digit(c) ? c - '0' : c - 'a' + 10);
	}
	*ret = v;
	return true;
}

static enum err read_chunk(struct response *r, struct str *in, struct str *body, struct why *why)
{
	(void)body;
	if (!run_context(r, in, false))
		return OK;
	struct str line = str_trim(buf_str(&r->head));
	const char *extension = line.n ? memchr(line.p, ';', line.n) : NULL;
	if (extension)
		line = str_trim(str_sub(line, 0, (size_t)(extension - line.p)));
	r->head.n = 0;
	if (!hex_number(line, &r->left))
		return not_http(why, "a chunk has no length");
	r->state = r->left ? RESPONSE_DATA : RESPONSE_TRAILER;
	return OK;
}

static enum err read_after(struct response *r, struct str *in, struct str *body, struct why *why)
{
	(void)body;
	if (!run_context(r, in, false))
		return OK;
	bool empty = str_trim(buf_str(&r->head)).n == 0;
	r->head.n = 0;
	r->state = RESPONSE_CHUNK;
	return empty ? OK : not_http(why, "a chunk is longer than it says");
}

static enum err read_trailer(struct response *r, struct str *in, struct str *body, struct why *why)
{
	(void)body, (void)why;
	if (!run_context(r, in, false))
		return OK;
	if (str_trim(buf_str(&r->head)).n == 0)
		r->state = RESPONSE_DONE;
	r->head.n = 0;
	return OK;
}

static enum err read_done(struct response *r, struct str *in, struct str *body, struct why *why)
{
	(void)r, (void)in, (void)body;
	return not_http(why, "there is more of it than it says");
}

static enum err (*const readers[])(struct response *, struct str *, struct str *, struct why *) = {
	[RESPONSE_HEAD] = read_head,   [RESPONSE_LENGTH] = read_length,   [RESPONSE_CLOSE] = read_close,
	[RESPONSE_CHUNK] = read_chunk, [RESPONSE_DATA] = read_data,       [RESPONSE_AFTER] = read_after,
	[RESPONSE_DONE] = read_done,   [RESPONSE_TRAILER] = read_trailer,
};

enum err response_read(struct response *r, struct str *in, struct str *body, struct why *why)
{
	*body = (struct str){ in->p, 0 };
	enum err e = in->n ? readers[r->state](r, in, body, why) : OK;
	if (!e && r->head.n >= CLIENT_HEAD_BYTES_MAX)
		e = why_set(why, E_LIMIT, WHY_NOWHERE, "the head of the answer is over %d bytes",
			    CLIENT_HEAD_BYTES_MAX);
	if (!e && (r->head.failed || r->type.failed || r->etag.failed))
		e = E_NOMEM;
	return e;
}

bool response_ended(const struct response *r)
{
	return r->state == RESPONSE_DONE || r->state == RESPONSE_CLOSE;
}

void response_free(struct response *r)
{
	buf_free(&r->head);
	buf_free(&r->type);
	buf_free(&r->etag);
}
