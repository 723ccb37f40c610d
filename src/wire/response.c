/* The reader is a state machine: one function per state. */
#include "wire/response.h"

static enum err not_http(struct why *why, const char *what)
{
	return why_set(why, E_INPUT, WHY_NOWHERE, "the answer is not HTTP: %s", what);
}

static enum err read_status_line(struct response *r, struct str line, struct why *why)
{
	uint64_t status;
	if (!str_starts(line, STR("HTTP/1.")) || line.n < 12 || line.p[8] != ' ' ||
	    !str_number(str_sub(line, 9, 12), 999, &status) || status < 100)
		return not_http(why, "its first line is not a status line");
	r->status = (int)status;
	return OK;
}

static bool has_token(struct str list, struct str token)
{
	while (list.n) {
		const char *comma = memchr(list.p, ',', list.n);
		struct str item = { list.p, comma ? (size_t)(comma - list.p) : list.n };
		if (str_ieq(str_trim(item), token))
			return true;
		list = str_from(list, comma ? item.n + 1 : item.n);
	}
	return false;
}

/* How the headers delimit the body. */
struct framing {
	bool chunked, has_length;
	uint64_t length;
};

static enum err read_header(struct response *r, struct str line, struct framing *f, struct why *why)
{
	const char *colon = memchr(line.p, ':', line.n);
	if (!colon)
		return not_http(why, "a header has no colon");
	struct str name = { line.p, (size_t)(colon - line.p) };
	struct str value = str_trim(str_from(line, name.n + 1));
	if (str_ieq(name, STR("Content-Length"))) {
		uint64_t n;
		if (!str_number(value, INT64_MAX, &n) || (f->has_length && f->length != n))
			return not_http(why, "its Content-Length is not one number");
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

static enum err parse_head(struct response *r, struct why *why)
{
	struct str rest = buf_str(&r->head), line;
	struct framing f = { 0 };
	str_line(&rest, &line);
	enum err e = read_status_line(r, line, why);
	while (!e && str_line(&rest, &line) && line.n)
		e = read_header(r, line, &f, why);
	r->head.n = 0;
	if (e)
		return e;
	if (r->status < 200)
		r->status = 0; /* this response was interim; the final response follows */
	else if (r->bodyless || r->status == 204 || r->status == 304)
		r->state = RESPONSE_DONE;
	else if (f.chunked)
		r->state = RESPONSE_CHUNK_SIZE;
	else if (f.has_length)
		r->state = f.length ? RESPONSE_LENGTH : RESPONSE_DONE;
	else
		r->state = RESPONSE_CLOSE;
	r->left = f.length;
	return OK;
}

/* Appends bytes to r->head up to the end of the line or, with empty_line, of the first empty line. True: the
 * end has been read. */
static bool read_lines(struct response *r, struct str *in, bool empty_line)
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
	return read_lines(r, in, true) ? parse_head(r, why) : OK;
}

static enum err read_counted(struct response *r, struct str *in, struct str *body, enum response_state then)
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
	return read_counted(r, in, body, RESPONSE_DONE);
}

static enum err read_chunk_data(struct response *r, struct str *in, struct str *body, struct why *why)
{
	(void)why;
	return read_counted(r, in, body, RESPONSE_CHUNK_END);
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
		int digit = hex_digit(s.p[i]);
		if (digit < 0)
			return false;
		v = v * 16 + (unsigned)digit;
	}
	*ret = v;
	return true;
}

static enum err read_chunk_size(struct response *r, struct str *in, struct str *body, struct why *why)
{
	(void)body;
	if (!read_lines(r, in, false))
		return OK;
	struct str line = str_trim(buf_str(&r->head));
	const char *extension = line.n ? memchr(line.p, ';', line.n) : NULL;
	if (extension)
		line = str_trim(str_sub(line, 0, (size_t)(extension - line.p)));
	r->head.n = 0;
	if (!hex_number(line, &r->left))
		return not_http(why, "a chunk has no valid length");
	r->state = r->left ? RESPONSE_CHUNK_DATA : RESPONSE_TRAILER;
	return OK;
}

static enum err read_chunk_end(struct response *r, struct str *in, struct str *body, struct why *why)
{
	(void)body;
	if (!read_lines(r, in, false))
		return OK;
	bool empty = str_trim(buf_str(&r->head)).n == 0;
	r->head.n = 0;
	r->state = RESPONSE_CHUNK_SIZE;
	return empty ? OK : not_http(why, "a chunk is longer than its length");
}

static enum err read_trailer(struct response *r, struct str *in, struct str *body, struct why *why)
{
	(void)body, (void)why;
	if (!read_lines(r, in, false))
		return OK;
	if (str_trim(buf_str(&r->head)).n == 0)
		r->state = RESPONSE_DONE;
	r->head.n = 0;
	return OK;
}

static enum err read_done(struct response *r, struct str *in, struct str *body, struct why *why)
{
	(void)r, (void)in, (void)body;
	return not_http(why, "data follows its end");
}

static enum err (*const readers[])(struct response *, struct str *, struct str *, struct why *) = {
	[RESPONSE_HEAD] = read_head,
	[RESPONSE_LENGTH] = read_length,
	[RESPONSE_CLOSE] = read_close,
	[RESPONSE_CHUNK_SIZE] = read_chunk_size,
	[RESPONSE_CHUNK_DATA] = read_chunk_data,
	[RESPONSE_CHUNK_END] = read_chunk_end,
	[RESPONSE_DONE] = read_done,
	[RESPONSE_TRAILER] = read_trailer,
};

enum err response_read(struct response *r, struct str *in, struct str *body, struct why *why)
{
	*body = (struct str){ in->p, 0 };
	enum err e = in->n ? readers[r->state](r, in, body, why) : OK;
	if (!e && r->head.n >= CLIENT_HEAD_BYTES_MAX)
		e = why_set(why, E_LIMIT, WHY_NOWHERE, "the head of the answer is larger than %d bytes",
			    CLIENT_HEAD_BYTES_MAX);
	if (!e && (r->head.failed || r->type.failed || r->etag.failed))
		e = E_NOMEM;
	return e;
}

bool response_complete(const struct response *r)
{
	return r->state == RESPONSE_DONE || r->state == RESPONSE_CLOSE;
}

void response_free(struct response *r)
{
	buf_free(&r->head);
	buf_free(&r->type);
	buf_free(&r->etag);
}
