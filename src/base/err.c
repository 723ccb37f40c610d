#include "base/err.h"
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

const struct err_info err_table[ERR_COUNT] = {
	[OK] = { "ok", 0 },         [E_INPUT] = { "bad_input", 2 }, [E_NOTFOUND] = { "not_found", 1 },
	[E_LIMIT] = { "limit", 2 }, [E_NOMEM] = { "no_memory", 1 }, [E_IO] = { "io", 1 },
};

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
		end--; /* do not cut a character in two */
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
