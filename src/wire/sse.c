/* Writes events as text, and reads them back. */
#include "wire/sse.h"

static void write_field(struct buf *out, struct str field, struct str value)
{
	buf_add(out, field);
	for (size_t i = 0; i < value.n; i++)
		if (value.p[i] != '\n' && value.p[i] != '\r')
			buf_addc(out, value.p[i]);
	buf_addc(out, '\n');
}

void sse_write(struct buf *out, const struct sse_event *e)
{
	struct str rest = e->data, line;
	if (e->id.n)
		write_field(out, STR("id: "), e->id);
	if (e->event.n)
		write_field(out, STR("event: "), e->event);
	if (!rest.n)
		buf_add(out, STR("data:\n"));
	while (str_line(&rest, &line))
		write_field(out, STR("data: "), line);
	buf_addc(out, '\n');
}

static void set_buf(struct buf *b, struct str value)
{
	b->n = 0;
	buf_add(b, value);
}

/* An empty line ends an event. */
static bool dispatch(struct sse *s, sse_fn *fn, void *ctx)
{
	bool more = true;
	if (s->has_data) {
		struct sse_event e = { buf_str(&s->event), buf_str(&s->id), buf_str(&s->data) };
		more = fn(ctx, &e);
	}
	s->event.n = s->data.n = 0; /* the id is kept for later events without one */
	s->has_data = false;
	return more;
}

static void read_field(struct sse *s, struct str line)
{
	const char *colon = memchr(line.p, ':', line.n);
	struct str name = { line.p, colon ? (size_t)(colon - line.p) : line.n };
	struct str value = str_from(line, colon ? name.n + 1 : name.n);
	if (value.n && value.p[0] == ' ')
		value = str_from(value, 1);
	if (str_eq(name, STR("event")))
		set_buf(&s->event, value);
	else if (str_eq(name, STR("id")))
		set_buf(&s->id, value);
	else if (str_eq(name, STR("data"))) {
		if (s->has_data)
			buf_addc(&s->data, '\n');
		buf_add(&s->data, value);
		s->has_data = true;
	}
}

enum err sse_read(struct sse *s, struct str bytes, sse_fn *fn, void *ctx)
{
	for (size_t i = 0; i < bytes.n; i++) {
		char c = bytes.p[i];
		bool crlf = c == '\n' && s->after_cr;
		s->after_cr = c == '\r';
		if (crlf)
			continue;
		if (c != '\n' && c != '\r') {
			if (s->line.n + s->data.n >= SSE_EVENT_BYTES_MAX)
				return E_LIMIT;
			buf_addc(&s->line, c);
			continue;
		}
		struct str line = buf_str(&s->line);
		if (line.n)
			read_field(s, line);
		else if (!dispatch(s, fn, ctx))
			return E_GONE;
		s->line.n = 0;
		if (s->line.failed || s->event.failed || s->id.failed || s->data.failed)
			return E_NOMEM;
	}
	return s->line.failed ? E_NOMEM : OK;
}

void sse_free(struct sse *s)
{
	buf_free(&s->line);
	buf_free(&s->event);
	buf_free(&s->id);
	buf_free(&s->data);
}
