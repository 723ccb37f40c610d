#include "runfile/logtail.h"
#include "runfile/tail.h"

void runfile_log_tail(const char *runs, uint64_t run, unsigned attempt, size_t most, struct buf *out)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct str text = { 0 };
	struct why why;
	if (runfile_tail(runs, run, attempt, "log", most, &a, &text, &why))
		return;
	const char *line = text.n < most ? NULL : memchr(text.p, '\n', text.n);
	if (line)
		text = str_from(text, (size_t)(line + 1 - text.p));
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		bool plain = c == '\n' || c == '\t' || (c >= 32 && c != 127);
		buf_addc(out, plain ? (char)c : ' ');
	}
}
