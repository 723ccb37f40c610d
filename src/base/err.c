/* The table of errors, and error messages with their places. */
#include "base/err.h"
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

const struct err_info err_table[ERR_COUNT] = {
	[OK] = { "ok", "ok", 0, 200 },
	[E_INPUT] = { "bad_input", "bad input", 2, 400 },
	[E_NOTFOUND] = { "not_found", "not found", 1, 404 },
	[E_CONFLICT] = { "conflict", "conflict", 1, 409 },
	[E_LIMIT] = { "limit", "limit reached", 2, 422 },
	[E_BUSY] = { "busy", "busy", 75, 503 },
	[E_DENIED] = { "denied", "not permitted", 77, 403 },
	[E_GONE] = { "gone", "gone", 75, 410 },
	[E_TIMEOUT] = { "timeout", "took too long", 75, 504 },
	[E_VALUE] = { "no_value", "no value", 1, 424 },
	[E_NODAEMON] = { "no_daemon", "no daemon", 69, 502 },
	[E_NOMEM] = { "no_memory", "out of memory", 1, 507 },
	[E_IO] = { "io", "input or output failed", 1, 500 },
};

enum err err_named(struct str name)
{
	for (unsigned e = 0; e < ERR_COUNT; e++)
		if (str_eq(name, str_of(err_table[e].name)))
			return (enum err)e;
	return E_IO;
}

void why_write(struct why *w, size_t at, const char *fmt, ...)
{
	if (!w)
		return;
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(w->text, sizeof w->text, fmt, ap);
	va_end(ap);
	w->at = at;
	if (n < (int)sizeof w->text)
		return;
	size_t end = sizeof w->text - 4;
	while (end > 0 && ((unsigned char)w->text[end] & 0xC0) == 0x80)
		end--; /* keep the last character whole */
	memcpy(w->text + end, "...", 4);
}

struct place place_of(struct str text, size_t at)
{
	struct place p = { 1, 1 };
	for (size_t i = 0; i < at && i < text.n; i++) {
		if (text.p[i] == '\n')
			p = (struct place){ p.line + 1, 1 };
		else if (((unsigned char)text.p[i] & 0xC0) != 0x80)
			p.column++;
	}
	return p;
}

void why_describe(const struct why *w, struct str source, struct buf *out)
{
	buf_add(out, str_of(w->text));
	if (w->at == WHY_NOWHERE)
		return;
	struct place p = place_of(source, w->at);
	if (source.n && memchr(source.p, '\n', source.n))
		buf_addf(out, ", at line %u, column %u", p.line, p.column);
	else
		buf_addf(out, ", at column %u", p.column);
}

void err_describe(enum err e, const struct why *w, struct str source, struct buf *out)
{
	assert(e < ERR_COUNT);
	if (w && w->text[0])
		why_describe(w, source, out);
	else
		buf_add(out, str_of(err_table[e].title));
}
