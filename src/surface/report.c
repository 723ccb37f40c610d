#include "surface/report.h"

#include "base/buf.h"
#include "surface/table.h"

void report_error(FILE *to, enum err e, const struct why *why, struct str source, const char *source_name)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	err_describe(e, why, source, &text);
	fputs("rota: ", to);
	if (source_name && why->at != WHY_NOWHERE) {
		print_safe(to, str_of(source_name));
		fputs(": ", to);
	}
	print_safe(to, buf_str(&text));
	fputc('\n', to);
}
